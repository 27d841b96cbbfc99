//! The running fetches of a cache. Requests for the same key share one fetch and its result.

use std::sync::{Arc, OnceLock};

use tokio::sync::watch;
use tokio::time::timeout_at;

use super::Lookup;
use crate::invocation::Invocation;

/// The result of a fetch; empty while it runs, and if the request that fetches is cancelled.
pub(super) type Outcome<V, E> = Arc<OnceLock<Result<Lookup<V>, E>>>;

/// The running fetches, at most one for each key. Lambda passes at most 64 events at a time to a process, so a list is enough.
#[derive(Debug)]
pub(super) struct Fetches<K, V, E>(Vec<(K, Running<V, E>)>);

/// A running fetch, for the requests that wait for it.
#[derive(Debug)]
pub(super) struct Running<V, E> {
    outcome: Outcome<V, E>,
    /// Closes when the fetch ends.
    end: watch::Receiver<()>,
}

impl<K: PartialEq, V, E> Fetches<K, V, E> {
    /// No fetches.
    pub(super) const fn new() -> Self {
        Self(Vec::new())
    }

    /// Returns the fetch of `key`, if one is running.
    pub(super) fn running(&self, key: &K) -> Option<Running<V, E>> {
        let (_, Running { outcome, end }) = self.0.iter().find(|(other, _)| other == key)?;
        Some(Running { outcome: Arc::clone(outcome), end: end.clone() })
    }

    /// Adds a fetch of `key`, whose result belongs into the first value. It ends when the second one is dropped.
    pub(super) fn start(&mut self, key: K) -> (Outcome<V, E>, watch::Sender<()>) {
        let (sender, end) = watch::channel(());
        let outcome = Outcome::default();
        self.0.push((key, Running { outcome: Arc::clone(&outcome), end }));
        (outcome, sender)
    }

    /// Removes the fetch of `key`.
    pub(super) fn end(&mut self, key: &K) {
        self.0.retain(|(other, _)| other != key);
    }
}

impl<V: Clone, E: Clone> Running<V, E> {
    /// Waits until the fetch ends, and returns its result if it has one.
    ///
    /// # Errors
    /// If the time of the invocation ends first.
    pub(super) async fn result(
        self,
        invocation: &Invocation,
    ) -> Result<Option<Result<Lookup<V>, E>>, TooLate> {
        wait(self.end, invocation).await?;
        Ok(self.outcome.get().cloned())
    }
}

/// The time of an invocation has ended before the fetch that it waits for.
pub(super) struct TooLate;

/// Waits until the channel closes.
async fn wait(mut end: watch::Receiver<()>, invocation: &Invocation) -> Result<(), TooLate> {
    let closed = invocation.waiting_for(timeout_at(invocation.upstream_deadline(), end.changed())).await;
    // Nothing is ever sent, so it is an error of the channel.
    closed.map(|_| ()).map_err(|_| TooLate)
}
