#!/usr/bin/env python3
"""Prints the lowest prices of a captured page of auctions, independently of the service: with its own reader of NBT, and with the
rules for item ids of functions/README.md.

    python3 lowest.py CAPTURE > lowest.tsv

The columns are the id, the lowest price of one item and the second lowest in hundredths of a coin, the number of listings, and the
auction of the lowest price; of several, the one with the smallest id.
"""

import base64
import gzip
import json
import re
import struct
import sys

NUMBERS = {1: ">b", 2: ">h", 3: ">i", 4: ">q", 5: ">f", 6: ">d"}
ARRAYS = {7: 1, 11: 4, 12: 8}
TIERS = ["COMMON", "UNCOMMON", "RARE", "EPIC", "LEGENDARY", "MYTHIC"]


class Nbt:
    """Reads NBT: https://minecraft.wiki/w/NBT_format."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def number(self, form):
        (number,) = struct.unpack_from(form, self.data, self.at)
        self.at += struct.calcsize(form)
        return number

    def text(self):
        length = self.number(">H")
        self.at += length
        # Modified UTF-8: a character above U+FFFF is a pair of surrogates.
        return self.data[self.at - length : self.at].decode("utf-8", "surrogatepass")

    def value(self, kind):
        if kind in NUMBERS:
            return self.number(NUMBERS[kind])
        if kind in ARRAYS:
            self.at += self.number(">i") * ARRAYS[kind]
            return None
        if kind == 8:
            return self.text()
        if kind == 9:
            kind = self.number(">b")
            return [self.value(kind) for _ in range(self.number(">i"))]
        members = {}
        while (kind := self.number(">b")) != 0:
            name = self.text()
            members[name] = self.value(kind)
        return members

    def root(self):
        self.number(">b")
        self.text()
        return self.value(10)


def only(members):
    """The only member in capital letters, and its value."""
    ((name, value),) = (members or {}).items()
    return name.upper(), value


def ids(attributes, name):
    """The ids that an item counts under; none for a book of several enchantments."""
    item = attributes["id"].upper()
    if item == "PET":
        pet = json.loads(attributes["petInfo"])
        key = f"{pet['type']};{TIERS.index(pet['tier'])}"
        level = int(re.search(r"\[Lvl (\d+)\]", re.sub("§.", "", name))[1])
        return [key] + [f"{key}+{level // 100 * 100}"] * (level >= 100)
    if item in ("RUNE", "UNIQUE_RUNE"):
        rune, level = only(attributes.get("runes"))
        return [f"{rune}_RUNE;{level}"]
    if item == "ENCHANTED_BOOK":
        enchantments = attributes.get("enchantments") or {}
        return ["{};{}".format(*only(enchantments))] if len(enchantments) == 1 else []
    if item == "ATTRIBUTE_SHARD":
        attribute, level = only(attributes.get("attributes"))
        return [f"ATTRIBUTE_SHARD_{attribute};{level}"]
    if item == "POTION":
        potion = attributes.get("potion_name") or attributes.get("potion")
        if potion:
            return [f"POTION_{potion.upper().replace(' ', '_')};{attributes['potion_level']}"]
        return ["POTION_" + attributes["potion_type"].upper() if "potion_type" in attributes else "WATER_BOTTLE"]
    if item.startswith("PARTY_HAT_CRAB"):
        animated = "_ANIMATED" if attributes.get("party_hat_year") == 2022 else ""
        return [f"PARTY_HAT_CRAB_{attributes['party_hat_color'].upper()}{animated}"]
    if item == "PARTY_HAT_SLOTH":
        return [f"{item}_{attributes['party_hat_emoji'].upper()}"]
    if re.fullmatch(r"(BALLOON|CAKE)_HAT_\d{4}", item):
        return [f"{item}_{attributes['party_hat_color'].upper()}", item]
    if item == "ABICASE":
        return [f"{item}_{attributes['model'].upper()}"]
    if item == "NEW_YEAR_CAKE":
        return [item, f"{item}+{attributes['new_years_cake']}"]
    key = item.replace(":", "-")
    return [key] + [f"{key}+PERFECT"] * (attributes.get("baseStatBoostPercentage") == 50)


def main():
    with open(sys.argv[1], encoding="utf-8") as capture:
        auctions = json.load(capture)["auctions"]
    prices = {}
    for auction in auctions:
        if auction.get("bin"):
            (item,) = Nbt(gzip.decompress(base64.b64decode(auction["item_bytes"]))).root()["i"]
            attributes, name = item["tag"]["ExtraAttributes"], item["tag"]["display"]["Name"]
            count = item["Count"]
            price = (auction["starting_bid"] * 200 + count) // (count * 2)
            for key in ids(attributes, name):
                prices.setdefault(key, []).append((price, auction["uuid"]))
    for key, auctions in sorted(prices.items()):
        auctions.sort()
        second = auctions[1][0] if len(auctions) > 1 else ""
        print(key, auctions[0][0], second, len(auctions), auctions[0][1], sep="\t")


main()
