//! The Lambda binary of `faulty`.

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), common::lambda::Error> {
    common::lambda::run::<faulty::Faulty>().await
}
