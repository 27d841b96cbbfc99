"""The Discord command `/price ITEM`: the price of an item in the bazaar, or else in auctions. ITEM is what players type.

    pip install discord.py
    BASE_URL=… API_KEY=… DISCORD_TOKEN=… python discord_price.py
"""

import asyncio
import http.client
import json
import os
import re
import time
import urllib.error
import urllib.parse
import urllib.request

LONGEST_ID = 64
# Names change once an hour.
KEPT_SECONDS = 3_600
# Names have Roman levels. Players type both.
LEVELS = dict(zip("i ii iii iv v vi vii viii ix x".split(), map(str, range(1, 11))))
kept = (0.0, [])


class Failed(Exception):
    """Why a request failed, in a sentence for people."""


def get(path, **query):
    """Returns the data of a response, or None if it is a 404. Raises Failed."""
    url = f"{os.environ['BASE_URL']}{path}?{urllib.parse.urlencode(query)}"
    request = urllib.request.Request(url, headers={"X-API-Key": os.environ["API_KEY"]})
    try:
        with urllib.request.urlopen(request, timeout=15) as response:
            return json.load(response)["data"]
    except urllib.error.HTTPError as error:
        if error.code == 404:
            return None
        try:
            # The API's error messages are written for people.
            raise Failed(json.load(error)["error"]["message"]) from None
        except (ValueError, KeyError, TypeError, OSError, http.client.HTTPException):
            raise Failed(f"The prices cannot be read: status {error.code}.") from None
    except (ValueError, KeyError, TypeError, OSError, http.client.HTTPException):
        raise Failed("The prices cannot be read. Try again later.") from None


def names():
    """Returns the names of all items, from memory if they were read in the last hour. Raises Failed."""
    global kept
    if time.monotonic() >= kept[0]:
        listed = get("/v1/names")
        kept = (time.monotonic() + KEPT_SECONDS, listed["items"] if listed else [])
    return kept[1]


def words(text):
    """Returns the words in lower case, with levels as digits: `Bank V` is `bank 5`."""
    return " ".join(LEVELS.get(word, word) for word in re.sub(r"[\W_]+", " ", text.lower().replace("'", "")).split())


def find(text):
    """Returns the item with this id, name, words of these, or short form such as `hyp`; None if nothing matches."""
    query = words(text)

    def rank(item):
        # A pet is called by its name without the tier.
        texts = [words(own) for own in (item["name"], item["name"].split(" (")[0], item["id"], *item.get("aliases", ()))]
        if item["id"] == text.upper() or query in texts[:2]:
            return 0
        if query in texts:
            return 1
        begins = all(f" {word}" in " " + " ".join(texts) for word in query.split())
        return 3 - any(own.startswith(query) for own in texts) if begins else 4

    found = [(rank(item), len(item["name"]), item["id"], number) for number, item in enumerate(names())] if query else []
    best = min(found, default=(4,))
    return names()[best[-1]] if best[0] < 4 else None


def in_bazaar(id, item):
    """Returns a sentence with the prices of the best orders, or None if the bazaar has no such product. Raises Failed."""
    book = get("/v1/bazaar", mode="book", id=id)
    if book is None:
        return None
    # A side without orders has no price.
    sides = {"sells for": book["topBuyOrder"], "costs": book["topSellOffer"]}
    prices = [f"{verb} {price:,.1f}" for verb, price in sides.items() if price is not None]
    return f"**{item}** {' and '.join(prices)} coins in the bazaar." if prices else f"**{item}** has no orders in the bazaar."


def in_auctions(id, item):
    """Returns a sentence with the lowest price, or None if no auction has the item. Raises Failed."""
    listed = get("/v1/auctions/prices", ids=id)
    if not listed or not listed["items"]:
        return None
    auction = listed["items"][0]
    return f"**{item}** costs {auction['lowest']:,.0f} coins in auctions; {auction['listings']} are listed."


def price(item):
    """Returns the reply to `/price ITEM`. ITEM is what players type: `cocoa beans`, `gdrag`, `bank 5`, or an id such as `INK_SACK:3`."""
    item = item.strip()[:LONGEST_ID]
    id = other_id = "_".join(item.upper().split())
    market = None
    try:
        found = find(item)
    except Failed:
        # Without the names, only ids are found.
        found = None
    if found:
        id, item, market = found["id"], found["name"], found["market"]
        other_id = found.get("other_id", id)
    reply = f"**{item}** is neither in the bazaar nor in auctions."
    for name, prices in (("bazaar", in_bazaar), ("auctions", in_auctions)):
        try:
            sentence = prices(id if market in (None, name) else other_id, item)
        except Failed as failure:
            # The other market may still have the item.
            reply = str(failure)
        else:
            if sentence:
                return sentence
    return reply


def main():
    import discord

    # An item with the name of a role notifies no one.
    client = discord.Client(intents=discord.Intents.default(), allowed_mentions=discord.AllowedMentions.none())
    tree = discord.app_commands.CommandTree(client)

    @tree.command(name="price", description="The price of an item")
    async def command(interaction: discord.Interaction, item: str):
        # Discord waits three seconds for a reply, but 15 minutes after `defer`.
        await interaction.response.defer()
        await interaction.followup.send(await asyncio.to_thread(price, item))

    @client.event
    async def on_ready():
        await tree.sync()

    client.run(os.environ["DISCORD_TOKEN"])


if __name__ == "__main__":
    main()
