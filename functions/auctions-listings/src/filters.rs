//! The filters of a request.

use common::auction_filters::{Enchantments, Flag, Reforge};
use common::error::ApiError;
use common::request::Request;
use files::listings::Listing;
use schemars::JsonSchema;
use serde::Serialize;

/// The filters as the service reads them.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "AuctionsFilters")]
pub(crate) struct Filters {
    /// Whether items are clean; null for both.
    clean: Option<bool>,
    /// The lowest level of a pet; 0 if the level does not matter.
    min_level: u64,
    /// The lowest number of stars; 0 if stars do not matter.
    min_stars: u64,
    /// Whether items are recombobulated; null for both.
    recombobulated: Option<bool>,
    /// The reforge; null for any or none.
    #[schemars(with = "Option<String>")]
    reforge: Option<Reforge>,
    /// The lowest level of each enchantment, by name.
    #[schemars(with = "std::collections::BTreeMap<String, u8>")]
    enchantments: Enchantments,
    /// The highest price of one item, in coins.
    max_price: u64,
}

impl Filters {
    /// Reads the filters of the request.
    ///
    /// # Errors
    /// `BAD_REQUEST` if a value is not allowed.
    pub(crate) fn of(request: &Request) -> Result<Self, ApiError> {
        Ok(Self {
            clean: request.optional::<Flag>("clean")?.map(Flag::get),
            min_level: request.number("min_level")?,
            min_stars: request.number("min_stars")?,
            recombobulated: request.optional::<Flag>("recombobulated")?.map(Flag::get),
            reforge: request.optional("reforge")?,
            enchantments: request.parameter("enchantments")?,
            max_price: request.number("max_price")?,
        })
    }

    /// Whether the auction passes all filters. One to which a filter does not apply does not pass.
    pub(crate) fn pass(&self, Listing { price, properties: item, .. }: &Listing) -> bool {
        let stars = item.stars.map_or(0, u64::from);
        let level = item.level.map_or(0, |level| level.get().into());
        let level_of = |name| item.enchantments.as_ref()?.get(name);
        let has = |(name, lowest)| level_of(name).is_some_and(|level| *level >= lowest);
        self.clean.is_none_or(|clean| item.clean == clean)
            && level >= self.min_level
            && stars >= self.min_stars
            && self.recombobulated.is_none_or(|recombobulated| item.recombobulated == recombobulated)
            && self.reforge.as_ref().is_none_or(|reforge| item.reforge.as_deref() == Some(reforge.as_str()))
            && self.enchantments.iter().all(has)
            && price.hundredths() <= self.max_price.saturating_mul(100)
    }
}
