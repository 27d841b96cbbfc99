//! The errors that one route can give and another cannot, each with a request that gives it. Tests make the requests.

use common::error::Code;

/// A request without an answer.
pub(crate) struct Failure {
    /// What is wrong, as a name.
    pub(crate) name: &'static str,
    /// Path and query.
    pub(crate) request: &'static str,
    /// The kind of error.
    pub(crate) code: Code,
    /// What the caller reads.
    pub(crate) message: &'static str,
}

const fn refused(name: &'static str, request: &'static str, message: &'static str) -> Failure {
    Failure { name, request, code: Code::BadRequest, message }
}

const fn absent(name: &'static str, request: &'static str, message: &'static str) -> Failure {
    Failure { name, request, code: Code::NotFound, message }
}

/// What can go wrong with a request to the route of `function`.
pub(crate) fn of(function: &str) -> Vec<Failure> {
    match function {
        "mayor-history" => vec![refused(
            "limit",
            "/v1/mayor/history?limit=0",
            "Parameter 'limit' must be a whole number from 1 to 100, but was '0'.",
        )],
        "fire-sales-history" => vec![refused(
            "limit",
            "/v1/fire-sales/history?limit=201",
            "Parameter 'limit' must be a whole number from 1 to 200, but was '201'.",
        )],
        "bazaar" => vec![
            refused(
                "mode",
                "/v1/bazaar?mode=best",
                "Parameter 'mode' must be one of full, list, item, flips, but was 'best'.",
            ),
            refused("id", "/v1/bazaar?mode=item", "Parameter 'id' is required with mode=item."),
            refused(
                "limit",
                "/v1/bazaar?mode=flips&limit=0",
                "Parameter 'limit' must be a whole number from 1 to 100, but was '0'.",
            ),
            absent(
                "item",
                "/v1/bazaar?mode=item&id=NO_SUCH_ITEM",
                "No bazaar item has the id 'NO_SUCH_ITEM'. See mode=list for the ids of all active items.",
            ),
        ],
        "bazaar-history" => vec![
            refused("missing", "/v1/bazaar/history", "Parameter 'item_id' is required."),
            refused(
                "item_id",
                "/v1/bazaar/history?item_id=ink_sack",
                "Parameter 'item_id' must be 1 to 64 capital letters (A-Z), digits and the characters _ : -, but was \
                 'ink_sack'.",
            ),
            refused(
                "range",
                "/v1/bazaar/history?item_id=INK_SACK:3&range=2h",
                "Parameter 'range' must be one of 1h, 24h, 7d, 30d, 90d, but was '2h'.",
            ),
        ],
        "auctions" => vec![
            refused(
                "page",
                "/v1/auctions?page=-1",
                "Parameter 'page' must be a whole number from 0 to 4294967295, but was '-1'.",
            ),
            absent(
                "page",
                "/v1/auctions?page=9999",
                "There is no auctions page 9999. Page 0 says in 'totalPages' how many there are.",
            ),
        ],
        "profile" => vec![
            refused(
                "username",
                "/v1/profile/not.a.name",
                "Parameter 'username' must be 1 to 16 letters (a-z, A-Z), digits and underscores, but was 'not.a.name'.",
            ),
            absent(
                "player",
                "/v1/profile/nobody_here",
                "No player is called 'nobody_here'. Players can change their names: check the spelling.",
            ),
        ],
        _ => Vec::new(),
    }
}
