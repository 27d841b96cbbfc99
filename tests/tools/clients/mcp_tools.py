#!/usr/bin/env python3
"""Starts functions/examples/mcp_server.py over stdio, lists its tools, and calls each against the service at BASE_URL.

    mcp_tools.py functions/examples
"""

import asyncio
import os
import sys
from pathlib import Path

from mcp.client import Client
from mcp.client.stdio import StdioServerParameters

SERVER = str(Path(sys.argv[1], "mcp_server.py"))
# Each tool with the arguments of a call, and a field of its result.
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
        refused = await client.call_tool("prices", {"id": "no such id"})
        text = refused.content[0].text
        assert refused.is_error and "responded 400" in text and "'ids'" in text, text


asyncio.run(main())
