// The star beside the name of an item.
import { html } from "../../vendor/htm-preact.js";
import { focusView } from "./address.js";
import { MOST_WATCHED, isSame, unwatch, useWatched, watch } from "../data/watched.js";

/** A star that starts or stops watching the item. */
export const Star = ({ id, market, name }) => {
  const item = { id, market };
  const all = useWatched();
  const isWatched = all.some((other) => isSame(item, other));
  const isFull = !isWatched && all.length >= MOST_WATCHED;
  const title = isWatched ? "Watched" : isFull ? `You watch ${MOST_WATCHED} items, the most that one request can have` : "Watch";
  const toggle = () => {
    if (!isWatched) return watch([item]);
    unwatch(item);
    // In the list itself, the row is gone, and with it the star that had the focus.
    return requestAnimationFrame(() => document.activeElement === document.body && focusView());
  };
  return html`<button type="button" class="star" aria-pressed=${isWatched} aria-label=${`Watch ${name}`} title=${title} aria-disabled=${isFull}
    onClick=${toggle}>${isWatched ? "★" : "☆"}</button>`;
};
