// A summary of the prices of a range: their change, their bounds, and the last price's place between the bounds.
import { html } from "../../../../vendor/htm-preact.js";
import { change, coins, date, percent } from "../../../values/format.js";

/** Returns the figures of a line of these rows, or `null` if the line has no price. The average weights each price by its row's length. */
export const summaryOf = (rows, line) => {
  const known = rows.filter((row) => row[line]);
  if (!known.length) return null;
  const [first, last] = [known[0][line], known.at(-1)[line]];
  const low = Math.min(...known.map((row) => row[`${line}Low`] ?? row[line]));
  const high = Math.max(...known.map((row) => row[`${line}High`] ?? row[line]));
  const sum = (value) => known.reduce((total, row) => total + value(row), 0);
  const average = sum((row) => row[line] * row.step) / sum(({ step }) => step);
  return { begin: known[0], low, high, average, coins: last - first, change: (last / first - 1) * 100, place: high > low ? ((last - low) / (high - low)) * 100 : NaN };
};

/** The change of the price since the first one after `from`, in the given range. */
export const Change = ({ market, rows, from, range }) => {
  const { begin, coins: moved = NaN, change: percents } = summaryOf(rows, market.price) ?? {};
  const since = begin && begin.start - from > 2 * begin.step ? `since ${date(begin.start)}` : range;
  const by = Number.isFinite(moved) ? `${moved > 0 ? "+" : ""}${coins(moved)}, ${since}` : since;
  return html`<div><dt>Change</dt><dd>${change(percents)}<small>${by}</small></dd></div>`;
};

/** The figures of the rows. */
export const Summary = ({ market, rows }) => {
  const { low = NaN, high = NaN, average = NaN, place = NaN } = summaryOf(rows, market.price) ?? {};
  const tile = (label, value, note) => html`<div><dt>${label}</dt><dd>${value}${note && html`<small>${note}</small>`}</dd></div>`;
  const bar = html`<span class="bar" aria-hidden="true"><span style=${{ width: `${place || 0}%` }}></span></span>`;
  return html`<p class="muted hint">${market.lines[market.price]} over the shown time:</p>
    <dl class="summary figures">
      ${tile("Low", coins(low))}${tile("Average", coins(average))}${tile("High", coins(high))}
      ${tile("Last price at", percent(place), html`${bar} of the range`)}
    </dl>`;
};
