// The requests behind a part of a view, for programs: their address, and how curl, Python and Google Sheets send them.
import { html, useState } from "./htm-preact.js";
import { Copy } from "./copy.js";
import { readKey } from "./key.js";

const LANGUAGES = {
  curl: (url, key) => `curl -H "X-API-Key: ${key}" "${url}"`,
  Python: (url, key) => `import requests

response = requests.get("${url}",
                        headers={"X-API-Key": "${key}"}, timeout=15)
response.raise_for_status()
print(response.json()["data"])`,
  Sheets: (url, key) => `function prices() {
  const response = UrlFetchApp.fetch("${url}", {
    headers: { "X-API-Key": "${key}" },
  });
  const rows = Object.values(JSON.parse(response.getContentText()).data).find(Array.isArray);
  const names = Object.keys(rows[0]);
  const table = [names, ...rows.map((row) => names.map((name) => row[name]))];
  SpreadsheetApp.getActiveSheet().getRange(1, 1, table.length, names.length).setValues(table);
}`,
};

/** The requests for these paths, closed at first. The key is in them only if the visitor asks for it. */
export const Requests = ({ paths }) => {
  const [language, choose] = useState("curl");
  const [hasKey, showKey] = useState(false);
  const key = hasKey ? readKey() : "YOUR_KEY";
  const textOf = () => paths.map((path) => LANGUAGES[language](new URL(path, location.href).href, key)).join("\n\n");
  const addresses = paths.map((path) => html`<li key=${path}><code>GET /${path}</code></li>`);
  return html`<details class="requests"><summary>API</summary>
    <ul class="plain">${addresses}</ul>
    <div role="group" aria-label="Language">${Object.keys(LANGUAGES).map((name) => html`
      <button key=${name} type="button" aria-pressed=${name === language} onClick=${() => choose(name)}>${name}</button>`)}</div>
    <pre tabindex="0" aria-label=${`Requests in ${language}`}><code>${textOf()}</code></pre>
    <${Copy} label="Copy" textOf=${textOf} />
    ${readKey() && html`<label><input type="checkbox" checked=${hasKey} onChange=${() => showKey(!hasKey)} /> With my key</label>`}
  </details>`;
};
