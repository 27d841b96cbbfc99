//! The smallest function that posts a given response. It shows the cost of handing over a large response.

use std::path::Path;

use lambda_runtime::{Error, LambdaEvent, run as serve, service_fn};
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

/// Responds to every event with the response in the file. It returns when the Runtime API is gone.
///
/// # Errors
/// A sentence, when the file holds no JSON.
pub(crate) async fn run(file: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(file);
    let text = text.map_err(|error| format!("cannot read {}: {error}", file.display()))?;
    let response = RawValue::from_string(text).map_err(|error| format!("not JSON: {error}"))?;
    let response: &RawValue = &response;
    let respond = service_fn(|_: LambdaEvent<IgnoredAny>| async move { Ok::<_, Error>(response) });
    serve(respond).await.map_err(|error| error.to_string())
}
