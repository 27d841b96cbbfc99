// All products of the bazaar in one table.
import { html } from "./htm-preact.js";
import { useBazaar } from "./bazaar.js";
import { BAZAAR_PRICES } from "./files.js";
import { change, count, dateTime, percent, price } from "./format.js";
import { Listing } from "./listing.js";
import { useNames } from "./names.js";
import { useTitle } from "./title.js";

const columnsOf = (label) => ({
  name: { label: "Item" },
  sell: { label: "Instant sell", text: price },
  buy: { label: "Instant buy", text: price },
  margin: { label: "Margin after tax", text: percent },
  volume: { label: "Volume, 1 week", text: count },
  day: { label, text: change },
  week: { label: "1 week", text: change },
});

/** The view of all products. */
export const Items = ({ parameters }) => {
  useTitle("Items");
  const { items, failure, since, lastUpdated } = useBazaar();
  return html`
    <div class="intro">
      <h1>Items</h1>
      <p class="muted">Every product of the bazaar: what an instant sale brings and an instant purchase costs, the margin of buying with an order and
        selling with an offer, and how the average sell offer has changed since ${dateTime(since.day)} and since ${dateTime(since.week)}.</p>
    </div>
    <${Listing} items=${items} failure=${failure} nameOf=${useNames()} columns=${columnsOf(since.label)} usual="-volume" viewOf=${({ id }) => ({ item: id })}
      nouns="products" none="No product is traded at the moment." caption="Products of the bazaar, with prices in coins" paths=${[BAZAAR_PRICES]} updated=${lastUpdated} parameters=${parameters} />`;
};
