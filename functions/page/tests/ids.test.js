// Names that are made of ids, and ids of auctions.
import assert from "node:assert/strict";
import { test } from "node:test";

import * as ids from "../market/values/ids.js";

/** Calls with their results. */
const CALLS = {
  nameOfId: [["ENCHANTMENT_FIRE_PROTECTION_2", "Enchantment Fire Protection 2"], ["SHARD_KING_COBRA", "King Cobra Shard"],
    ["EYE_OF_ENDER", "Eye of Ender"], ["GOLDEN_DRAGON;4+100", "Golden Dragon 4 100"], ["INK_SACK:3", "Ink Sack 3"], ["X", "X"],
    ["", "Unnamed item"], ["__", "Unnamed item"]],
  plain: [["§aGreen Goblin Egg", "Green Goblin Egg"], ["%%red%%Volcanic Rock", "Volcanic Rock"], ["\ue001", ""]],
  auctionIdOf: [["ENCHANTMENT_ULTIMATE_WISE_5", "ULTIMATE_WISE;5"], ["INK_SACK:3", "INK_SACK-3"]],
};

test("names are readable, and ids of auctions are right", () => {
  for (const [name, calls] of Object.entries(CALLS)) {
    for (const [value, text] of calls) assert.equal(ids[name](value), text, `${name}(${value})`);
  }
});
