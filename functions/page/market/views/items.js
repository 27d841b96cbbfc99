// All products of the bazaar in one table.
import { html, useMemo } from "../../vendor/htm-preact.js";
import { useTitle } from "../parts/address.js";
import { useBazaar } from "../data/bazaar.js";
import { useReport } from "../parts/failure.js";
import { Fields, numbersOf } from "../parts/fields.js";
import { BAZAAR_PRICES } from "../data/files.js";
import { change, count, dateTime, percent, price } from "../values/format.js";
import { Listing } from "../parts/listing.js";
import { useNames } from "../data/names.js";

const columnsOf = (label) => ({
  name: { label: "Item" },
  sell: { label: "Instant sell", text: price },
  buy: { label: "Instant buy", text: price },
  spread: { label: "Spread", text: percent },
  margin: { label: "Margin after tax", text: percent },
  traded: { label: "Coins a day", text: price },
  volume: { label: "Volume, 1 week", text: count },
  day: { label, text: change },
  week: { label: "1 week", text: change },
});

/** The fields above the table. */
const FIELDS = { coins: { label: "Least coins a day", free: 0 }, apart: { label: "Least spread, %", free: 0 } };

/** Returns the products with at least this trade and this spread. A limit of 0 also allows products without a figure. */
const within = (items, { coins, apart }) =>
  items.filter(({ traded = 0, spread = 0 }) => (!coins || traded >= coins) && (!apart || spread >= apart));

/** The view of all products. */
export const Items = ({ parameters }) => {
  useTitle("Items");
  const { items, failure, since, lastUpdated, dayFailure } = useBazaar();
  useReport(dayFailure, false);
  const limits = numbersOf(FIELDS, parameters);
  const found = useMemo(() => items && within(items, limits), [items, ...Object.values(limits)]);
  return html`
    <div class="intro">
      <h1>Items</h1>
      <p class="muted">Every product of the bazaar: what an instant sale brings and an instant purchase costs, the margin of buying with an order and
        selling with an offer, the coins of instant trades, and how the best sell offer has changed since ${dateTime(since.day)} and since ${dateTime(since.week)}.</p>
    </div>
    <${Listing} items=${found} failure=${failure} nameOf=${useNames()} columns=${columnsOf(since.label)} usual="-traded" viewOf=${({ id }) => ({ item: id })}
      nouns="products" none="No product is within these limits." caption="Products of the bazaar, with prices in coins" paths=${[BAZAAR_PRICES]} updated=${lastUpdated} parameters=${parameters}
      controls=${html`<${Fields} fields=${FIELDS} parameters=${parameters} />`} />`;
};
