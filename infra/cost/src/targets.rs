//! The targets that history must meet, and the snapshot that they are measured with.

/// The fewest products that a snapshot may have. With fewer, the measured cost would be too low.
pub const MIN_PRODUCTS: usize = 1_900;

/// The target for the write units of all tiers in a month.
pub const MAX_WRITE_UNITS: f64 = 8e6;
/// The target for the write units of all tiers and candles in a month, if every product has a price.
pub const MAX_WRITE_UNITS_WITH_CANDLES: f64 = 13e6;

/// The targets for a query.
#[derive(Debug, Clone, Copy)]
pub struct QueryTargets {
    /// For its pages.
    pub pages: Option<u64>,
    /// For its read units, on average over all products.
    pub read_units: Option<f64>,
    /// For its read units of the worst product.
    pub read_units_worst: Option<f64>,
}

/// The targets for a range of prices.
pub const RANGE_TARGETS: QueryTargets =
    QueryTargets { pages: Some(1), read_units: Some(20.0), read_units_worst: Some(32.0) };
/// The targets for 288 candles. They are for all pages of a query together.
pub const CANDLES_TARGETS: QueryTargets =
    QueryTargets { pages: None, read_units: Some(24.0), read_units_worst: Some(45.0) };
/// The targets for 1,000 candles.
pub const MOST_CANDLES_TARGETS: QueryTargets =
    QueryTargets { pages: Some(2), read_units: None, read_units_worst: None };
