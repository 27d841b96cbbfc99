"""The Discord command `/price ITEM`: the price of an item in the bazaar, or else in auctions.

    pip install discord.py
    BASE_URL=… API_KEY=… DISCORD_TOKEN=… python discord_price.py
"""

import asyncio
import json
import os
import urllib.error
import urllib.parse
import urllib.request


def get(path, **query):
    """Returns the data of a response. Raises HTTPError."""
    url = f"{os.environ['BASE_URL']}{path}?{urllib.parse.urlencode(query)}"
    request = urllib.request.Request(url, headers={"X-API-Key": os.environ["API_KEY"]})
    with urllib.request.urlopen(request, timeout=15) as response:
        return json.load(response)["data"]


def price(item):
    """Returns the reply to `/price ITEM`. ITEM is an id such as `COAL`, `INK_SACK:3` or `GOLDEN_DRAGON;4`."""
    item = item.strip().upper().replace(" ", "_")
    try:
        product = get("/v1/bazaar", mode="items", ids=item)["items"]
        if product:
            return f"**{item}** sells for {product[0]['sellPrice']:,.1f} and costs {product[0]['buyPrice']:,.1f} coins in the bazaar."
        auction = get("/v1/auctions/prices", ids=item)["items"]
        if auction:
            return f"**{item}** costs {auction[0]['lowest']:,.0f} coins in auctions; {auction[0]['listings']} are listed."
        return f"**{item}** is neither in the bazaar nor in auctions."
    except urllib.error.HTTPError as error:
        # The API's error messages are written for people.
        return json.load(error)["error"]["message"]


def main():
    import discord

    client = discord.Client(intents=discord.Intents.default())
    tree = discord.app_commands.CommandTree(client)

    @tree.command(name="price", description="The price of an item")
    async def command(interaction: discord.Interaction, item: str):
        await interaction.response.send_message(await asyncio.to_thread(price, item))

    @client.event
    async def on_ready():
        await tree.sync()

    client.run(os.environ["DISCORD_TOKEN"])


if __name__ == "__main__":
    main()
