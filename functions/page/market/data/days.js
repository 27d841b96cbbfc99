// The closing best sell offers of all products on the last eight whole days in UTC. Days never change, so the browser keeps them.
import { useEffect, useState } from "../../vendor/htm-preact.js";
import { load } from "./api.js";
import { present } from "./clock.js";
import { DAYS, FILES, candlesPath } from "./files.js";
import { watchKey } from "./key.js";

const DAY = 86_400_000;

/** The number of closing prices: a change over seven days needs eight. */
const COUNT = 8;

/** The time after the end of a day until its file is written, in milliseconds. */
const LATE = 7_200_000;

/** The order in which the days are requested. Day 0 is the oldest. The newest and the oldest day come first, because changes need them. */
const ORDER = [7, 0, 6, 5, 4, 3, 2, 1];

/** Returns the closing prices of the best sell offers by product, from the CSV of an interval. */
export const closesOf = (csv) => {
  const [head, ...lines] = csv.split("\n").map((line) => line.split(","));
  const [id, close] = ["item_id", "sell_offer_close"].map((name) => head.indexOf(name));
  return new Map(lines.filter((line) => Number(line[close]) > 0).map((line) => [line[id], Number(line[close])]));
};

/** The closing prices of each day, by its start. They are forgotten when the key changes, because another key may see more. */
const known = new Map();
watchKey(() => known.clear());

/** Resolves when the tab is visible. */
const shown = () =>
  new Promise((resolve) => {
    if (document.hidden) document.addEventListener("visibilitychange", () => resolve(shown()), { once: true });
    else resolve();
  });

/** Returns the days that have candles, in the order of their requests. Without the list of such days, every day may have some. */
const recorded = async (starts) => {
  const listed = FILES && (await load(DAYS).catch(() => undefined));
  return ORDER.map((index) => starts[index]).filter((start) => !listed || listed.includes(start));
};

/**
 * Requests the days one after the other, because a key has a rate limit, and calls `announce` after each. If the oldest day has no candles,
 * the service is young, and days before the first one without candles are not requested.
 */
const request = async (starts, isWanted, announce) => {
  const days = await recorded(starts);
  if (!days.length && isWanted()) announce();
  let isYoung = false;
  for (const start of days) {
    while (isWanted() && !known.has(start)) {
      await shown();
      try {
        known.set(start, closesOf(await load(candlesPath("1d", start))));
      } catch (failure) {
        // Nothing was recorded on that day, or its candles are not written yet. The next view tries again.
        if (failure.status === 404) {
          if (isYoung) return;
          isYoung = start === starts[0];
          break;
        }
        // The key is refused. The request for the prices reports this.
        if (!Number.isFinite(failure.retryAt)) return;
        await new Promise((resolve) => setTimeout(resolve, Math.max(failure.retryAt - Date.now(), 1_000)));
      }
    }
    if (isWanted()) announce();
  }
};

/**
 * Returns `{ closesOf, midnight, isLoading }`. `closesOf` is a function from a product to its eight closing prices, oldest first, each a
 * number or `undefined`. `midnight` is the end of the last day in Unix milliseconds. `isLoading` says that the first request has not ended.
 * Renders again as the days arrive.
 */
export const useDays = () => {
  const midnight = Math.floor((present() - LATE) / DAY) * DAY;
  const [state, set] = useState(null);
  useEffect(() => {
    let isWanted = true;
    const starts = Array.from({ length: COUNT }, (_, index) => midnight - (COUNT - index) * DAY);
    for (const start of known.keys()) if (!starts.includes(start)) known.delete(start);
    request(starts, () => isWanted, () => set({ midnight, closesOf: (id) => starts.map((start) => known.get(start)?.get(id)) }));
    return () => {
      isWanted = false;
    };
  }, [midnight]);
  return state ?? { midnight, closesOf: () => [], isLoading: true };
};
