// Changes of prices from the day before a term to its last day.
import { iso } from "../../values/format.js";

const DAY = 86_400_000;

/** The number of products that are shown in each direction. */
const MOST_MOVES = 5;

/** The least price, in coins: for lower prices, the smallest step is already a large change. */
export const LEAST_PRICE = 100;

/** The largest ratio of the best sell offer to the best buy order. A wider spread means little trade and jumping prices. */
const WIDEST_SPREAD = 1.5;

/** Returns the path of the candles of the last whole day before this time, in UTC. */
export const pathBefore = (time) => `v1/bazaar/candles/all?interval=1d&opened_at=${iso(Math.floor(Date.parse(time) / DAY - 1) * DAY)}`;

/** Returns the prices of the products with enough trade, halfway between the best orders at the end of the day, by id. */
const pricesOf = (candles) =>
  new Map(candles
    .filter(({ buy_order_close: sell, sell_offer_close: buy }) => sell >= LEAST_PRICE && buy > 0 && buy <= WIDEST_SPREAD * sell)
    .map(({ item_id: id, buy_order_close: sell, sell_offer_close: buy }) => [id, (sell + buy) / 2]));

const median = (values) => {
  const sorted = [...values].sort((one, other) => one - other);
  return (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2;
};

/**
 * Returns the products that moved most, `{ rises, falls }`, each with `id` and the median of the changes over all terms in per cent, the
 * largest first. A term has the candles of the day before it and of its last day. A product must have enough trade on all of these days.
 */
export const movesOf = (terms) => {
  const prices = terms.map((days) => days.map(pricesOf));
  const moves = [...(prices[0]?.[0].keys() ?? [])]
    .filter((id) => prices.flat().every((day) => day.has(id)))
    .map((id) => ({ id, change: median(prices.map(([before, last]) => (last.get(id) / before.get(id) - 1) * 100)) }))
    .sort((one, other) => other.change - one.change);
  return {
    rises: moves.filter((move) => move.change > 0).slice(0, MOST_MOVES),
    falls: moves.filter((move) => move.change < 0).slice(-MOST_MOVES).reverse(),
  };
};
