//! Describes each resource of the provider once: its rows, their valid and invalid values, and the responses
//! that must follow from its bodies by `functions/README.md`, Data. This module shares no code with the
//! functions.

mod auctions;
mod bazaar;
mod election;
mod ended_auctions;
mod expected;
mod field;
mod fire_sales;
mod items;
mod profiles;
mod resource;

use simulator::Resource;

pub(crate) use auctions::AUCTIONS;
pub(crate) use bazaar::{BAZAAR, BazaarFacts};
pub(crate) use election::ELECTION;
pub(crate) use ended_auctions::ENDED_AUCTIONS;
pub(crate) use expected::{Data, Expected, spelled, spelled_at};
pub(crate) use field::texts;
pub(crate) use fire_sales::FIRE_SALES;
pub(crate) use items::ITEMS;
pub(crate) use profiles::{PROFILES, of_player};
pub(crate) use resource::{NOW, Names, ParsedResource, SEED};

/// The resources without parameters from whose body one response follows.
pub(crate) const WHOLE: &[&ParsedResource] = &[&ELECTION, &FIRE_SALES, &ITEMS];

pub(crate) fn parsed() -> impl Iterator<Item = &'static ParsedResource> {
    WHOLE.iter().copied().chain([&BAZAAR, &AUCTIONS, &PROFILES, &ENDED_AUCTIONS])
}

/// The data that must follow from one body.
pub(crate) enum Facts {
    /// The data, for a body from which only one response follows. `None` if no route can serve the body, for
    /// example because too many rows are unusable.
    Single(Option<Data>),
    Bazaar(BazaarFacts),
}

impl Facts {
    /// Computes the data that must follow from this body of the resource at `path`.
    pub(crate) fn of(path: &str, text: &str) -> Self {
        if path == BAZAAR.path {
            return Self::Bazaar(BazaarFacts::of(text));
        }
        Self::Single(match parsed().find(|resource| resource.path == path) {
            Some(resource) => resource.data(text).map(Data::Parsed),
            None => Some(passed(&Resource::at(path).unwrap(), text)),
        })
    }

    /// Whether a route can serve the body.
    pub(crate) fn is_usable(&self) -> bool {
        match self {
            Self::Single(data) => data.is_some(),
            Self::Bazaar(bazaar) => bazaar.is_usable,
        }
    }
}

/// The data of a route that passes on the content of a resource.
pub(crate) fn passed(resource: &Resource, text: &str) -> Data {
    let content = resource.content;
    Data::Verbatim(format!(r#"{{"{content}":{}}}"#, spelled(text, content)))
}
