//! Errors that `DynamoDB` responds with on demand.

use hyper::StatusCode;

/// An error response of `DynamoDB`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// A table or a partition exceeds its throughput.
    ProvisionedThroughputExceeded,
    /// Requests exceed the throughput of an on-demand table.
    Throttling,
    /// There is no such table.
    ResourceNotFound,
    /// Status 500.
    InternalServerError,
}

impl Refusal {
    pub(super) fn status(self) -> StatusCode {
        let is_internal = self == Self::InternalServerError;
        if is_internal { StatusCode::INTERNAL_SERVER_ERROR } else { StatusCode::BAD_REQUEST }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::ProvisionedThroughputExceeded => "ProvisionedThroughputExceededException",
            Self::Throttling => "ThrottlingException",
            Self::ResourceNotFound => "ResourceNotFoundException",
            Self::InternalServerError => "InternalServerError",
        }
    }

    pub(super) fn message(self) -> &'static str {
        match self {
            Self::ProvisionedThroughputExceeded => {
                "The level of configured provisioned throughput for the table was exceeded. Consider increasing your \
                 provisioning level with the UpdateTable API."
            }
            Self::Throttling => "Throughput exceeds the current throughput limit for your table or index.",
            Self::ResourceNotFound => "Requested resource not found",
            Self::InternalServerError => "Internal server error",
        }
    }
}
