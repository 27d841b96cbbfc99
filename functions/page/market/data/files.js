// The public files, which require no key. The market shows them to visitors without a key, if the operator has switched them on.
import { iso } from "../values/format.js";

/** The address of the public files, or `undefined`. */
export const FILES = document.querySelector("meta[name=files]")?.content.replace(/\/$/, "") || undefined;

/** The starts of the days with candles in Unix milliseconds, which only a public file has. */
export const DAYS = "days/index.json";

/** The paths of all prices in the bazaar, of all lowest prices in auctions, of the averages of auctions over the last day, and of all names. */
export const BAZAAR_PRICES = "v1/bazaar?mode=prices";
export const AUCTION_PRICES = "v1/auctions/prices";
export const AVERAGES = "v1/auctions/averages?window=1d";
export const NAMES = "v1/names";

/** A JSON file. `itemsOf` returns its items. Reading throws if it has no items. */
const json = (name, itemsOf) => ({
  name,
  read: async (response) => {
    const content = await response.json();
    return { lastUpdated: content.lastUpdated, items: itemsOf(content).filter((item) => item?.id) };
  },
});

const KNOWN = {
  [DAYS]: { name: DAYS, read: async (response) => (await response.json()).bazaar.map((day) => Date.parse(day)) },
  [BAZAAR_PRICES]: json("bazaar.json", ({ items }) => items),
  [NAMES]: json("names.json", ({ items }) => items),
  [AUCTION_PRICES]: json("lowestbin.json", (prices) => Object.entries(prices).map(([id, lowest]) => ({ id: lowest > 0 && id, lowest }))),
};

const unpacked = (response) => new Response(response.body.pipeThrough(new DecompressionStream("gzip"))).text();

/** Returns the path of all candles of an interval as CSV. `start` is in Unix milliseconds. Only the files of whole days are public. */
export const candlesPath = (interval, start) => `v1/bazaar/candles/all?interval=${interval}&opened_at=${iso(start)}&format=csv`;

/** Returns the file with the data of this path, or `undefined`: its `address`, and `read`, which returns the data of a response. */
export const fileOf = (path) => {
  if (!FILES) return undefined;
  const day = /^v1\/bazaar\/candles\/all\?interval=1d&opened_at=(.{10})/.exec(path)?.[1];
  const file = day ? { name: `days/bazaar/${day}.csv.gz`, read: unpacked, isDay: true } : KNOWN[path];
  return file && { ...file, address: `${FILES}/${file.name}` };
};
