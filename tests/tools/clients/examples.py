#!/usr/bin/env python3
"""Runs the Discord command and the cells of the notebook in functions/examples against the service at BASE_URL.

    examples.py functions/examples
"""

import json
import re
import sys
from pathlib import Path

FOLDER = Path(sys.argv[1])
sys.path.insert(0, str(FOLDER))
import discord_price  # noqa: E402

reply = discord_price.price("ink_sack:3")
assert re.fullmatch(r"\*\*INK_SACK:3\*\* sells for [\d,.]+ and costs [\d,.]+ coins in the bazaar\.", reply), reply
names = {}
for cell in json.loads((FOLDER / "buying_hours.ipynb").read_text())["cells"]:
    if cell["cell_type"] == "code":
        exec("".join(cell["source"]), names)
assert names["by_hour"], "the candles have no hours"
