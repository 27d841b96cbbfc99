// The requests, points, figures and labels of a chart are exact.
import assert from "node:assert/strict";
import { test } from "node:test";

import { labels } from "../market/views/item/past/axis.js";
import { BAZAAR, BAZAAR_AVERAGES } from "../market/views/item/past/markets.js";
import { spread } from "../market/views/item/past/paint.js";
import { collect, csv, partSource, rangeSource, rowsOf } from "../market/views/item/past/series.js";
import { summaryOf } from "../market/views/item/past/summary.js";
import { daysOf } from "../market/views/item/past/traded.js";

const MINUTE = 60_000;
const DAY = 1_440 * MINUTE;
const NOW = Date.parse("2026-11-22T15:30:00Z");

const queryOf = (path) => new URLSearchParams(path.split("?")[1]);

test("a part of a range comes from the finest candles that are kept", () => {
  for (const [from, to, name] of [
    [0.03, 0, "1h"], [1, 0.9, "5m"], [29, 28, "5m"], [12, 2, "30m"], [31, 30.5, "30m"], [200, 195, "1h"], [400, 390, "3h"], [1_200, 1_100, "1d"],
  ]) {
    const query = queryOf(partSource(BAZAAR_AVERAGES, "COAL", { from: NOW - from * DAY, to: NOW - to * DAY }, NOW).path);
    assert.equal(query.get("range") ?? query.get("interval"), name, `${from} to ${to} days ago`);
    assert.ok(Number(query.get("limit")) <= 502);
  }
});

// For each age of a deployment in days, the long ranges show at least as many prices as the shortest range that covers the age, and begin
// no later.
test("a long range shows all that a young deployment has", async () => {
  const steps = { "5m": 5 * MINUTE, "30m": 30 * MINUTE, "1h": 60 * MINUTE, "3h": 180 * MINUTE, "1d": DAY };
  const lengths = { "1h": [DAY / 24, MINUTE], "24h": [DAY, 5 * MINUTE], "7d": [7 * DAY, 30 * MINUTE], "30d": [30 * DAY, 60 * MINUTE], "90d": [90 * DAY, 180 * MINUTE] };
  const service = (age) => async (path) => {
    const query = queryOf(path);
    const slots = (step, from, to) => Array.from({ length: Math.max(Math.ceil(to / step) - Math.floor(from / step), 0) },
      (_, index) => new Date((Math.floor(from / step) + index) * step).toISOString());
    const price = { sell_price: 1, buy_price: 2, sell_close: 1, buy_close: 2 };
    if (query.has("range")) {
      const [length, step] = lengths[query.get("range")];
      return { history: slots(step, NOW - Math.min(length, age * DAY), NOW).map((time) => ({ ...price, recorded_at: time })) };
    }
    const before = Date.parse(query.get("before") ?? new Date(NOW).toISOString());
    const candles = slots(steps[query.get("interval")], NOW - age * DAY, Math.min(before, NOW));
    return { candles: candles.slice(-query.get("limit")).map((time) => ({ ...price, opened_at: time })), next_before: null };
  };
  const rowsAt = async (load, range) => {
    const source = rangeSource(BAZAAR, "COAL", range);
    const from = NOW - BAZAAR.ranges[range].length;
    const { rows, failure } = await collect({ market: BAZAAR, item: "COAL", source, from, to: NOW, data: await load(source.path), now: NOW, load });
    if (failure) throw failure;
    return rows;
  };
  for (const [age, range] of [[0.5, "24h"], [3, "7d"], [20, "30d"], [80, "90d"]]) {
    const expected = await rowsAt(service(age), range);
    for (const long of ["1y", "all"]) {
      const rows = await rowsAt(service(age), long);
      assert.ok(rows.length >= expected.length && rows[0].start <= expected[0].start, `${age} days, ${long}: ${rows.length} of ${expected.length}`);
    }
  }
});

test("a price of 0 is no price in the chart, and exact in the file", () => {
  const candle = (opened_at, close, low) => ({
    opened_at, sell_open: 7.25, sell_high: 8.5, sell_low: low, sell_close: close, buy_open: 9, buy_high: 9.75, buy_low: 9, buy_close: 9.5,
    sell_volume: 3, buy_volume: 4, samples: 5, complete: true,
  });
  const candles = [candle("2026-11-22T15:00:00Z", 7.5, 0), candle("2026-11-22T15:05:00Z", 0, 0)];
  const rows = rowsOf(BAZAAR_AVERAGES, { candles }, 5 * MINUTE, NOW);
  const shown = rows.map(({ sell, sellLow, sellHigh, buyLow }) => [sell, sellLow, sellHigh, buyLow].map((price) => price ?? null));
  assert.deepEqual(shown, [[7.5, 7.25, 8.5, 9], [null, null, null, 9]]);
  assert.deepEqual(csv(BAZAAR_AVERAGES, rows).split("\r\n"), [
    "time,seconds,sell_open,sell_high,sell_low,sell_close,buy_open,buy_high,buy_low,buy_close,sell_volume,buy_volume,samples,buy_order_high,buy_order_low,buy_order_close,sell_offer_high,sell_offer_low,sell_offer_close,sell_moving_week,buy_moving_week",
    "2026-11-22T15:00:00Z,300,7.25,8.5,0,7.5,9,9.75,9,9.5,3,4,5,,,,,,,,",
    "2026-11-22T15:05:00Z,300,7.25,8.5,0,0,9,9.75,9,9.5,3,4,5,,,,,,,,",
    "",
  ]);
});

test("labels of an axis are exact and differ, however small the part that is shown", () => {
  for (const [from, distance, ...expected] of [
    [0, 0.05, "0", "0.05", "0.10", "0.15"],
    [359.5, 0.01, "359.50", "359.51", "359.52", "359.53"],
    [57_900, 20, "57.90K", "57.92K", "57.94K", "57.96K"],
    [52_500, 2_500, "52.5K", "55.0K", "57.5K", "60.0K"],
    [1_039_000, 500, "1.0390M", "1.0395M", "1.0400M", "1.0405M"],
    [1_039_000, 250, "1.03900M", "1.03925M", "1.03950M", "1.03975M"],
    [2_000_000_000, 1_000_000, "2.000B", "2.001B", "2.002B", "2.003B"],
  ]) assert.deepEqual(labels([0, 1, 2, 3].map((index) => from + index * distance), distance), expected);
});

test("figures of a range and places of labels are exact", () => {
  const rows = [[null, 60], [100, 60], [140, 30], [120, 30], [null, 60]].map(([buy, step]) => ({ buy, buyLow: buy && buy - 5, step }));
  const { low, high, average, coins, change, place } = summaryOf(rows, "buy");
  // The last price, 120, is 25 above the lowest, 95. The highest price is 45 above the lowest: 25 / 45 is 56 %.
  assert.deepEqual([low, high, average, coins, Math.round(change), Math.round(place)], [95, 140, 115, 20, 20, 56]);
  assert.equal(summaryOf([], "buy"), null);
  for (const [wanted, places] of [[[50, 52, 10], [50, 60, 10]], [[98, 99, 97], [90, 100, 80]], [[-5, -6], [10, 0]]]) {
    assert.deepEqual(spread(wanted, 10, 0, 100), places);
  }
});

test("what was traded a day follows from the moving weeks", () => {
  const candles = (weeks) => weeks.map(([sold, bought], day) => ({
    opened_at: new Date(Date.UTC(2026, 10, day + 1)).toISOString(), sell_moving_week: sold, buy_moving_week: bought, complete: day < 11 }));
  const tradedOf = (days) => daysOf(days).map(({ sold, bought, traded }) => [sold, bought, traded]);
  const none = (count) => Array.from({ length: count }, () => [null, null, null]);
  // Ten items are sold a day, and twelve more on the tenth day. The second day has no candle, and the twelfth has not ended. No one knows
  // how many items were bought in the week before the third day.
  const weeks = [...Array.from({ length: 10 }, (_, day) => [70, day === 2 ? null : 7]), [82, 7], [82, 7]];
  assert.deepEqual(tradedOf(candles(weeks).filter((_, day) => day !== 1)), [...none(9), [22, null, null], ...none(1)]);
  assert.deepEqual(tradedOf(candles(Array.from({ length: 10 }, () => [70, 7]))), [...none(8), [10, 1, 11], [10, 1, 11]]);
});
