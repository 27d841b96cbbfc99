// Flips: products to buy with an order and sell with an offer, items to buy in one auction and sell in another, and products of the bazaar
// to sell to an NPC. The page computes the lists itself, because tax, budget and patience differ between players. All of these settings are
// in the address.
import { html, useMemo } from "./htm-preact.js";
import { Link, show } from "./address.js";
import { WHOLE_CATALOGUE, useResource } from "./api.js";
import { FREE, Line, Unsure, flipsOf, useBazaar } from "./bazaar.js";
import { AUCTION_PRICES, AVERAGES, BAZAAR_PRICES } from "./files.js";
import { amount, count, percent, price } from "./format.js";
import { useKey } from "./key.js";
import { Listing } from "./listing.js";
import { useNames, useProducts } from "./names.js";
import { useTitle } from "./title.js";

/** The least number of sales per day: with fewer, their median says little about the next sale. */
const LEAST_SALES = 5;

/** Returns the seller's share of a buy-it-now auction, after the fee for listing and, above a million coins, the fee of 1 % for collecting. */
export const proceeds = (sale) => {
  const listing = sale < 1e7 ? 0.01 : sale < 1e8 ? 0.02 : 0.025;
  return sale * (1 - listing) - Math.max(Math.min(sale * 0.01, sale - 1e6), 0);
};

/**
 * Returns the flips in auctions: items whose lowest price is below their price of resale, after the fees. That is the median of their sales,
 * or the second lowest price if that is smaller. Left out are ids of several kinds of copies that have separate ids, because their
 * prices are far apart: pets of any level, cakes of any year, and hats of any colour.
 */
export const auctionFlipsOf = (prices, averages, { budget, most }) => {
  const sold = new Map(averages.map((average) => [average.id, average]));
  const divided = new Set([...prices, ...averages].flatMap(({ id }) => /^.+(?=\+\d)/.exec(id) ?? []));
  return prices
    .filter(({ id }) => !divided.has(id) && !/_HAT_\d+$/.test(id))
    .map(({ id, lowest, second, listings }) => {
      const { sale_median: median, sales } = sold.get(id) ?? {};
      const resale = median && Math.min(median, second ?? Infinity);
      const profit = resale && proceeds(resale) - lowest;
      return { id, lowest, listings, resale, sales, profit, margin: (profit / lowest) * 100 };
    })
    .filter(({ profit, sales, lowest }) => profit > 0 && sales >= LEAST_SALES && lowest <= most && lowest <= budget);
};

/** Returns the products for which an NPC pays more than an instant purchase costs. */
export const npcFlipsOf = (products, items) => {
  const paid = new Map(items.map(({ id, npc_sell_price: npc }) => [id, npc]));
  return products
    .map(({ id, buy, buyVolume }) => ({ id, buy, buyVolume, npc: paid.get(id), profit: paid.get(id) - buy, margin: (paid.get(id) / buy - 1) * 100 }))
    .filter(({ buy, profit }) => buy && profit > 0);
};

const BAZAAR = {
  name: { label: "Item", note: Unsure },
  coinsPerHour: { label: "Coins per hour, all players", text: price },
  profit: { label: "Profit after tax", text: price },
  margin: { label: "Margin", text: percent },
  sell: { label: "Buy at", text: price },
  buy: { label: "Sell at", text: price },
  perHour: { label: "Items per hour", text: count },
  line: { label: "7 days", text: (values) => html`<${Line} values=${values} />`, isUnsorted: true },
};

const AUCTIONS = {
  name: { label: "Item" },
  profit: { label: "Profit after fees", text: price },
  margin: { label: "Margin", text: percent },
  lowest: { label: "Buy at", text: price },
  resale: { label: "Sell at", text: price },
  sales: { label: "Sales, 1 day", text: count },
  listings: { label: "Listed now", text: count },
};

const NPC = {
  name: { label: "Item" },
  profit: { label: "Profit for one", text: price },
  margin: { label: "Margin", text: percent },
  buy: { label: "Buy at", text: price },
  npc: { label: "NPC pays", text: price },
  buyVolume: { label: "Offered now", text: count },
};

/** The fields above the list. An empty field has its value of `FREE`. */
const FIELDS = {
  tax: { label: "Tax, %", largest: 100 },
  budget: { label: "Budget, coins" },
  least: { label: "Least items per hour" },
  most: { label: "Price up to, coins" },
};

const limitsOf = (parameters) =>
  Object.fromEntries(Object.entries(FIELDS).map(([name, { largest = Infinity }]) => {
    const value = parameters[name] ? amount(parameters[name]) : FREE[name];
    return [name, value <= largest ? value : FREE[name]];
  }));

const Fields = ({ names, parameters }) => names.map((name) => {
  const { label, largest = Infinity } = FIELDS[name];
  const isWrong = Boolean(parameters[name]) && !(amount(parameters[name]) <= largest);
  return html`<label key=${name}>${label}<input inputmode="decimal" autocomplete="off" placeholder=${Number.isFinite(FREE[name]) ? FREE[name] : "any"}
    value=${parameters[name] ?? ""} aria-invalid=${isWrong} title=${isWrong ? "A number, such as 250000, 1.5m or 2b" : undefined}
    onInput=${({ target }) => show({ ...parameters, [name]: target.value.trim(), page: "" }, { replace: true })} /></label>`;
});

const BazaarFlips = ({ parameters }) => {
  const { items, failure, lastUpdated } = useBazaar();
  const limits = limitsOf(parameters);
  const flips = useMemo(() => items && flipsOf(items, limits), [items, ...Object.values(limits)]);
  return html`<div class="intro"><p class="muted">Buy at the best order, sell at the best offer, and keep the difference after the tax. Items per hour: the smaller weekly
      volume of instant trades of all players, divided by 168, within your budget. You share them and their coins with the others who see the same flips. Look at the item before you buy.</p></div>
    <${Listing} items=${flips} failure=${failure} nameOf=${useNames()} columns=${BAZAAR} usual="-coinsPerHour" viewOf=${({ id }) => ({ item: id })}
      nouns="flips" none="No product brings a profit within these limits." caption="Flips in the bazaar, in coins" paths=${[BAZAAR_PRICES]} updated=${lastUpdated} parameters=${parameters}
      controls=${html`<${Fields} names=${Object.keys(FIELDS)} parameters=${parameters} />`} />`;
};

const AuctionFlips = ({ parameters }) => {
  const key = useKey();
  const prices = useResource(key && AUCTION_PRICES);
  const averages = useResource(key && AVERAGES);
  const { budget, most } = limitsOf(parameters);
  const flips = useMemo(() => prices.data && averages.data && auctionFlipsOf(prices.data.items, averages.data.items, { budget, most }),
    [prices.data, averages.data, budget, most]);
  const nameOf = useNames(useProducts());
  if (!key) return html`<p>Flips in auctions use the sales of the last day, which require an API key. <${Link} view=${{ view: "key" }}>Enter a key</${Link}>.</p>`;
  return html`<div class="intro"><p class="muted">Buy at the lowest price, and sell at the second lowest, or at the median of the last day’s sales if that is smaller, after the fees for
      listing and collecting. Only items with at least ${LEAST_SALES} sales in the day. One name can cover clean and upgraded copies: look at the auction before you buy.</p></div>
    <${Listing} items=${flips} failure=${prices.failure ?? averages.failure} nameOf=${nameOf} columns=${AUCTIONS} usual="-profit"
      viewOf=${({ id }) => ({ item: id, market: "auctions" })} nouns="flips" none="No item brings a profit within these limits."
      caption="Flips in auctions, in coins" paths=${[AUCTION_PRICES, AVERAGES]} updated=${prices.data?.lastUpdated} parameters=${parameters}
      controls=${html`<${Fields} names=${["budget", "most"]} parameters=${parameters} />`} />`;
};

const NpcFlips = ({ parameters }) => {
  const key = useKey();
  const { items: products, failure, lastUpdated } = useBazaar();
  const { data, failure: missing } = useResource(key && WHOLE_CATALOGUE);
  const flips = useMemo(() => products && data && npcFlipsOf(products, data.items), [products, data]);
  const nameOf = useNames();
  if (!key) return html`<p>NPC prices require an API key. <${Link} view=${{ view: "key" }}>Enter a key</${Link}>.</p>`;
  return html`<div class="intro"><p class="muted">Buy instantly in the bazaar, and sell to an NPC, who takes no tax. “Buy at” is the price of the best offer; further items cost more.
      Look at the item before you buy.</p></div>
    <${Listing} items=${flips} failure=${failure ?? missing} nameOf=${nameOf} columns=${NPC} usual="-profit" viewOf=${({ id }) => ({ item: id })}
      nouns="products" none="No NPC pays more for a product than it costs." caption="Products that sell to an NPC at a profit, in coins"
      paths=${[BAZAAR_PRICES, WHOLE_CATALOGUE]} updated=${lastUpdated} parameters=${parameters} />`;
};

/** The tabs by the parameter `market`. */
const TABS = { "": ["Bazaar", BazaarFlips], auctions: ["Auctions", AuctionFlips], npc: ["To an NPC", NpcFlips] };

/** The view of flips. */
export const Flips = ({ parameters }) => {
  useTitle("Flips");
  const current = Object.hasOwn(TABS, parameters.market ?? "") ? (parameters.market ?? "") : "";
  return html`<div class="title"><h1>Flips</h1><nav class="tabs" aria-label="Markets">${Object.entries(TABS).map(([market, [label]]) => html`
    <${Link} view=${{ view: "flips", market }} aria-current=${market === current ? "page" : undefined}>${label}</${Link}>`)}</nav></div>
    <${TABS[current][1]} parameters=${parameters} />`;
};
