// The items that a visitor has opened from the search, on this device.
import { kept } from "./kept.js";
import { isItem, isSame } from "./watched.js";

/** The number of items that are kept. */
const MOST_RECENT = 8;

const recent = kept("recent", (stored) => (Array.isArray(stored) ? stored.filter(isItem).slice(0, MOST_RECENT) : []));

/** Returns the items as `{ id, market }`, the latest first. */
export const useRecent = recent.use;

/** Keeps the item as the latest. */
export const remember = ({ id, market }) => {
  const others = recent.read().filter((other) => !isSame(other, { id, market }));
  recent.write([{ id, market }, ...others].slice(0, MOST_RECENT));
};
