// A table of items, sorted, filtered and divided into pages. The address has the order (`sort`), the filter (`filter`) and the page
// (`page`).
import { html, useMemo } from "../../vendor/htm-preact.js";
import { Link, follow, show } from "./address.js";
import { Age, Standstill } from "./age.js";
import { Failure } from "./failure.js";
import { integer } from "../values/format.js";
import { Requests } from "./requests.js";
import { csvOf, save } from "./save.js";
import { Skeleton } from "./skeleton.js";
import { Star } from "./star.js";

/** The number of rows of a page. */
const ROWS = 100;

const byName = new Intl.Collator("en", { numeric: true });

/** Returns `{ column, isDescending }` of the parameter `sort`: a column, with `-` in front for the largest first. */
const sorting = (columns, text, usual) => {
  const isDescending = text?.startsWith("-") ?? false;
  const column = text?.slice(isDescending ? 1 : 0);
  return Object.hasOwn(columns, column ?? "") && !columns[column].isUnsorted ? { column, isDescending } : sorting(columns, usual);
};

/** Returns the items whose name or id contains all words of the filter, sorted. Items without a value come last; equal items keep their order. */
const arrange = (items, { column, isDescending }, filter) => {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const found = items.filter(({ name, id }) => words.every((word) => `${name} ${id}`.toLowerCase().includes(word)));
  const sign = isDescending ? -1 : 1;
  if (column === "name") return found.sort((a, b) => sign * byName.compare(a.name, b.name));
  const value = (item) => item[column] ?? sign * Infinity;
  return found.sort((a, b) => sign * (value(a) - value(b)) || 0);
};

const Head = ({ columns, sort, change }) =>
  html`<thead role="rowgroup"><tr role="row">${Object.entries(columns).map(([column, { label, isUnsorted }]) => {
    if (isUnsorted) return html`<th key=${column} role="columnheader" scope="col">${label}</th>`;
    const isSorted = column === sort.column;
    const order = sort.isDescending ? "descending" : "ascending";
    // A newly chosen column begins with the largest numbers, or with names from A.
    const next = isSorted ? !sort.isDescending : column !== "name";
    return html`<th key=${column} role="columnheader" scope="col" aria-sort=${isSorted ? order : undefined}>
      <button type="button" onClick=${() => change(`${next ? "-" : ""}${column}`)}>
        ${label}<span class="order" aria-hidden="true">${isSorted ? (sort.isDescending ? "▼" : "▲") : ""}</span>
      </button>
    </th>`;
  })}</tr></thead>`;

/** The choice of the order in narrow windows, where rows are cards without a head. */
const Order = ({ columns, sort, change }) => html`<label class="by">Sort by<select value=${`${sort.isDescending ? "-" : ""}${sort.column}`}
  onChange=${({ target }) => change(target.value)}>${Object.entries(columns).filter(([, { isUnsorted }]) => !isUnsorted).map(([column, { label }]) =>
    ["-", ""].map((sign) => html`<option value=${sign + column}>${label} ${sign ? "↓" : "↑"}</option>`))}</select></label>`;

const Row = ({ columns, numbers, item, view }) => {
  const open = (event) => {
    // Clicks on links and buttons have their own effect, and a selection of text is no click.
    if (!event.target.closest("a, button") && !getSelection().toString()) follow(view);
  };
  // Roles, because browsers do not treat cards as a table.
  return html`<tr role="row" onClick=${open}>
    <th role="rowheader" scope="row"><${Star} id=${view.item} market=${view.market} name=${item.name} /><${Link} view=${view}>${item.name}</${Link}>
      ${columns.name.note?.(item)}${item.isShared && html`<small>${item.id}</small>`}</th>
    ${numbers.map(([column, { label, text }]) => html`<td key=${column} role="cell" data-label=${label}>${text(item[column] ?? NaN)}</td>`)}
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
 * `usual` is the order without the parameter `sort`, and `viewOf` returns the view of an item. `nouns` is the plural name of the items, and
 * `none` is the text if there are no items.
 * `controls` are beside the filter, `paths` are the requests behind the table, and `updated` is the time of its prices in Unix milliseconds.
 */
export const Listing = ({ items, nameOf, failure, columns, usual, viewOf, nouns, none, caption, parameters, controls, paths, updated }) => {
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

  const download = () => {
    const fields = Object.keys(columns).filter((column) => !columns[column].isUnsorted);
    save(`${parameters.view}.csv`, csvOf([["id", ...fields], ...found.map((item) => ["id", ...fields].map((field) => item[field]))]));
  };
  const sortBy = (next) => change({ sort: next === usual ? "" : next });

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
        ${controls}
        <${Order} columns=${columns} sort=${sort} change=${sortBy} />
        <p class="muted" role="status">${count()}</p>
        ${updated > 0 && html`<p class="muted figures">Prices: <${Age} of=${updated} /></p><${Standstill} since=${updated} />`}
      </div>
      <div class="scroll" role="region" aria-label=${`Table of ${nouns}`} tabindex="0">
        <table role="table">
          <caption class="hidden">${caption}</caption>
          <${Head} columns=${columns} sort=${sort} change=${sortBy} />
          <tbody role="rowgroup">${items
            ? found.slice((page - 1) * ROWS, page * ROWS).map((item) => html`
              <${Row} key=${item.id} columns=${columns} numbers=${numbers} item=${item} view=${viewOf(item)} />`)
            : html`<${EmptyRows} numbers=${numbers} />`}</tbody>
        </table>
      </div>
      ${pages > 1 && html`<${Pages} page=${page} pages=${pages} turn=${turn} />`}
      <div class="foot"><button type="button" disabled=${!found.length} onClick=${download}>Download CSV</button>
        ${paths && html`<${Requests} paths=${paths} />`}</div>
    </section>`}`;
};
