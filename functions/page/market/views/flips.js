// Flips: products to buy with an order and sell with an offer, items to buy in one auction and sell in another, and products of the bazaar
// to sell to an NPC. The page computes the lists itself, because tax, budget and patience differ between players. All of these settings are
// in the address.
import { html, useMemo } from "../../vendor/htm-preact.js";
import { Link, useTitle } from "../parts/address.js";
import { WHOLE_CATALOGUE, useResource } from "../data/api.js";
import { FREE, Unsure, flipsOf, useBazaar } from "../data/bazaar.js";
import { Fields, numbersOf } from "../parts/fields.js";
import { AUCTION_PRICES, AVERAGES, BAZAAR_PRICES } from "../data/files.js";
import { count, percent, price } from "../values/format.js";
import { useKey } from "../data/key.js";
import { Listing } from "../parts/listing.js";
import { useNames } from "../data/names.js";

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

/** A line chart of these values; missing values are `undefined`. The columns beside the chart have the same facts as numbers. */
const Line = ({ values }) => {
  const known = values.map((value, at) => ({ value, at })).filter(({ value }) => value);
  if (known.length < 2) return "–";
  const prices = known.map(({ value }) => value);
  const [low, high] = [Math.min(...prices), Math.max(...prices)];
  const height = (value) => (high > low ? 18 - ((value - low) / (high - low)) * 16 : 10);
  const points = known.map(({ value, at }) => `${((at / (values.length - 1)) * 76 + 2).toFixed(1)},${height(value).toFixed(1)}`).join(" ");
  return html`<svg class="line" viewBox="0 0 80 20" width="80" height="20" aria-hidden="true"><polyline points=${points} /></svg>`;
};

const BAZAAR = {
  name: { label: "Item", note: Unsure },
  coinsPerHour: { label: "Coins per hour, all players", text: price },
  profit: { label: "Profit after tax", text: price },
  margin: { label: "Margin", text: percent },
  sell: { label: "Buy at", text: price },
  buy: { label: "Sell at", text: price },
  perHour: { label: "Items per hour", text: count },
  traded: { label: "Coins a day", text: price },
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

/** The fields above the lists of the bazaar and of auctions. */
const AUCTION_FIELDS = { budget: { label: "Budget, coins", free: FREE.budget }, most: { label: "Price up to, coins", free: FREE.most } };
const FIELDS = {
  tax: { label: "Tax, %", free: FREE.tax, largest: 100 },
  least: { label: "Least items per hour", free: FREE.least },
  ...AUCTION_FIELDS,
};

const BazaarFlips = ({ parameters }) => {
  const { items, failure, lastUpdated } = useBazaar();
  const limits = numbersOf(FIELDS, parameters);
  const flips = useMemo(() => items && flipsOf(items, limits), [items, ...Object.values(limits)]);
  return html`<div class="intro"><p class="muted">Buy at the best order, sell at the best offer, and keep the difference after the tax. Items per hour: the smaller weekly
      volume of instant trades of all players, divided by 168, within your budget. You share them and their coins with the others who see the same flips. Look at the item before you buy.</p></div>
    <${Listing} items=${flips} failure=${failure} nameOf=${useNames()} columns=${BAZAAR} usual="-coinsPerHour" viewOf=${({ id }) => ({ item: id })}
      nouns="flips" none="No product brings a profit within these limits." caption="Flips in the bazaar, in coins" paths=${[BAZAAR_PRICES]} updated=${lastUpdated} parameters=${parameters}
      controls=${html`<${Fields} fields=${FIELDS} parameters=${parameters} />`} />`;
};

const AuctionFlips = ({ parameters }) => {
  const key = useKey();
  const prices = useResource(key && AUCTION_PRICES);
  const averages = useResource(key && AVERAGES);
  const { budget, most } = numbersOf(AUCTION_FIELDS, parameters);
  const flips = useMemo(() => prices.data && averages.data && auctionFlipsOf(prices.data.items, averages.data.items, { budget, most }),
    [prices.data, averages.data, budget, most]);
  const nameOf = useNames();
  if (!key) return html`<p>Flips in auctions use the sales of the last day, which require an API key. <${Link} view=${{ view: "key" }}>Enter a key</${Link}>.</p>`;
  return html`<div class="intro"><p class="muted">Buy at the lowest price, and sell at the second lowest, or at the median of the last day’s sales if that is smaller, after the fees for
      listing and collecting. Only items with at least ${LEAST_SALES} sales in the day. One name can cover clean and upgraded copies: look at the auction before you buy.</p></div>
    <${Listing} items=${flips} failure=${prices.failure ?? averages.failure} nameOf=${nameOf} columns=${AUCTIONS} usual="-profit"
      viewOf=${({ id }) => ({ item: id, market: "auctions" })} nouns="flips" none="No item brings a profit within these limits."
      caption="Flips in auctions, in coins" paths=${[AUCTION_PRICES, AVERAGES]} updated=${prices.data?.lastUpdated} parameters=${parameters}
      controls=${html`<${Fields} fields=${AUCTION_FIELDS} parameters=${parameters} />`} />`;
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
