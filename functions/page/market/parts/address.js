// The address and the title of a view. The address has the whole state of the page, so a reload or a shared link loses nothing.
import { html, useEffect, useState } from "../../vendor/htm-preact.js";

const listeners = new Set();

const announce = () => {
  for (const listener of listeners) listener();
};

addEventListener("popstate", announce);

/** Returns the parameters of the address as an object of strings. */
export const parameters = () => Object.fromEntries(new URLSearchParams(location.search));

/** Returns the address of a view, relative to this page. Parameters that are empty or missing are left out. */
export const address = (view) => {
  const given = Object.entries(view).filter(([, value]) => value !== undefined && value !== null && value !== "");
  // The ids of items hold colons, which are legal in a query and easier to read.
  return given.length ? `?${new URLSearchParams(given).toString().replaceAll("%3A", ":")}` : location.pathname;
};

/** Shows the view. With `replace`, the Back button skips the view that was shown before. */
export const show = (view, { replace = false } = {}) => {
  const target = address(view);
  if (target === (location.search || location.pathname)) return;
  history[replace ? "replaceState" : "pushState"](null, "", target);
  announce();
};

/** Moves the focus into the view. Called after the focused element has disappeared. */
export const focusView = () => document.getElementById("main")?.focus({ preventScroll: true });

/** Shows another view from its top, like a new page. */
export const follow = (view) => {
  show(view);
  scrollTo(0, 0);
  focusView();
};

/** Returns the parameters of the address, and renders again when they change. */
export const useAddress = () => {
  const [current, set] = useState(parameters);
  useEffect(() => {
    const listener = () => set(parameters());
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, []);
  return current;
};

/** A link that shows a view without reloading the page. */
export const Link = ({ view, children, ...attributes }) => {
  const open = (event) => {
    if (event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    follow(view);
  };
  return html`<a href=${address(view)} onClick=${open} ...${attributes}>${children}</a>`;
};

/** Sets the title of the page while the calling view is shown. `undefined` leaves it to a part of the view. */
export const useTitle = (title) =>
  useEffect(() => {
    if (title === undefined) return;
    document.title = title ? `${title} – Market` : "Market – Game Data Query Service";
  }, [title]);
