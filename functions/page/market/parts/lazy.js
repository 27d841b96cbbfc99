// Parts of the page that are loaded when they are first shown.
import { html, useEffect, useState } from "../../vendor/htm-preact.js";

/**
 * Returns `load`, which loads the view from `request` once, and `Lazy`, which shows it. After a failure, the next call tries again. `titleOf`
 * is missing if the view is a part of another one.
 */
export const lazy = (request, what, titleOf) => {
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
    return html`${titleOf && html`<h1>${titleOf(properties.parameters)}</h1>`}<p class="failure" role="alert">The ${what} cannot be loaded. Check your connection, or reload the page.${" "}
      <button type="button" onClick=${() => setFailed(false)}>Try again</button></p>`;
  };
  return { load, Lazy };
};
