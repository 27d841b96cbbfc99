// An item in auctions: its prices now, the running auctions, and its past.
import { html } from "../../../vendor/htm-preact.js";
import { Age, Standstill } from "../../parts/age.js";
import { useResource } from "../../data/api.js";
import { Failure, useReport } from "../../parts/failure.js";
import { coins, dateTime, duration, exactTime, integer, price } from "../../values/format.js";
import { ItemChart } from "./past/item-chart.js";
import { lazy } from "../../parts/lazy.js";
import { AUCTIONS } from "./past/markets.js";
import { isPet } from "../../data/names.js";
import { csvOf, save } from "../../parts/save.js";
import { Tile } from "./tile.js";

const LazyRunning = lazy(() => import("./running.js").then(({ RunningAuctions }) => RunningAuctions), "list", () => "Running auctions").Lazy;

/**
 * The prices of the item, if it is listed, and its sales of the last day. `isMixed` says that copies of the item differ, and so do their
 * prices.
 */
const Prices = ({ prices, averages, isMixed }) => {
  const item = prices.data?.items[0];
  const { sale_median: median, sale, sale_clean: clean, sales = NaN, sold, sales_clean: cleanSales, minutes } = averages.data?.items[0] ?? {};
  const second = item?.second ?? NaN;
  const isBusy = [prices, averages].some(({ data, failure }) => !data && !failure);
  const updated = prices.data?.lastUpdated;
  return html`<section class="card" aria-labelledby="prices">
    <h2 id="prices" class="hidden">Prices</h2>
    <dl class="tiles figures" aria-busy=${isBusy}>
      <${Tile} resource=${prices} label="Lowest price" line="first" note=${item ? `of ${integer(item.listings)} listed` : "buy it now"}>
        ${prices.data && !item ? "Not listed" : price(item?.lowest)}<//>
      <${Tile} resource=${prices} label="Second lowest" note=${item?.listings === 1 ? "the only one listed" : "buy it now"}>${price(second)}<//>
      <${Tile} resource=${averages} label="Median of sales" line="second" note=${sale ? `in 1 day; average ${coins(sale)}` : "in 1 day"}>${price(median)}<//>
      <${Tile} resource=${averages} label="Sold a day" note=${sales >= 0 ? `in ${integer(sales)} sales, ${duration(minutes * 60_000)} recorded` : "none known"}>
        ${integer(sold)}<//>
      <${Tile} resource=${prices} label="Age of the prices" note=${`of ${exactTime(updated)}`}>${updated ? html`<${Age} of=${updated} />` : "–"}<//>
    </dl>
    <${Standstill} since=${updated} />
    ${(isMixed || cleanSales < sales) && html`<p class="muted averages figures"><strong>All variants mixed</strong>: copies with and without reforges,
      stars, levels and other upgrades.${clean && ` ${integer(cleanSales)} of ${integer(sales)} sales were clean copies, for ${coins(clean)} on average.`}</p>`}
  </section>`;
};

/** The number of sales that are shown. The file has all. */
const SHOWN = 20;

const SALE_FIELDS = ["sold_at", "price", "amount", "bin", "clean"];

/** The newest sales of the item with this id. */
const LastSales = ({ id, data, failure }) => {
  const sales = data?.sales ?? [];
  const download = () => save(`${id.replace(/[;+]/g, "_")}-sales.csv`, csvOf([SALE_FIELDS, ...sales.map((sale) => SALE_FIELDS.map((field) => sale[field]))]));
  return html`<section class="card" aria-labelledby="last-sales" aria-busy=${!data && !failure}>
    <h2 id="last-sales">Last sales</h2>
    ${failure && html`<${Failure} failure=${failure} stale=${data} />`}
    <p class="muted">${sales.length ? "Of one item, up to 72 minutes old" : data ? "None is recorded." : "–"}</p>
    ${sales.length > 0 && html`<div class="scroll rows" tabindex="0" role="region" aria-label="Table of the last sales"><table>
      <tbody>${sales.slice(0, SHOWN).map(({ sold_at: time, price: coins, amount, bin, clean }, index) => html`<tr key=${index}>
        <th scope="row">${dateTime(time)}</th><td>${price(coins)}</td><td>${amount > 1 && `× ${amount} `}${!bin && "bid "}${clean && "clean"}</td></tr>`)}
      </tbody></table></div>
    <button type="button" onClick=${download}>Download sales</button>`}
  </section>`;
};

/** The item with this id in auctions. */
export const AuctionItem = ({ id, names, parameters }) => {
  const ids = encodeURIComponent(id);
  const prices = useResource(`v1/auctions/prices?ids=${ids}`);
  const averages = useResource(`v1/auctions/averages?window=1d&ids=${ids}`);
  const sales = useResource(`v1/auctions/sales?id=${ids}`);
  useReport(prices.failure, Boolean(prices.data));
  useReport(averages.failure, Boolean(averages.data));
  return html`
    <div class="item">
      <${ItemChart} market=${AUCTIONS} item=${id} names=${names} parameters=${parameters} sales=${sales.data?.sales} />
      <div class="present">
        <${Prices} prices=${prices} averages=${averages} isMixed=${isPet(id)} />
        <${LazyRunning} key=${id} id=${id} />
        <${LastSales} id=${id} ...${sales} />
      </div>
    </div>`;
};
