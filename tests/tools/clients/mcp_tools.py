#!/usr/bin/env python3
"""Starts functions/examples/mcp_server.py over stdio, lists its tools, and calls each tool against the service at BASE_URL.

    mcp_tools.py functions/examples
"""

import asyncio
import os
import sys
from pathlib import Path

from mcp.client import Client
from mcp.client.stdio import StdioServerParameters

SERVER = str(Path(sys.argv[1], "mcp_server.py"))
# For each tool: the arguments of a call, and a field of the result.
CALLS = {
    "search_items": ({"name": "golden dragon"}, "items"),
    "prices": ({"id": "INK_SACK:3"}, "bazaar"),
    "price_history": ({"id": "INK_SACK:3", "market": "bazaar", "limit": 5}, "candles"),
    "recent_sales": ({"id": "GOLDEN_DRAGON;4", "limit": 5}, "sales"),
    "mayor_and_election": ({}, "mayor"),
    "fire_sales": ({}, "sales"),
    "flips": ({"min_price": 0, "limit": 3}, "items"),
}


async def main():
    environment = {name: os.environ[name] for name in ("BASE_URL", "API_KEY", "PATH")}
    async with Client(StdioServerParameters(command=sys.executable, args=[SERVER], env=environment)) as client:
        tools = {tool.name for tool in (await client.list_tools()).tools}
        assert tools == CALLS.keys(), tools
        for name, (arguments, field) in CALLS.items():
            result = await client.call_tool(name, arguments)
            assert not result.is_error, (name, result.content)
            assert field in result.structured_content, (name, result.structured_content)
        for id, words in {"no such id": "responded 400", "NO_SUCH_ID": "search_items"}.items():
            refused = await client.call_tool("prices", {"id": id})
            assert refused.is_error and words in refused.content[0].text, refused.content
    # An error contains no part of an unusual key or address.
    environment |= {"API_KEY": "secret_key\r", "BASE_URL": "http://127.0.0.1:1/"}
    async with Client(StdioServerParameters(command=sys.executable, args=[SERVER], env=environment)) as client:
        failed = await client.call_tool("fire_sales", {})
        text = failed.content[0].text
        assert failed.is_error and "Check BASE_URL" in text and "secret" not in text, text


asyncio.run(main())
