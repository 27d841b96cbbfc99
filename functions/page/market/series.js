// Prices over time: which requests a span of time needs, and one series of all that they bring. No DOM, no requests of its own.
import { termAt } from "./calendar.js";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** The candles of the API, finest first: the name and length of the interval, and how long they are kept. */
const CANDLES = [
  ["5m", 5 * MINUTE, 30 * DAY],
  ["30m", 30 * MINUTE, 90 * DAY],
  ["1h", HOUR, 365 * DAY],
  ["3h", 3 * HOUR, 3 * 365 * DAY],
  ["1d", DAY, Infinity],
].map(([name, step, kept]) => ({ name, step, kept }));

/** The histories of the API: how far they go back, and the distance of their points. */
const HISTORIES = [
  ["1h", HOUR, MINUTE],
  ["24h", DAY, 5 * MINUTE],
  ["7d", 7 * DAY, 30 * MINUTE],
  ["30d", 30 * DAY, HOUR],
  ["90d", 90 * DAY, 3 * HOUR],
].map(([name, length, step]) => ({ name, length, step }));

/** The ranges of the chart, those of the API and two longer ones: their lengths and steps in milliseconds. */
export const RANGES = {
  ...Object.fromEntries(HISTORIES.map(({ name, length, step }) => [name, { length, step }])),
  "1y": { length: 365 * DAY, step: DAY },
  all: { length: Infinity, step: DAY },
};

/** A part of a range is shown with at most about this many candles. */
const MOST_CANDLES = 500;

/** The API's bound of `limit`, and how many pages of it are requested. */
const PAGE = 1_000;
const MOST_PAGES = 5;

/** The shortest span, in milliseconds. */
export const SHORTEST = 15 * MINUTE;

const iso = (time) => new Date(time).toISOString().replace(/\.\d+Z/, "Z");

const historyPath = (item, { name }) => `v1/bazaar/history?item_id=${encodeURIComponent(item)}&range=${name}`;

const candlesPath = (item, { name }, count, before) => {
  const end = before ? `&before=${iso(before)}` : "";
  return `v1/bazaar/candles?item_id=${encodeURIComponent(item)}&interval=${name}&limit=${Math.min(count, PAGE)}${end}`;
};

/** Returns the first request of a range, which brings its finest and newest prices: `{ path, step }`. */
export const rangeSource = (item, range) => {
  const { length, step } = RANGES[range];
  if (step === MINUTE) return { path: historyPath(item, HISTORIES[0]), step };
  return { path: candlesPath(item, CANDLES.find((interval) => interval.step === step), length / step + 1), step };
};

/** Returns the first request of a part of a range, from the finest interval that is kept for it and has not too many candles. */
export const partSource = (item, { from, to }, now) => {
  if (from >= now - HOUR) return { path: historyPath(item, HISTORIES[0]), step: MINUTE };
  const interval = CANDLES.find(({ step, kept }) => (to - from) / step <= MOST_CANDLES && from >= now - kept) ?? CANDLES.at(-1);
  const { step } = interval;
  // One candle more on each side, so that the lines reach the edges.
  const end = (Math.ceil(to / step) + 1) * step;
  const count = Math.ceil((Math.min(end, now) - from) / step) + 1;
  return { path: candlesPath(item, interval, count, end < now ? end : undefined), step };
};

// A price of 0 means that its side had no orders.
const price = (value) => value || null;

const candleRow = (candle, step, now) => {
  const start = Date.parse(candle.opened_at);
  const lowest = (side) => candle[`${side}_low`] || Math.min(candle[`${side}_open`] || Infinity, candle[`${side}_close`] || Infinity);
  const range = (side) => (candle[`${side}_close`] ? [lowest(side), candle[`${side}_high`]] : [null, null]);
  const [sellLow, sellHigh] = range("sell");
  const [buyLow, buyHigh] = range("buy");
  return {
    // The closing price is that of the end. So the line has no step where one interval follows another.
    time: Math.min(start + step, Math.max(now, start)),
    start, step, sellLow, sellHigh, buyLow, buyHigh,
    sell: price(candle.sell_close),
    buy: price(candle.buy_close),
    sellVolume: candle.sell_volume,
    buyVolume: candle.buy_volume,
    source: candle,
  };
};

const pointRow = (point, step) => {
  const time = Date.parse(point.recorded_at);
  return {
    time, start: time, step, sellLow: null, sellHigh: null, buyLow: null, buyHigh: null,
    sell: price(point.sell_price),
    buy: price(point.buy_price),
    sellVolume: point.sell_volume,
    buyVolume: point.buy_volume,
    source: point,
  };
};

/** Returns the rows of one response. */
export const rowsOf = (data, step, now) =>
  data.history ? data.history.map((point) => pointRow(point, step)) : data.candles.map((candle) => candleRow(candle, step, now));

/** Returns the rows of all layers, oldest first: where the first layer has nothing older, those of the second, and so on. */
const merged = (layers) => {
  let rows = [];
  for (const layer of layers) {
    const begin = rows[0]?.start ?? Infinity;
    rows = [...layer.filter(({ time }) => time <= begin), ...rows];
  }
  return rows;
};

/** Returns the rows of a span, and one more on each side, so that the lines reach the edges. */
const around = (rows, from, to) => {
  const first = rows.findIndex(({ time }) => time >= from);
  const last = rows.findLastIndex(({ start }) => start <= to);
  return rows.slice(Math.max(first < 0 ? rows.length - 1 : first - 1, 0), last + 2);
};

/** Returns the requests for the time before the first row, as the finer candles of a young deployment are few. */
const olderSources = (item, step, from, begin) =>
  CANDLES.filter((interval) => interval.step > step && begin - from > interval.step).map((interval) => ({
    path: candlesPath(item, interval, Math.ceil((begin - from) / interval.step) + 2, begin),
    step: interval.step,
  }));

/**
 * Returns all prices from `from` to `to` as `{ rows, failure }`, given the data of the first request. `load` returns the data at a path. A
 * row has `time`, `start` and `step` in Unix milliseconds, prices in coins (`null` without orders, or without a range) and volumes.
 */
export const collect = async ({ item, source, from, to, data, now, load }) => {
  let rows = rowsOf(data, source.step, now);
  let next = data.next_before;
  try {
    for (let page = 1; next && Date.parse(next) > from && page < MOST_PAGES; page += 1) {
      const older = await load(`${source.path.replace(/&before=.*/, "")}&before=${next}`);
      rows = [...rowsOf(older, source.step, now), ...rows];
      next = older.next_before;
    }
  } catch (failure) {
    return { rows, failure };
  }
  const begin = rows[0]?.start ?? to;
  if (begin - from <= 2 * source.step) return { rows, failure: null };
  // Few daily candles are a young deployment: the shortest range that has all of its time shows more.
  const range = HISTORIES.find(({ length }) => length >= now - begin);
  if (source.step === DAY && range) {
    const finer = rangeSource(item, range.name);
    try {
      return await collect({ item, source: finer, from: Math.max(from, now - range.length), to, data: await load(finer.path), now, load });
    } catch (failure) {
      return { rows, failure };
    }
  }
  const sources = olderSources(item, source.step, from, begin);
  const results = await Promise.allSettled(sources.map(({ path }) => load(path)));
  const layers = results.map(({ value }, index) => (value ? rowsOf(value, sources[index].step, now) : []));
  return { rows: around(merged([rows, ...layers]), from, to), failure: results.find(({ reason }) => reason)?.reason ?? null };
};

const FIELDS = ["sell", "sellLow", "sellHigh", "buy", "buyLow", "buyHigh", "sellVolume", "buyVolume"];

/** Returns the rows as columns for a chart, with `null` where prices are missing, and the row of each entry in `rowAt`. */
export const columns = (rows) => {
  const times = [];
  const rowAt = [];
  const values = FIELDS.map(() => []);
  const append = (time, row) => {
    times.push(time);
    rowAt.push(row);
    FIELDS.forEach((field, index) => values[index].push(row?.[field] ?? null));
  };
  let last = null;
  for (const row of rows) {
    if (last && row.time - last.time > 1.5 * Math.max(row.step, last.step)) append((last.time + row.time) / 2, null);
    append(row.time, row);
    last = row;
  }
  return { data: [times, ...values], rowAt };
};

/** Returns the terms of mayors as `{ name, from, to }`, newest first. Terms follow from the calendar of the game. */
export const terms = (mayor, past, now) => {
  const present = termAt(now);
  const sitting = mayor?.mayor?.name ? [{ name: mayor.mayor.name, ...present }] : [];
  const before = (past?.history ?? []).map((term) => ({
    name: term.name,
    from: Date.parse(term.started_at),
    to: Date.parse(term.ended_at),
  }));
  return [...sitting, ...before.filter(({ from }) => !sitting.length || from < present.from)];
};

const CSV = ["sell_open", "sell_high", "sell_low", "sell_close", "buy_open", "buy_high", "buy_low", "buy_close", "sell_volume",
  "buy_volume", "samples"];

/** Returns the rows as CSV: values as the API sends them, times in UTC. A point has only the closing prices. */
export const csv = (rows) => {
  const line = ({ start, step, source }) => {
    const values = { ...source, sell_close: source.sell_close ?? source.sell_price, buy_close: source.buy_close ?? source.buy_price };
    return [iso(start), step / 1_000, ...CSV.map((name) => values[name] ?? "")].join(",");
  };
  return [["time", "seconds", ...CSV].join(","), ...rows.map(line), ""].join("\r\n");
};
