//! The table of routes: paths, functions, TTLs, data sources, parameters and their bounds. The index, the
//! caches, the generated documents and the tests of the template derive from this table.

use std::time::Duration;

use crate::auction_filters::{AfterAuction, Enchantments, Flag, Reforge};
use crate::pet_level::PetLevel;
use crate::request::auction_item_id::AuctionItemId;
use crate::request::ids::{AuctionHouse, Bazaar, Ids};
use crate::request::parameters::{Allowed, Before, ItemId, OpenedAt, PageNumber, Since, Username, Value};
pub use crate::request::route::{Expiry, Location, Parameter, Reads, Route, Tag};
use crate::time::UnixSeconds;
use crate::upstream::{auctions, bazaar, election, fire_sales, items, mojang, profiles};

/// `mode` of `GET /v1/bazaar`.
pub const BAZAAR_MODES: Allowed =
    Allowed::OneOf { words: &["full", "list", "item", "flips", "items", "book", "prices"], default: "full" };

/// `ids` of `GET /v1/bazaar?mode=items`. The provider's ids have at most 39 characters.
pub type BazaarIds = Ids<Bazaar>;

/// `mode` of `GET /v1/items`.
pub const ITEMS_MODES: Allowed = Allowed::OneOf { words: &["basic", "full"], default: "basic" };

/// The largest `min_price` and `min_volume` of `GET /v1/bazaar?mode=flips`, and the largest `max_price` of
/// auctions. A floating-point number holds it exactly.
const LARGEST_RULE: u64 = 1_000_000_000_000;

/// `window` of `GET /v1/auctions/averages`.
pub const AVERAGES_WINDOWS: Allowed = Allowed::OneOf { words: &["1d", "3d", "7d"], default: "1d" };

/// `interval` of `GET /v1/auctions/candles`.
pub const AUCTION_INTERVALS: Allowed = Allowed::OneOf { words: &["1h", "1d"], default: "1h" };

/// `ids` of `GET /v1/auctions/prices` and `GET /v1/auctions/averages`.
pub type AuctionIds = Ids<AuctionHouse>;

/// `range` of `GET /v1/bazaar/history`: each range reads prices of a different interval.
pub const BAZAAR_RANGES: Allowed =
    Allowed::OneOf { words: &["1h", "24h", "7d", "30d", "90d"], default: "24h" };

/// `interval` of `GET /v1/bazaar/candles`.
pub const CANDLE_INTERVALS: Allowed =
    Allowed::OneOf { words: &["5m", "30m", "1h", "3h", "1d"], default: "1h" };

/// `interval` of `GET /v1/bazaar/candles/all`. Candles of these intervals are kept for a year or longer.
pub const SLOT_INTERVALS: Allowed = Allowed::OneOf { words: &["1h", "3h", "1d"], default: "1h" };

/// `format` of `GET /v1/bazaar/candles/all`.
pub const CANDLES_FORMATS: Allowed = Allowed::OneOf { words: &["json", "csv"], default: "json" };

/// Every group of routes, in the order of the OpenAPI document.
pub const TAGS: [&Tag; 8] = [
    &MAYOR_TAG,
    &FIRE_SALES_TAG,
    &BAZAAR_TAG,
    &AUCTIONS_TAG,
    &COLLECTIONS_TAG,
    &ITEMS_TAG,
    &PROFILES_TAG,
    &SERVICE_TAG,
];

const MAYOR_TAG: Tag =
    Tag { name: "Mayor", description: "The mayor of SkyBlock, the elections and past mayors." };

const FIRE_SALES_TAG: Tag =
    Tag { name: "Fire sales", description: "Sales of a limited number of items for gems." };

const BAZAAR_TAG: Tag =
    Tag { name: "Bazaar", description: "Products that players trade by orders, and their prices over time." };

const AUCTIONS_TAG: Tag = Tag { name: "Auctions", description: AUCTIONS_DESCRIPTION };

const COLLECTIONS_TAG: Tag =
    Tag { name: "Collections", description: "What players unlock when they collect items." };

const ITEMS_TAG: Tag = Tag { name: "Items", description: "The item catalogue of the game, and names." };

const PROFILES_TAG: Tag = Tag { name: "Profiles", description: "Players and their profiles." };

const SERVICE_TAG: Tag = Tag {
    name: "Service",
    description: "The service itself: the usage of your account, its health, its routes and this description.",
};

/// The introduction for clients that read prices of auctions. The contract (`functions/README.md`) says more.
const AUCTIONS_DESCRIPTION: &str = "\
**Ids.** An id is the internal name that most mods use, such as `HYPERION`. A pet of any level is `TYPE;TIER`, with the tier from 0 (common) \
to 5 (mythic): `SHEEP;4`. At level 100 to 199 it is also `SHEEP;4+100`, and at level 200 `SHEEP;4+200`. An enchanted book is `GROWTH;5`, a rune \
`ICE_RUNE;1`, an attribute shard `ATTRIBUTE_SHARD_NAME;1` and a potion `POTION_SPEED;8`. `NEW_YEAR_CAKE+486` is the cake of a year, and \
`GLACITE_BOOTS+PERFECT` has a stat boost of 50 %. An item with a `+` also counts under the id before the `+`. The catalogue and the bazaar \
call `LOG-2` `LOG:2`; the bazaar calls `GROWTH;5` `ENCHANTMENT_GROWTH_5`. No id contains reforges, stars or other upgrades.\n\n\
**Which price.** To buy now, use `lowest` of `/v1/auctions/prices`. To value a player's items, use `sale_median` of `/v1/auctions/averages`, \
or its `lowest` for items that are seldom sold. Sales per day are `sales / minutes * 1440`. A clean copy has no enchantments, reforge, stars, \
gems, skin or other upgrades; the level of a pet does not matter.\n\n\
**History.** Hourly candles are kept for 90 days, daily candles permanently. An hour is available seven to twelve minutes after its end.";

/// `GET /v1/mayor`
pub const MAYOR: Route = Route {
    function: "mayor",
    path: "/v1/mayor",
    cache: Duration::from_mins(5),
    expiry: Expiry::Stale,
    reads: Reads::Provider(&[election::PATH]),
    requires_key: true,
    answers_head: false,
    summary: "Get the mayor and the elections",
    description: "The sitting mayor, the open election, and the election that the mayor won.",
    tag: &MAYOR_TAG,
    parameters: &[],
};

/// `GET /v1/mayor/history`
pub const MAYOR_HISTORY: Route = Route {
    function: "mayor-history",
    path: "/v1/mayor/history",
    cache: Duration::from_mins(5),
    expiry: Expiry::Stale,
    reads: Reads::History,
    requires_key: true,
    answers_head: false,
    summary: "List past mayors",
    description: "The mayors whose terms have ended, newest first.",
    tag: &MAYOR_TAG,
    parameters: &[
        Parameter::query(
            "limit",
            "The maximum number of mayors",
            Allowed::WholeNumber { min: 1, max: 100, default: 24 },
        ),
        Parameter::query("before", "Only mayors whose terms began before this time", Before::ALLOWED),
    ],
};

/// `GET /v1/fire-sales`
pub const FIRE_SALES: Route = Route {
    function: "fire-sales",
    path: "/v1/fire-sales",
    cache: Duration::from_mins(1),
    expiry: Expiry::Stale,
    reads: Reads::Provider(&[fire_sales::PATH]),
    requires_key: true,
    answers_head: false,
    summary: "List current fire sales",
    description: "The fire sales that are running or announced.",
    tag: &FIRE_SALES_TAG,
    parameters: &[],
};

/// `GET /v1/fire-sales/history`
pub const FIRE_SALES_HISTORY: Route = Route {
    function: "fire-sales-history",
    path: "/v1/fire-sales/history",
    cache: Duration::from_mins(5),
    expiry: Expiry::Stale,
    reads: Reads::History,
    requires_key: true,
    answers_head: false,
    summary: "List recorded fire sales",
    description: "The fire sales that the service has recorded, newest first.",
    tag: &FIRE_SALES_TAG,
    parameters: &[
        Parameter::query(
            "limit",
            "The maximum number of sales; with before, plus all others first seen in the same minute as the last one",
            Allowed::WholeNumber { min: 1, max: 200, default: 50 },
        ),
        Parameter::query(
            "before",
            "Only sales that were first seen before this time, the latest first",
            Before::ALLOWED,
        ),
    ],
};

/// `GET /v1/bazaar`
pub const BAZAAR: Route = Route {
    function: "bazaar",
    path: "/v1/bazaar",
    cache: Duration::from_secs(5),
    expiry: Expiry::Stale,
    reads: Reads::Provider(&[bazaar::PATH]),
    requires_key: true,
    answers_head: false,
    summary: "Get the bazaar",
    description: "The bazaar in one of seven modes: `full` returns all products as the provider gives them, `list` the ids of \
        the active products, `item` one product with its spread, `flips` the products with the highest spreads, `items` up to \
        100 products with their spreads, `book` the best buy orders and sell offers of one product, and `prices` all products \
        with the prices of their best orders. `sellPrice`, `buyPrice` and spreads are averages; an instant sale or purchase trades \
        at the price of the best order.",
    tag: &BAZAAR_TAG,
    parameters: &[
        Parameter::query("mode", "The kind of response", BAZAAR_MODES),
        Parameter::query(
            "id",
            "The id of a bazaar product, as mode=list returns it; required with mode=item and mode=book",
            Allowed::AnyText,
        ),
        Parameter::query(
            "ids",
            "The bazaar products to return, required with mode=items",
            BazaarIds::ALLOWED,
        ),
        Parameter::query(
            "limit",
            "The maximum number of flips with mode=flips",
            Allowed::WholeNumber { min: 1, max: 100, default: 20 },
        ),
        Parameter::query(
            "min_price",
            "The lowest sellPrice of flips with mode=flips, in coins",
            Allowed::WholeNumber { min: 0, max: LARGEST_RULE, default: 50_000 },
        ),
        Parameter::query(
            "min_volume",
            "The lowest sellVolume and buyVolume of flips with mode=flips, in items",
            Allowed::WholeNumber { min: 0, max: LARGEST_RULE, default: 10_000 },
        ),
    ],
};

/// `item_id` of the routes that return recorded prices of one product.
const ITEM_ID: Parameter = Parameter {
    name: "item_id",
    location: Location::Query,
    required: true,
    meaning: "The id of a bazaar product, as mode=list of /v1/bazaar returns it",
    allowed: ItemId::ALLOWED,
};

/// `before` of the routes with candles.
const BEFORE: Parameter = Parameter::query("before", "Only candles opened before this time", Before::ALLOWED);

/// `from` of the routes with candles.
const FROM: Parameter = Parameter::query("from", "Only candles opened at or after this time", Since::ALLOWED);

/// `limit` of the routes with candles.
const CANDLES_LIMIT: Parameter =
    Parameter::query("limit", "The most candles", Allowed::WholeNumber { min: 1, max: 1_000, default: 288 });

/// `GET /v1/bazaar/history`
pub const BAZAAR_HISTORY: Route = Route {
    function: "bazaar-history",
    path: "/v1/bazaar/history",
    cache: Duration::from_mins(5),
    expiry: Expiry::Stale,
    reads: Reads::History,
    requires_key: true,
    answers_head: false,
    summary: "Get the history of a bazaar product",
    description: "The prices and volumes of one bazaar product over a range of time, oldest first.",
    tag: &BAZAAR_TAG,
    parameters: &[ITEM_ID, Parameter::query("range", "The length of the history", BAZAAR_RANGES)],
};

/// `GET /v1/bazaar/candles`
pub const BAZAAR_CANDLES: Route = Route {
    function: "bazaar-candles",
    path: "/v1/bazaar/candles",
    cache: Duration::from_mins(5),
    expiry: Expiry::Stale,
    reads: Reads::History,
    requires_key: true,
    answers_head: false,
    summary: "Get the candles of a bazaar product",
    description: "The first, highest, lowest and last prices of one bazaar product in each interval of five minutes to a day, \
        oldest first.",
    tag: &BAZAAR_TAG,
    parameters: &[
        ITEM_ID,
        Parameter::query("interval", "The length of a candle", CANDLE_INTERVALS),
        FROM,
        BEFORE,
        CANDLES_LIMIT,
    ],
};

/// `GET /v1/bazaar/candles/all`
pub const BAZAAR_CANDLES_ALL: Route = Route {
    function: "bazaar-candles-all",
    path: "/v1/bazaar/candles/all",
    cache: Duration::from_mins(5),
    expiry: Expiry::Never,
    reads: Reads::History,
    requires_key: true,
    answers_head: false,
    summary: "Get the candles of all products",
    description: "The candles of all bazaar products for one complete interval. The response never changes, so clients may keep it. \
        An interval that is incomplete, too old or without records is a 404.",
    tag: &BAZAAR_TAG,
    parameters: &[
        Parameter::query("interval", "The length of the interval", SLOT_INTERVALS),
        Parameter {
            name: "opened_at",
            location: Location::Query,
            required: true,
            meaning: "The start of the interval",
            allowed: OpenedAt::ALLOWED,
        },
        Parameter::query("format", "The format", CANDLES_FORMATS),
    ],
};

/// `GET /v1/auctions`
pub const AUCTIONS: Route = Route {
    function: "auctions",
    path: "/v1/auctions",
    cache: Duration::from_secs(30),
    expiry: Expiry::Stale,
    reads: Reads::Provider(&[auctions::PATH]),
    requires_key: true,
    answers_head: false,
    summary: "List running auctions",
    description: "One page of the running auctions. A page that page 0 does not count is a 404.",
    tag: &AUCTIONS_TAG,
    parameters: &[Parameter::query("page", "The page number, counted from 0", PageNumber::ALLOWED)],
};

/// `GET /v1/auctions/prices`
pub const AUCTIONS_PRICES: Route = Route {
    function: "auctions-prices",
    path: "/v1/auctions/prices",
    cache: Duration::from_mins(1),
    expiry: Expiry::Stale,
    reads: Reads::History,
    requires_key: true,
    answers_head: false,
    summary: "Get the lowest prices in auctions",
    description: "The lowest buy-it-now price of every item that is sold by auction, or of up to 100 items. With `ids`, also \
        the auction of each lowest price, and the ids that are not listed. In a query, `;` must be sent as `%3B` and `+` as \
        `%2B`.",
    tag: &AUCTIONS_TAG,
    parameters: &[Parameter::query("ids", "The items to return, all if absent", AuctionIds::ALLOWED)],
};

/// `GET /v1/auctions/averages`
pub const AUCTIONS_AVERAGES: Route = Route {
    function: "auctions-averages",
    path: "/v1/auctions/averages",
    cache: Duration::from_mins(5),
    expiry: Expiry::Stale,
    reads: Reads::History,
    requires_key: true,
    answers_head: false,
    summary: "Get average prices in auctions",
    description: "The average lowest buy-it-now price and the prices of sales over the last one, three or seven days, of every item \
        that was listed or sold, or of up to 100 items. With `ids`, also the ids that were neither listed nor sold. In a query, `;` \
        must be sent as `%3B` and `+` as `%2B`.",
    tag: &AUCTIONS_TAG,
    parameters: &[
        Parameter::query("window", "The length of the window up to the last complete hour", AVERAGES_WINDOWS),
        Parameter::query("ids", "The items to return, all if absent", AuctionIds::ALLOWED),
    ],
};

/// `GET /v1/auctions/candles`
pub const AUCTIONS_CANDLES: Route = Route {
    function: "auctions-candles",
    path: "/v1/auctions/candles",
    cache: Duration::from_mins(5),
    expiry: Expiry::Stale,
    reads: Reads::History,
    requires_key: true,
    answers_head: false,
    summary: "Get the candles of an item in auctions",
    description: "The lowest buy-it-now prices and the prices of sales of one item by hour or day, oldest first. In a query, `;` must \
        be sent as `%3B` and `+` as `%2B`.",
    tag: &AUCTIONS_TAG,
    parameters: &[
        AUCTION_ITEM_ID,
        Parameter::query("interval", "The length of a candle", AUCTION_INTERVALS),
        FROM,
        BEFORE,
        CANDLES_LIMIT,
    ],
};

/// `GET /v1/auctions/sales`
pub const AUCTIONS_SALES: Route = Route {
    function: "auctions-sales",
    path: "/v1/auctions/sales",
    cache: Duration::from_mins(5),
    expiry: Expiry::Stale,
    reads: Reads::History,
    requires_key: true,
    answers_head: false,
    summary: "Get the sales of an item",
    description: "Every sale of one item in the last 90 days, newest first. The sales of an hour appear seven to twelve minutes after \
        it ends. In a query, `;` must be sent as `%3B` and `+` as `%2B`.",
    tag: &AUCTIONS_TAG,
    parameters: &[
        AUCTION_ITEM_ID,
        Parameter::query("before", "Only sales before this time, to the millisecond", Before::ALLOWED),
        Parameter::query(
            "limit",
            "The maximum number of sales, plus others of the same millisecond as the last one",
            Allowed::WholeNumber { min: 1, max: 500, default: 100 },
        ),
    ],
};

/// `GET /v1/auctions/listings`
pub const AUCTIONS_LISTINGS: Route = Route {
    function: "auctions-listings",
    path: "/v1/auctions/listings",
    cache: Duration::from_mins(1),
    expiry: Expiry::Stale,
    reads: Reads::Listings,
    requires_key: true,
    answers_head: false,
    summary: "Search the running auctions of an item",
    description: "The running buy-it-now auctions of one item, cheapest first. All filters must match, and a filter leaves out an \
        auction to which it does not apply. An unknown id, reforge or enchantment is no error: `count` is 0. `/v1/names` finds the id of \
        an item. `after` continues behind the last auction of a page, so a client that reads all pages gets every auction that the \
        service knows the whole time. In a query, `;` must be sent as `%3B` and `+` as `%2B`: \
        `id=GOLDEN_DRAGON%3B4&clean=true&min_level=100` finds a clean legendary pet of level 100.",
    tag: &AUCTIONS_TAG,
    parameters: &[
        AUCTION_ITEM_ID,
        Parameter::query("clean", "Whether the item is clean: it has no upgrades", Flag::ALLOWED),
        Parameter::query(
            "min_level",
            "The lowest level of a pet; 0 for items of all kinds",
            Allowed::WholeNumber { min: 0, max: PetLevel::HIGHEST as u64, default: 0 },
        ),
        Parameter::query(
            "min_stars",
            "The lowest number of stars; 0 also for items without stars",
            Allowed::WholeNumber { min: 0, max: 10, default: 0 },
        ),
        Parameter::query("recombobulated", "Whether the item is recombobulated", Flag::ALLOWED),
        Parameter::query("reforge", "The reforge", Reforge::ALLOWED),
        Parameter::query(
            "enchantments",
            "The enchantments with their lowest levels, 1 without a level. Duplex is ultimate_reiterate",
            Enchantments::ALLOWED,
        ),
        Parameter::query(
            "max_price",
            "The highest price of one item, in coins",
            Allowed::WholeNumber { min: 1, max: LARGEST_RULE, default: LARGEST_RULE },
        ),
        Parameter::query(
            "limit",
            "The maximum number of auctions",
            Allowed::WholeNumber { min: 1, max: 100, default: 20 },
        ),
        Parameter::query("after", "Only auctions behind a page", AfterAuction::ALLOWED),
    ],
};

/// The maximum age of the recorded minute that the routes of present prices and auctions serve.
pub const LONGEST_AGE: Duration = Duration::from_mins(10);

/// Whether the routes of present prices and auctions may still serve this recorded minute at the time `now`.
#[must_use]
pub fn is_recent(recorded_at: UnixSeconds, now: UnixSeconds) -> bool {
    now.get().abs_diff(recorded_at.get()) <= LONGEST_AGE.as_secs()
}

/// `id` of the routes of one item in auctions.
const AUCTION_ITEM_ID: Parameter = Parameter {
    name: "id",
    location: Location::Query,
    required: true,
    meaning: "The id of an item, as /v1/auctions/prices returns it",
    allowed: AuctionItemId::ALLOWED,
};

/// `GET /v1/collections`
pub const COLLECTIONS: Route = Route {
    function: "collections",
    path: "/v1/collections",
    cache: Duration::from_hours(1),
    expiry: Expiry::Stale,
    reads: Reads::Passed("/v2/resources/skyblock/collections"),
    requires_key: true,
    answers_head: false,
    summary: "List collections",
    description: "All collections by category, with their tiers and what each tier unlocks.",
    tag: &COLLECTIONS_TAG,
    parameters: &[],
};

/// `GET /v1/items`
pub const ITEMS: Route = Route {
    function: "items",
    path: "/v1/items",
    cache: Duration::from_hours(1),
    expiry: Expiry::Stale,
    reads: Reads::Provider(&[items::PATH]),
    requires_key: true,
    answers_head: false,
    summary: "List items",
    description: "The complete item catalogue. `mode=basic` has names, materials and tiers; `mode=full` has every field of the provider, \
        such as the price that an NPC pays, except the signatures of skins. With 5,600 items, `mode=full` has 2.8 MB, or 0.5 MB \
        compressed: more than API Gateway's cache stores. The provider sends no recipes; the NotEnoughUpdates repository has them, in a \
        file per id.",
    tag: &ITEMS_TAG,
    parameters: &[Parameter::query("mode", "The kind of response", ITEMS_MODES)],
};

/// `GET /v1/names`
pub const NAMES: Route = Route {
    function: "names",
    path: "/v1/names",
    cache: Duration::from_hours(1),
    expiry: Expiry::Stale,
    reads: Reads::History,
    requires_key: true,
    answers_head: false,
    summary: "List the names of ids",
    description: "The name of every id that has or had a price in the last nine days, in either market, with the id in the other market and \
        the short forms that players type. Names are written once an hour. Of the ids in auctions, 99 % have the name that the game shows. \
        Tiers and categories are in `/v1/items`.",
    tag: &ITEMS_TAG,
    parameters: &[],
};

/// `GET /v1/profile/{username}`
pub const PROFILE: Route = Route {
    function: "profile",
    path: "/v1/profile/{username}",
    cache: Duration::from_mins(15),
    expiry: Expiry::Stale,
    reads: Reads::Provider(&[mojang::PATH, profiles::PATH]),
    requires_key: true,
    answers_head: false,
    summary: "Get a player's profiles",
    description: "A player and all of their profiles.",
    tag: &PROFILES_TAG,
    parameters: &[Parameter {
        name: "username",
        location: Location::Path,
        required: true,
        meaning: "The player's name in any case",
        allowed: Username::ALLOWED,
    }],
};

/// `GET /v1/usage`
pub const USAGE: Route = Route {
    function: "usage",
    path: "/v1/usage",
    cache: Duration::from_mins(5),
    expiry: Expiry::Stale,
    reads: Reads::Account,
    requires_key: true,
    answers_head: false,
    summary: "Get what your account has used of its limits",
    description: "The limits of the key's account, and its requests in this calendar month (UTC). All keys of an account count together. The \
        figures are API Gateway's, which counts up to an hour late, and limits are best effort. Each tier is counted separately: an upgrade starts at \
        0, and a return finds the earlier count.",
    tag: &SERVICE_TAG,
    parameters: &[],
};

/// `GET /v1/status`
pub const STATUS: Route = Route {
    function: "status",
    path: "/v1/status",
    cache: Duration::from_mins(1),
    expiry: Expiry::Gone,
    reads: Reads::History,
    requires_key: false,
    answers_head: true,
    summary: "Get the status of the service",
    description: "The time of each feed's last record, and whether the feed is healthy. The HTTP status is 200 even if a feed is \
        unhealthy.",
    tag: &SERVICE_TAG,
    parameters: &[],
};

/// `GET /` and every request that no other route matches.
pub const INDEX: Route = Route {
    function: "index",
    path: "/",
    cache: Duration::ZERO,
    expiry: Expiry::Stale,
    reads: Reads::Nothing,
    requires_key: false,
    answers_head: true,
    summary: "List the endpoints",
    description: "The name and version of the service, its endpoints with their parameters, and the public files.",
    tag: &SERVICE_TAG,
    parameters: &[],
};

/// `GET /openapi.json`, which the index also handles. `GET /` does not list it among the endpoints.
pub const OPENAPI: Route = Route {
    function: INDEX.function,
    path: "/openapi.json",
    cache: Duration::ZERO,
    expiry: Expiry::Stale,
    reads: Reads::Nothing,
    requires_key: false,
    answers_head: true,
    summary: "Get the OpenAPI document",
    description: "This document: the description of the service in the format OpenAPI 3.1, without an envelope.",
    tag: &SERVICE_TAG,
    parameters: &[],
};

/// `GET /docs.md`, which the index also handles.
pub const DOCS_MARKDOWN: Route =
    text("/docs.md", "Read the API reference as Markdown", "The API reference, for language models.");

/// `GET /llms.txt`, which the index also handles.
pub const LLMS: Route =
    text("/llms.txt", "Read the summary", "A summary of the service with links, for language models.");

/// A text that the index serves. The OpenAPI document does not describe it.
const fn text(path: &'static str, summary: &'static str, description: &'static str) -> Route {
    Route { path, summary, description, ..OPENAPI }
}

/// The header line of the public file with the bazaar's candles of a day.
pub const BAZAAR_COLUMNS: &str = "item_id,sell_open,sell_high,sell_low,sell_close,buy_open,buy_high,buy_low,buy_close,sell_volume,\
    buy_volume,samples,buy_order_high,buy_order_low,buy_order_close,sell_offer_high,sell_offer_low,sell_offer_close,sell_moving_week,\
    buy_moving_week";

/// The header line of the public file with the auctions' candles of a day.
pub const AUCTIONS_COLUMNS: &str = "id,lowest_open,lowest_high,lowest_low,lowest_close,lowest_average,listings,sales,sold,sale_low,\
    sale_average,sale_median,sale_high,samples";

/// The texts for language models.
pub const TEXTS: [&Route; 2] = [&DOCS_MARKDOWN, &LLMS];

pub const DOCS: Route = Route {
    answers_head: true,
    ..page("/docs", "Read the API reference", "The API reference, for people.", &[])
};

pub const MARKET: Route = Route {
    answers_head: true,
    ..page("/market", "Look at the market", "Prices, flips, mayors and fire sales, for people.", &[])
};

/// `GET /assets/{hash}/{file}`
pub const ASSETS: Route = page(
    "/assets/{hash}/{file}",
    "Get a file of a page",
    "A script, a style sheet or an icon of a page.",
    &[
        Parameter {
            name: "hash",
            location: Location::Path,
            required: true,
            meaning: "The hash of all files of this version",
            allowed: Allowed::AnyText,
        },
        Parameter {
            name: "file",
            location: Location::Path,
            required: true,
            meaning: "The name of the file",
            allowed: Allowed::AnyText,
        },
    ],
);

/// `GET /assets/{hash}/scalar.js`, the script of the API reference. It is a hundred times as large as the
/// other files, so its route has a separate rate limit.
pub const REFERENCE_SCRIPT: Route = page(
    "/assets/{hash}/scalar.js",
    "Get the script of the API reference",
    "The script that renders the API reference.",
    &[Parameter {
        name: "hash",
        location: Location::Path,
        required: true,
        meaning: "The hash of all files of this version",
        allowed: Allowed::AnyText,
    }],
);

pub const FAVICON: Route = page("/favicon.ico", "Get the icon", "The icon of the pages.", &[]);

/// A route of a page for people. The OpenAPI document does not describe the route.
const fn page(
    path: &'static str,
    summary: &'static str,
    description: &'static str,
    parameters: &'static [Parameter],
) -> Route {
    Route { function: "page", path, answers_head: false, summary, description, parameters, ..OPENAPI }
}

pub const PAGES: [&Route; 5] = [&DOCS, &MARKET, &ASSETS, &REFERENCE_SCRIPT, &FAVICON];

/// The routes under `/v1`, in the order in which `GET /` lists them.
pub const VERSION_1: [&Route; 20] = [
    &MAYOR,
    &MAYOR_HISTORY,
    &FIRE_SALES,
    &FIRE_SALES_HISTORY,
    &BAZAAR,
    &BAZAAR_HISTORY,
    &BAZAAR_CANDLES,
    &BAZAAR_CANDLES_ALL,
    &AUCTIONS,
    &AUCTIONS_PRICES,
    &AUCTIONS_LISTINGS,
    &AUCTIONS_AVERAGES,
    &AUCTIONS_CANDLES,
    &AUCTIONS_SALES,
    &COLLECTIONS,
    &ITEMS,
    &NAMES,
    &PROFILE,
    &USAGE,
    &STATUS,
];

/// Returns every route that clients use.
pub fn all() -> impl Iterator<Item = &'static Route> {
    [&INDEX, &OPENAPI].into_iter().chain(VERSION_1).chain(TEXTS).chain(PAGES)
}
