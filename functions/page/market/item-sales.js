// The last sales of an item in auctions, as a table and as a file.
import { html } from "./htm-preact.js";
import { Failure } from "./failure.js";
import { dateTime, integer, price } from "./format.js";
import { Requests } from "./requests.js";
import { csvOf, save } from "./save.js";
import { SkeletonRows } from "./skeleton.js";

/** How many sales are shown. The file has all of a page. */
const SHOWN = 20;

const FIELDS = ["sold_at", "price", "amount", "bin", "clean"];

/** Returns what distinguishes a sale: the number of items, a bid, and whether the copy is clean. */
const noteOf = ({ amount, bin, clean }) => [amount > 1 && `× ${integer(amount)}`, !bin && "bid", clean && "clean"].filter(Boolean).join(", ");

/** The newest sales of the item with this id. `resource` is their first page, at `path`. */
export const LastSales = ({ id, path, resource: { data, failure } }) => {
  const sales = data?.sales ?? [];
  const download = () => save(`${id.replace(/[;+]/g, "_")}-sales.csv`, csvOf([FIELDS, ...sales.map((sale) => FIELDS.map((field) => sale[field]))]));
  return html`<section class="card" aria-labelledby="last-sales" aria-busy=${!data && !failure}>
    <h2 id="last-sales">Last sales</h2>
    ${failure && html`<${Failure} failure=${failure} stale=${Boolean(data)} />`}
    ${!data && !failure && html`<ol class="plain"><${SkeletonRows} lengths=${[14, 8]} /></ol>`}
    ${data && !sales.length && html`<p class="muted">No sale is recorded lately.</p>`}
    ${sales.length > 0 && html`<div class="scroll rows" tabindex="0" role="region" aria-label="Table of the last sales">
      <table>
        <caption>Prices of one item in coins. New sales appear within 72 minutes.</caption>
        <thead><tr><th scope="col">Time</th><th scope="col">Price</th><th scope="col">Note</th></tr></thead>
        <tbody>${sales.slice(0, SHOWN).map((sale, index) => html`<tr key=${index}>
          <th scope="row">${dateTime(sale.sold_at)}</th><td>${price(sale.price)}</td><td>${noteOf(sale)}</td>
        </tr>`)}</tbody>
      </table>
    </div>`}
    <div class="rows-bar"><button type="button" disabled=${!sales.length} onClick=${download}>Download sales</button></div>
    <${Requests} paths=${[path]} />
  </section>`;
};
