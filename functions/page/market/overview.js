// What a visitor sees first: the best flips, and one card for each other view.
import { html } from "./htm-preact.js";
import { Link } from "./address.js";
import { useResource } from "./api.js";
import { closesAt } from "./calendar.js";
import { Countdown, useNow } from "./countdown.js";
import { Failure } from "./failure.js";
import { useFlips } from "./flips.js";
import { coins, percent } from "./format.js";
import { plain, useNames } from "./names.js";
import { Skeleton } from "./skeleton.js";
import { summary } from "./status.js";
import { useTitle } from "./title.js";

/** How many flips are shown. */
const FIRST = 8;

const Card = ({ view, title, path, children }) => {
  const { data, failure } = useResource(path);
  return html`<section class="card" aria-labelledby=${view} aria-busy=${!data && !failure}>
    <h2 id=${view}><${Link} view=${{ view }}>${title}</${Link}></h2>
    ${failure && html`<${Failure} failure=${failure} stale=${Boolean(data)} />`}
    ${data ? children(data) : !failure && html`<p><${Skeleton} length=${14} /></p><p><${Skeleton} length=${20} /></p>`}
  </section>`;
};

const Flips = () => {
  const { items, failure } = useFlips();
  const nameOf = useNames();
  const rows = items?.slice(0, FIRST) ?? Array.from({ length: FIRST });
  return html`<section class="card overview" aria-labelledby="flips" aria-busy=${!items && !failure}>
    <h2 id="flips"><${Link} view=${{ view: "flips" }}>Flips</${Link}></h2>
    ${failure && html`<${Failure} failure=${failure} stale=${Boolean(items)} />`}
    ${(items || !failure) && html`<table>
      <thead><tr><th scope="col">Item</th><th scope="col">Spread %</th><th scope="col">Spread</th></tr></thead>
      <tbody>${rows.map((flip, index) => html`<tr key=${index} aria-hidden=${flip ? undefined : "true"}>
        <th scope="row">${flip ? html`<${Link} view=${{ item: flip.id }}>${nameOf(flip.id)}</${Link}>` : html`<${Skeleton} length=${16} />`}</th>
        <td>${flip ? percent(flip.spreadPercent) : html`<${Skeleton} length=${5} />`}</td>
        <td>${flip ? coins(flip.spread) : html`<${Skeleton} length=${9} />`}</td></tr>`)}</tbody>
    </table>
    <p class="muted">Spreads are between average prices. Open an item to see its best orders.</p>`}
  </section>`;
};

const Mayor = ({ mayor, election }) => {
  const ends = closesAt(Number(election.year) + 1);
  return html`<p><strong>${plain(mayor.name)}</strong> is in office.</p>
    ${ends > 0 && html`<${Countdown} label="The term ends in" to=${ends} over="The term has ended." />`}`;
};

const Sales = ({ sales }) => {
  const now = useNow();
  const next = [...sales].sort((one, other) => one.start - other.start)[0];
  if (!next) return html`<p>No fire sale is on or announced.</p>`;
  const hasStarted = next.start <= now;
  return html`<p>${sales.length === 1 ? "One sale" : `${sales.length} sales`}</p>
    <${Countdown} label=${hasStarted ? "The first ends in" : "The first starts in"} to=${hasStarted ? next.end : next.start} over="The first has ended." />`;
};

/** The first view. */
export const Overview = () => {
  useTitle("");
  return html`
    <div class="intro">
      <h1>Market</h1>
      <p class="muted">Prices of the bazaar and of auctions in Hypixel SkyBlock. Search for an item to see its prices and history.</p>
    </div>
    <${Flips} />
    <div class="grid">
      <${Card} view="mayor" title="Mayor" path="v1/mayor">${(data) => html`<${Mayor} ...${data} />`}</${Card}>
      <${Card} view="sales" title="Fire sales" path="v1/fire-sales">${(data) => html`<${Sales} ...${data} />`}</${Card}>
      <${Card} view="status" title="Status" path="v1/status">${(data) => html`<p>${summary(data.feeds)}</p>`}</${Card}>
    </div>`;
};
