//! A text, number or boolean. API Gateway accepts these as values of headers and of an authorizer's context.

use std::fmt;

use serde::Deserialize;

#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum Scalar {
    Text(String),
    Number(serde_json::Number),
    Boolean(bool),
}

impl fmt::Display for Scalar {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => formatter.write_str(text),
            Self::Number(number) => number.fmt(formatter),
            Self::Boolean(boolean) => boolean.fmt(formatter),
        }
    }
}
