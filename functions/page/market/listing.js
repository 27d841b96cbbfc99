// A table of items that is sorted, filtered and divided into pages here: the address has the order (`sort`), the filter (`filter`) and
// the page (`page`).
import { html, useEffect, useMemo, useState } from "./htm-preact.js";
import { Link, follow, show } from "./address.js";
import { Failure } from "./failure.js";
import { compact, integer } from "./format.js";
import { Skeleton } from "./skeleton.js";

/** How many rows a page has. */
const ROWS = 100;

const NARROW = matchMedia("(max-width: 48rem)");
const byName = new Intl.Collator("en", { numeric: true });

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
const sorting = (columns, text, usual) => {
  const isDescending = text?.startsWith("-") ?? false;
  const column = text?.slice(isDescending ? 1 : 0);
  return Object.hasOwn(columns, column ?? "") ? { column, isDescending } : sorting(columns, usual);
};

/** Returns the items whose name or id holds all words of the filter, sorted; those without a value come last. Equal ones keep their order. */
const arrange = (items, { column, isDescending }, filter) => {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const found = items.filter(({ name, id }) => words.every((word) => `${name} ${id}`.toLowerCase().includes(word)));
  const sign = isDescending ? -1 : 1;
  if (column === "name") return found.sort((a, b) => sign * byName.compare(a.name, b.name));
  const value = (item) => item[column] ?? sign * Infinity;
  return found.sort((a, b) => sign * (value(a) - value(b)) || 0);
};

const Head = ({ columns, sort, change }) =>
  html`<thead><tr>${Object.entries(columns).map(([column, { label }]) => {
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

const Row = ({ numbers, item, view, isNarrow }) => {
  const open = (event) => {
    // Links are their own business, and text that is selected was not clicked.
    if (!event.target.closest("a") && !getSelection().toString()) follow(view);
  };
  return html`<tr onClick=${open}>
    <th scope="row"><${Link} view=${view}>${item.name}</${Link}>${item.isShared && html`<small>${item.id}</small>`}</th>
    ${numbers.map(([column, { text, short = compact }]) => html`<td key=${column}>${(isNarrow ? short : text)(item[column] ?? NaN)}</td>`)}
  </tr>`;
};

const EmptyRows = ({ numbers }) => Array.from({ length: 20 }, (_, index) => html`<tr key=${index}>
  <td><${Skeleton} length=${16} /></td>${numbers.map(([column]) => html`<td key=${column}><${Skeleton} length=${5} /></td>`)}
</tr>`);

const Pages = ({ page, pages, turn }) => {
  const button = (label, target) => {
    const isEnd = target < 1 || target > pages;
    return html`<button type="button" aria-disabled=${isEnd} onClick=${() => isEnd || turn(target)}>${label}</button>`;
  };
  return html`<div class="pages">${button("Previous", page - 1)}<span class="figures">Page ${page} of ${pages}</span>${button("Next", page + 1)}</div>`;
};

/**
 * The table of the items, which `nameOf` names. `items` are missing while they load. `columns` are the columns by the name of their field,
 * `usual` is their first order, and `viewOf` returns where an item leads. `nouns` is what the items are, `none` says that there are none.
 */
export const Listing = ({ items, nameOf, failure, columns, usual, viewOf, nouns, none, caption, parameters }) => {
  const isNarrow = useNarrow();
  const sort = sorting(columns, parameters.sort, usual);
  const filter = parameters.filter ?? "";
  const change = (parts) => show({ ...parameters, page: "", ...parts }, { replace: true });
  const numbers = Object.entries(columns).filter(([, { text }]) => text);

  const named = useMemo(() => {
    const names = (items ?? []).map(({ id }) => nameOf(id));
    const counts = new Map();
    for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
    return names.map((name, index) => ({ ...items[index], name, isShared: counts.get(name) > 1 }));
  }, [items, nameOf]);
  const found = useMemo(() => arrange(named, sort, filter), [named, sort.column, sort.isDescending, filter]);
  const pages = Math.max(Math.ceil(found.length / ROWS), 1);
  const page = Math.min(Math.max(Math.floor(parameters.page) || 1, 1), pages);
  const turn = (target) => {
    change({ page: target > 1 ? target : "" });
    document.querySelector(".listing").scrollIntoView();
  };

  const count = () => {
    if (!items) return failure ? "" : `The ${nouns} are loading.`;
    if (!named.length) return none;
    if (!found.length) return `None of the ${integer(named.length)} ${nouns} matches “${filter}”.`;
    return filter.trim() ? `${integer(found.length)} of ${integer(named.length)} ${nouns} match.` : `${integer(named.length)} ${nouns}.`;
  };
  return html`${failure && html`<${Failure} failure=${failure} stale=${Boolean(items)} />`}
    ${(items || !failure) && html`<section class="card listing" aria-busy=${!items}>
      <div class="filter">
        <label for="filter">Filter by name</label>
        <input id="filter" type="search" autocomplete="off" spellcheck=${false} value=${filter}
          onInput=${(event) => change({ filter: event.target.value })} />
        <p class="muted" role="status">${count()}</p>
      </div>
      <div class="scroll" role="region" aria-label=${`Table of ${nouns}`} tabindex="0">
        <table>
          <caption class="hidden">${caption}</caption>
          <${Head} columns=${columns} sort=${sort} change=${(next) => change({ sort: next === usual ? "" : next })} />
          <tbody>${items
            ? found.slice((page - 1) * ROWS, page * ROWS).map((item) => html`
              <${Row} key=${item.id} numbers=${numbers} item=${item} view=${viewOf(item)} isNarrow=${isNarrow} />`)
            : html`<${EmptyRows} numbers=${numbers} />`}</tbody>
        </table>
      </div>
      ${pages > 1 && html`<${Pages} page=${page} pages=${pages} turn=${turn} />`}
    </section>`}`;
};
