// One sentence for each way in which data can be missing, at the place where it is missing.
import { html } from "./htm-preact.js";
import { focusView } from "./address.js";
import { useNow } from "./countdown.js";
import { duration } from "./format.js";
import { keepKey } from "./key.js";

/** Returns the whole seconds until a time in Unix milliseconds of the browser, at least 0. */
const secondsUntil = (time) => Math.max(Math.ceil((time - Date.now()) / 1_000), 0);

/** Shows the form for a key. */
export const forgetKey = () => {
  keepKey(null);
  focusView();
};

/** Splits a text of the API at addresses, which become links. The text stays text. */
export const linked = (text) =>
  text.split(/(https?:\/\/[^\s<>"]*[^\s<>".,;:!?)])/).map((part, index) =>
    index % 2 ? html`<a href=${part} rel="noreferrer">${part}</a>` : part,
  );

/** A sentence about a failure of `useResource`. With `data` that is still shown, say so in `stale`. */
export const Failure = ({ failure, stale = false }) => {
  // Renders again every second.
  useNow();
  const seconds = secondsUntil(failure.retryAt);
  const again = Number.isFinite(seconds) ? html` <span class="figures">Next try in ${duration(seconds * 1_000)}.</span>` : "";
  const old = stale ? " The data shown is the last that was received." : "";
  const message = failure.message ?? "";
  const text = () => {
    switch (failure.status) {
      case 0:
        return html`The service cannot be reached. Check your connection.${old}${again}`;
      case 401:
        return html`The service does not accept this key. ${linked(message)}${" "}
          <button type="button" onClick=${forgetKey}>Enter another key</button>`;
      case 403:
        return html`${linked(message || "This key has no access.")}`;
      case 429:
        return html`This key has made its requests for now.${old}${again}`;
      case 400:
      case 404:
        return html`${linked(message || "The service has no such data.")}`;
      default:
        return html`The service has a problem at the moment.${old}${again}`;
    }
  };
  return html`<p class="failure" role="status" data-status=${failure.status}>${text()}</p>`;
};
