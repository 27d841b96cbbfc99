//! The log of a function: one JSON object a line on standard output, as log queries read it without being told.
//!
//! There are events and no spans: every line says all that is to be said of its invocation. So the formatter of
//! `tracing_subscriber` stands on a subscriber that knows no spans, and not on that library's registry of them, whose table
//! takes eight pages of memory at every start.

use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::registry::{Data, LookupSpan};

/// Where the runtime writes each failed invocation down once more, as an error, and without saying which it was.
const REPEATED: &str = "lambda_runtime::layers::panic";

/// The least that is worth a line.
const LEVEL: LevelFilter = LevelFilter::INFO;

/// Sends what is logged from now on to standard output.
pub(super) fn to_standard_output() {
    let lines = tracing_subscriber::fmt::layer()
        .json()
        .flatten_event(true)
        .with_current_span(false)
        .with_span_list(false)
        .with_target(false);
    // Fails only where a subscriber is already at work, which then logs.
    let _ = tracing::subscriber::set_global_default(Events.with(lines));
}

/// Lets events pass, and keeps nothing.
struct Events;

impl Subscriber for Events {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_event() && *metadata.level() <= LEVEL && metadata.target() != REPEATED
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(LEVEL)
    }

    /// Never asked, as no span is enabled; any number but 0 would do.
    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

impl<'a> LookupSpan<'a> for Events {
    type Data = Data<'a>;

    fn span_data(&'a self, _: &Id) -> Option<Data<'a>> {
        None
    }
}
