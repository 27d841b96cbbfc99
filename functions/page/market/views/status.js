// The age of the recorded data, with a card per feed. Requires no key.
import { html } from "../../vendor/htm-preact.js";
import { useTitle } from "../parts/address.js";
import { Standstill, State } from "../parts/age.js";
import { useResource } from "../data/api.js";
import { Failure } from "../parts/failure.js";
import { dateTime, duration, exactTime } from "../values/format.js";
import { nameOfId } from "../values/ids.js";
import { Requests } from "../parts/requests.js";
import { Skeleton } from "../parts/skeleton.js";

const LABELS = { auctions: "Auction prices", bazaar: "Bazaar prices", candles: "Candles", mayor: "Mayors", "fire-sales": "Fire sales" };

/** The feeds whose data change with every refresh. */
const MARKETS = ["auctions", "bazaar"];

const gap = (period) =>
  period ? `${dateTime(period.from)} to ${dateTime(period.to)} (${duration(Date.parse(period.to) - Date.parse(period.from))})` : "None";

const Feed = ({ name, feed }) => {
  const value = (text) => (feed ? text() : html`<${Skeleton} length=${12} />`);
  return html`<section class="card feed" data-feed=${name} aria-labelledby=${`feed-${name}`}>
    <h2 id=${`feed-${name}`}>${LABELS[name] ?? nameOfId(name)}</h2>
    <p>${value(() => html`<${State} isHealthy=${feed.is_healthy} />`)}</p>
    <dl>
      <dt>Last record</dt><dd>${value(() => (feed.last_recorded_at ? exactTime(feed.last_recorded_at) : "Nothing yet"))}</dd>
      <dt>Age at check</dt><dd>${value(() => duration(feed.age_seconds === null ? NaN : feed.age_seconds * 1_000))}</dd>
      <dt>Interval</dt><dd>${value(() => duration(feed.expected_every_seconds * 1_000))}</dd>
      <dt>Oldest record</dt><dd>${value(() => (feed.recorded_since ? dateTime(feed.recorded_since) : "None"))}</dd>
      <dt>Latest gap</dt><dd>${value(() => gap(feed.last_gap))}</dd>
      ${feed && feed.minutes_last_hour !== null && html`<dt>Minutes of the last hour</dt><dd>${feed.minutes_last_hour} of 60</dd>`}
      ${feed?.data_changed_at && html`<dt>Newest change</dt><dd>${exactTime(feed.data_changed_at)}</dd>`}
    </dl>
    ${MARKETS.includes(name) && html`<${Standstill} since=${Date.parse(feed?.data_changed_at)} />`}
  </section>`;
};

/** Returns a sentence about the feeds of a status. */
const summary = (feeds) => {
  const late = feeds.filter((feed) => !feed.is_healthy).map(({ name }) => LABELS[name] ?? name);
  return late.length ? `Not healthy: ${late.join(", ")}.` : "All feeds are healthy.";
};

/** The view of the status. */
export const Status = () => {
  useTitle("Status");
  const { data, failure } = useResource("v1/status");
  const feeds = data?.feeds ?? Object.keys(LABELS).map((name) => ({ name, isMissing: true }));
  return html`
    <div class="intro">
      <h1>Status</h1>
      <p>${data ? html`<strong>${summary(data.feeds)}</strong>` : !failure && html`<${Skeleton} length=${24} />`}</p>
      <p class="muted">A feed is healthy if its latest record is at most two intervals plus 110 seconds old (for candles, plus 230 seconds), and if at least 55 minutes of the last hour are recorded. Prices must have changed within ten minutes.</p>
      <p class="muted figures">${data ? `Checked on ${exactTime(data.checked_at)}` : !failure && html`<${Skeleton} length=${24} />`}</p>
    </div>
    ${failure && html`<${Failure} failure=${failure} stale=${Boolean(data)} />`}
    ${(data || !failure) && html`<div class="grid feeds" aria-busy=${!data}>
      ${feeds.map((feed) => html`<${Feed} key=${feed.name} name=${feed.name} feed=${feed.isMissing ? null : feed} />`)}</div>`}
    ${data && html`<p class="muted">Version ${data.version} of the service</p><section class="card"><${Requests} paths=${["v1/status"]} /></section>`}`;
};
