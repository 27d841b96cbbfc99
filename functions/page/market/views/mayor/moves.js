// Changes of bazaar prices in past terms of a mayor, from the day before a term to its last day.
import { html, useState } from "../../../vendor/htm-preact.js";
import { Link } from "../../parts/address.js";
import { load } from "../../data/api.js";
import { LEAST_PRICE, movesOf, pathBefore } from "./changes.js";
import { Failure } from "../../parts/failure.js";
import { change, dateRange } from "../../values/format.js";
import { plain } from "../../values/ids.js";
import { useNames } from "../../data/names.js";

/** The most terms that are compared. Each needs two responses of up to 1 MB. */
const MOST_TERMS = 3;

/**
 * Returns the moves of the terms that have data, and the terms that have no data. Rejects with the first failure that is not a 404, because
 * such a failure can be temporary.
 */
const request = async (terms) => {
  const paths = ({ started_at: start, ended_at: end }) => [start, end].map(pathBefore);
  const results = await Promise.allSettled(terms.map((term) => Promise.all(paths(term).map((path) => load(path)))));
  const failure = results.map(({ reason }) => reason).find((reason) => reason && reason.status !== 404);
  if (failure) throw failure;
  const days = results.filter(({ value }) => value).map(({ value }) => value.map(({ candles }) => candles));
  return { hasMoves: days.length > 0, moves: movesOf(days), missing: terms.filter((_, index) => !results[index].value) };
};

const periods = (terms) => terms.map((term) => dateRange(term.started_at, term.ended_at)).join(", ");

const Side = ({ title, moves, nameOf }) => html`<div><h3>${title}</h3>
  ${moves.length ? html`<ol class="candidates plain">${moves.map(({ id, change: percents }) => html`<li key=${id} class="candidate">
    <${Link} view=${{ item: id }}>${nameOf(id)}</${Link}><span class="figures">${change(percents)}</span></li>`)}</ol>` : html`<p>None</p>`}</div>`;

const Result = ({ hasMoves, moves, missing }) => {
  const nameOf = useNames();
  return html`${missing.length > 0 && html`<p>No prices were recorded for the ${missing.length > 1 ? "terms" : "term"} ${periods(missing)}.</p>`}
    ${hasMoves && html`<p class="muted">Median change of the price from the day before a term to its last day, of products with a price of
        at least ${LEAST_PRICE} coins and a narrow spread.</p>
      <div class="grid">
        <${Side} title="Up" moves=${moves.rises} nameOf=${nameOf} /><${Side} title="Down" moves=${moves.falls} nameOf=${nameOf} />
      </div>`}`;
};

/**
 * The moves in the last terms of the mayor with this name. `history` has all past terms, and is missing while it loads; `role` is the mayor's
 * present role. Prices are requested when a button is pressed.
 */
export const Moves = ({ id, name, role, history }) => {
  const terms = history?.filter((term) => term.name === name).slice(0, MOST_TERMS);
  const [{ result, failure, isBusy }, set] = useState({});
  const isOff = Boolean(isBusy) || !terms;
  const show = async () => {
    set({ isBusy: true });
    // Without `retryAt`, the banner announces no next try: only the button sends the requests again.
    set(await request(terms).then((moved) => ({ result: moved }), (cause) => ({ failure: { ...cause, retryAt: undefined } })));
  };
  return html`<section class="card" aria-labelledby=${id} aria-busy=${Boolean(isBusy)}>
    <h2 id=${id}>What moved in the last ${["terms", "term", "two terms", "three terms"][terms?.length ?? MOST_TERMS]} of ${plain(name)}</h2>
    <p>${plain(name)} ${role}. ${terms && (terms.length ? `Terms: ${periods(terms)}.` : "No past term has been recorded.")}</p>
    ${failure && html`<${Failure} failure=${failure} />`}
    ${result ? html`<${Result} ...${result} />` : terms?.length !== 0 && html`
      <p><button type="button" aria-disabled=${isOff} onClick=${() => isOff || show()}>${isBusy ? "Loading…" : "Show what moved"}</button></p>`}
  </section>`;
};
