//! Prices in auctions.

use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

/// A price, exact to 0.01 coins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Coins(u64);

impl Coins {
    /// Returns the price of this many hundredths of a coin.
    #[must_use]
    pub const fn of_hundredths(hundredths: u64) -> Self {
        Self(hundredths)
    }

    /// Returns the price of one item of a stack, rounded to the nearest hundredth.
    #[must_use]
    pub const fn of_one(stack: u64, count: NonZeroU32) -> Self {
        let count = count.get() as u64;
        Self((stack.saturating_mul(100).saturating_add(count / 2)) / count)
    }

    /// Returns the average of the two prices, rounded to the nearest hundredth.
    #[must_use]
    pub const fn between(one: Self, other: Self) -> Self {
        Self(one.0.midpoint(other.0) + ((one.0 ^ other.0) & 1))
    }

    /// Returns the price in hundredths of a coin.
    #[must_use]
    pub const fn hundredths(self) -> u64 {
        self.0
    }

    /// Returns the price in coins: the floating-point number nearest to the exact value.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "prices have fewer than 53 bits")]
    pub const fn coins(self) -> f64 {
        self.0 as f64 / 100.0
    }
}

/// Serialises a price as coins.
pub mod in_coins {
    use serde::{Deserialize as _, Deserializer, Serializer};

    use super::Coins;

    /// Writes the price.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(price: &Coins, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(price.coins())
    }

    /// Reads the price, rounded to the nearest hundredth.
    ///
    /// # Errors
    /// If the value is not a number.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "prices have fewer than 53 bits"
    )]
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Coins, D::Error> {
        f64::deserialize(deserializer).map(|coins| Coins::of_hundredths((coins * 100.0).round() as u64))
    }
}
