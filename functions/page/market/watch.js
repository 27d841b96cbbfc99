// The watch list: the present prices of the items with a star, and whether they have reached their targets. A link shares the items with
// another device or another player.
import { html, useMemo, useState } from "./htm-preact.js";
import { Link, address, show } from "./address.js";
import { useResource } from "./api.js";
import { Copy } from "./copy.js";
import { Failure } from "./failure.js";
import { AUCTION_PRICES, BAZAAR_PRICES } from "./files.js";
import { amount, coins, price } from "./format.js";
import { useKey } from "./key.js";
import { useNames, useProducts } from "./names.js";
import { Requests } from "./requests.js";
import { Skeleton } from "./skeleton.js";
import { useTitle } from "./title.js";
import { MOST_WATCHED, Star, isItem, setTarget, useWatched, watch } from "./watched.js";

const listed = (items, isAuctions) => items.filter(({ market }) => (market === "auctions") === isAuctions).map(({ id }) => id);
const joined = (ids) => ids.map(encodeURIComponent).join(",");

/**
 * Returns two paths, of the bazaar and of auctions, with the prices of these items. A path is `null` if the market has no item. Without a
 * key, a path is that of all prices of the market, which a public file has.
 */
const pathsOf = (items, key) => {
  const [products, auctions] = [listed(items, false), listed(items, true)];
  return [
    products.length ? (key ? `v1/bazaar?mode=items&ids=${joined(products)}` : BAZAAR_PRICES) : null,
    auctions.length ? (key ? `${AUCTION_PRICES}?ids=${joined(auctions)}` : AUCTION_PRICES) : null,
  ];
};

/** Returns `{ items, paths, failure }`: the items with their sell and buy prices, the requested paths, and the first failure. */
export const usePrices = (items) => {
  const paths = pathsOf(items, useKey());
  const [bazaar, auctions] = paths.map(useResource);
  const prices = useMemo(() => new Map([
    ...(bazaar.data?.items ?? []).map(({ id, sellPrice, buyPrice }) => [id, { sell: sellPrice || undefined, buy: buyPrice || undefined }]),
    ...(auctions.data?.items ?? []).map(({ id, lowest }) => [`auctions ${id}`, { buy: lowest }]),
  ]), [bazaar.data, auctions.data]);
  return {
    items: items.map((item) => ({ ...item, ...prices.get(item.market ? `auctions ${item.id}` : item.id), isHere: Boolean((item.market ? auctions : bazaar).data) })),
    paths: paths.filter(Boolean),
    failure: bazaar.failure ?? auctions.failure,
  };
};

/** The field of a target. Typed text stays while prices arrive, and changes the target only if it is an amount. */
const Target = ({ item, name }) => {
  const [problem, setProblem] = useState("");
  const set = ({ target }) => {
    const value = target.value.trim() ? amount(target.value) : undefined;
    const isAmount = value === undefined || (value > 0 && Number.isFinite(value));
    setProblem(isAmount ? "" : "An amount of coins, such as 250000, 80m or 1.5b");
    if (isAmount) setTarget(item, value);
  };
  return html`<input key=${item.target} inputmode="decimal" autocomplete="off" placeholder="such as 80m" aria-label=${`Target price of ${name}`}
    aria-invalid=${problem !== ""} title=${problem} defaultValue=${item.target ? coins(item.target) : ""} onChange=${set} />
    ${problem && html`<small class="failure" role="alert">${problem}</small>`}`;
};

const Row = ({ item, name, hasTargets }) => {
  const value = (number) => (item.isHere ? price(number ?? NaN) : html`<${Skeleton} length=${7} />`);
  const isReached = item.buy <= item.target;
  return html`<tr role="row">
    <th role="rowheader" scope="row"><${Star} ...${item} name=${name} /><${Link} view=${{ item: item.id, market: item.market }}>${name}</${Link}>
      ${" "}<small class="badge">${item.market ? "Auctions" : "Bazaar"}</small></th>
    <td role="cell" data-label="You get">${item.market ? "–" : value(item.sell)}</td>
    <td role="cell" data-label="You pay">${value(item.buy)}</td>
    ${hasTargets && html`<td role="cell" data-label="Target: pay at most"><${Target} item=${item} name=${name} /></td>
      <td role="cell" data-label="Reached">${isReached ? html`<span class="good">✓ Reached</span>` : item.target ? "Not yet" : "–"}</td>`}
  </tr>`;
};

/** The items as a table. */
export const WatchTable = ({ items, nameOf, hasTargets }) => html`<div class="scroll"><table role="table" class="cards">
  <thead role="rowgroup"><tr role="row">${["Item", "You get", "You pay", ...(hasTargets ? ["Target: pay at most", "Reached"] : [])].map((label) => html`
    <th role="columnheader" scope="col">${label}</th>`)}</tr></thead>
  <tbody role="rowgroup">${items.map((item) => html`<${Row} key=${`${item.market} ${item.id}`} item=${item} name=${nameOf(item.id)} hasTargets=${hasTargets} />`)}</tbody>
</table></div>`;

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
  const nameOf = useNames(useProducts());
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
        <p class="muted">The bazaar shows averages of its best orders, auctions their lowest price. A target is reached at or below it.</p>
        <div class="foot">${carried.length > 0 ? html`<button type="button" class="primary" onClick=${take}>Watch all of them</button>
            <${Link} view=${{ view: "watch" }}>Your own list</${Link}>` : html`<${Copy} label="Copy link to this list" textOf=${linkOf} />`}
          <${Requests} paths=${paths} /></div>`}
    </section>`;
};
