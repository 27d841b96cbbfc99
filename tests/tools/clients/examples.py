#!/usr/bin/env python3
"""Runs the Discord command and the cells of the notebook in functions/examples against the service at BASE_URL.

    examples.py functions/examples
"""

import json
import os
import re
import sys
from pathlib import Path
from unittest.mock import patch

import service

FOLDER = Path(sys.argv[1])
sys.path.insert(0, str(FOLDER))
import discord_price  # noqa: E402

IN_AUCTIONS = r"\*\*HYPERION\*\* costs [\d,]+ coins in auctions; \d+ are listed\."


def reply_and_book(item):
    """Returns the reply for a bazaar product, and its order book at that time."""
    while True:
        before = service.book(item)
        reply = discord_price.price(item.lower())
        if service.book(item) == before:
            return reply, before


# The prices are those of the best orders, not the averages.
reply, book = reply_and_book("INK_SACK:3")
buy_order, sell_offer = f"{book['topBuyOrder']:,.1f}", f"{book['topSellOffer']:,.1f}"
assert reply == f"**INK_SACK:3** sells for {buy_order} and costs {sell_offer} coins in the bazaar.", (reply, book)
# A side without orders has no price.
for verb, full, empty in [("sells for", "topBuyOrder", "topSellOffer"), ("costs", "topSellOffer", "topBuyOrder")]:
    reply, book = reply_and_book(service.one_sided(full, empty))
    assert reply == f"**{book['id']}** {verb} {book[full]:,.1f} coins in the bazaar.", (reply, book)
assert re.fullmatch(IN_AUCTIONS, discord_price.price("hyperion")), discord_price.price("hyperion")
for unknown in ("No such item", "COAL, WHEAT"):
    assert discord_price.price(unknown).endswith(" is neither in the bazaar nor in auctions."), unknown
# A market that fails costs only its own prices.
for path, replies in {
    "/v1/bazaar": {"HYPERION": IN_AUCTIONS, "INK_SACK:3": r"The prices cannot be read: status 500\."},
    "/v1/auctions": {"HYPERION": r"The prices cannot be read: status 500\.", "INK_SACK:3": r".* coins in the bazaar\."},
}.items():
    with service.without(path) as address, patch.dict(os.environ, BASE_URL=address):
        for item, expected in replies.items():
            assert re.fullmatch(expected, discord_price.price(item)), (path, discord_price.price(item))

names = {}
for cell in json.loads((FOLDER / "buying_hours.ipynb").read_text())["cells"]:
    if cell["cell_type"] == "code":
        exec("".join(cell["source"]), names)
assert names["by_hour"], "the candles have no hours"
