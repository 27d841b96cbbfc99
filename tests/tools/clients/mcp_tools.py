#!/usr/bin/env python3
"""Starts functions/examples/mcp_server.py over stdio, lists its tools, and calls each tool against the service at BASE_URL.

    mcp_tools.py functions/examples
"""

import asyncio
import os
import sys
from pathlib import Path

import service
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters

SERVER = str(Path(sys.argv[1], "mcp_server.py"))
# For each tool: the arguments of a call, and a field of the result.
CALLS = {
    "search_items": ({"name": "golden dragon"}, "items"),
    "prices": ({"id": "INK_SACK:3"}, "bazaar"),
    "price_history": ({"id": "INK_SACK:3", "market": "bazaar", "limit": 5}, "candles"),
    "running_auctions": ({"id": "HYPERION", "clean": False, "min_stars": 5, "enchantments": {"ultimate_wise": 1}, "limit": 5}, "listings"),
    "recent_sales": ({"id": "GOLDEN_DRAGON;4", "limit": 5}, "sales"),
    "mayor_and_election": ({}, "mayor"),
    "fire_sales": ({}, "sales"),
    "flips": ({"min_price": 0, "limit": 3}, "items"),
}
# What players type, and the item that search_items finds first.
TYPED = {
    "golden dragon": "GOLDEN_DRAGON;4",
    "gdrag": "GOLDEN_DRAGON;4",
    "hyp": "HYPERION",
    "bank 5": "ENCHANTMENT_ULTIMATE_BANK_5",
    "cocoa beans": "INK_SACK:3",
    "elder owl shard": "SHARD_ELDER_OWL",
}
# For each source: an item that prices finds, and the results that are null, while this source fails.
SOURCES = {
    "/v1/names": ("HYPERION", set()),
    "/v1/bazaar": ("HYPERION", {"bazaar"}),
    "/v1/auctions/prices": ("ENCHANTED_DIAMOND", {"auctions"}),
    "/v1/auctions/averages": ("HYPERION", {"auctions_average"}),
}


def client_of(environment):
    return Client(StdioServerParameters(command=sys.executable, args=[SERVER], env=environment))


async def call(client, name, arguments):
    result = await client.call_tool(name, arguments)
    assert not result.is_error, (name, result.content)
    return result.structured_content


async def main():
    environment = {name: os.environ[name] for name in ("BASE_URL", "API_KEY", "PATH")}
    async with client_of(environment) as client:
        tools = {tool.name for tool in (await client.list_tools()).tools}
        assert tools == CALLS.keys(), tools
        for name, (arguments, field) in CALLS.items():
            result = await call(client, name, arguments)
            assert field in result, (name, result)
        for typed, id in TYPED.items():
            found = (await call(client, "search_items", {"name": typed}))["items"]
            assert found and found[0]["id"] == id, (typed, found[:3])
        # The prices are those of the best orders, and a side without orders has none.
        without_buy_orders = service.one_sided("topSellOffer", "topBuyOrder")
        sides = {"topBuyOrder": "buyOrders", "topSellOffer": "sellOffers"}
        for id, bests in {"INK_SACK:3": ["topBuyOrder", "topSellOffer"], without_buy_orders: ["topSellOffer"]}.items():
            found = (await call(client, "prices", {"id": id}))["bazaar"]
            assert found.keys() == {"lastUpdated", *bests, *(sides[best] for best in bests)}, found
            assert all(found[best] == found[sides[best]][0]["price"] for best in bests), found
        # All filters reach the API.
        given = {"clean": True, "min_level": 100, "min_stars": 0, "recombobulated": False, "reforge": None, "enchantments": {}, "max_price": 10**9}
        found = await call(client, "running_auctions", {"id": "GOLDEN_DRAGON;4"} | {name: value for name, value in given.items() if value is not None})
        assert found["filters"] == given, found["filters"]
        assert all(listing["clean"] and listing["level"] >= 100 for listing in found["listings"]), found
        for id, words in {"no such id": "responded 400", "NO_SUCH_ID": "search_items"}.items():
            refused = await client.call_tool("prices", {"id": id})
            assert refused.is_error and words in refused.content[0].text, refused.content
    # A source that fails costs only its own results. Each server is new, because it keeps the names.
    for path, (id, nulls) in SOURCES.items():
        with service.without(path) as address:
            async with client_of(environment | {"BASE_URL": address}) as client:
                searched = await client.call_tool("search_items", {"name": id})
                assert searched.is_error == (path == "/v1/names"), searched.content
                priced = await call(client, "prices", {"id": id})
                assert {name for name in priced if priced[name] is None} == nulls, priced
                assert len(priced["failures"]) == len(nulls), priced
    # An error contains no part of an unusual key or address.
    environment |= {"API_KEY": "secret_key\r", "BASE_URL": "http://127.0.0.1:1/"}
    async with client_of(environment) as client:
        failed = await client.call_tool("fire_sales", {})
        text = failed.content[0].text
        assert failed.is_error and "Check BASE_URL" in text and "secret" not in text, text


asyncio.run(main())
