// The watch list: the present prices of the items with a star, and whether they have reached their targets. A link shares the items with
// another device or another player.
import { html } from "../../vendor/htm-preact.js";
import { Link, address, show, useTitle } from "../parts/address.js";
import { Copy } from "../parts/copy.js";
import { Failure } from "../parts/failure.js";
import { useNames } from "../data/names.js";
import { Requests } from "../parts/requests.js";
import { WatchTable, listed, usePrices } from "../parts/watch-table.js";
import { MOST_WATCHED, isItem, useWatched, watch } from "../data/watched.js";

/** Returns the items in the address. */
const itemsOf = ({ ids, auctions }) => {
  const list = (text, market) => [...new Set((text ?? "").split(","))].map((id) => ({ id, market })).filter(isItem);
  return [...list(ids), ...list(auctions, "auctions")];
};

/** The view of the watch list, or of the items of a link. */
export const Watch = ({ parameters }) => {
  useTitle("Watched");
  const own = useWatched();
  const all = itemsOf(parameters);
  const carried = all.slice(0, MOST_WATCHED);
  const { items, paths, failure } = usePrices(carried.length ? carried : own);
  const nameOf = useNames();
  const linkOf = () => new URL(address({ view: "watch", ids: listed(own, false).join(","), auctions: listed(own, true).join(",") }), location.href).href;
  const take = () => {
    watch(carried);
    show({ view: "watch" });
  };
  return html`<h1>${carried.length ? "Shared items" : "Watched items"}</h1>
    <section class="card listing watching">
      ${failure && html`<${Failure} failure=${failure} stale=${items.some(({ isHere }) => isHere)} />`}
      ${all.length > MOST_WATCHED && html`<p>The link carries ${all.length} items. These are the first ${MOST_WATCHED}.</p>`}
      ${!items.length && html`<p>Nothing is watched yet. Press the star ☆ beside the name of an item; the list stays on this device.</p>`}
      ${items.length > 0 && html`<${WatchTable} items=${items} nameOf=${nameOf} hasTargets=${!carried.length} />
        <p class="muted">The bazaar shows its best orders, auctions their lowest price. A target is reached at or below it.</p>
        <div class="foot">${carried.length > 0 ? html`<button type="button" class="primary" onClick=${take}>Watch all of them</button>
            <${Link} view=${{ view: "watch" }}>Your own list</${Link}>` : html`<${Copy} label="Copy link to this list" textOf=${linkOf} />`}
          <${Requests} paths=${paths} /></div>`}
    </section>`;
};
