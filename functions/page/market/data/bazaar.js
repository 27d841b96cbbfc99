// The products of the bazaar with their present sell and buy prices, and the changes of these prices.
import { html, useMemo } from "../../vendor/htm-preact.js";
import { useResource } from "./api.js";
import { present } from "./clock.js";
import { closesOf, useDays } from "./days.js";
import { BAZAAR_PRICES, DAYS, FILES, candlesPath } from "./files.js";
import { utc } from "../values/format.js";
import { useKey } from "./key.js";

/** The bazaar's tax on a sale, in per cent, without an upgrade of the account. */
export const TAX = 1.25;

/** The limits of flips, if the visitor sets none. */
export const FREE = { tax: TAX, budget: Infinity, least: 0, most: Infinity };

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** Hours of a week. */
const HOURS = 168;

/** The difference between best orders and averages, in per cent, above which a flip is marked. */
const FAR = 5;

/** Returns the coins that are traded a day, or `undefined` if a side has no orders: then one of the two prices is missing. */
const tradedOf = ({ topBuyOrder: sell, topSellOffer: buy, sellMovingWeek, buyMovingWeek }) =>
  sell && buy ? (sellMovingWeek * sell + buyMovingWeek * buy) / 7 : undefined;

const change = (now, before) => (now && before ? (now / before - 1) * 100 : undefined);

/**
 * Returns the profit of buying one item with an order and selling it with an offer, in coins after the tax, and the profit in per cent of
 * the order's price.
 */
export const flip = (order, offer, tax = TAX) => {
  const profit = order && offer ? offer * (1 - tax / 100) - order : undefined;
  return { profit, margin: profit && (profit / order) * 100 };
};

const isFar = (top, average) => Math.abs(top / average - 1) * 100 > FAR;

/** Returns the flips in the bazaar. Items per hour are limited by the slower side and by the budget. */
export const flipsOf = (products, { tax, budget, least, most } = FREE) =>
  products
    .map((product) => {
      const { sell, buy, sellPrice, buyPrice, sellMovingWeek, buyMovingWeek } = product;
      const perHour = Math.min(Math.min(sellMovingWeek, buyMovingWeek) / HOURS, budget / sell);
      const { profit, margin } = flip(sell, buy, tax);
      return { ...product, profit, margin, perHour, coinsPerHour: profit * perHour, isUnsure: isFar(sell, sellPrice) || isFar(buy, buyPrice) };
    })
    .filter(({ profit, perHour, sell }) => profit > 0 && perHour >= least && sell <= most && sell <= budget);

/** The mark of a flip with unusual prices. */
export const Unsure = ({ isUnsure }) =>
  isUnsure && html`<span class="unsure" title="The best orders are more than ${FAR} % from the averages of their sides">
    ≠ averages</span>`;

/**
 * Returns `{ items, failure, lastUpdated, since, isLoading, dayFailure }`. `items` are all products, `failure` is the failure of the request
 * for prices, and `lastUpdated` is when the provider refreshed the prices. A product has the fields of the API and: `sell` and `buy`, the prices of an
 * instant sale and purchase; `spread` between them in per cent of `sell`; `profit` and `margin` of a flip; `volume`, the items traded instantly
 * in a week, and `traded`, the coins traded a day; `day` and `week`, the changes of `buy` in per cent; and `line`, the last eight closing prices
 * of days and the present price. `since` has the times of the prices that `day` and `week` compare with, in Unix milliseconds,
 * and the `label` of `day`: the end of the hour 24 hours ago, or without a key the end of the last day, because only days have files.
 * `isLoading` says that the prices of `day` are still missing, and `dayFailure` is the failure of the request for them.
 */
export const useBazaar = () => {
  const key = useKey();
  const { data, failure } = useResource(BAZAAR_PRICES);
  const days = useDays();
  const start = Math.floor(present() / HOUR) * HOUR - DAY;
  const listed = useResource(key && FILES ? DAYS : null);
  // A service that began later has no such hour.
  const hasHour = !FILES || Boolean(listed.failure) || listed.data?.some((day) => day <= start);
  const hour = useResource(key && hasHour ? candlesPath("1h", start) : null);
  const hourCloses = useMemo(() => hour.data && closesOf(hour.data), [hour.data]);
  const items = useMemo(() => {
    return data?.items.map((product) => {
      const { id, topBuyOrder: sell, topSellOffer: buy, sellMovingWeek, buyMovingWeek } = product;
      const closes = days.closesOf(id);
      return {
        ...product, sell, buy, ...flip(sell, buy), spread: change(buy, sell), volume: sellMovingWeek + buyMovingWeek, traded: tradedOf(product),
        day: change(buy, key ? hourCloses?.get(id) : closes.at(-1)), week: change(buy, closes[0]), line: [...closes, buy ?? undefined],
      };
    });
  }, [data, days, hourCloses]);
  const since = { day: key ? start + HOUR : days.midnight, week: days.midnight - 7 * DAY, label: key ? "24 hours" : `Since ${utc(days.midnight)}` };
  // Without the hour, which can be too old for a new service, there is nothing to wait for.
  const isLoading = key ? hasHour !== false && !hour.data && !hour.failure : days.isLoading;
  const dayFailure = hour.data || hour.failure?.status === 404 ? null : hour.failure;
  return { items, failure, lastUpdated: data?.lastUpdated, since, isLoading, dayFailure };
};
