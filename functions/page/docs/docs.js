// Shows our OpenAPI document with Scalar, whose script `scalar.js` is.
import { asKey, keepKey, readKey } from "./key.js";

// Scalar validates with zod, which asks whether it may make functions of text. It may not, and the browser would report the attempt. With
// this setting zod does not ask.
globalThis.__zod_globalConfig = { jitless: true };

/** Returns the OpenAPI document, with the address that this page has been loaded from. */
const loadDocument = async () => {
  const response = await fetch("openapi.json");
  if (!response.ok) throw response;
  const description = await response.json();
  const url = new URL(".", location.href).href.replace(/\/$/, "");
  return { ...description, servers: [{ url, description: "This service" }] };
};

/** Resolves when Scalar's script has run. It is loaded from here so that a failure is noticed. */
const loadScalar = () => new Promise((resolve, reject) => {
  const script = document.createElement("script");
  script.src = new URL("scalar.js", import.meta.url).href;
  script.onload = resolve;
  script.onerror = reject;
  document.head.append(script);
});

/** Keeps the key of a request that a reader sends, so that it is entered once for all pages of this tab. */
const keepKeyOf = ({ request }) => {
  const key = asKey(request.headers.get("X-API-Key") ?? "");
  if (key) keepKey(key);
};

const [description] = await Promise.all([loadDocument(), loadScalar()]);
document.querySelector("#reference").replaceChildren();
globalThis.Scalar.createApiReference("#reference", {
  content: description,
  authentication: {
    preferredSecurityScheme: "ApiKey",
    securitySchemes: { ApiKey: { value: readKey() ?? "" } },
  },
  onRequestBuilt: keepKeyOf,
  persistAuth: false,
  // Nothing leads to, or is sent to, another host.
  agent: { disabled: true },
  hideClientButton: true,
  mcp: { disabled: true },
  showDeveloperTools: "never",
  telemetry: false,
  withDefaultFonts: false,
  // The browser decides on light and dark.
  hideDarkModeToggle: true,
});
