//! The targets that history must meet, and the snapshot that they are measured with.

/// The fewest products that a snapshot may have. With fewer, the measured cost would be too low.
pub const MIN_PRODUCTS: usize = 1_900;

/// The target for the write units of all tiers in a month.
pub const MAX_WRITE_UNITS: f64 = 8e6;
/// The target for the pages of one query.
pub const MAX_PAGES: u64 = 1;
/// The target for the read units of one query, on average over all products.
pub const MAX_READ_UNITS: f64 = 20.0;
/// The target for the read units of one query of the worst product.
pub const MAX_READ_UNITS_WORST: f64 = 32.0;
