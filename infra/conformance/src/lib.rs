//! Checks HTTP responses against the service's OpenAPI document. `cargo admin check` uses it on deployments,
//! and the black-box tests use it on the local cloud.
//!
//! A response conforms if its status is described, its body fits the schema of that status, and each header
//! fits its own schema. For this check, schemas are closed: a field that the document does not describe is an
//! error, unless a schema explicitly allows additional properties. Clients must accept new fields, but this
//! version of the service has none.

mod document;
mod headers;
mod mismatch;
mod operation;

pub use self::document::{Document, parameter_value};
pub use self::headers::{header_text, single_header};
pub use self::mismatch::{Mismatch, excerpt};
pub use self::operation::{Example, JSON, Operation};
