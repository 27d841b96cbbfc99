// The age of the prices in a view, and the state of data.
import { html } from "../../vendor/htm-preact.js";
import { useNow } from "./countdown.js";
import { dateTime, duration } from "../values/format.js";

/** The age from which prices are late, in milliseconds. */
const LATE = 60_000;

/** The time without a change after which the provider counts as standing still, in milliseconds. */
export const STANDSTILL = 600_000;

/** The age of data from the time `of`, in Unix milliseconds, with a sign if it is late. */
export const Age = ({ of }) => {
  const age = useNow() - of;
  if (!Number.isFinite(age)) return "–";
  return age < LATE ? `${duration(age)} ago` : html`<span class="late"><span aria-hidden="true">⚠ </span>${duration(age)} ago</span>`;
};

/** A line about prices that have not changed for too long. `since` is in Unix milliseconds. */
export const Standstill = ({ since }) =>
  useNow() - since >= STANDSTILL && html`<p class="late">Prices have not changed since ${dateTime(since)}.</p>`;

/** The state as a sign and in words, not only in colour. */
export const State = ({ isHealthy }) =>
  html`<span class=${isHealthy ? "good" : "bad"}><span aria-hidden="true">${isHealthy ? "✓" : "✕"}</span> ${isHealthy ? "Healthy" : "Not healthy"}</span>`;
