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

IN_AUCTIONS = r"\*\*Hyperion\*\* costs [\d,]+ coins in auctions; \d+ are listed\."


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
assert reply == f"**Cocoa Beans** sells for {buy_order} and costs {sell_offer} coins in the bazaar.", (reply, book)
# A side without orders has no price.
for verb, full, empty in [("sells for", "topBuyOrder", "topSellOffer"), ("costs", "topSellOffer", "topBuyOrder")]:
    reply, book = reply_and_book(service.one_sided(full, empty))
    assert reply.endswith(f"** {verb} {book[full]:,.1f} coins in the bazaar."), (reply, book)
# What players type: names, ids and short forms.
for typed, expected in {
    "hyperion": IN_AUCTIONS,
    "hyp": IN_AUCTIONS,
    "gdrag": r"\*\*Golden Dragon \(Legendary\)\*\* costs .* in auctions; .*",
    "Golden dragon": r"\*\*Golden Dragon \(Legendary\)\*\* costs .* in auctions; .*",
    "bank 5": r"\*\*Bank V\*\* .* in the bazaar\.",
    "cocoa beans": r"\*\*Cocoa Beans\*\* .* in the bazaar\.",
    "elder owl shard": r"\*\*Elder Owl Shard\*\* .* in the bazaar\.",
}.items():
    assert re.fullmatch(expected, discord_price.price(typed)), (typed, discord_price.price(typed))
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

# Without names, ids are found.
discord_price.kept = (0.0, [])
with service.without("/v1/names") as address, patch.dict(os.environ, BASE_URL=address):
    assert discord_price.price("ink_sack:3").startswith("**ink_sack:3** "), discord_price.price("ink_sack:3")

names = {}
for cell in json.loads((FOLDER / "buying_hours.ipynb").read_text())["cells"]:
    if cell["cell_type"] == "code":
        exec("".join(cell["source"]), names)
assert names["by_hour"], "the candles have no hours"
