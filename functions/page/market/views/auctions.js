// All items in auctions: their lowest prices now, and their sales of the last day.
import { html, useMemo } from "../../vendor/htm-preact.js";
import { useTitle } from "../parts/address.js";
import { useResource } from "../data/api.js";
import { useReport } from "../parts/failure.js";
import { AUCTION_PRICES, AVERAGES } from "../data/files.js";
import { change, integer, price } from "../values/format.js";
import { useKey } from "../data/key.js";
import { Listing } from "../parts/listing.js";
import { useNames } from "../data/names.js";

const COLUMNS = {
  name: { label: "Item" },
  lowest: { label: "Lowest now", text: price },
  change: { label: "Lowest now vs. 1-day average", text: change },
  sales: { label: "Sales, 1 day", text: integer },
  median: { label: "Median of sales, 1 day", text: price },
  listings: { label: "Listed now", text: integer },
};

/** Returns the items that are listed or were sold. Either of the two responses can be missing. */
const joined = (prices, averages) => {
  const items = new Map();
  for (const { id, lowest, listings } of prices?.items ?? []) items.set(id, { id, lowest, listings });
  for (const { id, lowest: average, sales, sale_median: median } of averages?.items ?? []) {
    const item = items.get(id) ?? { id };
    // Items that are neither listed nor sold are left out.
    if (item.lowest || sales) items.set(id, { ...item, sales, median, change: item.lowest && average && (item.lowest / average - 1) * 100 });
  }
  return [...items.values()];
};

/** The view of auctions. */
export const Auctions = ({ parameters }) => {
  useTitle("Auctions");
  const key = useKey();
  const prices = useResource(AUCTION_PRICES);
  const averages = useResource(key && AVERAGES);
  const isWaiting = [prices, ...(key ? [averages] : [])].some(({ data, failure }) => !data && !failure);
  const isMissing = !prices.data && !averages.data;
  const items = useMemo(() => (isWaiting || isMissing ? undefined : joined(prices.data, averages.data)), [isWaiting, prices.data, averages.data]);
  useReport(averages.failure, Boolean(averages.data));
  return html`
    <div class="intro">
      <h1>Auctions</h1>
      <p class="muted">The lowest buy-it-now price of each item, compared with the average of the last 24 hourly lowest prices, and the
        sales in these hours. All prices are for one item. One name can cover clean and upgraded copies.</p>
    </div>
    <${Listing} items=${items} failure=${isWaiting ? null : prices.failure} nameOf=${useNames()} columns=${COLUMNS} usual=${key ? "-sales" : "name"}
      viewOf=${({ id }) => ({ item: id, market: "auctions" })} nouns="items" none="No item is listed, and none was sold in the last day."
      caption="Items in auctions, with prices in coins" parameters=${parameters} paths=${[AUCTION_PRICES, AVERAGES]} updated=${prices.data?.lastUpdated} />`;
};
