"""The Discord command `/price ITEM`: the price of an item in the bazaar, or else in auctions.

    pip install discord.py
    BASE_URL=… API_KEY=… DISCORD_TOKEN=… python discord_price.py
"""

import asyncio
import http.client
import json
import os
import urllib.error
import urllib.parse
import urllib.request

LONGEST_ID = 64


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


def in_bazaar(item):
    """Returns a sentence with the prices of the best orders, or None if the bazaar has no such product. Raises Failed."""
    book = get("/v1/bazaar", mode="book", id=item)
    if book is None:
        return None
    # A side without orders has no price.
    sides = {"sells for": book["topBuyOrder"], "costs": book["topSellOffer"]}
    prices = [f"{verb} {price:,.1f}" for verb, price in sides.items() if price is not None]
    return f"**{item}** {' and '.join(prices)} coins in the bazaar." if prices else f"**{item}** has no orders in the bazaar."


def in_auctions(item):
    """Returns a sentence with the lowest price, or None if no auction has the item. Raises Failed."""
    listed = get("/v1/auctions/prices", ids=item)
    if not listed or not listed["items"]:
        return None
    auction = listed["items"][0]
    return f"**{item}** costs {auction['lowest']:,.0f} coins in auctions; {auction['listings']} are listed."


def price(item):
    """Returns the reply to `/price ITEM`. ITEM is an id such as `COAL`, `INK_SACK:3` or `GOLDEN_DRAGON;4`, or an English name."""
    item = "_".join(item.upper().split())[:LONGEST_ID]
    reply = f"**{item}** is neither in the bazaar nor in auctions."
    for market in (in_bazaar, in_auctions):
        try:
            found = market(item)
        except Failed as failure:
            # The other market may still have the item.
            reply = str(failure)
        else:
            if found:
                return found
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
