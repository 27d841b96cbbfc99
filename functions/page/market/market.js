// The market page: a frame with the search and one view. A view is a component with the parameters of the address as
// `parameters`. It requests its data with `useResource`, and shows skeletons until they arrive, or a `Failure`.
import { html, render, useEffect, useErrorBoundary, useState } from "../vendor/htm-preact.js";
import { Link, focusView, show, useAddress, useTitle } from "./parts/address.js";
import { forget, refusalOf } from "./data/api.js";
import { Banner, forgetKey, linked, sentence } from "./parts/failure.js";
import { FILES } from "./data/files.js";
import { asKey, isRemembered, keepKey, remember, useKey } from "./data/key.js";
import { Search } from "./parts/search.js";
import { VIEWS, loadItem } from "./views.js";

/** The address where users get their keys, as the operator has configured it. */
const DASHBOARD = document.querySelector("meta[name=dashboard]")?.content;

const Missing = () => {
  useTitle("Not found");
  return html`<h1>Not found</h1><p>This page has no such view. <${Link} view=${{}}>Go to the market</${Link}>.</p>`;
};

/** The text for visitors without a key. */
const Visitor = () => html`<p class="visitor card">You see the market without a key, from files that change every minute. A key adds charts, history,
  sales in auctions, mayors, fire sales, and prices every 20 seconds. <${Link} view=${{ view: "key" }}>Enter a key</${Link}></p>`;

/** Asks for the key and tries it. */
const KeyForm = ({ isAsked }) => {
  const [problem, setProblem] = useState("");
  const [isBusy, setBusy] = useState(false);
  const submit = async (event) => {
    event.preventDefault();
    if (isBusy) return;
    const fields = new FormData(event.target);
    const key = asKey(fields.get("key"));
    setProblem(key ? "" : "A key has only ASCII letters, digits and signs, and no spaces.");
    if (!key) return;
    setBusy(true);
    const refusal = await refusalOf(key);
    setBusy(false);
    if (refusal) return setProblem(sentence(refusal));
    keepKey(key);
    remember(fields.has("remember"));
    if (isAsked) show({}, { replace: true });
    focusView();
  };
  return html`<section class="card key">
    <h1>Your API key</h1>
    <p>${FILES ? "Charts, history, sales, mayors and fire sales need" : "Market data needs"} an API key. It is sent to this service only. Your tabs share it until you close the last one.</p>
    <p>${DASHBOARD ? linked(`You have no key? Get one at ${DASHBOARD}.`) : "You have no key? Ask the operator of this service."}</p>
    <form onSubmit=${submit}>
      <label for="key">API key</label>
      <input id="key" name="key" type="password" autocomplete="off" spellcheck=${false} required
        aria-invalid=${problem !== ""} aria-describedby="key-error" />
      <label><input type="checkbox" name="remember" /> Remember on this device</label>
      <button type="submit" class="primary" aria-disabled=${isBusy}>${isBusy ? "Trying the key…" : "Show the market"}</button>
      <p id="key-error" class="failure" role="alert">${linked(problem)}</p>
    </form>
    <img src=${new URL("./preview.svg", import.meta.url).href} width="480" height="240" alt="Behind the key: the chart of an item, flips and watched items" />
  </section>`;
};

/** The menu of the key. */
const KeyMenu = () => {
  const [isKept, set] = useState(isRemembered);
  const change = () => {
    remember(!isKept);
    set(!isKept);
  };
  return html`<button type="button" class="quiet" popovertarget="key-menu">Key</button>
    <div id="key-menu" popover="auto" onToggle=${() => set(isRemembered())}><label><input type="checkbox" checked=${isKept} onChange=${change} /> Remember on this device</label>
      <button type="button" onClick=${forgetKey}>Forget key</button></div>`;
};

const View = ({ parameters }) => {
  const key = useKey();
  const [error, reset] = useErrorBoundary((cause) => console.error(cause));
  const name = parameters.item ? "item" : (parameters.view ?? "overview");
  const view = Object.hasOwn(VIEWS, name) ? VIEWS[name] : { View: Missing, isPublic: true };
  useTitle(view.label);
  // When the address changes, the error is forgotten, because the next view may not have the defect.
  useEffect(() => {
    if (error) reset();
  }, [parameters]);
  const again = () => {
    // The data may have caused the defect.
    forget();
    reset();
  };
  if (error) {
    return html`<p class="failure" role="alert">This view has a defect and cannot be shown.${" "}
      <button type="button" onClick=${again}>Try again</button></p>`;
  }
  if (!key && !view.isPublic && !(FILES && view.hasFiles)) return html`<${KeyForm} isAsked=${name === "key"} />`;
  // The element's `key` contains the API key, so a change of the API key creates the view anew.
  return html`${!key && view.hasFiles && html`<${Visitor} />`}<${view.View} key=${`${name} ${key}`} parameters=${parameters} />`;
};

const Frame = () => {
  const parameters = useAddress();
  const key = useKey();
  const current = parameters.item ? "item" : (parameters.view ?? "overview");
  const links = Object.entries(VIEWS).filter(([, view]) => view.label);
  return html`
    <a class="skip" href="#main">Skip to the content</a>
    <header class="top">
      <${Link} class="brand" view=${{}}>Market</${Link}>
      ${(key || FILES) && html`<${Search} key=${key} />`}
      <nav aria-label="Views">
        ${links.map(([name, { label }]) => html`
          <${Link} view=${{ view: name }} aria-current=${name === current ? "page" : undefined}>${label}</${Link}>`)}
        <a href="docs">API</a>
      </nav>
      ${key && html`<${KeyMenu} />`}
    </header>
    <main id="main" data-view=${current} tabindex="-1"><${View} parameters=${parameters} /></main>
    <${Banner} />
    <footer>
      <p>Data of the game Hypixel SkyBlock. Not affiliated with Hypixel Inc., Mojang or Microsoft.
        Times are in your time zone.</p>
    </footer>`;
};

// The item's scripts need not wait until the page is rendered.
if (new URLSearchParams(location.search).has("item")) loadItem().catch(() => {});

const root = document.getElementById("app");
root.replaceChildren();
render(html`<${Frame} />`, root);
