// The mayor, the open election, and past mayors.
import { html, useState } from "../../../vendor/htm-preact.js";
import { useTitle } from "../../parts/address.js";
import { useResource } from "../../data/api.js";
import { closesAt, opensAt } from "../../values/calendar.js";
import { Countdown } from "../../parts/countdown.js";
import { list, ministerOf, ranked, totalOf, votes } from "../../values/election.js";
import { Failure } from "../../parts/failure.js";
import { dateRange, dateTime, integer, percent } from "../../values/format.js";
import { nameOfId, plain } from "../../values/ids.js";
import { Moves } from "./moves.js";
import { Requests } from "../../parts/requests.js";
import { Skeleton, SkeletonRows } from "../../parts/skeleton.js";

/** The path of the past mayors. */
const HISTORY = "v1/mayor/history?limit=100";

/** The number of past mayors that are shown at first. */
const FIRST = 12;

const role = ({ key, name }) => {
  const text = nameOfId(String(key ?? ""));
  return key && text.toLowerCase() !== plain(name).toLowerCase() ? html`<span class="muted">${text}</span>` : "";
};

const Perks = ({ perks }) =>
  html`<ul class="perks plain">${list(perks).map((perk, index) => html`<li key=${index}>
    <strong>${plain(perk.name)}</strong>${perk.minister && html` <span class="muted">(also as minister)</span>`}<div>${plain(perk.description)}</div>
  </li>`)}</ul>`;

/** Candidates with their votes as bars. */
const Candidates = ({ candidates, hasPerks }) => {
  const total = totalOf(candidates);
  return html`<ol class="candidates plain">${candidates.map((candidate, index) => html`<li key=${candidate.key ?? index}>
    <div class="candidate"><span><strong>${plain(candidate.name)}</strong> ${role(candidate)}</span>
      ${total > 0 && html`<span class="figures">${integer(votes(candidate))} votes</span>`}</div>
    ${total > 0 && html`<div class="candidate"><div class="bar"><div style=${{ width: `${(votes(candidate) / total) * 100}%` }}></div></div>
      <span class="share figures">${percent((votes(candidate) / total) * 100)}</span></div>`}
    ${hasPerks && html`<${Perks} perks=${candidate.perks} />`}
  </li>`)}</ol>`;
};

/** The first candidate's lead, if there is one. */
const Lead = ({ candidates }) => {
  const [first, second] = candidates;
  const lead = second ? votes(first) - votes(second) : 0;
  const points = ((lead / totalOf(candidates)) * 100).toFixed(1);
  return lead > 0 && html`<p class="figures">${plain(first.name)} leads by ${integer(lead)} votes, ${points} points.</p>`;
};

const Sitting = ({ mayor, election }) => {
  const year = Number(election.year);
  const minister = ministerOf(election);
  return html`<section class="card" aria-labelledby="sitting">
    <h2 id="sitting">In office</h2>
    <p class="name"><strong>${plain(mayor.name)}</strong> ${role(mayor)}</p>
    ${year > 0 && html`<p class="muted figures">Since ${dateTime(closesAt(year))}</p>
      <${Countdown} label="The term ends in" to=${closesAt(year + 1)} over="The term has ended." />`}
    ${list(mayor.perks).length ? html`<${Perks} perks=${mayor.perks} />` : html`<p>This mayor has no perks.</p>`}
    ${minister && html`<h3>Minister: ${plain(minister.name)}</h3><${Perks} perks=${[{ ...minister.perk, minister: false }]} />`}
  </section>`;
};

const Booth = ({ current, election }) => {
  const candidates = ranked(current);
  const year = Number(current.year);
  const next = Number(election.year) + 1;
  if (!candidates.length) {
    return html`<section class="card booth" aria-labelledby="booth">
      <h2 id="booth">Election</h2>
      <p>The booth is closed.</p>
      ${next > 0 && html`<${Countdown} label="It opens in" to=${opensAt(next)} over="It opens soon." />
        <p class="muted figures">Election of year ${next}: ${dateTime(opensAt(next))}</p>`}
    </section>`;
  }
  return html`<section class="card booth" aria-labelledby="booth">
    <h2 id="booth">Election${year > 0 && ` of year ${year}`}</h2>
    ${year > 0 && html`<p class="muted figures">Until ${dateTime(closesAt(year))}</p>
      <${Countdown} label="The booth closes in" to=${closesAt(year)} over="The booth has closed." />`}
    ${candidates.some(({ votes }) => Number.isFinite(votes)) || html`<p>The game hides the votes at the moment.</p>`}
    <${Lead} candidates=${candidates} />
    <${Candidates} candidates=${candidates} hasPerks />
  </section>`;
};

const Won = ({ mayor, election }) => {
  const candidates = ranked(election);
  if (!candidates.some(({ votes }) => Number.isFinite(votes))) return null;
  return html`<section class="card" aria-labelledby="won">
    <h2 id="won">How ${plain(mayor.name)} was elected</h2><${Candidates} candidates=${candidates} />
  </section>`;
};

const Past = ({ data, failure }) => {
  const [isWhole, showAll] = useState(false);
  const all = data?.history ?? [];
  const shown = isWhole ? all : all.slice(0, FIRST);
  return html`<section class="card" aria-labelledby="past" aria-busy=${!data && !failure}>
    <h2 id="past">Past mayors</h2>
    ${failure && html`<${Failure} failure=${failure} stale=${Boolean(data)} />`}
    ${data && !all.length && html`<p>No past mayor has been recorded yet.</p>`}
    <ol class="past plain">
      ${shown.map((mayor) => html`<li key=${mayor.started_at}>
        <span><strong>${plain(mayor.name)}</strong> ${role(mayor)}</span>
        <span class="muted figures">${dateRange(mayor.started_at, mayor.ended_at)}</span>
        <span>${mayor.perks.map(({ name }) => plain(name)).join(", ") || "No perks"}</span></li>`)}
      ${!data && !failure && html`<${SkeletonRows} lengths=${[14, 17, 30]} count=${FIRST} />`}
    </ol>
    ${shown.length < all.length && html`<p><button type="button" onClick=${() => showAll(true)}>Show all ${integer(all.length)} mayors</button></p>`}
  </section>`;
};

const Loading = () =>
  html`<div class="mayor" aria-busy="true">${["In office", "Election", "Votes"].map((title, place) => html`
    <section key=${title} class=${place === 1 ? "card booth" : "card"}>
      <h2>${title}</h2>
      ${place < 2 && html`<p class="name"><${Skeleton} length=${14} /></p><p><${Skeleton} length=${22} /></p><p><${Skeleton} length=${22} /></p>`}
      <ul class="perks plain"><${SkeletonRows} lengths=${[14, 30]} count=${place ? 5 : 4} /></ul>
    </section>`)}</div>`;

/** The view of the mayor and the election. */
export const Mayor = () => {
  useTitle("Mayor");
  const { data, failure } = useResource("v1/mayor");
  const past = useResource(HISTORY);
  const [leader] = ranked(data?.current);
  const moves = (id, name, text) => html`<${Moves} key=${name} id=${id} name=${name} role=${text} history=${past.data?.history} />`;
  // Past mayors are shown only once the data above them has arrived, so that they do not move.
  return html`
    <h1>Mayor and election</h1>
    ${failure && html`<${Failure} failure=${failure} stale=${Boolean(data)} />`}
    ${!data && !failure && html`<${Loading} />`}
    ${data && html`<div class="mayor">
      <${Sitting} mayor=${data.mayor} election=${data.election} />
      <${Booth} current=${data.current} election=${data.election} />
      <${Won} mayor=${data.mayor} election=${data.election} />
    </div>
    <div class="grid">
      ${moves("moves", data.mayor.name, "is in office")}
      ${leader && votes(leader) > 0 && leader.name !== data.mayor.name && moves("next-moves", leader.name, "leads the election")}
    </div>`}
    ${(data || failure) && html`<${Past} ...${past} />
      <section class="card"><${Requests} paths=${["v1/mayor", HISTORY]} /></section>`}`;
};
