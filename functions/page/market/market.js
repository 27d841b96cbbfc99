// The market page: a frame with the search and one view. A view is a component that gets the parameters of the address as `parameters`;
// it requests its data with `useResource`, shows skeletons until they come, and a `Failure` where they are missing.
import { html, render, useEffect, useErrorBoundary, useState } from "./htm-preact.js";
import { Link, focusView, useAddress } from "./address.js";
import { forget, refusalOf } from "./api.js";
import { Auctions } from "./auctions.js";
import { Banner, forgetKey, linked, sentence } from "./failure.js";
import { Flips } from "./flips.js";
import { asKey, keepKey, useKey } from "./key.js";
import { LazyItem, loadItem } from "./lazy.js";
import { Mayor } from "./mayor.js";
import { Overview } from "./overview.js";
import { Sales } from "./sales.js";
import { Search } from "./search.js";
import { Status } from "./status.js";
import { useTitle } from "./title.js";

/** The views by the parameter `view`. */
const VIEWS = {
  overview: { View: Overview },
  flips: { View: Flips, label: "Flips" },
  auctions: { View: Auctions, label: "Auctions" },
  mayor: { View: Mayor, label: "Mayor" },
  sales: { View: Sales, label: "Fire sales" },
  status: { View: Status, label: "Status", isPublic: true },
  item: { View: LazyItem },
};

/** Where users get their keys, as the operator has configured it. */
const DASHBOARD = document.querySelector("meta[name=dashboard]")?.content;

const Missing = () => {
  useTitle("Not found");
  return html`<h1>Not found</h1><p>This page has no such view. <${Link} view=${{}}>Go to the market</${Link}>.</p>`;
};

/** Asks for the key, once per tab, and tries it. */
const KeyForm = () => {
  const [problem, setProblem] = useState("");
  const [isBusy, setBusy] = useState(false);
  const submit = async (event) => {
    event.preventDefault();
    if (isBusy) return;
    const key = asKey(new FormData(event.target).get("key"));
    setProblem(key ? "" : "A key has no spaces, and only letters, digits and signs of ASCII.");
    if (!key) return;
    setBusy(true);
    const refusal = await refusalOf(key);
    setBusy(false);
    if (refusal) return setProblem(sentence(refusal));
    keepKey(key);
    focusView();
  };
  return html`<section class="card key">
    <h1>Your API key</h1>
    <p>Market data needs an API key. It stays in this tab, and it is sent to this service only.</p>
    <p>${DASHBOARD ? linked(`You have no key? Get one at ${DASHBOARD}.`) : "You have no key? Ask the operator of this service."}</p>
    <form onSubmit=${submit}>
      <label for="key">API key</label>
      <input id="key" name="key" type="password" autocomplete="off" spellcheck=${false} required
        aria-invalid=${problem !== ""} aria-describedby="key-error" />
      <button type="submit" class="primary" aria-disabled=${isBusy}>${isBusy ? "Trying the key…" : "Show the market"}</button>
      <p id="key-error" class="failure" role="alert">${linked(problem)}</p>
    </form>
  </section>`;
};

const View = ({ parameters }) => {
  const key = useKey();
  const [error, reset] = useErrorBoundary((cause) => console.error(cause));
  const name = parameters.item ? "item" : (parameters.view ?? "overview");
  const view = Object.hasOwn(VIEWS, name) ? VIEWS[name] : { View: Missing, isPublic: true };
  useTitle(view.label);
  // A defect of one view is none of the next.
  useEffect(() => {
    if (error) reset();
  }, [parameters]);
  const again = () => {
    // The cause can be in the data.
    forget();
    reset();
  };
  if (error) {
    return html`<p class="failure" role="alert">This view has a defect and cannot be shown.${" "}
      <button type="button" onClick=${again}>Try again</button></p>`;
  }
  if (!key && !view.isPublic) return html`<${KeyForm} />`;
  // With another key, nothing stays that this one has shown.
  return html`<${view.View} key=${`${name} ${key}`} parameters=${parameters} />`;
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
      ${key && html`<${Search} key=${key} />`}
      <nav aria-label="Views">
        ${links.map(([name, { label }]) => html`
          <${Link} view=${{ view: name }} aria-current=${name === current ? "page" : undefined}>${label}</${Link}>`)}
        <a href="docs">API</a>
      </nav>
      ${key && html`<button type="button" class="quiet" onClick=${forgetKey}>Forget key</button>`}
    </header>
    <main id="main" data-view=${current} tabindex="-1"><${View} parameters=${parameters} /></main>
    <${Banner} />
    <footer>
      <p>Data of the game Hypixel SkyBlock. Not affiliated with Hypixel Inc., Mojang or Microsoft.
        Times are those of your clock.</p>
    </footer>`;
};

// Its scripts need not wait until the page is rendered.
if (new URLSearchParams(location.search).has("item")) loadItem().catch(() => {});

const root = document.getElementById("app");
root.replaceChildren();
render(html`<${Frame} />`, root);
