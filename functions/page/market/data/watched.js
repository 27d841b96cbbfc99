// The items that a visitor watches, on this device, with a target price for each.
import { kept } from "./kept.js";

/** The most items that one request can have. */
export const MOST_WATCHED = 100;

/** Returns whether the value is an item: `{ id, market }`. Ids have at most 64 characters in the API, and no commas, which separate them in lists. */
export const isItem = (item) =>
  typeof item?.id === "string" && /^[^\s,]{1,64}$/.test(item.id) && item.id.isWellFormed() && [undefined, "auctions"].includes(item.market);

const watched = kept("watched", (stored) => {
  const items = Array.isArray(stored) ? stored.filter(isItem) : [];
  return items.slice(0, MOST_WATCHED).map(({ id, market, target }) => ({ id, market, target: target > 0 ? Number(target) : undefined }));
});

/** Returns whether both are the same item in the same market. */
export const isSame = (one, other) => one.id === other.id && one.market === other.market;

/** Returns the watched items as `{ id, market, target }`: `market` is `auctions` or missing, and `target` a price in coins or missing. */
export const useWatched = watched.use;

/** Adds these items to the watched ones, up to the most that are watched. */
export const watch = (items) => {
  const known = watched.read();
  watched.write([...known, ...items.filter((item) => !known.some((other) => isSame(item, other)))].slice(0, MOST_WATCHED));
};

/** Stops watching the item. */
export const unwatch = (item) => watched.write(watched.read().filter((other) => !isSame(item, other)));

/** Sets the target price of a watched item, in coins, or removes it if `target` is missing. */
export const setTarget = (item, target) => watched.write(watched.read().map((other) => (isSame(item, other) ? { ...other, target } : other)));
