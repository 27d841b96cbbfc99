// Fire sales: present, announced and past.
import { html, useState } from "../../vendor/htm-preact.js";
import { useTitle } from "../parts/address.js";
import { CATALOGUE, useResource } from "../data/api.js";
import { Countdown, useNow } from "../parts/countdown.js";
import { Failure } from "../parts/failure.js";
import { date, dateTime, integer } from "../values/format.js";
import { useNames } from "../data/names.js";
import { Requests } from "../parts/requests.js";
import { Skeleton, SkeletonRows } from "../parts/skeleton.js";

/** The path of the recorded sales. */
const HISTORY = "v1/fire-sales/history?limit=200";

/** The number of recorded sales that are shown at first. */
const FIRST = 20;

const Sale = ({ name, sale }) => {
  const hasStarted = sale.start <= useNow();
  const to = hasStarted ? sale.end : sale.start;
  return html`<li class="card sale">
    <h3>${name}</h3>
    <p class="figures"><strong>${integer(sale.price)}</strong> gems each, <strong>${integer(sale.amount)}</strong> for sale</p>
    <${Countdown} label=${hasStarted ? "On sale, ends in" : "Announced, starts in"} to=${to} over="This sale has ended." />
    <p class="muted figures">${dateTime(sale.start)} to ${dateTime(sale.end)}</p>
  </li>`;
};

const Present = ({ nameOf, data, failure }) => {
  const sales = [...(data?.sales ?? [])].sort((a, b) => a.start - b.start);
  return html`<section class=${data || failure ? "" : "waiting"} aria-labelledby="present" aria-busy=${!data && !failure}>
    <h2 id="present">Now and announced</h2>
    ${failure && html`<${Failure} failure=${failure} stale=${Boolean(data)} />`}
    ${!data && !failure && html`<p><${Skeleton} length=${32} /></p>`}
    ${data && !sales.length && html`<p>No fire sale is on or announced.</p>`}
    ${sales.length > 0 && html`<ul class="grid plain">${sales.map((sale) => html`
      <${Sale} key=${`${sale.item_id} ${sale.start}`} name=${nameOf(sale.item_id)} sale=${sale} />`)}</ul>`}
  </section>`;
};

const Past = ({ nameOf, data, failure }) => {
  const [isWhole, showAll] = useState(false);
  const all = data?.history ?? [];
  const shown = isWhole ? all : all.slice(0, FIRST);
  return html`<section class="card" aria-labelledby="past" aria-busy=${!data && !failure}>
    <h2 id="past">Recorded sales</h2>
    ${failure && html`<${Failure} failure=${failure} stale=${Boolean(data)} />`}
    ${data && !all.length && html`<p>No fire sale has been recorded yet.</p>`}
    <ol class="past plain">
      ${shown.map((sale, index) => html`<li key=${index}>
        <strong>${nameOf(sale.item_id)}</strong>
        <span class="muted figures">${date(sale.recorded_at)}</span>
        <span class="figures">${integer(sale.price)} gems each, ${integer(sale.amount)} for sale</span></li>`)}
      ${!data && !failure && html`<${SkeletonRows} lengths=${[18, 11, 28]} />`}
    </ol>
    ${shown.length < all.length && html`<p><button type="button" onClick=${() => showAll(true)}>Show all ${integer(all.length)} sales</button></p>`}
  </section>`;
};

/** The view of fire sales. */
export const Sales = () => {
  useTitle("Fire sales");
  const nameOf = useNames(CATALOGUE);
  const present = useResource("v1/fire-sales");
  const past = useResource(HISTORY);
  // Recorded sales are shown only once the data above them has arrived, so that they do not move.
  return html`<h1>Fire sales</h1>
    <${Present} nameOf=${nameOf} ...${present} />
    ${(present.data || present.failure) && html`<${Past} nameOf=${nameOf} ...${past} />
      <section class="card"><${Requests} paths=${["v1/fire-sales", HISTORY]} /></section>`}`;
};
