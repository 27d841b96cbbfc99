//! The resources of the upstream.

use simulator::Resource;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Source {
    Election,
    FireSales,
    Bazaar,
    Auctions(u32),
    EndedAuctions,
    Items,
    /// A resource whose content a route passes on unchanged.
    Passed(Resource),
    /// The profiles of the player with this id.
    Profiles(String),
    Names,
}
