// The minister of a mayor, and the changes of prices in a mayor's terms.
import assert from "node:assert/strict";
import { test } from "node:test";

import { ministerOf } from "../market/values/election.js";
import { movesOf, pathBefore } from "../market/views/mayor/changes.js";

test("the minister came second, and a special mayor has none", () => {
  const candidate = (name, votes, minister) => ({ name, votes, perks: [null, { name: "First" }, { name, minister }] });
  const election = ([cole, paul, diana], isSpecial) =>
    ({ candidates: [candidate("Cole", cole, true), candidate("Paul", paul, !isSpecial), candidate("Diana", diana, true)] });
  const minister = ministerOf(election([20, 30, 10], false));
  assert.deepEqual([minister.name, minister.perk.name], ["Cole", "Cole"]);
  for (const none of [election([20, 30, 10], true), election([null, null, null], false), {}]) assert.equal(ministerOf(none), null);
});

test("moves are the medians over the terms of what is traded enough", () => {
  // Prices by day: for each of three terms, the day before the term and the term's last day. A single number is the price of both sides.
  const prices = {
    D: [[200, 300], 300, 250, 300, 250, 300], RISING: [[900, 1_100], 5_000, 1_000, 1_200, 1_000, 1_100],
    FALLING: [1_000, 500, 1_000, 900, 1_000, 950],
    SAME: [500, 500, 500, 500, 500, 500], CHEAP: [99, 990, 99, 990, 99, 990], WIDE: [[100, 151], 900, 100, 900, 100, 900],
    EMPTY: [[500, 0], 900, 500, 900, 500, 900], NEW: [null, 900, 500, 900, 500, 900],
    E: [100, 119, 100, 119, 100, 119], F: [100, 118, 100, 118, 100, 118], G: [100, 117, 100, 117, 100, 117], H: [100, 116, 100, 116, 100, 116],
  };
  const terms = [[0, 1], [2, 3], [4, 5]].map((days) => days.map((day) => Object.entries(prices)
    .filter(([, each]) => each[day])
    .map(([item_id, each]) => ({ item_id, buy_order_close: each[day][0] ?? each[day], sell_offer_close: each[day][1] ?? each[day] }))));
  const round = (moves) => moves.map(({ id, change }) => [id, Math.round(change * 10) / 10]);
  for (const [count, rises, falls] of [
    [3, [["D", 20], ["RISING", 20], ["E", 19], ["F", 18], ["G", 17]], [["FALLING", -10]]],
    [2, [["RISING", 210], ["D", 20], ["E", 19], ["F", 18], ["G", 17]], [["FALLING", -30]]],
    [0, [], []],
  ]) {
    const moves = movesOf(terms.slice(0, count));
    assert.deepEqual([round(moves.rises), round(moves.falls)], [rises, falls], `${count} terms`);
  }
});

test("the day before a term is the last whole day in UTC", () => {
  for (const [time, day] of [["2026-11-15T11:15:00Z", "14"], ["2026-11-16T00:00:00Z", "15"], ["2026-11-15T23:59:59Z", "14"]]) {
    assert.equal(new URLSearchParams(pathBefore(time).split("?")[1]).get("opened_at"), `2026-11-${day}T00:00:00Z`, time);
  }
});
