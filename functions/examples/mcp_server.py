"""An MCP server: language models can ask for items, prices, history, sales, the mayor, fire sales and flips.

    pip install mcp
    BASE_URL=… API_KEY=… python mcp_server.py
"""

import http.client
import json
import os
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
    instructions="Prices of Hypixel SkyBlock in coins. Call search_items first: the other tools need the id of an item, not its name. "
    "An item is in the bazaar (many equal items, orders) or in auctions (single items), seldom in both.",
)

ItemId = Annotated[str, Field(min_length=1, description="The id of an item, such as INK_SACK:3 or GOLDEN_DRAGON;4, as search_items returns it")]
Count = Annotated[int, Field(ge=1, le=100)]

BASE_URL = os.environ.get("BASE_URL", "").strip().rstrip("/")
API_KEY = os.environ.get("API_KEY", "").strip()

# Names and ids seldom change.
KEPT_SECONDS = 3_600
kept: dict[str, tuple[float, dict[str, Any]]] = {}
# How many orders `prices` returns for each side of the bazaar.
ORDERS = 5


class NotFound(ToolError):
    """The API responded 404."""


def get(path: str, **parameters: Any) -> Any:
    """Returns the data of a response. The API's error messages say what to do, so they are passed on to the model."""
    query = urllib.parse.urlencode({name: value for name, value in parameters.items() if value is not None})
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


def items_of(path: str, **parameters: Any) -> dict[str, Any]:
    """Returns all items of a route by id, from memory if they were read in the last hour."""
    expiry, items = kept.get(path, (0.0, {}))
    if time.monotonic() < expiry:
        return items
    items = {item["id"]: item for item in get(path, **parameters)["items"]}
    kept[path] = (time.monotonic() + KEPT_SECONDS, items)
    return items


@server.tool()
def search_items(name: Annotated[str, Field(pattern=r"\S", description="Words of the name or the id")], limit: Count = 20) -> dict[str, Any]:
    """Finds items whose name or id contains all words. Items with a price come first, then short names before long ones.
    If a source cannot be read, `failures` says why: names are missing, or `in_bazaar` or `in_auctions` is null."""
    words = name.lower().replace("_", " ").split()
    sources, failures = all_of(
        lambda: items_of("/v1/items"), lambda: items_of("/v1/bazaar", mode="prices"), lambda: items_of("/v1/auctions/prices")
    )
    names, bazaar, auctions = sources
    found = []
    for id in {id for items in sources for id in items or ()}:
        title = names[id]["name"] if names and id in names else id
        if all(word in f"{title} {id}".lower().replace("_", " ") for word in words):
            is_in = {market: None if items is None else id in items for market, items in [("in_bazaar", bazaar), ("in_auctions", auctions)]}
            found.append({"id": id, "name": title, **is_in})
    found.sort(key=lambda item: (not (item["in_bazaar"] or item["in_auctions"]), len(item["name"]), item["id"]))
    return {"count": len(found), "items": found[:limit], "failures": failures}


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
