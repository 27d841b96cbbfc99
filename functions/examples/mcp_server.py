"""An MCP server: language models can ask for items, prices, running auctions, history, sales, the mayor, fire sales and flips.

    pip install mcp
    BASE_URL=… API_KEY=… python mcp_server.py
"""

import http.client
import json
import os
import re
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from typing import Annotated, Any, Callable, Literal

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

server = MCPServer(
    "skyblock-economy",
    instructions="Prices of Hypixel SkyBlock in coins. Call search_items first: the other tools need the id of an item in a market. "
    "An item is in the bazaar (many equal items, orders) or in auctions (single items), seldom in both.",
)

ItemId = Annotated[str, Field(min_length=1, description="The id of an item, such as INK_SACK:3 or GOLDEN_DRAGON;4, as search_items returns it")]
Count = Annotated[int, Field(ge=1, le=100)]

BASE_URL = os.environ.get("BASE_URL", "").strip().rstrip("/")
API_KEY = os.environ.get("API_KEY", "").strip()

# Names change once an hour.
KEPT_SECONDS = 3_600
kept: tuple[float, list[dict[str, Any]]] = (0.0, [])
# Names have Roman levels. Players type both.
LEVELS = dict(zip("i ii iii iv v vi vii viii ix x".split(), map(str, range(1, 11))))
# How many orders `prices` returns for each side of the bazaar.
ORDERS = 5


class NotFound(ToolError):
    """The API responded 404."""


def get(path: str, **parameters: Any) -> Any:
    """Returns the data of a response. The API's error messages say what to do, so they are passed on to the model."""
    texts = {name: str(value).lower() if isinstance(value, bool) else value for name, value in parameters.items()}
    query = urllib.parse.urlencode({name: text for name, text in texts.items() if text is not None})
    request = urllib.request.Request(f"{BASE_URL}{path}?{query}", headers={"X-API-Key": API_KEY})
    try:
        with urllib.request.urlopen(request, timeout=15) as response:
            return json.load(response)["data"]
    except urllib.error.HTTPError as error:
        try:
            message = json.load(error)["error"]["message"]
        except (ValueError, KeyError, TypeError, OSError, http.client.HTTPException):
            message = "The body is not a response of the API. Check BASE_URL."
        wait = error.headers.get("Retry-After")
        after = f" Try again after {wait} seconds." if wait else ""
        kind = NotFound if error.code == 404 else ToolError
        raise kind(f"The API responded {error.code}: {message}{after}") from None
    except (OSError, ValueError, KeyError, TypeError, http.client.HTTPException) as error:
        # The text of such an error can contain headers, and so the key.
        raise ToolError(f"The API did not respond ({type(error).__name__}). Check BASE_URL, or try again later.") from None


def all_of(*requests: Callable[[], Any]) -> tuple[list[Any], list[str]]:
    """Returns the results of the requests, `None` for those that failed, and why they failed. Raises ToolError if all failed."""
    results, failures = [], []
    for request in requests:
        try:
            results.append(request())
        except ToolError as error:
            results.append(None)
            failures.append(str(error))
    if len(failures) == len(requests):
        raise ToolError(" ".join(dict.fromkeys(failures)))
    return results, failures


def names() -> list[dict[str, Any]]:
    """Returns the names of all items with a price, from memory if they were read in the last hour."""
    global kept
    if time.monotonic() >= kept[0]:
        kept = (time.monotonic() + KEPT_SECONDS, get("/v1/names")["items"])
    return kept[1]


def words_of(text: str) -> str:
    """Returns the words in lower case, with levels as digits: `Bank V` is `bank 5`."""
    return " ".join(LEVELS.get(word, word) for word in re.sub(r"[\W_]+", " ", text.lower().replace("'", "")).split())


@server.tool()
def search_items(
    name: Annotated[str, Field(pattern=r"\w", description="Words of the name or the id, or a short form such as gdrag")], limit: Count = 20
) -> dict[str, Any]:
    """Finds items whose name, id or short forms have words that begin with all of these words; exact names come first, then short names.
    `market` has the `id`; an item with `other_id` has this id in the other market."""
    query = words_of(name)
    found = []
    for item in names():
        # A pet is called by its name without the tier.
        texts = [words_of(text) for text in (item["name"], item["name"].split(" (")[0], item["id"], *item.get("aliases", ()))]
        if all(f" {word}" in " " + " ".join(texts) for word in query.split()):
            found.append(((query not in texts, len(item["name"]), item["id"], item["market"]), item))
    found.sort(key=lambda match: match[0])
    return {"count": len(found), "items": [item for _, item in found[:limit]]}


def best_orders(id: str) -> dict[str, Any]:
    """Returns the best orders of a bazaar product, or nothing if the bazaar has no such product. A side without orders is left out."""
    try:
        book = get("/v1/bazaar", mode="book", id=id)
    except NotFound:
        return {}
    found = {"lastUpdated": book["lastUpdated"]}
    for best, orders in [("topBuyOrder", "buyOrders"), ("topSellOffer", "sellOffers")]:
        if book[best] is not None:
            found |= {best: book[best], orders: book[orders][:ORDERS]}
    return found


@server.tool()
def prices(id: ItemId) -> dict[str, Any]:
    """Returns the current prices of an item in both markets: the best orders in the bazaar; lowest prices and daily averages in auctions.
    `topBuyOrder` is what an instant sale gets and `topSellOffer` what an instant purchase pays; a side without orders is missing.
    If a source cannot be read, it is null, and `failures` says why."""
    (bazaar, auctions, averages), failures = all_of(
        lambda: best_orders(id),
        lambda: get("/v1/auctions/prices", ids=id)["items"],
        lambda: get("/v1/auctions/averages", ids=id)["items"],
    )
    if not (bazaar or auctions or averages):
        raise ToolError(" ".join(dict.fromkeys(failures)) or f"No market has an item with the id {id}. Call search_items to find its id.")
    return {"bazaar": bazaar, "auctions": auctions, "auctions_average": averages, "failures": failures}


@server.tool()
def price_history(
    id: ItemId, market: Literal["bazaar", "auctions"], interval: Literal["1h", "1d"] = "1d", limit: Count = 30
) -> dict[str, Any]:
    """Returns the candles of an item, oldest first: its prices in each hour or day."""
    name = "item_id" if market == "bazaar" else "id"
    return get(f"/v1/{market}/candles", interval=interval, limit=limit, **{name: id})


@server.tool()
def running_auctions(
    id: ItemId,
    clean: bool | None = None,
    min_level: Annotated[int, Field(ge=0, le=200, description="The lowest level of a pet")] = 0,
    min_stars: Annotated[int, Field(ge=0, le=10)] = 0,
    recombobulated: bool | None = None,
    reforge: Annotated[str | None, Field(pattern="^[a-z_]{1,32}$")] = None,
    enchantments: Annotated[
        dict[str, Annotated[int, Field(ge=1, le=100)]], Field(max_length=3, description="The lowest level of each, such as {'ultimate_wise': 5}")
    ] = {},
    max_price: Annotated[int, Field(ge=1, le=10**12)] = 10**12,
    limit: Count = 10,
    after: Annotated[str | None, Field(description="next_after of the previous page")] = None,
) -> dict[str, Any]:
    """Returns the running buy-it-now auctions of an item, cheapest first, that pass all filters; `count` is the number on all pages. In the game,
    `/viewauction` and the id of an auction open it. `clean` items have no upgrades. A legendary pet at level 100 is TYPE;4 with min_level 100.
    Names of enchantments and reforges are in small letters with underscores; `filters` repeats the filters as the service reads them. Prices are for one item."""
    levels = ",".join(f"{name}:{level}" for name, level in enchantments.items())
    return get(
        "/v1/auctions/listings", id=id, clean=clean, min_level=min_level, min_stars=min_stars, recombobulated=recombobulated, reforge=reforge,
        enchantments=levels or None, max_price=max_price, limit=limit, after=after,
    )


@server.tool()
def recent_sales(id: ItemId, limit: Annotated[int, Field(ge=1, le=500)] = 50) -> dict[str, Any]:
    """Returns the last sales of an item in auctions, newest first. `clean` items have no upgrades. Prices are for one item."""
    return get("/v1/auctions/sales", id=id, limit=limit)


@server.tool()
def mayor_and_election() -> dict[str, Any]:
    """Returns the mayor with the perks, and the votes of the open election."""
    return get("/v1/mayor")


@server.tool()
def fire_sales() -> dict[str, Any]:
    """Returns running and announced fire sales: cosmetic items for gems, in limited numbers."""
    return get("/v1/fire-sales")


@server.tool()
def flips(
    min_price: Annotated[int, Field(ge=0, le=10**12)] = 50_000, min_volume: Annotated[int, Field(ge=0, le=10**12)] = 10_000, limit: Count = 10
) -> dict[str, Any]:
    """Returns the bazaar products with the widest spread between buy orders and sell offers, with at least this price and volume. Spreads
    are averages: call prices for the best orders before a purchase."""
    return get("/v1/bazaar", mode="flips", min_price=min_price, min_volume=min_volume, limit=limit)


if __name__ == "__main__":
    if not BASE_URL.startswith(("http://", "https://")) or not API_KEY.isascii() or not API_KEY.isprintable() or not API_KEY:
        sys.exit("Set BASE_URL to the address of the service, such as https://api.example.com, and API_KEY to your key.")
    server.run("stdio")
