//! What every check of a deployment needs: a client, keys, and the OpenAPI document that the deployment serves.

use common::params::Username;
use conformance::{Document, Mismatch, Operation};

use super::client::Client;
use super::keys::Keys;
use super::request::Request;
use super::response::Response;

/// A check of one deployment.
pub(super) struct Inspection<'a> {
    pub(super) client: &'a Client,
    pub(super) keys: &'a Keys,
    /// Whether the good key may be part of a URL.
    pub(super) puts_key_into_url: bool,
    pub(super) document: Document,
    /// The player to request instead of the one in the examples.
    pub(super) player: Option<&'a Username>,
    /// How often each example is requested again.
    pub(super) repetitions: u16,
}

impl Inspection<'_> {
    /// The response to `GET target` with the good key.
    ///
    /// # Errors
    /// If there is no response.
    pub(super) async fn get(&self, target: &str) -> Result<Response, Mismatch> {
        self.client.send(&Request::authorized(target, &self.keys.good)).await
    }

    /// The requests of the operation's examples with this status, for the player to request.
    pub(super) fn example_requests(&self, operation: &Operation<'_>, status: u16) -> Vec<String> {
        let prefix = operation.path().split_once("{username}").map(|(prefix, _)| prefix);
        let request = |example: &str| match (self.player, prefix) {
            (Some(player), Some(prefix)) if status == 200 => format!("{prefix}{}", player.as_str()),
            _ => example.to_owned(),
        };
        operation.examples(status).map(|example| request(example.request)).collect()
    }

    /// The id of an item that does not exist and has not been requested before.
    pub(super) fn unknown_item(&self) -> String {
        format!("CHECK_{:012X}", self.unique_number() % (1 << 48))
    }

    /// The name of a player who does not exist and has not been requested before.
    pub(super) fn unknown_player(&self) -> String {
        format!("nobody_{:09x}", self.unique_number() % (1 << 36))
    }

    fn unique_number(&self) -> u64 {
        // Without a random source, the number of requests differs at least within this run.
        getrandom::u64().unwrap_or_else(|_| u64::from(self.client.sent()))
    }
}
