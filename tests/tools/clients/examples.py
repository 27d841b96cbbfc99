#!/usr/bin/env python3
"""Runs the Discord command and the cells of the notebook in functions/examples against the service at BASE_URL.

    examples.py functions/examples
"""

import contextlib
import io
import json
import re
import sys
from pathlib import Path

FOLDER = Path(sys.argv[1])

sys.path.insert(0, str(FOLDER))
import discord_price  # noqa: E402

for item, expected in {
    "ink_sack:3": r"\*\*INK_SACK:3\*\* sells for [\d,.]+ and costs [\d,.]+ coins in the bazaar\.",
    "Golden Dragon;4": r"\*\*GOLDEN_DRAGON;4\*\* costs [\d,]+ coins in auctions; \d+ are listed\.",
    "no such item": r"\*\*NO_SUCH_ITEM\*\* is neither in the bazaar nor in auctions\.",
    "a,": r"Parameter 'ids' must be .*",
}.items():
    reply = discord_price.price(item)
    assert re.fullmatch(expected, reply), reply
    print(f"Discord: {reply}")

output, names = io.StringIO(), {}
with contextlib.redirect_stdout(output):
    for cell in json.loads((FOLDER / "buying_hours.ipynb").read_text())["cells"]:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), names)
summary, *hours = output.getvalue().splitlines()
assert re.match(r"\d+ candles from ", summary), summary
assert hours and all(re.fullmatch(r"\d\d:00 +[\d,.]+ +[+-][\d.]+%", hour) for hour in hours), hours
print(f"Notebook: {summary}, {len(hours)} hours of the day")
