// The view of an item, with the library that draws its chart, is more than half of all that the page could load. It is loaded when it is
// first shown.
import { html, useEffect, useState } from "./htm-preact.js";

const LIBRARY = new URL("./uPlot.iife.min.js", import.meta.url).href;

/** The only script that this page ever adds. Its policy is named in the header `Content-Security-Policy`. */
const policy = globalThis.trustedTypes?.createPolicy("library", { createScriptURL: () => LIBRARY });

const loadLibrary = () =>
  new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = policy ? policy.createScriptURL("") : LIBRARY;
    script.onload = resolve;
    script.onerror = reject;
    document.head.append(script);
  });

let Loaded = null;
let loading = null;

/** Loads the view, once. After a failure, the next call tries again. */
export const loadItem = () => {
  loading ??= Promise.all([import("./item.js"), loadLibrary()]).then(
    ([{ Item }]) => {
      Loaded = Item;
    },
    (cause) => {
      loading = null;
      throw cause;
    },
  );
  return loading;
};

/** The view of an item. */
export const LazyItem = (properties) => {
  const [isFailed, setFailed] = useState(false);
  const [, render] = useState(null);
  useEffect(() => {
    // Even if the view is here by now: it may have come after this was rendered.
    if (isFailed) return;
    loadItem().then(render, () => setFailed(true));
  }, [isFailed]);
  if (Loaded) return html`<${Loaded} ...${properties} />`;
  if (!isFailed) return html`<p class="loading muted" role="status">The chart is loading…</p>`;
  return html`<h1>${properties.parameters.item}</h1><p class="failure" role="alert">The chart cannot be loaded. Check your connection, or reload the page.${" "}
    <button type="button" onClick=${() => setFailed(false)}>Try again</button></p>`;
};
