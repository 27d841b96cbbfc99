//! The running fetches of a cache. Requests for the same key share one fetch and its result.

use tokio::sync::watch;

use super::Lookup;

/// The end of a channel on which a request waits for another's fetch. The channel closes without a result if the request that
/// fetches is cancelled.
pub(super) type Receiver<V, E> = watch::Receiver<Option<Result<Lookup<V>, E>>>;

/// The end of a channel to which a request sends the result of its fetch.
pub(super) type Sender<V, E> = watch::Sender<Option<Result<Lookup<V>, E>>>;

/// The running fetches, at most one for each key. Lambda passes at most 64 events at a time to a process, so a list is enough.
#[derive(Debug)]
pub(super) struct Fetches<K, V, E>(Vec<(K, Receiver<V, E>)>);

impl<K: PartialEq, V, E> Fetches<K, V, E> {
    /// No fetches.
    pub(super) const fn new() -> Self {
        Self(Vec::new())
    }

    /// Returns the channel of the fetch of `key`, if one is running.
    pub(super) fn running(&self, key: &K) -> Option<Receiver<V, E>> {
        self.0.iter().find(|(other, _)| other == key).map(|(_, receiver)| receiver.clone())
    }

    /// Returns where to send the result of a new fetch of `key`.
    pub(super) fn start(&mut self, key: K) -> Sender<V, E> {
        let (sender, receiver) = watch::channel(None);
        self.0.push((key, receiver));
        sender
    }

    /// Removes the fetch of `key`.
    pub(super) fn end(&mut self, key: &K) {
        self.0.retain(|(other, _)| other != key);
    }
}

/// Waits for the result of another request's fetch. `None` if that request was cancelled.
pub(super) async fn result_of<V: Clone, E: Clone>(
    mut receiver: Receiver<V, E>,
) -> Option<Result<Lookup<V>, E>> {
    receiver.wait_for(Option::is_some).await.ok()?.clone()
}

/// Sends the result of a fetch to the requests that wait for it, if there are any. One receiver is in the list of fetches.
pub(super) fn send<V: Clone, E: Clone>(sender: &Sender<V, E>, result: &Result<Lookup<V>, E>) {
    if sender.receiver_count() > 1 {
        sender.send_replace(Some(result.clone()));
    }
}
