// The public files, which need no key: what the market shows to visitors without one, if the operator has switched them on.

/** The address of the public files, or `undefined`. */
export const FILES = document.querySelector("meta[name=files]")?.content.replace(/\/$/, "") || undefined;

/** The path of the prices of all products of the bazaar, of the lowest prices of all items in auctions, and of the last day of auctions. */
export const BAZAAR_PRICES = "v1/bazaar?mode=prices";
export const AUCTION_PRICES = "v1/auctions/prices";
export const AVERAGES = "v1/auctions/averages?window=1d";

/** A file of JSON, whose items `itemsOf` returns. Throws if it has no items. */
const json = (name, itemsOf) => ({
  name,
  read: async (response) => {
    const content = await response.json();
    return { lastUpdated: content.lastUpdated, items: itemsOf(content).filter((item) => item?.id) };
  },
});

const KNOWN = {
  [BAZAAR_PRICES]: json("bazaar.json", ({ items }) => items),
  [AUCTION_PRICES]: json("lowestbin.json", (prices) => Object.entries(prices).map(([id, lowest]) => ({ id: lowest > 0 && id, lowest }))),
};

const unpacked = (response) => new Response(response.body.pipeThrough(new DecompressionStream("gzip"))).text();

/** Returns the path of all candles of the day of UTC that starts then, in Unix milliseconds, as CSV. */
export const dayPath = (start) => `v1/bazaar/candles/all?interval=1d&opened_at=${new Date(start).toISOString().slice(0, 10)}T00:00:00Z&format=csv`;

/** Returns the file that has the data of this path: its `address`, and `read`, which returns the data of a response. Otherwise `undefined`. */
export const fileOf = (path) => {
  if (!FILES) return undefined;
  const day = /^v1\/bazaar\/candles\/all\?interval=1d&opened_at=(.{10})/.exec(path)?.[1];
  const file = day ? { name: `days/bazaar/${day}.csv.gz`, read: unpacked, isDay: true } : KNOWN[path];
  return file && { ...file, address: `${FILES}/${file.name}` };
};
