// The chart of an item, drawn by uPlot: above, two lines of prices, candles, or lines of several items; below, volumes. The table has the
// same data for screen readers.
import { html, useLayoutEffect, useRef, useState } from "../../../../vendor/htm-preact.js";
import { labels, periodOf, timeLabels } from "./axis.js";
import { indexed } from "./compare.js";
import { change, coins, compact, dateTime, integer } from "../../../values/format.js";
import { listen } from "./gestures.js";
import { END_WIDTH, drawBegin, drawCandles, drawEnds, drawSales, drawTerms, drawTitle, middleOf } from "./paint.js";
import { columns, fieldsOf } from "./series.js";

const DAY = 86_400_000;
const PRICES_HEIGHT = 300;
const VOLUMES_HEIGHT = 130;
const AXIS = 64;
const FONT = "12px system-ui, sans-serif";
const SYNC = "item";
/** The allowed distances between labels of whole numbers. */
const WHOLE = Array.from({ length: 30 }, (_, index) => [1, 2, 5][index % 3] * 10 ** Math.floor(index / 3));

/** The colours of the canvas, in terms of the style sheet's variables. */
const COLOURS = {
  first: "var(--first)",
  second: "var(--second)",
  third: "var(--accent)",
  fourth: "var(--text)",
  card: "var(--card)",
  firstBand: "color-mix(in srgb, var(--first) 18%, transparent)",
  secondBand: "color-mix(in srgb, var(--second) 18%, transparent)",
  text: "var(--muted)",
  line: "var(--line)",
  sale: "color-mix(in srgb, var(--second) 70%, transparent)",
  term: "color-mix(in srgb, var(--muted) 10%, transparent)",
};

/** The colours and dashes of the lines of compared items. The style sheet repeats them for the samples. */
const COMPARED = [["first", []], ["second", [6, 3]], ["third", [2, 3]], ["fourth", [10, 3, 2, 3]]];

/** Returns the colours for the canvas, in the element's present colour scheme. */
const coloursOf = (element) => {
  const probe = element.appendChild(document.createElement("span"));
  const entries = Object.entries(COLOURS).map(([name, colour]) => {
    probe.style.color = colour;
    return [name, getComputedStyle(probe).color];
  });
  probe.remove();
  return Object.fromEntries(entries);
};

/** Returns both ends of a range as text, short enough for a small screen. */
const rangeOf = (low, high) => {
  const format = high >= 1e6 ? integer : coins;
  return low === null ? "\xa0" : `${format(low)} to ${format(high)}`;
};

const Legend = ({ market, row, days, legend, terms, isLive, isCompared }) => {
  const day = row && days.find(({ start }) => start <= row.start && row.start < start + DAY);
  const term = row && terms.find(({ from, to }) => from < row.time && row.time <= to);
  const price = ([line, label], index) => html`<div class=${isCompared ? "" : ["first", "second"][index]}>
    <dt>${label}</dt>
    <dd>${coins(row?.[line] ?? NaN)}<small>${rangeOf(row?.[`${line}Low`] ?? null, row?.[`${line}High`])}</small></dd>
  </div>`;
  const { label, text, note } = legend;
  return html`<dl class="legend figures" aria-live=${isLive ? "polite" : "off"}>
    <div><dt>Time</dt><dd>${row ? periodOf(row) : "–"}<small>${term ? `Mayor ${term.name}` : "\xa0"}</small></dd></div>
    ${Object.entries(market.lines).map(price)}
    <div><dt>${label}</dt><dd>${row ? text(row, day) : "–"}<small>${row ? note(row, day) : "\xa0"}</small></dd></div>
  </dl>`;
};

/** Returns the data of both plots, and the row of each entry of the first plot as `rowAt`. */
const dataOf = (market, rows, days, hasDays, kind, compared, span) => {
  const { data, rowAt } = columns(market, rows);
  const fields = fieldsOf(market);
  const pick = (names) => names.map((name) => data[1 + fields.indexOf(name)]);
  // A bar is in the middle of its interval. Gaps and zeros have no bar.
  const bars = () => [rows.map(({ start, step }) => start + step / 2), rows.map(({ sales }) => sales || null)];
  const perDay = () => [days.map(({ start }) => start + DAY / 2), days.map(({ traded }) => traded)];
  const volumes = hasDays ? perDay() : market.hasBars ? bars() : [data[0], ...pick(Object.keys(market.volumes))];
  const { price } = market;
  if (kind === "candles") {
    const times = data[0].map((time, index) => (rowAt[index] ? middleOf(rowAt[index]) : time));
    return { prices: [times, ...pick([price, `${price}Low`, `${price}High`])], volumes, rowAt };
  }
  if (kind === "lines") return { prices: data.slice(0, 7), volumes, rowAt };
  const prices = globalThis.uPlot.join(compared.map((each) => indexed(market, each.rows, span)));
  return { prices, volumes, rowAt: prices[0].map((time) => rows.findLast((row) => row.time <= time) ?? null) };
};

/**
 * The chart of the rows of a market. `span` is the time that it shows, and `begin` is where prices begin inside it. `days` is what was traded a
 * day, which bars show if `hasDays`. `terms` are the terms of mayors, `sales` are drawn as dots, and `compared` has the compared items with
 * their rows. A gesture calls `onZoom(from, to)`, a key `onScale(factor)`, and a double click `onReset()`. `shortest` and `longest` bound the
 * length of a zoomed span.
 */
export const Chart = ({ market, rows, days, hasDays, span, begin, terms, sales, isCandles, compared, label, isBusy, ...gestures }) => {
  const holder = useRef(null);
  const plots = useRef(null);
  const [hovered, setHovered] = useState(null);
  // The plots read these values while they draw, after this component has rendered.
  const now = useRef({});
  const isCompared = compared.length > 1;
  const kind = isCompared ? `items ${compared.map(({ name }) => name).join()}` : isCandles ? "candles" : "lines";
  const legend = hasDays ? market.daily : market.legend;
  Object.assign(now.current, { span, hasDays, begin: isCompared ? undefined : begin, terms, sales: isCompared ? [] : sales, compared, setHovered, ...gestures });

  useLayoutEffect(() => {
    const element = holder.current;
    const created = create(market, element, now.current, kind, legend.label);
    plots.current = created;
    const repaint = () => {
      now.current.colours = coloursOf(element);
      for (const plot of created) plot.redraw(false);
    };
    const resize = new ResizeObserver(() => {
      for (const plot of created) plot.setSize({ width: element.clientWidth, height: plot.height });
    });
    resize.observe(element);
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    scheme.addEventListener("change", repaint);
    const stop = listen(element, created, now.current);
    return () => {
      stop();
      resize.disconnect();
      scheme.removeEventListener("change", repaint);
      for (const plot of created) plot.destroy();
    };
  }, [kind, market, hasDays]);

  useLayoutEffect(() => {
    const { prices, volumes, rowAt } = dataOf(market, rows, days, hasDays, kind, compared, span);
    now.current.rowAt = rowAt;
    plots.current[0].setData(prices);
    plots.current[1].setData(volumes);
    setHovered(null);
  }, [rows, days, hasDays, span.from, span.to, kind, market, isCompared && compared]);

  // uPlot draws only once, even if several effects ask for it at the same time.
  useLayoutEffect(() => {
    for (const plot of plots.current) plot.redraw(false);
  }, [terms, sales, begin]);

  const last = rows.findLast(({ time }) => time >= span.from && time <= span.to);
  return html`<${Legend} market=${market} row=${hovered ? hovered.row : last} days=${days} legend=${legend} terms=${terms}
      isCompared=${isCompared} isLive=${document.activeElement === holder.current} />
    <div class="plots" ref=${holder} role="application" tabindex="0" aria-roledescription="chart" aria-label=${label} aria-busy=${isBusy}></div>`;
};

/** The style of the second line. */
const DASHES = { dash: [6, 3] };
/** The style of the edges of a band. The edges are not drawn. */
const EDGE = { width: 0, points: { show: false } };

/** Returns the places of single prices between two gaps. No line connects them, so they are drawn as dots. */
const lonely = (plot, index) => {
  const values = plot.data[index];
  // `undefined` marks a time at which only another line has a price.
  const places = values.map((value, at) => at).filter((at) => values[at] !== undefined);
  const isGap = (place) => (values[places[place]] ?? null) === null;
  return places.filter((at, place) => values[at] !== null && isGap(place - 1) && isGap(place + 1));
};

/** Returns the styles of lines, bars and axes. They read `now` while a plot draws. */
const stylesOf = (now) => {
  const colour = (name) => () => now.colours[name];
  const points = { show: true, size: 5, filter: lonely };
  const barPaths = (size) => globalThis.uPlot.paths.bars({ size });
  const axis = { stroke: colour("text"), font: FONT, grid: { stroke: colour("line"), width: 1 }, ticks: { show: false } };
  return {
    line: (name, options = {}) => ({ stroke: colour(name), width: 1.75, spanGaps: false, points, ...options }),
    band: (series, name) => ({ series, fill: colour(name) }),
    bars: (size) => ({ fill: colour("firstBand"), stroke: colour("first"), width: 1, paths: barPaths(size), points: { show: false } }),
    timeAxis: { ...axis, space: 72, values: (plot, splits, index, space, distance) => timeLabels(splits, distance) },
    // Without data, the axis has no labels but keeps its space, so nothing moves when the data arrive.
    valueAxis: {
      ...axis,
      size: AXIS,
      values: (plot, splits, index, space, distance) => (now.rowAt?.length ? labels(splits, distance) : splits.map(() => "")),
    },
  };
};

const select = (now) => (plot) => {
  const { left, width } = plot.select;
  if (!width) return;
  plot.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
  now.onZoom(plot.posToVal(left, "x"), plot.posToVal(left + width, "x"));
};

const hover = (now) => (plot) => {
  const index = plot.cursor.idx;
  const row = now.rowAt?.[index];
  now.setHovered(plot.cursor.left < 0 || index === null || index === undefined ? null : { row });
};

/** Creates an empty plot. `range` gives the ends of its vertical axis. */
const createPlot = (element, now, { height, series, axes, range, bands, hooks }) =>
  new globalThis.uPlot(
    {
      width: element.clientWidth, height, ms: 1, series, axes, bands, legend: { show: false }, padding: [8, END_WIDTH, 0, 0],
      scales: { x: { time: true, range: () => [now.span.from, now.span.to] }, y: { range } },
      cursor: {
        sync: { key: SYNC },
        drag: { x: true, y: false, setScale: false, dist: 6 },
        points: { size: (self, index) => (series[index].stroke ? 8 : 0) },
        bind: { dblclick: () => () => now.onReset() },
      },
      hooks: { setSelect: [select(now)], ...hooks },
    },
    series.map(() => []),
    element,
  );

/** Returns the labels at the ends of lines, each given as the index of its series, its name, and the index of its colour in `COMPARED`. */
const endsOf = (names, format) => names.map(([index, name, at]) => ({ index, name, colour: COMPARED[at][0], format }));

/** Returns how prices are drawn: the lines and their bands, the labels at the ends of the lines, and `draw`, which draws candles. */
const pricesOf = ({ ends, price }, now, kind, { line, band }) => {
  if (kind === "candles") {
    return {
      series: [EDGE, EDGE, EDGE],
      labels: [{ index: 1, name: ends[price], colour: "text", format: compact }],
      draw: (self) => drawCandles(self, now.rowAt?.filter(Boolean) ?? [], price, now.colours),
    };
  }
  if (kind === "lines") {
    return {
      series: [line("first"), EDGE, EDGE, line("second", DASHES), EDGE, EDGE],
      bands: [band([3, 2], "firstBand"), band([6, 5], "secondBand")],
      labels: endsOf(Object.values(ends).map((name, at) => [1 + 3 * at, name, at]), compact),
    };
  }
  return {
    series: now.compared.map((_, at) => line(COMPARED[at][0], { dash: COMPARED[at][1] })),
    labels: endsOf(now.compared.map(({ name }, at) => [1 + at, name, at]), (value) => change(value - 100)),
  };
};

const createPrices = (market, element, now, kind, styles) => {
  const { series, bands, labels: lineEnds, draw } = pricesOf(market, now, kind, styles);
  return createPlot(element, now, {
    height: PRICES_HEIGHT,
    series: [{}, ...series],
    axes: [{ ...styles.timeAxis, size: 8, values: (self, splits) => splits.map(() => "") }, styles.valueAxis],
    range: (self, least, most) => (least === null ? [0, 1] : globalThis.uPlot.rangeNum(least, most, 0.1, true)),
    bands,
    hooks: {
      setCursor: [hover(now)],
      drawAxes: [(self) => drawTerms(self, now.terms, now.colours, true)],
      draw: [(self) => draw?.(self), (self) => drawSales(self, now.sales, now.colours),
        (self) => drawBegin(self, now.begin, `No data before ${dateTime(now.begin)}`, now.colours), (self) => drawEnds(self, lineEnds, now.colours)],
    },
  });
};

const createVolumes = (market, element, now, label, { line, bars, timeAxis, valueAxis }) => {
  const hasBars = market.hasBars || now.hasDays;
  const lineEnds = hasBars ? [] : endsOf(Object.values(market.volumes).map((name, at) => [1 + at, name, at]), compact);
  const title = now.compared.length > 1 ? `${label}: ${now.compared[0].name}` : label;
  return createPlot(element, now, {
    height: VOLUMES_HEIGHT,
    series: hasBars ? [{}, bars([0.8, now.hasDays ? Infinity : 40])] : [{}, line("first"), line("second", DASHES)],
    axes: [{ ...timeAxis, size: 28 }, { ...valueAxis, space: 24, incrs: hasBars ? WHOLE : undefined }],
    // Leaves room for the title above the highest volume.
    range: (self, least, most) => [0, (most || 1) * 1.3],
    hooks: {
      drawAxes: [(self) => drawTerms(self, now.terms, now.colours, false)],
      draw: [(self) => drawEnds(self, lineEnds, now.colours), (self) => drawTitle(self, title, now.colours)],
    },
  });
};

/** Creates the plots of prices and of volumes in the element. `label` is the title of the volumes. */
const create = (market, element, now, kind, label) => {
  now.colours = coloursOf(element);
  const styles = stylesOf(now);
  return [createPrices(market, element, now, kind, styles), createVolumes(market, element, now, label, styles)];
};
