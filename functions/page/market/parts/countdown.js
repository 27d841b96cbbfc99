// The clock of all countdowns: one tick on each full second, and none in a hidden tab.
import { html, useEffect, useState } from "../../vendor/htm-preact.js";
import { present } from "../data/clock.js";
import { duration, exactTime } from "../values/format.js";

const listeners = new Set();
let timer = 0;

const schedule = () => {
  clearTimeout(timer);
  if (listeners.size && !document.hidden) timer = setTimeout(tick, 1_000 - (Date.now() % 1_000));
};

const tick = () => {
  for (const listener of listeners) listener(Date.now());
  schedule();
};

document.addEventListener("visibilitychange", () => (document.hidden ? clearTimeout(timer) : tick()));

/** Returns the present time of the service in Unix milliseconds, and renders again every second while the tab is visible. */
export const useNow = () => {
  const [, set] = useState(0);
  useEffect(() => {
    listeners.add(set);
    schedule();
    return () => {
      listeners.delete(set);
      schedule();
    };
  }, []);
  return present();
};

/** A line with the time that is left until `to`, in Unix milliseconds: `Closes in 2 d 3 h`. Afterwards, the line shows the text `over`. */
export const Countdown = ({ label, to, over }) => {
  const left = to - useNow();
  // The provider's times can be too large for a date.
  const date = new Date(to);
  const datetime = Number.isNaN(date.getTime()) ? undefined : date.toISOString();
  return html`<p class="countdown">${
    left > 0 ? html`${label} <time datetime=${datetime} title=${exactTime(to)}>${duration(left + 999)}</time>` : over
  }</p>`;
};
