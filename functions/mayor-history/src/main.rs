//! The Lambda binary of `mayor-history`.

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), common::lambda::Error> {
    common::lambda::run::<mayor_history::MayorHistory>().await
}
