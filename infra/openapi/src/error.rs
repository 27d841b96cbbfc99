//! The errors of the generator.

/// Why the generated files cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("the table of routes has {0}, but no function describes it")]
    NotDescribed(&'static str),
    #[error("an example of {path} cannot be parsed: {kind} {cause}")]
    Example { path: &'static str, kind: &'static str, cause: serde_json::Error },
    #[error("no example of {path} sets the parameter {parameter}")]
    NoValue { path: &'static str, parameter: &'static str },
    /// A route that has CSV has no example of it.
    #[error("no example of {0} has CSV")]
    NoCsv(&'static str),
    /// A request lacks the invalid parameter that it is an example of.
    #[error("the failing request {0} does not have its parameter")]
    NoFailure(&'static str),
    #[error("the list of endpoints cannot be written: {0}")]
    NoEndpoints(String),
    #[error("a sample event cannot be built: {0}")]
    NoEvent(#[from] local::SampleError),
    /// A page or a template cannot be read.
    #[error("{path} cannot be read: {cause}")]
    Unreadable {
        path: &'static str,
        /// The system's reason.
        cause: std::io::Error,
    },
    #[error("{list} does not list {path} with what it shows and what it needs")]
    NotListed { path: &'static str, list: &'static str },
    /// A page has no place for a generated part.
    #[error("{path} has no comments <!-- {name}: begin --> and <!-- {name}: end -->")]
    NoPlace { path: &'static str, name: String },
    #[error(transparent)]
    Template(#[from] local::Error),
    /// A template lacks a limit or a parameter.
    #[error("a template has no limit, or no number, for {0}")]
    NoLimit(String),
    /// Within its limits, abuse can cost more than allowed.
    #[error("{abuse} can cost {dollars:.0} dollars in a month: lower a limit in template.yaml")]
    CostsTooMuch {
        abuse: String,
        /// Its cost in a month.
        dollars: f64,
    },
    #[error("the document cannot be written: {0}")]
    Unwritable(#[from] serde_json::Error),
}
