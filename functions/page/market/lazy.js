// Views that are loaded when they are first shown: an item, the mayor, and flips. The view of an item and its chart library are more than
// half of the page's code.
import { html, useEffect, useState } from "./htm-preact.js";

const LIBRARY = new URL("./uPlot.iife.min.js", import.meta.url).href;

/** The policy for the only script that this page adds. The header `Content-Security-Policy` names it. */
const policy = globalThis.trustedTypes?.createPolicy("library", { createScriptURL: () => LIBRARY });

const loadLibrary = () =>
  new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = policy ? policy.createScriptURL("") : LIBRARY;
    script.onload = resolve;
    script.onerror = reject;
    document.head.append(script);
  });

/** Returns `load`, which loads the view from `request` once, and `Lazy`, which shows it. After a failure, the next call tries again. */
const lazy = (request, what, titleOf) => {
  let View = null;
  let loading = null;
  const load = () => {
    loading ??= request().then(
      (view) => {
        View = view;
      },
      (cause) => {
        loading = null;
        throw cause;
      },
    );
    return loading;
  };
  const Lazy = (properties) => {
    const [isFailed, setFailed] = useState(false);
    const [, render] = useState(null);
    useEffect(() => {
      // Also needed if the view was loaded after this was rendered: `render` then shows it.
      if (isFailed) return;
      load().then(render, () => setFailed(true));
    }, [isFailed]);
    if (View) return html`<${View} ...${properties} />`;
    if (!isFailed) return html`<p class="loading muted" role="status" aria-busy="true">The ${what} is loading…</p>`;
    return html`<h1>${titleOf(properties.parameters)}</h1><p class="failure" role="alert">The ${what} cannot be loaded. Check your connection, or reload the page.${" "}
      <button type="button" onClick=${() => setFailed(false)}>Try again</button></p>`;
  };
  return { load, Lazy };
};

const item = lazy(() => Promise.all([import("./item.js"), loadLibrary()]).then(([{ Item }]) => Item), "chart", (parameters) => parameters.item);
const mayor = lazy(() => import("./mayor.js").then(({ Mayor }) => Mayor), "view", () => "Mayor and election");

const flips = lazy(() => import("./flips.js").then(({ Flips }) => Flips), "view", () => "Flips");

/** Loads the view of an item before it is shown. */
export const loadItem = item.load;

/** The views. */
export const LazyItem = item.Lazy;
export const LazyMayor = mayor.Lazy;
export const LazyFlips = flips.Lazy;
