//! Why the document cannot be generated: code, table of routes and examples do not agree.

/// Why the document cannot be generated.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No function describes a route.
    #[error("the table of routes has {0}, but no function describes it")]
    NotDescribed(&'static str),
    /// An example cannot be parsed.
    #[error("an example of {path} cannot be parsed: {kind} {cause}")]
    Example {
        /// The route.
        path: &'static str,
        /// The kind of response.
        kind: &'static str,
        /// The parser's error.
        cause: serde_json::Error,
    },
    /// No example request sets a parameter.
    #[error("no example of {path} sets the parameter {parameter}")]
    NoValue {
        /// The route.
        path: &'static str,
        /// The parameter.
        parameter: &'static str,
    },
    /// A route that has CSV has no example of it.
    #[error("no example of {0} has CSV")]
    NoCsv(&'static str),
    /// A request does not have the invalid parameter that it is an example of.
    #[error("the failing request {0} does not have its parameter")]
    NoFailure(&'static str),
    /// The document cannot be written.
    #[error("the document cannot be written: {0}")]
    Unwritable(#[from] serde_json::Error),
}
