// The items that a visitor watches, on this device: a star beside every name, and a target price for each.
import { html } from "./htm-preact.js";
import { kept } from "./kept.js";

/** How many items one request can have. */
export const MOST_WATCHED = 100;

/** Returns whether the value is an item: `{ id, market }`. */
export const isItem = (item) => typeof item?.id === "string" && /^\S{1,100}$/.test(item.id) && [undefined, "auctions"].includes(item.market);

const watched = kept("watched", (stored) => {
  const items = Array.isArray(stored) ? stored.filter(isItem) : [];
  return items.slice(0, MOST_WATCHED).map(({ id, market, target }) => ({ id, market, target: target > 0 ? Number(target) : undefined }));
});

/** Returns whether both are the same item of the same market. */
export const isSame = (one, other) => one.id === other.id && one.market === other.market;

/** Returns the watched items as `{ id, market, target }`: `market` is `auctions` or missing, and `target` a price in coins or missing. */
export const useWatched = watched.use;

/** Watches these items, too. */
export const watch = (items) => {
  const known = watched.read();
  watched.write([...known, ...items.filter((item) => isItem(item) && !known.some((other) => isSame(item, other)))].slice(0, MOST_WATCHED));
};

/** Watches the item no longer. */
export const unwatch = (item) => watched.write(watched.read().filter((other) => !isSame(item, other)));

/** Gives a watched item a target price in coins, or none if it is missing. */
export const setTarget = (item, target) => watched.write(watched.read().map((other) => (isSame(item, other) ? { ...other, target } : other)));

/** A star that watches the item or ends that. */
export const Star = ({ id, market, name }) => {
  const item = { id, market };
  const isWatched = useWatched().some((other) => isSame(item, other));
  return html`<button type="button" class="star" aria-pressed=${isWatched} aria-label=${`Watch ${name}`} title=${isWatched ? "Watched" : "Watch"}
    onClick=${() => (isWatched ? unwatch(item) : watch([item]))}>${isWatched ? "★" : "☆"}</button>`;
};
