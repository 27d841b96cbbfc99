// The history in an item's view: the choice of the range, the chart, and the table.
import { html, useEffect, useMemo, useRef, useState } from "../../../../vendor/htm-preact.js";
import { show } from "../../../parts/address.js";
import { load, useResource } from "../../../data/api.js";
import { Chart } from "./chart.js";
import { present } from "../../../data/clock.js";
import { Compare, MOST_OTHERS, othersOf } from "./compare.js";
import { CopyLink } from "../../../parts/copy.js";
import { Failure, useReport } from "../../../parts/failure.js";
import { dateTime, duration, iso } from "../../../values/format.js";
import { lazy } from "../../../parts/lazy.js";
import { beginOf, collect, daysPath, firstHourOf, partSource, rangeSource, rowsOf, terms } from "./series.js";
import { Change, Summary } from "./summary.js";
import { Requests } from "../../../parts/requests.js";
import { PriceTable } from "./table.js";
import { daysOf } from "./traded.js";

const LazyHours = lazy(() => import("./hours.js").then(({ Hours }) => Hours), "table").Lazy;

/** The least length of a span that shows the terms of mayors, in milliseconds. */
const TERMS_FROM = 6 * 86_400_000;

/** The number of ranges, and parts of ranges, whose prices are kept. */
const MOST_KNOWN = 20;

const NO_ROWS = [];
const NO_DAYS = [];

const MINUTE = 60_000;

/** The age of a history, in milliseconds, below which it can still grow into the past: the local cloud generates its past. */
const YOUNG = 691_200_000;

/** The longest time from which the whole history is requested, in milliseconds. */
const LONGEST = 315_360_000_000;

/** The latest end of a part, in Unix milliseconds: steps from it stay within the bounds of a date. */
const LATEST = Date.UTC(9999);

/** Returns the part of the range in the address, or `null`. */
const partOf = ({ shortest }, parameters) => {
  const [from, to] = [Date.parse(parameters.from), Date.parse(parameters.to)];
  return from >= 0 && to < LATEST && to - from >= shortest ? { from, to } : null;
};

const spanOf = (market, range, part, now, rows, isComplete) => {
  if (part) return part;
  const from = now - market.ranges[range].length;
  const begin = rows[0]?.start;
  if (from === -Infinity) return { from: begin ?? now - market.shortest, to: now };
  // A history that has just begun takes at least a third of the chart.
  return { from: begin && isComplete ? Math.max(from, now - Math.max(3 * (now - begin), market.shortest)) : from, to: now };
};

/**
 * Returns the known data of a range or a part of it: `{ rows, span, isLoading, isNew, failure }`. Until the first data arrive, `rows` are
 * the rows that were shown before. A part that was shown before is available at once. `isNew` says that there are neither rows nor older
 * prices. `isYoung` says that the history has just begun: it is then requested every minute, although its response is fresh for longer. An item
 * that is `null` has no rows.
 */
const useSeries = (market, item, range, part) => {
  const key = `${market.kind} ${item} ${part ? `${part.from} ${part.to}` : range}`;
  const source = useMemo(() => (part ? partSource(market, item ?? "", part, present()) : rangeSource(market, item ?? "", range)), [key]);
  const known = useRef(new Map());
  const latest = useRef(null);
  const [, render] = useState(0);
  const { length } = market.ranges[range];
  const isYoung = item !== null && !part && source.step > MINUTE && known.current.get(key)?.isYoung === true;
  const [minute, setMinute] = useState(0);
  // Another address in every minute. All visitors have the same, so the service reads the history once.
  const again = minute && !part && source.step > MINUTE ? `&from=${iso(minute - Math.min(length, LONGEST))}` : "";
  const { data, failure, receivedAt } = useResource(item === null ? null : source.path + again);

  useEffect(() => {
    const timer = isYoung && setInterval(() => setMinute(Math.floor(present() / MINUTE) * MINUTE), MINUTE);
    return () => clearInterval(timer);
  }, [isYoung]);

  useEffect(() => {
    if (!data || known.current.get(key)?.completed === data) return undefined;
    let isWanted = true;
    let timer = 0;
    const keep = (rows, problem, completed) => {
      if (!isWanted) return;
      if (known.current.size >= MOST_KNOWN) known.current.delete(known.current.keys().next().value);
      const span = spanOf(market, range, part, receivedAt, rows, Boolean(completed));
      const begin = rows[0]?.start ?? receivedAt;
      const isNew = begin > receivedAt - Math.min(length - 2 * source.step, YOUNG);
      known.current.set(key, { market, item, rows, span, failure: problem, completed, isYoung: isNew });
      render((count) => count + 1);
    };
    const { from, to } = part ?? { from: receivedAt - length, to: receivedAt };
    if (!known.current.has(key)) keep(rowsOf(market, data, source.step, receivedAt), null);
    const complete = async () => {
      const { rows, failure: problem } = await collect({ market, item, source, from, to, data, now: receivedAt, load });
      keep(rows, problem, problem ? null : data);
      if (isWanted && Number.isFinite(problem?.retryAt)) timer = setTimeout(retry, problem.retryAt - Date.now());
    };
    const retry = () => {
      if (document.hidden) timer = setTimeout(retry, 1_000);
      else complete();
    };
    complete();
    return () => {
      isWanted = false;
      clearTimeout(timer);
    };
  }, [data, key]);

  const found = known.current.get(key);
  if (found) latest.current = found;
  const rows = latest.current?.item === item && latest.current.market === market ? latest.current.rows : NO_ROWS;
  const span = useMemo(() => found?.span ?? spanOf(market, range, part, present(), rows), [found, key]);
  return { path: source.path, rows, span, isLoading: !found, isYoung, isNew: !rows.length && !data?.next_before, failure: failure ?? found?.failure };
};

/** The terms of mayors, `[]` until they arrive. The chart does not wait for them and reports no failure of them. */
const useTerms = (isShown) => {
  const sitting = useResource(isShown ? "v1/mayor" : null).data;
  const past = useResource(isShown ? "v1/mayor/history?limit=100" : null).data;
  return useMemo(() => (isShown ? terms(sitting, past, present()) : []), [isShown, sitting, past]);
};

const address = (time) => iso(Math.round(time / 1_000) * 1_000);

/** Returns the rows of a span. */
const within = (rows, span) => rows.filter(({ time, start }) => time >= span.from && start <= span.to);

/** A button that keeps the focus when its own click disables it. */
const Tool = ({ label, isDisabled, act, children }) =>
  html`<button type="button" aria-label=${label} title=${label} aria-disabled=${isDisabled} onClick=${() => isDisabled || act()}>${children}</button>`;

/** The hours in a disclosure. */
const BestHours = ({ market, item }) => {
  const [isOpen, setOpen] = useState(false);
  return html`<details class="hours figures" onToggle=${({ target }) => setOpen(target.open)}>
    <summary>Best hours to buy and to sell</summary>
    ${isOpen && html`<${LazyHours} market=${market} item=${item} rowsOf=${rowsOf} />`}
  </details>`;
};

/**
 * The past of an item in a market. What is shown is in the address: `range`, `from` and `to` of the part that is shown, `style`, and the
 * other items as `with`. `names` is a function from id to name. `sales` are single sales, which the chart shows as dots. `children` are the
 * present prices above the chart.
 */
export const ItemChart = ({ market, item, names, parameters, sales = NO_ROWS, children }) => {
  const { ranges, shortest } = market;
  const range = Object.hasOwn(ranges, parameters.range ?? "") ? parameters.range : market.usual;
  const part = partOf(market, parameters);
  const { path, rows, span, isLoading, isYoung, isNew, failure } = useSeries(market, item, range, part);
  const mayors = useTerms(span.to - span.from >= TERMS_FROM || (part !== null && ranges[range].length >= TERMS_FROM));
  const name = names(item);
  const length = span.to - span.from;
  const shown = useMemo(() => within(rows, span), [rows, span]);
  // A line can cross a short span that contains no price.
  const begin = beginOf(market, rows, span);
  const hour = isYoung && firstHourOf(rows);
  const isEmpty = !rows.some(({ time, step }) => time >= span.from && time - step <= span.to);
  const steps = [...new Set(shown.map(({ step }) => step))].map(duration);

  const whole = part ? part.to - part.from : ranges[range].length;
  const daily = useResource(market.daily ? daysPath(market, item, whole, part?.to ?? Infinity, present()) : null);
  const days = useMemo(() => (daily.data ? daysOf(daily.data.candles) : NO_DAYS), [daily.data]);
  useReport(daily.data ? null : daily.failure, false);
  // Until what was traded is known, the volumes stay open orders.
  const hasDays = Boolean(market.daily) && ((!daily.data && !daily.failure) || days.some(({ traded }) => traded !== null));

  const others = othersOf(parameters.with, item);
  const series = Array.from({ length: MOST_OTHERS }, (_, index) => useSeries(market, others[index] ?? null, range, part));
  const compared = useMemo(() => {
    const entry = (id, each) => ({ id, name: names(id), rows: within(each.rows, span), isLoading: each.isLoading, failure: each.failure });
    return [entry(item, { rows, isLoading, failure }), ...others.map((id, index) => entry(id, series[index]))];
  }, [rows, span, isLoading, failure, names, others.join(), ...series.flatMap((each) => [each.rows, each.isLoading, each.failure])]);
  const isCandles = parameters.style === "candles";
  const candles = isCandles ? "candles" : undefined;
  const isAverage = market.kind === "averages";
  const view = { item: parameters.item, market: parameters.market, prices: parameters.prices, range, style: candles, with: others.join() };

  const go = (next, ends, more) => show({ ...view, range: next, ...ends, ...more });
  const zoom = (from, to) => {
    const middle = (from + to) / 2;
    const half = Math.max(to - from, shortest) / 2;
    const end = Math.min(middle + half, present());
    go(range, { from: address(end - 2 * half), to: address(end) });
  };
  const reset = () => go(range);
  // A span as long as the whole range is not a part of it. The tolerance is a second, because addresses have whole seconds.
  const zoomOrReset = (from, to) => (to - from > ranges[range].length - 1_000 ? reset() : zoom(from, to));
  const scale = (factor) => {
    const middle = (span.from + span.to) / 2;
    if (factor < 1 ? length > shortest : part) zoomOrReset(middle - (length * factor) / 2, middle + (length * factor) / 2);
  };
  const move = (share) => zoom(span.from + length * share, span.to + length * share);
  const stay = (more) => go(range, { from: part && parameters.from, to: part && parameters.to }, more);
  const tools = [
    ["Earlier", "←", () => move(-0.5), false],
    ["Later", "→", () => move(0.5), !part],
    ["Zoom in", "+", () => scale(0.5), length <= shortest],
    ["Zoom out", "−", () => scale(2), !part],
  ];

  return html`<section class="card past" aria-labelledby="past">
    <h2 id="past" class="hidden">History</h2>
    <dl class="tiles figures now">${children}<${Change} market=${market} rows=${shown} from=${span.from} range=${part ? "shown time" : range} /></dl>
    <div class=${isLoading ? "chart busy" : "chart"}>
      <${Chart} market=${market} rows=${rows} days=${days} hasDays=${hasDays} span=${span} begin=${begin} terms=${mayors} sales=${sales} isCandles=${isCandles} compared=${compared}
        label=${`Prices of ${name}. The table below the chart has the same data. Arrow keys move the cursor, plus and minus zoom.`}
        isBusy=${isLoading && !failure} shortest=${shortest} longest=${ranges[range].length}
        onZoom=${zoomOrReset} onScale=${scale} onReset=${reset} />
      ${!isLoading && isEmpty && html`<p class="note muted">${isNew && !part ? market.none : "No prices were recorded in this time."}</p>`}
      ${isLoading && !failure && html`<p class="note muted" role="status">Loading…</p>`}
      ${isLoading && failure && html`<div class="note"><${Failure} failure=${failure} /></div>`}
    </div>
    <p class="muted hint">${begin && `No data before ${dateTime(begin)}. `}
      ${hour > begin && `The first complete hour is that of ${dateTime(hour)}. `}${isYoung && !hour && "No hour is complete yet. "}
      ${steps.length > 0 && `${market.hint(steps.join(", later every "))} `}
      ${market.daily && (hasDays ? "A bar is the trade of a day in UTC. " : daily.data && "Bars of daily trade need nine days of prices. ")}
      ${sales.length > 0 && !others.length && "Dots are the last sales. "}
      ${isCandles && "A hollow candle rose, a filled one fell. "}
      <span>Drag across the chart or turn the wheel with Ctrl to zoom in, double-click to go back.</span></p>
    <div class="past-bar">
      <div role="group" aria-label="Range">${Object.keys(ranges).map((each) => html`
        <button type="button" aria-pressed=${each === range} onClick=${() => go(each)}>${each}</button>`)}</div>
      <div role="group" aria-label="Part of the range">${tools.map(([label, sign, act, isDisabled]) => html`
        <${Tool} label=${label} isDisabled=${isDisabled} act=${act}>${sign}</${Tool}>`)}
        <${Tool} isDisabled=${!part} act=${reset}>Reset</${Tool}></div>
      <div role="group" aria-label="Style" class="more">${market.kind && html`
        <button type="button" aria-pressed=${isAverage} onClick=${() => stay({ prices: isAverage ? undefined : "averages" })}>Averages</button>`}
        <button type="button" aria-pressed=${isCandles} disabled=${others.length > 0} onClick=${() => stay({ style: isCandles ? undefined : "candles" })}>Candles</button></div>
      <${CopyLink} view=${view} span=${span} />
    </div>
    <${Summary} market=${market} rows=${shown} />
    ${!isLoading && failure && html`<${Failure} failure=${failure} stale />`}
    <${Compare} market=${market} compared=${compared} set=${(ids) => stay({ with: ids.join() })} />
    <${Requests} paths=${[path, ...others.map((id, index) => series[index].path)]} />
    <${PriceTable} market=${market} rows=${shown} item=${item} name=${name} range=${part ? "part" : range} />
    <${BestHours} market=${market} item=${item} />
  </section>`;
};
