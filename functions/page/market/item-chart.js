// The part of an item's view with its past: which range is shown, the chart, and the table.
import { html, useEffect, useMemo, useRef, useState } from "./htm-preact.js";
import { show } from "./address.js";
import { load, useResource } from "./api.js";
import { Chart } from "./chart.js";
import { present } from "./clock.js";
import { Failure } from "./failure.js";
import { duration } from "./format.js";
import { RANGES, SHORTEST, collect, partSource, rangeSource, rowsOf, terms } from "./series.js";
import { PriceTable } from "./table.js";

const DEFAULT = "24h";

/** From this length on, the terms of mayors are shown, in milliseconds. */
const TERMS_FROM = 6 * 86_400_000;

/** No part ends later, in Unix milliseconds: the steps from it stay within what a date holds. */
const LATEST = Date.UTC(9999);

/** Returns the part of the range in the address, or `null`. */
const partOf = (parameters) => {
  const [from, to] = [Date.parse(parameters.from), Date.parse(parameters.to)];
  return from >= 0 && to < LATEST && to - from >= SHORTEST ? { from, to } : null;
};

const spanOf = (range, part, now, rows) => {
  if (part) return part;
  const from = now - RANGES[range].length;
  return { from: from === -Infinity ? (rows[0]?.start ?? now - SHORTEST) : from, to: now };
};

/**
 * Returns what is known of a range or a part of it: `{ rows, span, isLoading, failure }`. Until the finest data are here, that is what
 * was shown before; what was shown once is here at once.
 */
const useSeries = (item, range, part) => {
  const key = part ? `${part.from} ${part.to}` : range;
  const source = useMemo(() => (part ? partSource(item, part, present()) : rangeSource(item, range)), [key]);
  const { data, failure, receivedAt } = useResource(source.path);
  const known = useRef(new Map());
  const latest = useRef(null);
  const [, render] = useState(0);

  useEffect(() => {
    if (!data || known.current.get(key)?.completed === data) return undefined;
    let isWanted = true;
    let timer = 0;
    const keep = (rows, problem, completed) => {
      if (!isWanted) return;
      known.current.set(key, { rows, span: spanOf(range, part, receivedAt, rows), failure: problem, completed });
      render((count) => count + 1);
    };
    const { from, to } = part ?? { from: receivedAt - RANGES[range].length, to: receivedAt };
    if (!known.current.has(key)) keep(rowsOf(data, source.step, receivedAt), null);
    const complete = async () => {
      const { rows, failure: problem } = await collect({ item, source, from, to, data, now: receivedAt, load });
      keep(rows, problem, problem ? null : data);
      if (isWanted && Number.isFinite(problem?.retryAt)) timer = setTimeout(again, problem.retryAt - Date.now());
    };
    const again = () => {
      if (document.hidden) timer = setTimeout(again, 1_000);
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
  const rows = latest.current?.rows ?? [];
  const span = useMemo(() => found?.span ?? spanOf(range, part, present(), rows), [found, key]);
  return { rows, span, isLoading: !found, failure: failure ?? found?.failure };
};

/** The terms of mayors, `[]` until they are here: the chart does not wait for them, and says nothing if they fail. */
const useTerms = (isShown) => {
  const sitting = useResource(isShown ? "v1/mayor" : null).data;
  const past = useResource(isShown ? "v1/mayor/history?limit=100" : null).data;
  return useMemo(() => (isShown ? terms(sitting, past, present()) : []), [isShown, sitting, past]);
};

const address = (time) => new Date(Math.round(time / 1_000) * 1_000).toISOString().replace(".000Z", "Z");

/** A button that keeps the focus when its own click disables it. */
const Tool = ({ label, isDisabled, act, children }) =>
  html`<button type="button" aria-label=${label} title=${label} aria-disabled=${isDisabled} onClick=${() => isDisabled || act()}>${children}</button>`;

/** The past of an item. It is in the address: `range`, and `from` and `to` of the part that is shown. */
export const ItemChart = ({ item, name, parameters }) => {
  const range = Object.hasOwn(RANGES, parameters.range ?? "") ? parameters.range : DEFAULT;
  const part = partOf(parameters);
  const { rows, span, isLoading, failure } = useSeries(item, range, part);
  const mayors = useTerms(span.to - span.from >= TERMS_FROM || (part !== null && RANGES[range].length >= TERMS_FROM));
  const length = span.to - span.from;
  const shown = rows.filter(({ time, start }) => time >= span.from && start <= span.to);
  // A line can cross a short span between two prices.
  const isEmpty = !rows.some(({ time, step }) => time >= span.from && time - step <= span.to);
  const steps = [...new Set(shown.map(({ step }) => step))].map(duration);

  const zoom = (from, to) => {
    const middle = (from + to) / 2;
    const half = Math.max(to - from, SHORTEST) / 2;
    const end = Math.min(middle + half, present());
    show({ item, range, from: address(end - 2 * half), to: address(end) });
  };
  const reset = () => show({ item, range });
  const scale = (factor) => {
    const middle = (span.from + span.to) / 2;
    if (length * factor >= RANGES[range].length) reset();
    else zoom(middle - (length * factor) / 2, middle + (length * factor) / 2);
  };
  const move = (share) => zoom(span.from + length * share, span.to + length * share);
  const tools = [
    ["Earlier", "←", () => move(-0.5), false],
    ["Later", "→", () => move(0.5), !part],
    ["Zoom in", "+", () => scale(0.5), length <= SHORTEST],
    ["Zoom out", "−", () => scale(2), !part],
  ];

  return html`<section class="card past" aria-labelledby="past">
    <h2 id="past" class="hidden">History</h2>
    <div class="past-bar">
      <div role="group" aria-label="Range">${Object.keys(RANGES).map((each) => html`
        <button type="button" aria-pressed=${each === range} onClick=${() => show({ item, range: each })}>${each}</button>`)}</div>
      <div role="group" aria-label="Part of the range">${tools.map(([label, sign, act, isDisabled]) => html`
        <${Tool} label=${label} isDisabled=${isDisabled} act=${act}>${sign}</${Tool}>`)}
        <${Tool} isDisabled=${!part} act=${reset}>Reset</${Tool}></div>
    </div>
    <div class=${isLoading ? "chart busy" : "chart"}>
      <${Chart} rows=${rows} span=${span} terms=${mayors} label=${`Prices of ${name}. The table below the chart has the same data.`}
        isBusy=${isLoading && !failure} onZoom=${zoom} onReset=${reset} />
      ${!isLoading && isEmpty && html`<p class="note muted">No prices were recorded in this time.</p>`}
      ${isLoading && !failure && html`<p class="note muted" role="status">Loading…</p>`}
      ${isLoading && failure && html`<div class="note"><${Failure} failure=${failure} /></div>`}
    </div>
    <p class="muted hint">${steps.length > 0 && `Averages over the best 2 % of the volume, one every ${steps.join(", later every ")}. `}<span>Drag across the chart to zoom in, double-click to go back.</span></p>
    ${!isLoading && failure && html`<${Failure} failure=${failure} stale />`}
    <${PriceTable} rows=${shown} item=${item} name=${name} range=${part ? "part" : range} />
  </section>`;
};
