// The two markets: how to request their histories from the API, and the texts of their charts. The bazaar is there twice, with the prices of
// its best orders and with its averages. A market has:
//
// - `intervals` of candles, finest first, with their lengths and how long they are kept, and `path` of a request for them;
// - `ranges` of the chart with their lengths and steps, `usual`, the range that is shown first, and `shortest`, the shortest span;
// - `minutes`, the path of the prices of the last hour by minutes, if there are any;
// - `name`, the line of figures and candles (`price`), the line of selling prices (`sold`), and the names at the `ends` of lines;
// - `kind`, in the bazaar: the kind of its prices;
// - `values`, which returns the values of a row from a candle or a point, and from the candle directly before it if there is one: for each of
//   the two `lines` its price, its range and its first price with the suffixes `Low`, `High` and `Open`, and the `volumes`;
// - `hasBars` if volumes are bars instead of lines, and `daily`, the legend of bars of what was traded a day, which replace the volumes;
// - `csv`, the fields of candles in a file, and texts: `legend` of the volumes, `hint` and `caption` about the prices, and `none` without
//   a history.
import { integer, iso } from "../../../values/format.js";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** The maximum of the API's parameter `limit`. */
const PAGE = 1_000;

/**
 * Returns a function that returns the path of a request for candles. Its arguments are an item, an interval, the number of candles, and the
 * end of the last candle (by default the present).
 */
const candles = (route, id) => (item, { name }, count, before) => {
  const end = before ? `&before=${iso(before)}` : "";
  return `v1/${route}?${id}=${encodeURIComponent(item)}&interval=${name}&limit=${Math.min(Math.ceil(count), PAGE)}${end}`;
};

const intervals = (list) => list.map(([name, step, kept]) => ({ name, step, kept }));

// A price of 0 means that its side had no orders.
const price = (value) => value || null;

const side = (candle, name) => {
  const [open, low, high, close] = ["open", "low", "high", "close"].map((field) => candle[`${name}_${field}`]);
  const range = close && high ? { [`${name}Low`]: low || Math.min(open || Infinity, close), [`${name}High`]: high } : {};
  return { [name]: price(close), ...range, [`${name}Open`]: open };
};

/** Returns the values of a side's best order. Its first price is the last one of the candle before. */
const best = (candle, before, name, field) => {
  const [low, high, close] = ["low", "high", "close"].map((part) => candle[`${field}_${part}`] ?? null);
  return { [name]: close, [`${name}Low`]: low, [`${name}High`]: high, [`${name}Open`]: before?.[`${field}_close`] };
};

const volumes = (candle) => ({ sellVolume: candle.sell_volume, buyVolume: candle.buy_volume });

/** The bazaar with averages of its best orders. The last hour has prices of minutes. */
export const BAZAAR_AVERAGES = {
  kind: "averages",
  name: "bazaar",
  price: "buy",
  sold: "sell",
  ends: { sell: "Sell", buy: "Buy" },
  intervals: intervals([["5m", 5 * MINUTE, 30 * DAY], ["30m", 30 * MINUTE, 90 * DAY], ["1h", HOUR, 365 * DAY], ["3h", 3 * HOUR, 3 * 365 * DAY],
    ["1d", DAY, Infinity]]),
  path: candles("bazaar/candles", "item_id"),
  ranges: {
    "1h": { length: HOUR, step: MINUTE },
    "24h": { length: DAY, step: 5 * MINUTE },
    "7d": { length: 7 * DAY, step: 30 * MINUTE },
    "30d": { length: 30 * DAY, step: HOUR },
    "90d": { length: 90 * DAY, step: 3 * HOUR },
    "1y": { length: 365 * DAY, step: DAY },
    all: { length: Infinity, step: DAY },
  },
  usual: "24h",
  shortest: 15 * MINUTE,
  minutes: (item) => `v1/bazaar/history?item_id=${encodeURIComponent(item)}&range=1h`,
  values: (candle) => ({ ...side(candle, "sell"), ...side(candle, "buy"), ...volumes(candle) }),
  lines: { sell: "Average sell price", buy: "Average buy price" },
  volumes: { sellVolume: "To buy", buyVolume: "To sell" },
  csv: ["sell_open", "sell_high", "sell_low", "sell_close", "buy_open", "buy_high", "buy_low", "buy_close", "sell_volume", "buy_volume",
    "samples", "buy_order_high", "buy_order_low", "buy_order_close", "sell_offer_high", "sell_offer_low", "sell_offer_close", "sell_moving_week",
    "buy_moving_week"],
  legend: { label: "Open orders", text: ({ sellVolume }) => `${integer(sellVolume)} to buy`, note: ({ buyVolume }) => `${integer(buyVolume)} to sell` },
  hint: (steps) => `Averages over the best 2 % of the volume, one every ${steps}.`,
  caption: "Average prices in coins; items in open orders.",
  none: "No prices were recorded in this time.",
};

/** The bazaar with the prices of its best orders, which an instant sale gets and an instant purchase costs. Minutes do not have them. */
export const BAZAAR = {
  ...BAZAAR_AVERAGES,
  kind: "orders",
  minutes: undefined,
  ranges: { ...BAZAAR_AVERAGES.ranges, "1h": { length: HOUR, step: 5 * MINUTE } },
  values: (candle, before) => ({ ...best(candle, before, "sell", "buy_order"), ...best(candle, before, "buy", "sell_offer"), ...volumes(candle) }),
  lines: { sell: "Best buy order", buy: "Best sell offer" },
  daily: {
    label: "Traded a day", text: (row, day) => integer(day?.traded ?? NaN),
    note: (row, day) => (day?.traded ? `${integer(day.sold)} sold, ${integer(day.bought)} bought` : "\xa0"),
  },
  hint: (steps) => `Prices of the best orders, one every ${steps}.`,
  caption: "Prices of the best orders in coins; items in open orders.",
};

export const AUCTIONS = {
  name: "auctions",
  price: "lowest",
  sold: "lowest",
  ends: { lowest: "Lowest", sale: "Sales" },
  intervals: intervals([["1h", HOUR, 90 * DAY], ["1d", DAY, Infinity]]),
  path: candles("auctions/candles", "id"),
  ranges: {
    "24h": { length: DAY, step: HOUR },
    "7d": { length: 7 * DAY, step: HOUR },
    "30d": { length: 30 * DAY, step: DAY },
    "90d": { length: 90 * DAY, step: DAY },
    "1y": { length: 365 * DAY, step: DAY },
    all: { length: Infinity, step: DAY },
  },
  usual: "7d",
  shortest: 6 * HOUR,
  values: (candle) => ({
    lowest: candle.lowest_close, lowestLow: candle.lowest_low, lowestHigh: candle.lowest_high, lowestOpen: candle.lowest_open,
    sale: candle.sale_median, saleLow: candle.sale_low, saleHigh: candle.sale_high,
    sales: candle.sales,
  }),
  lines: { lowest: "Lowest price", sale: "Median of sales" },
  volumes: { sales: "Sales" },
  hasBars: true,
  csv: ["lowest_open", "lowest_high", "lowest_low", "lowest_close", "lowest_average", "listings", "sales", "sold", "sale_low", "sale_average",
    "sale_median", "sale_high", "samples"],
  legend: { label: "Sales", text: ({ sales }) => integer(sales), note: ({ source }) => `${integer(source.sold)} item${source.sold === 1 ? "" : "s"}` },
  hint: (steps) => `One every ${steps}: the lowest price at its end, and the median and number of its sales.`,
  caption: "Prices of one item in coins, the lowest at the end of the time.",
  none: "No history yet. An hour is shown about five minutes after its end.",
};
