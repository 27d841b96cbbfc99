// How old the prices are that a view shows.
import { html } from "./htm-preact.js";
import { useNow } from "./countdown.js";
import { dateTime, duration } from "./format.js";

/** Prices are late from this age on, in milliseconds. */
const LATE = 60_000;

/** After this time without a change, in milliseconds, it is the provider that stands still. */
const STANDSTILL = 600_000;

/** The age of data of this time in Unix milliseconds, with a sign if they are late. */
export const Age = ({ of }) => {
  const age = useNow() - of;
  if (!Number.isFinite(age)) return "–";
  return age < LATE ? `${duration(age)} ago` : html`<span class="late"><span aria-hidden="true">⚠ </span>${duration(age)} ago</span>`;
};

/** A line about prices that have not changed since this time in Unix milliseconds, if that is too long. */
export const Standstill = ({ since }) =>
  useNow() - since >= STANDSTILL && html`<p class="late">Prices have not changed since ${dateTime(since)}.</p>`;
