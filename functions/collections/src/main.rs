//! The Lambda binary of `collections`.

use common::resource::Mirror;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), common::lambda::Error> {
    common::lambda::run::<Mirror<collections::Collections>>().await
}
