// Watched items as a table: their present prices, and whether they have reached their targets.
import { html, useMemo, useState } from "../../vendor/htm-preact.js";
import { Link } from "./address.js";
import { useResource } from "../data/api.js";
import { AUCTION_PRICES, BAZAAR_PRICES } from "../data/files.js";
import { amount, coins, price } from "../values/format.js";
import { useKey } from "../data/key.js";
import { Skeleton } from "./skeleton.js";
import { Star } from "./star.js";
import { setTarget } from "../data/watched.js";

/** Returns the ids of the items in this market. */
export const listed = (items, isAuctions) => items.filter(({ market }) => (market === "auctions") === isAuctions).map(({ id }) => id);
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
    ...(bazaar.data?.items ?? []).map(({ id, topBuyOrder, topSellOffer }) => [id, { sell: topBuyOrder ?? undefined, buy: topSellOffer ?? undefined }]),
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
