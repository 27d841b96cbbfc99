// A banner with one sentence for each cause of missing data. The places of missing data do not repeat the cause.
import { html, useEffect, useState } from "../../vendor/htm-preact.js";
import { focusView } from "./address.js";
import { useNow } from "./countdown.js";
import { duration } from "../values/format.js";
import { keepKey } from "../data/key.js";

/** Returns the whole seconds until a time in Unix milliseconds of the browser, at least 0. */
const secondsUntil = (time) => Math.max(Math.ceil((time - Date.now()) / 1_000), 0);

/** Forgets the key, so the page shows the form for a key. */
export const forgetKey = () => {
  keepKey(null);
  focusView();
};

/** Turns the addresses in a text of the API into links. */
export const linked = (text) =>
  text.split(/(https?:\/\/[^\s<>"]*[^\s<>".,;:!?)])/).map((part, index) =>
    index % 2 ? html`<a href=${part} rel="noreferrer">${part}</a>` : part,
  );

/** Returns the sentence about a failure of `useResource`. Failures with the same sentence are one cause in the banner. */
export const sentence = ({ status, message, isOfKey }) => {
  switch (status) {
    case 0:
      return "The service cannot be reached. Check your connection.";
    case 401:
      return `The service does not accept this key. ${message ?? ""}`;
    case 403:
      return message || "This key has no access.";
    case 429:
      return isOfKey ? "This key has used up its requests for now." : "All visitors together have sent too many requests for now.";
    case 400:
    case 404:
      return message || "The service has no such data.";
    default:
      return "The service has a problem at the moment.";
  }
};

const Cause = ({ text, failure, isStale }) => {
  // Renders again every second.
  useNow();
  const seconds = secondsUntil(failure.retryAt);
  return html`<p class="failure" data-status=${failure.status}>${linked(text)}${isStale && " The data shown is the last that was received."}
    ${Number.isFinite(seconds) && html` <span class="figures">Next try in ${duration(seconds * 1_000)}.</span>`}
    ${failure.status === 401 && html` <button type="button" onClick=${forgetKey}>Enter another key</button>`}</p>`;
};

/** The present reports of the parts of the view: `{ failure, isStale }`. */
const reports = new Set();
let renderBanner = () => {};

/** Reports a failure of `useResource`, if there is one, to the banner. `isStale` says that older data are shown. */
export const useReport = (failure, isStale) =>
  useEffect(() => {
    if (!failure) return undefined;
    const report = { failure, isStale };
    reports.add(report);
    renderBanner({});
    return () => {
      reports.delete(report);
      renderBanner({});
    };
  }, [failure, isStale]);

/** A part of a view that has failed. The banner says why. */
export const Failure = ({ failure, stale = false }) => {
  useReport(failure, stale);
  return !stale && html`<p class="muted">No data at the moment</p>`;
};

/**
 * One sentence for each cause, even if it affects several parts of the view. The banner comes after the view, so the view does not move.
 */
export const Banner = () => {
  const [, render] = useState(null);
  renderBanner = render;
  const causes = new Map();
  for (const { failure, isStale } of reports) {
    const text = sentence(failure);
    const known = causes.get(text);
    const isSooner = !known || failure.retryAt < known.failure.retryAt;
    causes.set(text, { failure: isSooner ? failure : known.failure, isStale: isStale || known?.isStale });
  }
  return html`<div class="banner" role="status">${[...causes].map(([text, cause]) => html`<${Cause} key=${text} text=${text} ...${cause} />`)}</div>`;
};
