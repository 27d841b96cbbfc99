// How old the prices are that a view shows.
import { html } from "./htm-preact.js";
import { useNow } from "./countdown.js";
import { duration } from "./format.js";

/** Prices are late from this age on, in milliseconds. */
const LATE = 60_000;

/** The age of data of this time in Unix milliseconds, with a sign if they are late. */
export const Age = ({ of }) => {
  const age = useNow() - of;
  if (!Number.isFinite(age)) return "–";
  return age < LATE ? `${duration(age)} ago` : html`<span class="late"><span aria-hidden="true">⚠ </span>${duration(age)} ago</span>`;
};
