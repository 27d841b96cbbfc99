// Prices over time: the requests for a span of time, and one series of all their responses. This module uses no DOM, and its caller sends
// the requests. The markets are in `markets.js`.
import { termAt } from "../../../values/calendar.js";
import { iso } from "../../../values/format.js";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** The approximate maximum number of candles that are shown for a part of a range. */
const MOST_CANDLES = 500;

/** The most pages of candles that are requested. */
const MOST_PAGES = 5;

/** The number of days before a span whose moving weeks the first bar of the span needs, and one that begins in the span. */
const EARLIER_DAYS = 9;

/** Returns the first request of a range, for its finest and newest prices: `{ path, step }`. */
export const rangeSource = (market, item, range) => {
  const { length, step } = market.ranges[range];
  const interval = market.intervals.find((each) => each.step === step);
  const count = length / step + (step === DAY && market.daily ? EARLIER_DAYS : 1);
  return { path: interval ? market.path(item, interval, count) : market.minutes(item), step };
};

/**
 * Returns the path of the daily candles for the bars of a span of this length that ends at `to`, or `Infinity` for the present. A range of days
 * has the same path as its first request.
 */
export const daysPath = (market, item, length, to, now) => {
  const end = Math.ceil(to / DAY) * DAY;
  return market.path(item, market.intervals.at(-1), length / DAY + EARLIER_DAYS, end < now ? end : undefined);
};

/** Returns the first request of a part of a range, from the finest interval that is still kept and has few enough candles. */
export const partSource = (market, item, { from, to }, now) => {
  if (market.minutes && from >= now - HOUR) return { path: market.minutes(item), step: 60_000 };
  const { intervals } = market;
  const interval = intervals.find(({ step, kept }) => (to - from) / step <= MOST_CANDLES && from >= now - kept) ?? intervals.at(-1);
  const { step } = interval;
  // One candle more on each side, so that the lines reach the edges.
  const end = (Math.ceil(to / step) + 1) * step;
  const count = Math.ceil((Math.min(end, now) - from) / step) + 1;
  return { path: market.path(item, interval, count, end < now ? end : undefined), step };
};

const candleRow = (market, candle, previous, step, now) => {
  const start = Date.parse(candle.opened_at);
  const before = previous && Date.parse(previous.opened_at) + step === start ? previous : undefined;
  // The closing price belongs to the end of the interval, so the line has no step where the interval changes.
  return { ...market.values(candle, before), time: Math.min(start + step, Math.max(now, start)), start, step, source: candle };
};

const pointRow = (market, point, step) => {
  const time = Date.parse(point.recorded_at);
  // The prices of a point count as closing prices.
  const source = { ...point, sell_close: point.sell_price, buy_close: point.buy_price };
  return { ...market.values(source), time, start: time, step, source };
};

/** Returns the rows of one response. */
export const rowsOf = (market, data, step, now) =>
  data.history ? data.history.map((point) => pointRow(market, point, step)) : data.candles.map((candle, index) => candleRow(market, candle, data.candles[index - 1], step, now));

/** Returns the rows of all layers, oldest first. A layer has the rows of one interval; only its rows from before earlier layers count. */
const merged = (layers) => {
  let rows = [];
  for (const layer of layers) {
    const begin = rows[0]?.start ?? Infinity;
    rows = [...layer.filter(({ time }) => time <= begin), ...rows];
  }
  return rows;
};

/** Returns the rows of a span and one more row on each side, so that the lines reach the edges. */
const around = (rows, from, to) => {
  const first = rows.findIndex(({ time }) => time >= from);
  const last = rows.findLastIndex(({ start }) => start <= to);
  return rows.slice(Math.max(first < 0 ? rows.length - 1 : first - 1, 0), last + 2);
};

/** Returns the requests for the time before the first row, one for each coarser interval: coarser candles are kept longer. */
const olderSources = (market, item, step, from, begin) =>
  market.intervals.filter((interval) => interval.step > step && begin - from > interval.step).map((interval) => ({
    path: market.path(item, interval, Math.ceil((begin - from) / interval.step) + 2, begin),
    step: interval.step,
  }));

/**
 * Returns all prices from `from` to `to` as `{ rows, failure }`, given the data of the first request. `load` returns the data at a path. A
 * row has `time`, `start` and `step` in Unix milliseconds, the values of its market, and the entry of the response as `source`.
 */
export const collect = async ({ market, item, source, from, to, data, now, load }) => {
  let rows = rowsOf(market, data, source.step, now);
  let next = data.next_before;
  try {
    for (let page = 1; next && Date.parse(next) > from && page < MOST_PAGES; page += 1) {
      const older = await load(`${source.path.replace(/&before=.*/, "")}&before=${next}`);
      rows = [...rowsOf(market, older, source.step, now), ...rows];
      next = older.next_before;
    }
  } catch (failure) {
    return { rows, failure };
  }
  const begin = rows[0]?.start ?? to;
  if (begin - from <= 2 * source.step) return { rows, failure: null };
  // Few daily candles mean a young deployment: the shortest range that covers its whole time shows more.
  const [range, shorter] = Object.entries(market.ranges).find(([, { length, step }]) => step < DAY && length >= now - begin) ?? [];
  if (source.step === DAY && range) {
    const finer = rangeSource(market, item, range);
    try {
      const finest = await load(finer.path);
      return await collect({ market, item, source: finer, from: Math.max(from, now - shorter.length), to, data: finest, now, load });
    } catch (failure) {
      return { rows, failure };
    }
  }
  // Bars are not extended by coarser candles: the sales of a day must not stand beside the sales of hours.
  const sources = market.hasBars ? [] : olderSources(market, item, source.step, from, begin);
  const results = await Promise.allSettled(sources.map(({ path }) => load(path)));
  const layers = results.map(({ value }, index) => (value ? rowsOf(market, value, sources[index].step, now) : []));
  return { rows: around(merged([rows, ...layers]), from, to), failure: results.find(({ reason }) => reason)?.reason ?? null };
};

/** Returns the time at which the prices of the rows begin, if that is inside the span, or `undefined`. */
export const beginOf = (market, rows, { from, to }) => {
  const first = rows.find((row) => Object.keys(market.lines).some((line) => row[line]));
  return first && first.start > from + 2 * first.step && first.start < to ? first.start : undefined;
};

/** Returns the start of the first hour whose prices are all there, or `undefined`. Longer rows count if they are complete. */
export const firstHourOf = (rows) => {
  const ended = rows.filter(({ source }) => source.complete !== false);
  const hours = Map.groupBy(ended, ({ start }) => Math.floor(start / HOUR) * HOUR);
  return [...hours].find(([, parts]) => parts.reduce((sum, { step }) => sum + step, 0) >= HOUR)?.[0];
};

/** Returns the names of the values of a row: price, low and high of each line, and then the volumes. */
export const fieldsOf = ({ lines, volumes }) => [...Object.keys(lines).flatMap((line) => [line, `${line}Low`, `${line}High`]), ...Object.keys(volumes)];

/** Returns the rows as columns for a chart, with `null` where prices are missing, and the row of each entry in `rowAt`. */
export const columns = (market, rows) => {
  const fields = fieldsOf(market);
  const times = [];
  const rowAt = [];
  const values = fields.map(() => []);
  const append = (time, row) => {
    times.push(time);
    rowAt.push(row);
    fields.forEach((field, index) => values[index].push(row?.[field] ?? null));
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

/** Returns the rows as CSV, with the API's values and times in UTC. */
export const csv = (market, rows) => {
  const line = ({ start, step, source }) => [iso(start), step / 1_000, ...market.csv.map((name) => source[name] ?? "")].join(",");
  return [["time", "seconds", ...market.csv].join(","), ...rows.map(line), ""].join("\r\n");
};
