//! Why the document cannot be generated: code, table of routes and examples do not agree.

/// Why the document cannot be generated.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No function describes a route.
    #[error("the table of routes has {0}, but no function describes it")]
    NotDescribed(&'static str),
    /// An example cannot be read.
    #[error("the example {name}.json cannot be read: {cause}")]
    NoExample {
        /// Its name.
        name: String,
        /// The system's reason.
        cause: std::io::Error,
    },
    /// An example cannot be parsed.
    #[error("the example {name}.json cannot be parsed: {cause}")]
    Example {
        /// Its name.
        name: String,
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
    /// A request in `failures.rs` does not fail: its route does not declare the parameter, or its value cannot be parsed.
    #[error("the failing request {0} does not fail as described")]
    NoFailure(&'static str),
    /// The document cannot be written.
    #[error("the document cannot be written: {0}")]
    Unwritable(#[from] serde_json::Error),
}
