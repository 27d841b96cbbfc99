// The last sales of an item in auctions, as a table and as a file.
import { html } from "./htm-preact.js";
import { Failure } from "./failure.js";
import { dateTime, price } from "./format.js";
import { csvOf, save } from "./save.js";

/** The number of sales that are shown. The file has all. */
const SHOWN = 20;

const FIELDS = ["sold_at", "price", "amount", "bin", "clean"];

/** The newest sales of the item with this id. */
export const LastSales = ({ id, data, failure }) => {
  const sales = data?.sales ?? [];
  const download = () => save(`${id.replace(/[;+]/g, "_")}-sales.csv`, csvOf([FIELDS, ...sales.map((sale) => FIELDS.map((field) => sale[field]))]));
  return html`<section class="card" aria-labelledby="last-sales" aria-busy=${!data && !failure}>
    <h2 id="last-sales">Last sales</h2>
    ${failure && html`<${Failure} failure=${failure} stale=${data} />`}
    <p class="muted">${sales.length ? "Of one item, up to 72 minutes old" : data ? "None is recorded." : "–"}</p>
    ${sales.length > 0 && html`<div class="scroll rows" tabindex="0" role="region" aria-label="Table of the last sales"><table>
      <tbody>${sales.slice(0, SHOWN).map(({ sold_at: time, price: coins, amount, bin, clean }, index) => html`<tr key=${index}>
        <th scope="row">${dateTime(time)}</th><td>${price(coins)}</td><td>${amount > 1 && `× ${amount} `}${!bin && "bid "}${clean && "clean"}</td></tr>`)}
      </tbody></table></div>
    <button type="button" onClick=${download}>Download sales</button>`}
  </section>`;
};
