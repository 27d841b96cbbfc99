//! The start of a function, before its first event.

use std::sync::atomic::{AtomicBool, Ordering};

use super::{guard, log};
use crate::config::{Config, ConfigError};
use crate::error::chain;
use crate::upstream::http::ClientError;

/// Why a function cannot start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// An environment variable cannot be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The HTTP client cannot be built.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// The handler requires exactly one path of the provider.
    #[error("{0} does not read exactly one path of the provider in the table of routes")]
    NotOnePath(&'static str),
}

/// How the log names a function.
#[derive(Debug, Clone, Copy)]
pub enum LogName {
    /// By the path of its route.
    Route(&'static str),
    /// By its own name, if it has no route.
    Function(&'static str),
}

/// Whether the process has not handled an event yet, for the log.
#[derive(Debug)]
pub struct IsCold(AtomicBool);

impl Default for IsCold {
    fn default() -> Self {
        Self(true.into())
    }
}

impl IsCold {
    /// Returns whether this is the first event.
    pub fn take(&self) -> bool {
        self.0.swap(false, Ordering::Relaxed)
    }
}

/// Sets up the log and the panic hook, and returns the result of `start`. The result stays in memory until
/// the process ends, so that all requests can borrow it.
///
/// # Errors
/// If the environment is wrong or `start` fails; the cause is in the log.
pub fn set_up<T>(
    log_name: LogName,
    start: impl FnOnce(&Config) -> Result<T, StartError>,
) -> Result<&'static T, StartError> {
    log::to_standard_output();
    guard::remember_panics();
    start(&Config::from_environment()).map(|state| &*Box::leak(Box::new(state))).inspect_err(|error| {
        match log_name {
            LogName::Route(route) => tracing::error!(route, cause = chain(error), "cannot start"),
            LogName::Function(function) => tracing::error!(function, cause = chain(error), "cannot start"),
        }
    })
}
