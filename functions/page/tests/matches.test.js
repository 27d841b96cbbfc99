// The search ranks matches, and forgives one typing error in a word.
import assert from "node:assert/strict";
import { test } from "node:test";

import { matches, searchable } from "../market/values/matches.js";

const finder = (items) => (text) => matches(items, text).map(({ id }) => id);

test("the search shows the best match first", () => {
  const ids = ["ENCHANTMENT_FIRE_ASPECT_10", "ENCHANTMENT_FIRE_ASPECT_2", "RED_DIAMOND", "DIAMOND_BLOCK", "DIAMOND", "XDIAMONDX", "COAL", "INK_SACK:3"];
  const names = { "INK_SACK:3": "Cocoa Beans", ENCHANTMENT_FIRE_ASPECT_2: "Fire Aspect II", ENCHANTMENT_FIRE_ASPECT_10: "Fire Aspect X" };
  const find = finder(searchable({ items: ids.map((id) => ({ id })) }, undefined, { items: Object.entries(names).map(([id, name]) => ({ id, name })) }));
  const levels = ["ENCHANTMENT_FIRE_ASPECT_2", "ENCHANTMENT_FIRE_ASPECT_10"];
  for (const [text, found] of [
    ["DiaMond", ["DIAMOND", "DIAMOND_BLOCK", "RED_DIAMOND", "XDIAMONDX"]],
    ["fire aspect", levels],
    ["asp fire", levels],
    ["beans", ["INK_SACK:3"]],
    ["ink_sack:3", ["INK_SACK:3"]],
    ["nothing", []],
    [" ", []],
    ["fire aspct", levels],
    ["Dimaond blok", ["DIAMOND_BLOCK"]],
    ["enchantment aspect x", ["ENCHANTMENT_FIRE_ASPECT_10"]],
    ["ink beans", ["INK_SACK:3"]],
    ["cool", ["COAL"]],
    ["coil x", []],
    ["col", []],
  ]) assert.deepEqual(find(text), found, text);
});

test("equal matches are ranked by volume, and an alias never matches exactly", () => {
  const volumes = {
    EGGS_BENEDICT: [9_000, 9_000], FLOUR: [0, 0], FLOUR_BAG: [2, 5], FLOUR_JAR: [4, 3], FLOUR_TIN: [60, 20], GSX: [4, 4], RYE_FLOUR: [800, 800],
  };
  const items = Object.entries(volumes).map(([id, [sellMovingWeek, buyMovingWeek]]) => ({ id, sellMovingWeek, buyMovingWeek }));
  const auctions = { items: [{ id: "FLOUR_MILL", listings: 41 }, { id: "GIANTS_SWORD", listings: 5 }] };
  const find = finder(searchable({ items }, auctions, { items: [{ id: "GIANTS_SWORD", name: "Giant's Sword", aliases: ["gs"] }] }));
  assert.deepEqual(find("flour"), ["FLOUR", "FLOUR_TIN", "FLOUR_MILL", "FLOUR_BAG", "FLOUR_JAR", "RYE_FLOUR"]);
  assert.deepEqual(find("gs"), ["GSX", "GIANTS_SWORD", "EGGS_BENEDICT"]);
});
