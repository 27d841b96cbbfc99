//! The requests of the examples, and checks that several promises share.

pub(crate) const MAYOR: &str = "/v1/mayor";
pub(crate) const PAST_MAYORS: &str = "/v1/mayor/history?limit=1";
pub(crate) const FIRE_SALES: &str = "/v1/fire-sales";
pub(crate) const PAST_SALES: &str = "/v1/fire-sales/history?limit=1";
pub(crate) const FULL: &str = "/v1/bazaar?mode=full";
pub(crate) const LIST: &str = "/v1/bazaar?mode=list";
pub(crate) const ITEM: &str = "/v1/bazaar?mode=item&id=INK_SACK:3";
pub(crate) const FLIPS: &str = "/v1/bazaar?mode=flips&limit=5";
pub(crate) const MANY: &str = "/v1/bazaar?mode=items&ids=INK_SACK:3,DARK_FANG,NO_SUCH_ITEM";
pub(crate) const BOOK: &str = "/v1/bazaar?mode=book&id=INK_SACK:3";
pub(crate) const PRICES: &str = "/v1/bazaar/history?item_id=INK_SACK:3&range=1h";
pub(crate) const CANDLES: &str =
    "/v1/bazaar/candles?item_id=INK_SACK:3&interval=5m&before=2026-11-22T12:10:00Z&limit=1";
pub(crate) const AUCTIONS: &str = "/v1/auctions?page=0";
pub(crate) const COLLECTIONS: &str = "/v1/collections";
pub(crate) const ITEMS: &str = "/v1/items";
pub(crate) const NOTCH: &str = "/v1/profile/Notch";
pub(crate) const STATUS: &str = "/v1/status";
pub(crate) const OPENAPI: &str = "/openapi.json";
pub(crate) const CACHED_RESPONSE: &str = "cached response requires a key";
pub(crate) const COMPRESSION: [&str; 2] = ["compression GET /openapi.json", "compression GET /v1/items"];
pub(crate) const UNKNOWN_ITEM: [&str; 2] =
    ["error 404 unknown item", "error 404 GET /v1/bazaar?mode=item&id=NO_SUCH_ITEM"];
pub(crate) const WITHOUT_KEY: [&str; 12] = [
    "error 401 no key GET /v1/auctions",
    "error 401 no key GET /v1/bazaar",
    "error 401 no key GET /v1/bazaar/candles",
    "error 401 no key GET /v1/bazaar/history",
    "error 401 no key GET /v1/collections",
    "error 401 no key GET /v1/fire-sales",
    "error 401 no key GET /v1/fire-sales/history",
    "error 401 no key GET /v1/items",
    "error 401 no key GET /v1/mayor",
    "error 401 no key GET /v1/mayor/history",
    "error 401 no key GET /v1/profile/{username}",
    CACHED_RESPONSE,
];
