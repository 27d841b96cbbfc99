// The API reference. The page has every operation as text. This script adds the address of the service, and Scalar's forms that send
// requests. Scalar's script, `scalar.js`, is loaded when a reader opens the forms.
import { asKey, keepForTab, keepKey, readKey, watchKey } from "../market/data/key.js";

// Scalar validates with zod, which tests whether the policy allows `new Function`. The policy does not, and the browser would report the
// attempt. This setting of zod prevents the attempt.
globalThis.__zod_globalConfig = { jitless: true };

const reference = document.querySelector("#reference");
// Shows that the forms are loading, or why they are missing.
const state = document.querySelector("#state");

const base = new URL(".", location.href).href.replace(/\/$/, "");
for (const place of document.querySelectorAll(".base")) place.textContent = base;
// The address of the files can be relative.
for (const link of document.querySelectorAll(".files a[href$='.json']")) link.textContent = link.href;

/** Returns the examples, with `item` in front, because Scalar shows the first example. In the document, they are in alphabetical order. */
const ordered = (examples) => (examples?.item ? { item: examples.item, ...examples } : examples);

/** Returns the OpenAPI document with the address of this page. Throws a response that is not OK. */
const loadDocument = async () => {
  const response = await fetch("openapi.json");
  if (!response.ok) throw response;
  const description = await response.json();
  // The times in the examples are too old for a request.
  const parameters = Object.values(description.paths).flatMap(({ get }) => get?.parameters ?? []);
  for (const parameter of parameters) {
    if (parameter.schema?.format === "date-time") delete parameter.examples;
    else parameter.examples = ordered(parameter.examples);
  }
  for (const { get } of Object.values(description.paths)) {
    const content = get?.responses[200].content["application/json"];
    if (content) content.examples = ordered(content.examples);
  }
  return { ...description, servers: [{ url: base, description: "This service" }] };
};

/** Resolves when Scalar's script has run. A script element in the HTML could fail before a listener exists. */
const loadScalar = () => new Promise((resolve, reject) => {
  const script = document.createElement("script");
  script.src = new URL("scalar.js", import.meta.url).href;
  script.onload = resolve;
  script.onerror = reject;
  document.head.append(script);
});

/** The key that was last typed here. */
let typed = null;

/** Keeps the key of a request, so that a reader enters it once for all pages and tabs. Forgets it if the service refuses it. */
const keepKeyOf = ({ request, response }) => {
  const key = asKey(request.headers.get("X-API-Key"));
  if (response.status === 401 && key === readKey()) keepForTab(null);
  else if (key && key === typed && response.status !== 401) keepKey(key);
};

const KEY_FIELD = "input.scalar-password-input";

/** Keeps the key for this tab while a reader types it, because Scalar reports only requests. Forgets the key when the field is emptied. */
const keepTypedKey = ({ target }) => {
  if (!target.matches(KEY_FIELD)) return;
  const key = asKey(target.value);
  if (!key && target.value) return;
  typed = key;
  keepForTab(key);
};

// If another tab has forgotten or changed the key, the page reloads, because Scalar reads the key only when it starts.
watchKey((key) => {
  if (key !== typed && document.querySelector(KEY_FIELD)) location.reload();
});

/** Repairs of Scalar's elements, mostly for keyboards and screen readers, by selector. */
const REPAIRS = {
  // Scalar's placeholder looks like a key that is already entered.
  [KEY_FIELD]: (field) => { field.placeholder = "your API key"; },
  // These fields have a role that promises a list of suggestions, but no list.
  ".code-input-lite__editor[role=combobox]": (field) => {
    field.role = "textbox";
    field.ariaAutoComplete = null;
  },
  // The search is shown only together with its list of results.
  "input[role=combobox]:not([aria-expanded])": (field) => { field.ariaExpanded = "true"; },
  // The link explains a status, and leads to another host.
  "a[href^='https://developer.mozilla.org']": (link) => link.removeAttribute("href"),
  "button[role=none]": (button) => { button.role = null; },
  // `aria-controls` names an element that does not exist.
  "button[aria-label='Copy code'][aria-controls]": (button) => button.removeAttribute("aria-controls"),
  "[role=dialog] section[aria-live]": (messages) => { messages.ariaLabel = "Messages"; },
  ".cm-content": (text) => { text.ariaLabel = "Body"; },
  ".cm-scroller[tabindex='-1'], .response-card-footer:not([tabindex])": (scrollable) => { scrollable.tabIndex = 0; },
};

const repair = () => {
  for (const [selector, change] of Object.entries(REPAIRS)) document.querySelectorAll(selector).forEach(change);
};

/** Repairs once per frame what Scalar renders. */
const repairAlways = () => {
  let isPlanned = false;
  new MutationObserver(() => {
    // A dialog covers the page, so the page is inert meanwhile. When the dialog closes, Scalar returns the focus to the page at once, so
    // this change cannot wait for the next frame.
    const page = document.querySelector(".references-rendered");
    if (page) page.inert = Boolean(document.querySelector(".scalar-client--open"));
    if (isPlanned) return;
    isPlanned = true;
    requestAnimationFrame(() => {
      isPlanned = false;
      repair();
    });
  }).observe(document.body, { attributeFilter: ["class"], childList: true, subtree: true });
};

const show = (description) => {
  reference.replaceChildren();
  globalThis.Scalar.createApiReference(reference, {
    content: description,
    authentication: {
      preferredSecurityScheme: "ApiKey",
      securitySchemes: { ApiKey: { value: readKey() ?? "" } },
    },
    onResponseReceived: keepKeyOf,
    defaultHttpClient: { targetKey: "python", clientKey: "requests" },
    persistAuth: false,
    // No request and no link goes to another host.
    agent: { disabled: true },
    hideClientButton: true,
    mcp: { disabled: true },
    showDeveloperTools: "never",
    telemetry: false,
    withDefaultFonts: false,
    // The bar at the top links to the document.
    documentDownloadType: "none",
    // The system decides on light and dark.
    hideDarkModeToggle: true,
    defaultOpenAllTags: true,
    // Each operation shows its models.
    hideModels: true,
  });
};

/** Shows why there are no forms, and the remedy. */
const fail = (cause) => {
  const seconds = cause instanceof Response && cause.status === 429 && (Number(cause.headers.get("Retry-After")) || 1);
  const text = Object.assign(document.createElement("p"), { role: "alert" });
  text.append(
    seconds ? `Too many people are loading this page. Reload it in ${seconds} s.`
      : cause instanceof Response ? `openapi.json cannot be loaded: the service responds with status ${cause.status}. Reload this page in a minute.`
        : "The forms could not be loaded. Check your connection, wait a moment, then reload this page.",
  );
  const button = document.createElement("button");
  button.append("Reload");
  button.onclick = () => location.reload();
  state.replaceChildren(text, button);
};

const load = async () => {
  state.textContent = "The forms are loading …";
  try {
    const [description] = await Promise.all([loadDocument(), loadScalar()]);
    state.replaceChildren();
    repairAlways();
    document.addEventListener("input", keepTypedKey);
    show(description);
  } catch (cause) {
    fail(cause);
  }
};

let isLoaded = false;

/** Shows the forms if the fragment is one of Scalar's, and otherwise the text. */
const follow = () => {
  const isScalars = /^#(tag|operation|description)\//.test(location.hash);
  if (isScalars === isLoaded) return;
  if (isLoaded) location.reload();
  else load();
  isLoaded = isScalars;
};

document.querySelector("#try").onclick = () => { location.hash = "description/introduction"; };
addEventListener("hashchange", follow);
follow();
