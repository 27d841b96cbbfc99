// Flips: products whose prices are far apart and that are traded a lot.
import { html, useMemo } from "./htm-preact.js";
import { useResource } from "./api.js";
import { coins, integer, percent } from "./format.js";
import { Listing } from "./listing.js";
import { useNames } from "./names.js";
import { useTitle } from "./title.js";

/** Returns the flips as `useResource` does. While the sell offers of a product are missing, it is no flip. */
export const useFlips = () => {
  const { data, failure } = useResource("v1/bazaar?mode=flips&limit=100");
  return { failure, items: useMemo(() => data?.items.filter(({ buyPrice }) => buyPrice), [data]) };
};

/** The columns by the name of their field, the most important first: a narrow screen shows four of them without scrolling. */
const COLUMNS = {
  name: { label: "Item" },
  spreadPercent: { label: "Spread %", text: percent, short: percent },
  spread: { label: "Spread", text: coins },
  sellPrice: { label: "Avg. sell price", text: coins },
  buyPrice: { label: "Avg. buy price", text: coins },
  sellMovingWeek: { label: "Sold / week", text: integer },
  buyMovingWeek: { label: "Bought / week", text: integer },
  sellVolume: { label: "Buy orders", text: integer },
  buyVolume: { label: "Sell offers", text: integer },
};

/** The view of flips. */
export const Flips = ({ parameters }) => {
  useTitle("Flips");
  return html`
    <div class="intro">
      <h1>Flips</h1>
      <p class="muted">Buy with an order, sell with an offer, and keep the spread. Prices and spreads here are averages over the best 2 % of
        each side’s volume: between the best orders, a spread can be far smaller, or a loss after taxes. Open an item to see its best
        orders. Listed are products with an average sell price of 50,000 coins or more, and at least 10,000 items on both sides.</p>
    </div>
    <${Listing} ...${useFlips()} nameOf=${useNames()} columns=${COLUMNS} usual="-spreadPercent" viewOf=${({ id }) => ({ item: id })} nouns="flips"
      none="No product qualifies as a flip at the moment." caption="Flips, with average prices in coins and volumes in items"
      parameters=${parameters} />`;
};
