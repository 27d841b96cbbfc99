//! A sale, and its text.
//!
//! The list of ended auctions, the hour and the row of an item all store a sale as the same text, with
//! numbers separated by commas: the milliseconds after a time that the row determines, the price of the stack
//! in coins, a digit (1 if buy-it-now, 2 if clean, 3 if both), the number of items, and the level of a pet.
//! Other items have no level, and a single one no number.

use std::num::NonZeroU32;

use common::time::UnixMilliseconds;
use common::upstream::auctions::STACK_PRICES;

use common::coins::Coins;
use common::pet_level::PetLevel;

/// A sale in an auction. Sales are ordered by time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sale {
    pub sold_at: UnixMilliseconds,
    /// The price of the whole stack, in coins.
    pub price: u64,
    /// The number of items in the stack.
    pub amount: NonZeroU32,
    /// Whether it was a buy-it-now auction.
    pub bin: bool,
    /// Whether the item was clean: nothing had been added to it.
    pub clean: bool,
    /// The level of a pet; `None` for other items.
    pub level: Option<PetLevel>,
}

impl Sale {
    /// Returns the price of one item.
    #[must_use]
    pub const fn price_of_one(&self) -> Coins {
        Coins::of_one(self.price, self.amount)
    }

    /// Returns the text. Its time counts from `base`.
    pub(super) fn to_text(self, base: UnixMilliseconds) -> String {
        let Self { sold_at, price, amount, bin, clean, level } = self;
        let offset = sold_at.get().saturating_sub(base.get());
        let flags = u8::from(bin) + 2 * u8::from(clean);
        let text = format!("{offset},{price},{flags}");
        match level {
            Some(level) => format!("{text},{amount},{}", level.get()),
            None if amount == NonZeroU32::MIN => text,
            None => format!("{text},{amount}"),
        }
    }

    /// Parses the text; `None` if it is invalid or its price is impossible.
    pub(super) fn of_text(base: UnixMilliseconds, text: &str) -> Option<Self> {
        let mut fields = text.split(',');
        let offset: i64 = fields.next()?.parse().ok()?;
        let price: u64 = fields.next()?.parse().ok()?;
        let flags: u8 = fields.next()?.parse().ok()?;
        let amount = fields.next().map_or(Some(NonZeroU32::MIN), |amount| amount.parse().ok())?;
        let level = match fields.next() {
            Some(level) => Some(PetLevel::new(level.parse().ok()?)?),
            None => None,
        };
        let is_sale = STACK_PRICES.contains(&price) && flags < 4 && fields.next().is_none();
        is_sale.then_some(Self {
            sold_at: UnixMilliseconds::new(base.get().checked_add(offset)?),
            price,
            amount,
            bin: flags % 2 == 1,
            clean: flags >= 2,
            level,
        })
    }
}
