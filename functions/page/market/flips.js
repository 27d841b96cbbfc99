// Flips: products whose prices are far apart and that are traded a lot, in a table that is sorted and filtered here.
import { html, useEffect, useState } from "./htm-preact.js";
import { Link, follow, show } from "./address.js";
import { useResource } from "./api.js";
import { Failure } from "./failure.js";
import { coins, compact, integer, percent } from "./format.js";
import { useNames } from "./names.js";
import { Skeleton } from "./skeleton.js";
import { useTitle } from "./title.js";

/** Returns the flips as `useResource` does. While the sell offers of a product are missing, it is no flip. */
export const useFlips = () => {
  const { data, failure } = useResource("v1/bazaar?mode=flips&limit=100");
  return { failure, items: data?.items.filter(({ buyPrice }) => buyPrice) };
};

const DEFAULT_SORT = "-spreadPercent";
const NARROW = matchMedia("(max-width: 48rem)");

/** The columns by the name of their field, the most important first: a narrow screen shows four of them without scrolling. */
const COLUMNS = {
  name: { label: "Item" },
  spreadPercent: { label: "Spread %", text: percent, short: percent },
  spread: { label: "Spread", text: coins },
  sellPrice: { label: "Avg. sell price", text: coins },
  buyPrice: { label: "Avg. buy price", text: coins },
  sellMovingWeek: { label: "Sold / week", text: integer },
  buyMovingWeek: { label: "Bought / week", text: integer },
  sellVolume: { label: "Buy orders", text: integer },
  buyVolume: { label: "Sell offers", text: integer },
};
const NUMBERS = Object.entries(COLUMNS).filter(([, { text }]) => text);

const useNarrow = () => {
  const [isNarrow, set] = useState(NARROW.matches);
  useEffect(() => {
    const listener = () => set(NARROW.matches);
    NARROW.addEventListener("change", listener);
    return () => NARROW.removeEventListener("change", listener);
  }, []);
  return isNarrow;
};

/** Returns `{ column, isDescending }` of the parameter `sort`: a column, with `-` in front for the largest first. */
export const sorting = (text) => {
  const isDescending = text?.startsWith("-") ?? false;
  const column = text?.slice(isDescending ? 1 : 0);
  return Object.hasOwn(COLUMNS, column ?? "") ? { column, isDescending } : sorting(DEFAULT_SORT);
};

/** Returns the flips whose name or id holds all words of the filter, sorted; equal ones by name. */
export const arrange = (flips, { column, isDescending }, filter = "") => {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const found = flips.filter(({ name, id }) => words.every((word) => `${name} ${id}`.toLowerCase().includes(word)));
  const byName = (a, b) => a.name.localeCompare(b.name, "en", { numeric: true });
  const compare = column === "name" ? byName : (a, b) => a[column] - b[column];
  return found.sort((a, b) => (isDescending ? compare(b, a) : compare(a, b)) || byName(a, b));
};

const Head = ({ sort, change }) =>
  html`<thead><tr>${Object.entries(COLUMNS).map(([column, { label }]) => {
    const isSorted = column === sort.column;
    const order = sort.isDescending ? "descending" : "ascending";
    // A new column begins with what people look for: the largest numbers, and names from A.
    const next = isSorted ? !sort.isDescending : column !== "name";
    return html`<th key=${column} scope="col" aria-sort=${isSorted ? order : undefined}>
      <button type="button" onClick=${() => change(`${next ? "-" : ""}${column}`)}>
        ${label}<span class="order" aria-hidden="true">${isSorted ? (sort.isDescending ? "▼" : "▲") : ""}</span>
      </button>
    </th>`;
  })}</tr></thead>`;

const Row = ({ flip, isNarrow }) => {
  const open = (event) => {
    // Links are their own business, and text that is selected was not clicked.
    if (!event.target.closest("a") && !getSelection().toString()) follow({ item: flip.id });
  };
  return html`<tr onClick=${open}>
    <th scope="row"><${Link} view=${{ item: flip.id }}>${flip.name}</${Link}>${flip.isShared && html`<small>${flip.id}</small>`}</th>
    ${NUMBERS.map(([column, { text, short = compact }]) => html`<td key=${column}>${(isNarrow ? short : text)(flip[column])}</td>`)}
  </tr>`;
};

const EmptyRows = () => Array.from({ length: 20 }, (_, index) => html`<tr key=${index}>
  <td><${Skeleton} length=${16} /></td>${NUMBERS.map(([column]) => html`<td key=${column}><${Skeleton} length=${5} /></td>`)}
</tr>`);

/** The view of flips. The address has the order (`sort`) and the filter (`filter`). */
export const Flips = ({ parameters }) => {
  useTitle("Flips");
  const { items, failure } = useFlips();
  const nameOf = useNames();
  const isNarrow = useNarrow();
  const sort = sorting(parameters.sort);
  const filter = parameters.filter ?? "";
  const change = (parts) => show({ ...parameters, ...parts }, { replace: true });

  const named = items?.map((flip) => ({ ...flip, name: nameOf(flip.id) })) ?? [];
  const counts = new Map();
  for (const { name } of named) counts.set(name, (counts.get(name) ?? 0) + 1);
  const flips = arrange(named.map((flip) => ({ ...flip, isShared: counts.get(flip.name) > 1 })), sort, filter);

  const count = () => {
    if (!items) return failure ? "" : "The flips are loading.";
    if (!named.length) return "No product qualifies as a flip at the moment.";
    if (!flips.length) return `None of the ${named.length} flips matches “${filter}”.`;
    return filter.trim() ? `${flips.length} of ${named.length} flips match.` : `${named.length} flips.`;
  };
  return html`
    <div class="intro">
      <h1>Flips</h1>
      <p class="muted">Buy with an order, sell with an offer, and keep the spread. Prices and spreads here are averages over the best 2 % of
        each side’s volume: between the best orders, a spread can be far smaller, or a loss after taxes. Open an item to see its best
        orders. Listed are products with an average sell price of 50,000 coins or more, and at least 10,000 items on both sides.</p>
    </div>
    ${failure && html`<${Failure} failure=${failure} stale=${Boolean(items)} />`}
    ${(items || !failure) && html`<section class="card flips" aria-busy=${!items}>
      <div class="filter">
        <label for="filter">Filter by name</label>
        <input id="filter" type="search" autocomplete="off" spellcheck=${false} value=${filter}
          onInput=${(event) => change({ filter: event.target.value })} />
        <p class="muted" role="status">${count()}</p>
      </div>
      <div class="scroll" role="region" aria-label="Table of flips" tabindex="0">
        <table>
          <caption class="hidden">Flips, with average prices in coins and volumes in items</caption>
          <${Head} sort=${sort} change=${(next) => change({ sort: next === DEFAULT_SORT ? "" : next })} />
          <tbody>${items ? flips.map((flip) => html`<${Row} key=${flip.id} flip=${flip} isNarrow=${isNarrow} />`) : html`<${EmptyRows} />`}</tbody>
        </table>
      </div>
    </section>`}`;
};
