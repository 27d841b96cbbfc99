// Up to four items in one chart, each as its change since the beginning of the shown time. The address has the view's item as `item` and
// the ids of the other items as `with`.
import { html, useState } from "../../../../vendor/htm-preact.js";
import { Link } from "../../../parts/address.js";
import { sentence } from "../../../parts/failure.js";
import { change } from "../../../values/format.js";
import { auctionIdOf } from "../../../values/ids.js";
import { matches } from "../../../values/matches.js";
import { useItems } from "../../../parts/search.js";
import { columns, fieldsOf } from "./series.js";
import { summaryOf } from "./summary.js";

/** The most items that are compared with the view's item. */
export const MOST_OTHERS = 3;

/** Returns the ids in the parameter `with`. */
export const othersOf = (text, item) =>
  [...new Set((text ?? "").split(","))].filter((id) => id && id !== item).slice(0, MOST_OTHERS);

/** Returns the times and prices of the rows as columns, with 100 as the first price of the span. A row that ends after the span is cut. */
export const indexed = (market, rows, { from, to }) => {
  const { data } = columns(market, rows.map((row) => (row.start <= to && row.time > to ? { ...row, time: to } : row)));
  const values = data[1 + fieldsOf(market).indexOf(market.price)];
  const base = values.find((value, index) => value && data[0][index] >= from);
  return [data[0], values.map((value) => (value && base ? (value / base) * 100 : null))];
};

/** The form that adds an item by its name or id. The list of items is requested when the form is first used. */
const Form = ({ market, add }) => {
  const [text, setText] = useState("");
  const [isUsed, setUsed] = useState(false);
  const [isUnknown, setUnknown] = useState(false);
  const { items } = useItems(isUsed);
  const own = (items ?? []).filter(({ markets }) => markets.some((name) => name.toLowerCase() === market.name));
  const idOf = ({ id }) => (market.name === "auctions" ? auctionIdOf(id) : id);
  const found = matches(own, text);
  const submit = (event) => {
    event.preventDefault();
    const item = own.find((each) => idOf(each) === text.trim().toUpperCase()) ?? found[0];
    setUnknown(!item);
    if (!item) return;
    setText("");
    add(idOf(item));
  };
  return html`<form class="compare" onSubmit=${submit}>
    <input list="others" aria-label="Compare with" placeholder="Compare with…" autocomplete="off" spellcheck=${false} value=${text} required
      onFocus=${() => setUsed(true)} onInput=${({ target }) => setText(target.value)} />
    <datalist id="others">${found.map((item) => html`<option key=${item.id} value=${idOf(item)}>${item.name}</option>`)}</datalist>
    <button type="submit">Compare</button>
    <span class="muted" role="status">${isUnknown && (items ? "No active item has such a name or id." : "The list of items is loading…")}</span>
  </form>`;
};

const Entry = ({ index, market, id, name, rows, isLoading, failure, remove }) => {
  const summary = summaryOf(rows, market.price);
  const problem = failure ? sentence(failure) : index ? `No prices of ${id} in this time. Check the id.` : "No prices in this time.";
  return html`<li>
    <svg class=${`sample series-${index}`} viewBox="0 0 32 4" aria-hidden="true"><path d="M0 2h32" /></svg>
    ${index ? html`<${Link} view=${{ item: id, market: market.name === "auctions" ? "auctions" : undefined }}>${name}</${Link}>` : name}
    ${" "}<strong>${summary ? change(summary.change) : isLoading && !failure ? "…" : problem}</strong>
    ${remove && html`<button type="button" aria-label=${`Remove ${name}`} title="Remove" onClick=${remove}>✕</button>`}
  </li>`;
};

/** The compared items, the change of each item, and the form. `set(ids)` replaces the other items. */
export const Compare = ({ market, compared, set }) => {
  const others = compared.slice(1).map(({ id }) => id);
  return html`<div class="compared figures">
    ${others.length > 0 && html`<ul class="plain" aria-label=${`${market.lines[market.price]} since the beginning of the shown time`}>
      ${compared.map((each, index) => html`<${Entry} key=${each.id} index=${index} market=${market} ...${each}
        remove=${index ? () => set(others.filter((id) => id !== each.id)) : null} />`)}</ul>
      <p class="muted">In the chart, each item begins at 100.</p>`}
    ${others.length < MOST_OTHERS && html`<${Form} market=${market} add=${(id) => set([...others, id])} />`}
  </div>`;
};
