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
from typing import Annotated, Any, Literal

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

# The catalogue changes only with updates of the game.
CATALOGUE_SECONDS = 3_600
catalogue: tuple[float, list[dict[str, Any]]] = (0.0, [])


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
        raise ToolError(f"The API responded {error.code}: {message}{after}") from None
    except (OSError, ValueError, KeyError, TypeError, http.client.HTTPException) as error:
        # The text of such an error can contain headers, and so the key.
        raise ToolError(f"The API did not respond ({type(error).__name__}). Check BASE_URL, or try again later.") from None


def items() -> list[dict[str, Any]]:
    """Returns all items: id, name, and whether they have a price in the bazaar and in auctions."""
    global catalogue
    if time.monotonic() < catalogue[0]:
        return catalogue[1]
    names = {item["id"]: item["name"] for item in get("/v1/items")["items"]}
    bazaar = {item["id"] for item in get("/v1/bazaar", mode="prices")["items"]}
    auctions = {item["id"] for item in get("/v1/auctions/prices")["items"]}
    listed = [
        {"id": id, "name": names.get(id, id), "in_bazaar": id in bazaar, "in_auctions": id in auctions}
        for id in sorted(names.keys() | bazaar | auctions)
    ]
    catalogue = (time.monotonic() + CATALOGUE_SECONDS, listed)
    return listed


@server.tool()
def search_items(name: Annotated[str, Field(pattern=r"\S", description="Words of the name or the id")], limit: Count = 20) -> dict[str, Any]:
    """Finds items whose name or id contains all words. Items with a price come first, then short names before long ones."""
    words = name.lower().replace("_", " ").split()

    def text(item: dict[str, Any]) -> str:
        return f"{item['name']} {item['id']}".lower().replace("_", " ")

    found = [item for item in items() if all(word in text(item) for word in words)]
    found.sort(key=lambda item: (not (item["in_bazaar"] or item["in_auctions"]), len(item["name"]), item["id"]))
    return {"count": len(found), "items": found[:limit]}


@server.tool()
def prices(id: ItemId) -> dict[str, Any]:
    """Returns the current prices of an item in both markets: averages of the best orders in the bazaar; lowest prices and daily averages in auctions."""
    found = {
        "bazaar": get("/v1/bazaar", mode="items", ids=id)["items"],
        "auctions": get("/v1/auctions/prices", ids=id)["items"],
        "auctions_average": get("/v1/auctions/averages", ids=id)["items"],
    }
    if not any(found.values()):
        raise ToolError(f"No market has an item with the id {id}. Call search_items to find its id.")
    return found


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
    """Returns the bazaar products with the widest spread between buy orders and sell offers, with at least this price and volume."""
    return get("/v1/bazaar", mode="flips", min_price=min_price, min_volume=min_volume, limit=limit)


if __name__ == "__main__":
    if not BASE_URL.startswith(("http://", "https://")) or not API_KEY.isascii() or not API_KEY.isprintable() or not API_KEY:
        sys.exit("Set BASE_URL to the address of the service, such as https://api.example.com, and API_KEY to your key.")
    server.run("stdio")
