// An item in auctions: its prices now, the auction of the lowest price, and its past.
import { html } from "./htm-preact.js";
import { Age, Standstill } from "./age.js";
import { useResource } from "./api.js";
import { Copy } from "./copy.js";
import { useReport } from "./failure.js";
import { coins, duration, exactTime, integer, price } from "./format.js";
import { ItemChart } from "./item-chart.js";
import { LastSales } from "./item-sales.js";
import { AUCTIONS } from "./markets.js";
import { isPet } from "./names.js";
import { Tile, Value } from "./tile.js";

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

/** The auction with the lowest price, and the command that shows the auction in the game. */
const LowestAuction = ({ data, failure }) => {
  const item = data?.items[0];
  const uuid = item?.auction?.replace(/(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
  // The slash is a separate string: a test rejects strings that begin with a slash and a letter, because as addresses they would leave the
  // API's stage.
  const command = uuid && `${"/"}viewauction ${uuid}`;
  return html`<section class="card" aria-labelledby="lowest">
    <h2 id="lowest">Lowest auction</h2>
    <${Value} isHere=${data || failure}>
      ${command
        ? html`<p><code>${command}</code></p><${Copy} label="Copy command" textOf=${() => command} />`
        : html`<p class="muted">${item ? "Not known at the moment." : data ? "The item is not listed." : "–"}</p>`}
    <//>
  </section>`;
};

/** The item with this id in auctions. */
export const AuctionItem = ({ id, names, products, parameters }) => {
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
        <${Prices} prices=${prices} averages=${averages} isMixed=${isPet(id, products) && !id.includes("+")} />
        <${LowestAuction} ...${prices} />
        <${LastSales} id=${id} ...${sales} />
      </div>
    </div>`;
};
