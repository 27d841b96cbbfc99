// The data of the chart as a table, for screen readers and for copying, and as a file.
import { html, useState } from "../../../../vendor/htm-preact.js";
import { periodOf } from "./axis.js";
import { coins, integer } from "../../../values/format.js";
import { save } from "../../../parts/save.js";
import { csv } from "./series.js";

/** The most rows that are shown: more make the page slow. The file has all. */
const MOST_ROWS = 300;

/** Returns the columns of a market, each as its label, the field of a row and its format. */
const columnsOf = ({ lines, volumes }) => [
  ...Object.entries(lines).flatMap(([line, label]) => [[label, line, coins], ["Low", `${line}Low`, coins], ["High", `${line}High`, coins]]),
  ...Object.entries(volumes).map(([volume, label]) => [label, volume, integer]),
];

const Rows = ({ market, rows, name, columns = columnsOf(market) }) => html`
  <div class="scroll rows" tabindex="0" role="region" aria-label=${`Prices of ${name}`}>
    <table>
      <caption>${rows.length > MOST_ROWS ? `The latest ${MOST_ROWS} of ${rows.length} entries` : `${rows.length} entries`}, newest first.${" "}
        ${market.caption}</caption>
      <thead><tr><th scope="col">Time</th>${columns.map(([label]) => html`<th scope="col">${label}</th>`)}</tr></thead>
      <tbody>${rows.slice(-MOST_ROWS).reverse().map((row) => html`<tr key=${row.start}>
        <th scope="row">${periodOf(row)}</th>${columns.map(([, field, format]) => html`<td>${format(row[field] ?? NaN)}</td>`)}
      </tr>`)}</tbody>
    </table>
  </div>`;

/** The rows in a disclosure, and a button that saves all of them. */
export const PriceTable = ({ market, rows, item, name, range }) => {
  const [isOpen, setOpen] = useState(false);
  const download = () => save(`${item.replace(/[:;+]/g, "_")}-${range}.csv`, csv(market, rows));
  return html`<div class="rows-bar">
      <button type="button" aria-expanded=${isOpen} aria-controls="rows" disabled=${!rows.length} onClick=${() => setOpen(!isOpen)}>
        ${isOpen ? "Hide the table" : "Show as a table"}</button>
      <button type="button" disabled=${!rows.length} onClick=${download}>Download CSV</button>
    </div>
    <div id="rows">${isOpen && html`<${Rows} market=${market} rows=${rows} name=${name} />`}</div>`;
};
