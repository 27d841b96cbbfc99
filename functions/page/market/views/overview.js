// The first view: watched items, movers, the most traded items, the best flips, and a card for each other view.
import { html, useMemo } from "../../vendor/htm-preact.js";
import { Link, useTitle } from "../parts/address.js";
import { STANDSTILL, State } from "../parts/age.js";
import { CATALOGUE, useResource } from "../data/api.js";
import { TAX, Unsure, flipsOf, useBazaar } from "../data/bazaar.js";
import { closesAt } from "../values/calendar.js";
import { Countdown, useNow } from "../parts/countdown.js";
import { ranked, totalOf, votes } from "../values/election.js";
import { Failure } from "../parts/failure.js";
import { AVERAGES, BAZAAR_PRICES } from "../data/files.js";
import { change, dateTime, duration, integer, percent, price } from "../values/format.js";
import { plain } from "../values/ids.js";
import { useKey } from "../data/key.js";
import { useNames } from "../data/names.js";
import { Skeleton } from "../parts/skeleton.js";
import { Star } from "../parts/star.js";
import { WatchTable, usePrices } from "../parts/watch-table.js";
import { useWatched } from "../data/watched.js";

/** The number of items of a short table, and of flips. */
const ROWS = 8;
const FLIPS = 3;

/** The age from which sales in auctions are late, in milliseconds: those of an hour appear within 22 minutes after its end. */
const LATE_SALES = 5_400_000;

/** The least trade of movers, in coins a day: single orders move the prices of rare products a lot. */
const LEAST_TRADED = 10_000_000;

const Card = ({ view, title, path, children }) => {
  const { data, failure } = useResource(path);
  return html`<section class="card" aria-labelledby=${view} aria-busy=${!data && !failure}>
    <h2 id=${view}><${Link} view=${{ view }}>${title}</${Link}></h2>
    ${failure && html`<${Failure} failure=${failure} stale=${Boolean(data)} />`}
    ${data ? children(data) : !failure && html`<p><${Skeleton} length=${14} /></p><p><${Skeleton} length=${20} /></p>`}
  </section>`;
};

/** A short table with the name and one figure of each item. `rows` are missing while they load. */
const Figures = ({ id, title, view, label, rows, count = ROWS, failure, text, none, children }) => html`<section class="card overview" aria-labelledby=${id} aria-busy=${!rows && !failure}>
  <h2 id=${id}><${Link} view=${view}>${title}</${Link}></h2>
  ${failure && html`<${Failure} failure=${failure} stale=${Boolean(rows)} />`}
  ${rows?.length === 0 && html`<p class="muted">${none}</p>`}
  ${(rows ? rows.length > 0 : !failure) && html`<table>
    <thead><tr><th scope="col">Item</th><th scope="col">${label}</th></tr></thead>
    <tbody>${(rows ?? Array.from({ length: count })).map((row, index) => html`<tr key=${index} aria-hidden=${row ? undefined : "true"}>
      <th scope="row">${row ? html`<${Star} ...${row.item} name=${row.name} /><${Link} view=${{ item: row.item.id, market: row.item.market }}>${row.name}</${Link}>${row.note}`
        : html`<${Skeleton} length=${16} />`}</th>
      <td>${row ? text(row.value) : html`<${Skeleton} length=${6} />`}</td></tr>`)}</tbody>
  </table>`}
  ${children}
</section>`;

/** The cards of the bazaar. `children` come before the flips. */
const Bazaar = ({ children }) => {
  const { items, failure, since, isLoading, dayFailure } = useBazaar();
  const nameOf = useNames();
  const rows = (products, value) =>
    products?.map((product) => ({ item: { id: product.id }, name: nameOf(product.id), note: Unsure(product), value: value(product) }));
  const { movers, traded, flips } = useMemo(() => {
    const moved = items?.filter(({ traded, day }) => traded >= LEAST_TRADED && day);
    return {
      movers: moved?.length ? moved.sort((one, other) => Math.abs(other.day) - Math.abs(one.day)).slice(0, ROWS) : items && [],
      traded: items && items.filter((product) => product.traded).sort((one, other) => other.traded - one.traded).slice(0, ROWS),
      flips: items && flipsOf(items).sort((one, other) => other.coinsPerHour - one.coinsPerHour).slice(0, FLIPS),
    };
  }, [items]);
  return html`<${Figures} id="movers" title="Movers" view=${{ view: "items", sort: "-day" }} label=${since.label} rows=${rows(isLoading || dayFailure ? undefined : movers, ({ day }) => day)} failure=${failure ?? dayFailure} text=${change}
      none=${items?.some(({ day }) => day !== undefined) ? "No such product has moved." : "No price from that time is recorded."}><p class="muted">The best sell offer since ${dateTime(since.day)}, of products with at least 10 million coins traded a day.</p><//>
    <${Figures} id="traded" title="Most traded" view=${{ view: "items" }} label="Coins a day" rows=${rows(traded, (product) => product.traded)} failure=${failure} text=${price} none="Nothing is traded at the moment." />
    ${children}
    <${Figures} id="flips" title="Best flips" view=${{ view: "flips" }} label="Coins per hour" rows=${rows(flips, ({ coinsPerHour }) => coinsPerHour)} count=${FLIPS} failure=${failure} text=${price}
      none="No product brings a profit at the moment."><p class="muted">The coins of all players together, who buy with an order and sell with an offer in the bazaar, after the tax of ${TAX} %.</p><//>`;
};

const Auctions = () => {
  const { data, failure } = useResource(AVERAGES);
  const nameOf = useNames();
  const rows = useMemo(() => data && [...data.items].sort((one, other) => other.sales - one.sales).slice(0, ROWS), [data]);
  return html`<${Figures} id="sold" title="Most sold in auctions" view=${{ view: "auctions" }} label="Sales, 1 day" failure=${failure} text=${integer} none="No sale has been recorded yet."
    rows=${rows?.map(({ id, sales }) => ({ item: { id, market: "auctions" }, name: nameOf(id), value: sales }))} />`;
};

const Watched = () => {
  const all = useWatched();
  const { items, failure } = usePrices(all.slice(0, ROWS));
  const nameOf = useNames();
  return all.length > 0 && html`<section class="card overview" aria-labelledby="watched"><h2 id="watched"><${Link} view=${{ view: "watch" }}>Watched</${Link}></h2>
    ${failure && html`<${Failure} failure=${failure} stale=${items.some(({ isHere }) => isHere)} />`}<${WatchTable} items=${items} nameOf=${nameOf} /></section>`;
};

const Mayor = ({ mayor, election, current }) => {
  const ends = closesAt(Number(election.year) + 1);
  const candidates = ranked(current);
  const [leader] = candidates;
  const share = leader && (votes(leader) / totalOf(candidates)) * 100;
  return html`<p><strong>${plain(mayor.name)}</strong> is in office.</p>
    ${ends > 0 && html`<${Countdown} label="The term ends in" to=${ends} over="The term has ended." />`}
    ${leader && html`<p class="figures">${share > 0 ? html`<strong>${plain(leader.name)}</strong> leads the election with ${percent(share)} of the votes.`
      : "The leader of the election is not known."}</p>`}`;
};

const Sales = ({ sales }) => {
  const now = useNow();
  const nameOf = useNames(CATALOGUE);
  const [next, ...others] = sales.filter(({ end }) => end > now).sort((one, other) => one.start - other.start);
  if (!next) return html`<p>No fire sale is on or announced.</p>`;
  const hasStarted = next.start <= now;
  return html`<p><strong>${nameOf(next.item_id)}</strong> for ${integer(next.price)} gems</p>
    <${Countdown} label=${hasStarted ? "On sale, ends in" : "Announced, starts in"} to=${hasStarted ? next.end : next.start} />
    ${others.length > 0 && html`<p class="muted">${others.length} more ${others.length > 1 ? "sales" : "sale"}</p>`}`;
};

/** A line about the ages of the data in this view. The status would know more, but all visitors share its limit. */
const Health = () => {
  const { data, failure } = useResource(BAZAAR_PRICES);
  const averages = useResource(useKey() && AVERAGES).data;
  const sales = averages?.items.length ? Date.parse(averages.until) : NaN;
  const now = useNow();
  if (!data) return !failure && html`<p><${Skeleton} length=${40} /></p>`;
  const age = now - data.lastUpdated;
  return html`<p class="figures"><${State} isHealthy=${age < STANDSTILL && !(now - sales >= LATE_SALES)} />:
    prices of the bazaar ${duration(age)} old${sales > 0 && `, sales in auctions until ${dateTime(sales)}`}</p>`;
};

/** The first view. */
export const Overview = () => {
  useTitle("");
  const key = useKey();
  return html`
    <div class="intro">
      <h1>Market</h1>
      <p class="muted">Prices of the bazaar and of auctions in Hypixel SkyBlock. Search for an item to see its prices and history.</p>
      <${Health} />
    </div>
    <${Watched} />
    <div class="grid thirds">
      <${Bazaar}>${key && html`<${Auctions} />`}</${Bazaar}>
      ${key && html`<${Card} view="mayor" title="Mayor" path="v1/mayor">${(data) => html`<${Mayor} ...${data} />`}</${Card}>
      <${Card} view="sales" title="Fire sales" path="v1/fire-sales">${(data) => html`<${Sales} ...${data} />`}</${Card}>`}
    </div>`;
};
