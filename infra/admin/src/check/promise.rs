//! A promise of the API: its name, its requests, and the judgement of the responses.

use std::collections::BTreeSet;

use conformance::Mismatch;
use futures_util::{StreamExt as _, stream};

use super::client::Client;
use super::judge::Verdict;
use super::request::Request;
use super::response::Response;

/// More than the burst of the largest tier, and what its rate adds meanwhile.
const MOST_UNTIL_THROTTLED: usize = 600;
const CONCURRENCY: usize = 12;

/// Judges the responses to what is asked.
type Judge<'a> = Box<dyn Fn(&[Response]) -> Verdict + 'a>;

/// A promise.
pub(super) struct Promise<'a> {
    pub(super) name: String,
    /// What is asked, or why nothing is.
    pub(super) ask: Result<Ask, &'static str>,
    judge: Judge<'a>,
}

/// What is asked to find out whether a promise is kept.
pub(super) enum Ask {
    /// These requests, in this order.
    Each(Vec<Request>),
    /// A page, and then every file that it loads.
    Page(Request),
    /// The first request is repeated until a response is a 429; only its last response is judged. Then the others follow once each.
    UntilThrottled(Request, Vec<Request>),
}

impl<'a> Promise<'a> {
    /// A promise about the responses to these requests.
    pub(super) fn new<const N: usize>(
        name: impl Into<String>,
        requests: [Request; N],
        judge: impl Fn(&[Response; N]) -> Verdict + 'a,
    ) -> Self {
        Self::of(name, Ok(Ask::Each(requests.into())), move |responses| match responses.try_into() {
            Ok(responses) => judge(responses),
            Err(_) => Err(Mismatch::new(format!("{N} responses"), responses.len().to_string())),
        })
    }

    /// A promise about any number of responses.
    pub(super) fn of(
        name: impl Into<String>,
        ask: Result<Ask, &'static str>,
        judge: impl Fn(&[Response]) -> Verdict + 'a,
    ) -> Self {
        Self { name: name.into(), ask, judge: Box::new(judge) }
    }

    /// A promise that cannot be checked.
    pub(super) fn skipped(name: impl Into<String>, reason: &'static str) -> Self {
        Self::of(name, Err(reason), |_| Ok(()))
    }

    /// Judges the responses.
    ///
    /// # Errors
    /// How they differ from what is promised.
    pub(super) fn judge(&self, responses: &[Response]) -> Verdict {
        (self.judge)(responses)
    }
}

impl Ask {
    /// Sends the requests and returns the responses.
    ///
    /// # Errors
    /// If there is no response.
    pub(super) async fn send(&self, client: &Client) -> Result<Vec<Response>, Mismatch> {
        let mut responses = Vec::new();
        match self {
            Self::Each(requests) => {
                for request in requests {
                    responses.push(client.send(request).await?);
                }
            }
            Self::Page(request) => {
                let page = client.send(request).await?;
                let addresses = page.text.split('"').filter(|text| text.starts_with("assets/"));
                let files: BTreeSet<String> = addresses.map(|address| format!("/{address}")).collect();
                responses.push(page);
                for file in files {
                    responses.push(client.send(&Request::anonymous(file)).await?);
                }
            }
            Self::UntilThrottled(request, others) => {
                let sent = stream::iter(0..MOST_UNTIL_THROTTLED).map(|_| client.send_once(request));
                let mut received = sent.buffer_unordered(CONCURRENCY);
                while let Some(response) = received.next().await {
                    responses = vec![response?];
                    if responses.iter().any(|response| response.status == 429) {
                        break;
                    }
                }
                drop(received);
                for request in others {
                    responses.push(client.send_once(request).await?);
                }
            }
        }
        Ok(responses)
    }
}
