//! Commands of the debugging protocol as JSON. The typed ones of `chromiumoxide` refuse responses of a Chromium that knows more
//! than they do.

use chromiumoxide::error::CdpError;
use chromiumoxide::types::MethodId;
use chromiumoxide::{Command, Method, Page};
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::Window;

/// A command with its parameters.
#[derive(Debug)]
pub(super) struct Untyped {
    pub(super) method: &'static str,
    pub(super) parameters: Value,
}

impl Serialize for Untyped {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.parameters.serialize(serializer)
    }
}

impl Method for Untyped {
    fn identifier(&self) -> MethodId {
        self.method.into()
    }
}

impl Command for Untyped {
    type Response = Value;
}

impl Window {
    /// The response to the command.
    pub(super) async fn call(&self, method: &'static str, parameters: Value) -> Value {
        match self.try_call(method, parameters).await {
            Ok(response) => response,
            Err(error) => panic!("{method}: {error}"),
        }
    }

    /// The response to the command, or the reason why it is missing.
    pub(super) async fn try_call(&self, method: &'static str, parameters: Value) -> Result<Value, CdpError> {
        send(&self.page, method, parameters).await
    }
}

/// The response of the page to the command, or the reason why it is missing.
pub(super) async fn send(page: &Page, method: &'static str, parameters: Value) -> Result<Value, CdpError> {
    Ok(page.execute(Untyped { method, parameters }).await?.result)
}
