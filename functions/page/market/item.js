// An item: its prices now, its order book, and its past.
import { html } from "./htm-preact.js";
import { useResource } from "./api.js";
import { Failure } from "./failure.js";
import { coins, exactTime, integer, percent } from "./format.js";
import { ItemChart } from "./item-chart.js";
import { useNames } from "./names.js";
import { focusSearch } from "./search.js";
import { Skeleton } from "./skeleton.js";
import { useTitle } from "./title.js";

/** How many prices of each side of the order book are shown. */
const LEVELS = 8;

/** A value, or a place of its size until it is here. */
const Value = ({ isHere, children }) => (isHere ? children : html`<${Skeleton} length=${9} />`);

const Prices = ({ data, failure }) => {
  const isHere = Boolean(data);
  const tile = (label, value, note, side = "") => html`<div class=${`tile ${side}`}>
    <dt>${label}</dt><dd><${Value} isHere=${isHere}>${value}<//><small>${note}</small></dd></div>`;
  return html`<section class="card" aria-labelledby="prices">
    <h2 id="prices" class="hidden">Prices</h2>
    <dl class="tiles figures" aria-busy=${!isHere && !failure}>
      ${tile("Sell price", coins(data?.sellPrice), "you get for one, sold instantly", "sell")}
      ${tile("Buy price", coins(data?.buyPrice), "you pay for one, bought instantly", "buy")}
      ${tile("Spread", coins(data?.spread), `${percent(data?.spreadPercent)} of the sell price`)}
      ${tile("Buy orders", integer(data?.sellVolume), "items wanted")}
      ${tile("Sell offers", integer(data?.buyVolume), "items offered")}
      ${tile("Sold in 7 days", integer(data?.sellMovingWeek), "items, instantly")}
      ${tile("Bought in 7 days", integer(data?.buyMovingWeek), "items, instantly")}
    </dl>
  </section>`;
};

const Side = ({ title, side, orders }) => html`<table class=${side}>
  <caption>${title}</caption>
  <thead><tr><th scope="col">Price</th><th scope="col">Items</th><th scope="col">Orders</th></tr></thead>
  <tbody>${Array.from({ length: LEVELS }, (_, index) => {
    const order = orders?.[index];
    if (!order) return html`<tr class="blank"><td>${orders ? "\xa0" : html`<${Value} />`}</td><td></td><td></td></tr>`;
    return html`<tr><td>${coins(order.price)}</td><td>${integer(order.amount)}</td><td>${integer(order.orders)}</td></tr>`;
  })}</tbody>
</table>`;

const Book = ({ id }) => {
  const { data, failure } = useResource(`v1/bazaar?mode=book&id=${encodeURIComponent(id)}`);
  return html`<section class="card book" aria-labelledby="book">
    <h2 id="book">Order book</h2>
    ${failure && html`<${Failure} failure=${failure} stale=${Boolean(data)} />`}
    <div class="sides figures">
      <${Side} title="Buy orders" side="sell" orders=${data?.buyOrders} />
      <${Side} title="Sell offers" side="buy" orders=${data?.sellOffers} />
    </div>
    <p class="muted figures">As of ${exactTime(data?.lastUpdated)}</p>
  </section>`;
};

const Found = ({ id, name, parameters, resource: { data, failure } }) => {
  // With such a key all parts are missing for the same reason, and it is said once.
  if (!data && [401, 403].includes(failure?.status)) return html`<${Failure} failure=${failure} />`;
  return html`
    ${failure && html`<${Failure} failure=${failure} stale=${Boolean(data)} />`}
    <${Prices} data=${data} failure=${failure} />
    <div class="item">
      <${ItemChart} item=${id} name=${name} parameters=${parameters} />
      <${Book} id=${id} />
    </div>`;
};

/** The view of the item that the address names. */
export const Item = ({ parameters }) => {
  const id = parameters.item;
  const name = useNames()(id);
  const resource = useResource(`v1/bazaar?mode=item&id=${encodeURIComponent(id)}`);
  const isUnknown = resource.failure?.status === 404;
  useTitle(isUnknown ? "Unknown item" : name);
  if (isUnknown) {
    return html`<h1>Unknown item</h1>
      <p>The bazaar has no item with the id <code>${id}</code>. <button type="button" onClick=${focusSearch}>Search for an item</button></p>`;
  }
  return html`<div class="title"><h1>${name}</h1><code class="muted">${id}</code></div>
    <${Found} key=${id} id=${id} name=${name} parameters=${parameters} resource=${resource} />`;
};
