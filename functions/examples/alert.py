"""Posts to a Discord webhook when the price of an item crosses a bound.

    BASE_URL=… API_KEY=… DISCORD_WEBHOOK=… python alert.py watched.json

watched.json lists items, such as {"id": "INK_SACK:3", "below": 300, "above": 450} or {"id": "HYPERION", "market": "auctions", "below": 8e8}, at
most 100 of each market. `below` is about the price of a purchase now, `above` about that of a sale. watched.json.sent keeps the sent bounds.
"""

import json
import os
import sys
import time
import urllib.parse
import urllib.request
from email.utils import parsedate_to_datetime
from pathlib import Path

MARKETS = {  # The path of each market, the price of each bound, and the seconds after which the provider can have new prices.
    "bazaar": ("/v1/bazaar?mode=items&", {"below": "topSellOffer", "above": "topBuyOrder"}, 20),
    "auctions": ("/v1/auctions/prices?", {"below": "lowest"}, 60),
}


def fetch(url, body=None, **headers):
    """Returns the headers and the JSON of a response. The JSON is None if the response is empty."""
    headers |= {"Content-Type": "application/json", "User-Agent": "price-alert"}
    with urllib.request.urlopen(urllib.request.Request(url, body, headers), timeout=15) as response:
        return response.headers, json.loads(response.read() or "null")


def check(market, watched, sent, due):
    """Posts the bounds that are crossed and not in `sent`, and updates `sent`. Sets in `due` when the prices can have changed."""
    path, fields, refresh = MARKETS[market]
    items = [item for item in watched if item.get("market", "bazaar") == market]
    ids = urllib.parse.urlencode({"ids": ",".join(sorted({item["id"] for item in items})[:100])})  # The most ids of a request.
    headers, response = fetch(f"{os.environ['BASE_URL']}{path}{ids}", **{"X-API-Key": os.environ["API_KEY"]})
    # Both times are the service's, so the clock of this machine does not matter.
    fresh = (parsedate_to_datetime(headers["Expires"]) - parsedate_to_datetime(headers["Date"])).total_seconds()
    due[market] = time.monotonic() + max(refresh, fresh)
    prices = {item["id"]: item for item in response["data"]["items"]}
    for item, side in ((item, side) for item in items for side in fields if side in item):
        price, bound, name = prices.get(item["id"], {}).get(fields[side]), item[side], f"{market} {item['id']} {side} {item[side]}"
        if price is None or not (price < bound if side == "below" else price > bound):
            sent.discard(name)
        elif name not in sent:
            text = f"**{item['id']}** is {side} {bound:,.1f} coins in {market}: {price:,.1f}."
            fetch(os.environ["DISCORD_WEBHOOK"], json.dumps({"content": text, "allowed_mentions": {"parse": []}}).encode())
            sent.add(name)


def main(file):
    watched, memory, new = json.loads(Path(file).read_text()), Path(f"{file}.sent"), Path(f"{file}.new")
    sent = set(json.loads(memory.read_text())) if memory.exists() else set()
    due = {market: 0.0 for market in MARKETS if any(item.get("market", "bazaar") == market for item in watched)}
    while True:
        market = min(due, key=due.get)
        time.sleep(max(0.0, due[market] - time.monotonic()))
        try:
            check(market, watched, sent, due)
        except Exception as failure:  # Whatever fails, the next check may succeed.
            retry = str((getattr(failure, "headers", None) or {}).get("Retry-After"))
            due[market] = max(due[market], time.monotonic() + (float(retry) if retry.isdigit() else 60))
            # The text of a failure can contain the address of the webhook.
            print(f"{market}: {type(failure).__name__} {getattr(failure, 'code', '')}", file=sys.stderr, flush=True)
        new.write_text(json.dumps(sorted(sent)))
        new.replace(memory)


if __name__ == "__main__":
    main(sys.argv[1])
