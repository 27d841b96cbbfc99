// An item in the bazaar: its prices now, its order book, and its past.
import { html } from "../../../vendor/htm-preact.js";
import { Age, Standstill } from "../../parts/age.js";
import { WHOLE_CATALOGUE, known, useResource } from "../../data/api.js";
import { useReport } from "../../parts/failure.js";
import { count, exact, exactTime, integer, percent, price } from "../../values/format.js";
import { ItemChart } from "./past/item-chart.js";
import { BAZAAR, BAZAAR_AVERAGES } from "./past/markets.js";
import { Tile, Value } from "./tile.js";

/** The number of prices that each side of the order book shows. */
const LEVELS = 8;

const best = (top, none) => (top === null ? none : price(top));

/** The prices of instant trades, which are the prices of the best orders. */
const Best = ({ book }) => html`
  <${Tile} resource=${book} label="Best buy order" note="sold instantly" line="first">${best(book.data?.topBuyOrder, "No buy orders")}<//>
  <${Tile} resource=${book} label="Best sell offer" note="bought instantly" line="second">${best(book.data?.topSellOffer, "No sell offers")}<//>`;

/** The spread, volumes, and the provider's averages. */
const Prices = ({ id, item, book }) => {
  const { npc_sell_price: npc } = known(WHOLE_CATALOGUE)?.items.find((other) => other.id === id) ?? {};
  const tile = (resource, label, value, note) => html`<${Tile} resource=${resource} label=${label} note=${note}>${value}<//>`;
  const { topBuyOrder: sell, topSellOffer: buy, sellPrice, buyPrice } = book.data ?? {};
  const spread = sell && buy ? buy - sell : NaN;
  const hasSpread = Number.isFinite(spread);
  const share = hasSpread ? `${percent((spread / sell) * 100)} of the buy order` : book.data ? "needs both sides" : "of the buy order";
  const { sellVolume, buyVolume, sellMovingWeek, buyMovingWeek } = item.data ?? {};
  const isBusy = [item, book].some(({ data, failure }) => !data && !failure);
  return html`<section class="card" aria-labelledby="prices">
    <h2 id="prices" class="hidden">Prices</h2>
    <dl class="tiles figures" aria-busy=${isBusy}>
      ${tile(book, "Spread", price(spread), share)}
      ${tile(book, "Age of the prices", book.data ? html`<${Age} of=${book.data.lastUpdated} />` : "–", "of the best orders")}
      ${tile(item, "Buy orders", count(sellVolume), "items wanted")}
      ${tile(item, "Sell offers", count(buyVolume), "items offered")}
      ${tile(item, "Sold in 7 days", count(sellMovingWeek), "items, instantly")}
      ${tile(item, "Bought in 7 days", count(buyMovingWeek), "items, instantly")}
      ${tile(book, "Average sell price", price(sellPrice || NaN), "best 2 % of the volume")}
      ${tile(book, "Average buy price", price(buyPrice || NaN), "best 2 % of the volume")}
      ${npc > 0 && tile(book, "An NPC pays", price(npc), "for one")}
    </dl>
    <${Standstill} since=${book.data?.lastUpdated} />
  </section>`;
};

const Side = ({ title, side, orders, failure }) => html`<table class=${side}>
  <caption>${title}</caption>
  <thead><tr><th scope="col">Price</th><th scope="col">Items</th><th scope="col">Orders</th></tr></thead>
  <tbody>${Array.from({ length: LEVELS }, (_, index) => {
    const order = orders?.[index];
    if (orders?.length === 0 && index === 0) return html`<tr class="blank"><td colspan="3" class="muted">None at the moment</td></tr>`;
    if (!order) return html`<tr class="blank"><td>${orders ? "\xa0" : html`<${Value} isHere=${failure}>–<//>`}</td><td></td><td></td></tr>`;
    return html`<tr><td>${exact(order.price)}</td><td>${integer(order.amount)}</td><td>${integer(order.orders)}</td></tr>`;
  })}</tbody>
</table>`;

const Book = ({ data, failure }) => html`<section class="card book" aria-labelledby="book">
    <h2 id="book">Order book</h2>
    <div class="sides figures">
      <${Side} title="Buy orders" side="first" orders=${data?.buyOrders} failure=${failure} />
      <${Side} title="Sell offers" side="second" orders=${data?.sellOffers} failure=${failure} />
    </div>
    <p class="muted figures">As of ${exactTime(data?.lastUpdated)}</p>
  </section>`;

/** The view of the product with this id. `item` is the resource of the product. */
export const BazaarItem = ({ id, names, parameters, item }) => {
  const book = useResource(`v1/bazaar?mode=book&id=${encodeURIComponent(id)}`);
  useReport(item.failure, Boolean(item.data));
  useReport(book.failure, Boolean(book.data));
  return html`
    <div class="item">
      <${ItemChart} market=${parameters.prices === "averages" ? BAZAAR_AVERAGES : BAZAAR} item=${id} names=${names} parameters=${parameters}>
        <${Best} book=${book} /><//>
      <div class="present">
        <${Prices} id=${id} item=${item} book=${book} />
        <${Book} ...${book} />
      </div>
    </div>`;
};
