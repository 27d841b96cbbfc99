// The cheap and dear hours of an item: prices of each hour of the week, relative to the average of their day.
import { html, useMemo } from "../../../../vendor/htm-preact.js";
import { useResource } from "../../../data/api.js";
import { present } from "../../../data/clock.js";
import { Failure } from "../../../parts/failure.js";
import { change, percent } from "../../../values/format.js";

const HOUR = 3_600_000;

/** The number of requested candles. */
const MOST_CANDLES = 1_000;
/** The least number of days with enough prices. */
const LEAST_DAYS = 14;
/** The least number of hours with a price that make a day count. */
const LEAST_HOURS = 12;

const WEEKDAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

const median = (values) => {
  const sorted = [...values].sort((one, other) => one - other);
  return (sorted[Math.floor((sorted.length - 1) / 2)] + sorted[Math.floor(sorted.length / 2)]) / 2;
};

/**
 * Returns `{ days, hours, week }` of a line of hourly rows. `days` is the number of days with enough prices. `hours` has one median for each
 * hour, and `week` one for each weekday and hour: the median of the prices, in per cent above the average of their day. Days and hours are
 * local. An hour without prices is `NaN`.
 */
export const hoursOf = (rows, line) => {
  const priceOf = (row) => ((row[`${line}Open`] || row[line]) + row[line]) / 2;
  const days = Map.groupBy(rows.filter((row) => row[line]), ({ start }) => new Date(start).toDateString());
  const full = [...days.values()].filter((day) => day.length >= LEAST_HOURS);
  const shares = full.flatMap((day) => {
    const average = day.reduce((sum, row) => sum + priceOf(row), 0) / day.length;
    return day.map((row) => {
      const time = new Date(row.start);
      return { weekday: (time.getDay() + 6) % 7, hour: time.getHours(), share: (priceOf(row) / average - 1) * 100 };
    });
  });
  const medianOf = (isOf) => median(shares.filter(isOf).map(({ share }) => share));
  const hours = Array.from({ length: 24 }, (_, hour) => medianOf((each) => each.hour === hour));
  const week = WEEKDAYS.map((_, weekday) => hours.map((__, hour) => medianOf((each) => each.weekday === weekday && each.hour === hour)));
  return { days: full.length, hours, week };
};

/** The minute at which an hour of UTC begins in the local time zone. */
const MINUTES = String(((-new Date().getTimezoneOffset() % 60) + 60) % 60).padStart(2, "0");

const clock = (hour) => `${String(hour % 24).padStart(2, "0")}:${MINUTES}`;

const period = (hour) => `${clock(hour)}–${clock(hour + 1)}`;

/** Returns the sentence about the hour with the least or the largest share. */
const best = (label, hours, bound) => {
  const known = hours.filter(Number.isFinite);
  if (!known.length) return `${label}: no prices.`;
  const share = bound(...known);
  return `${label}: ${period(hours.indexOf(share))}, in the median ${percent(Math.abs(share))} ${share < 0 ? "below" : "above"} the day's average.`;
};

const Cell = ({ share, largest, when }) => {
  const text = change(share);
  return html`<td class=${share < 0 ? "low" : "high"} style=${{ "--share": `${Math.abs(share / largest) * 40 || 0}%` }} title=${`${when}: ${text}`}>
    ${text.replace("%", "")}</td>`;
};

/** The hours. Their candles are requested when this is first shown. */
export const Hours = ({ market, item, rowsOf }) => {
  const path = useMemo(() => market.path(item, market.intervals.find(({ step }) => step === HOUR), MOST_CANDLES), [item]);
  const { data, failure } = useResource(path);
  const [buy, sell] = useMemo(() => {
    const rows = data ? rowsOf(market, data, HOUR, present()) : [];
    return [market.price, market.sold].map((line) => hoursOf(rows, line));
  }, [data, market]);
  if (!data) return failure ? html`<${Failure} failure=${failure} />` : html`<p class="muted" role="status">Loading…</p>`;
  const missing = LEAST_DAYS - buy.days;
  const days = (count) => `${count} day${count === 1 ? "" : "s"}`;
  if (missing > 0) {
    return html`<p>This needs ${days(LEAST_DAYS)} of prices. It has ${days(buy.days)}, so it takes ${days(missing)} more.</p>`;
  }
  const largest = Math.max(...buy.week.flat().filter(Number.isFinite).map(Math.abs));
  return html`<p>${best("Cheapest hour to buy", buy.hours, Math.min)}<br />${best("Dearest hour to sell", sell.hours, Math.max)}</p>
    <div class="scroll" tabindex="0" role="region" aria-label="Hours of the week">
      <table>
        <caption>${market.lines[market.price]} by weekday and hour in your time zone, in per cent above (+) or below (-) the average of its day:
          medians of ${days(buy.days)}.</caption>
        <thead><tr><th scope="col">Day</th>${buy.hours.map((_, hour) => html`
          <th scope="col" title=${period(hour)}>${clock(hour).slice(0, 2)}</th>`)}</tr></thead>
        <tbody>${buy.week.map((shares, weekday) => html`<tr><th scope="row">${WEEKDAYS[weekday]}</th>${shares.map((share, hour) => html`
          <${Cell} share=${share} largest=${largest} when=${`${WEEKDAYS[weekday]} ${period(hour)}`} />`)}</tr>`)}</tbody>
      </table>
    </div>`;
};
