// The requests behind a part of a view: their addresses, and code that sends them with curl, Python and Google Sheets.
import { html, useState } from "../../vendor/htm-preact.js";
import { Copy } from "./copy.js";
import { readKey } from "../data/key.js";

/** Returns the text in single quotes of a shell. */
const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

/** The code that sends a request for each address, by language. */
const LANGUAGES = {
  curl: (url, key) => `curl -H ${quoted(`X-API-Key: ${key}`)} ${quoted(url)}`,
  Python: (url, key) => `import requests

response = requests.get(${JSON.stringify(url)},
                        headers={"X-API-Key": ${JSON.stringify(key)}}, timeout=15)
response.raise_for_status()
print(response.json()["data"])`,
  Sheets: (url, key, number) => `function prices${number}() {
  const response = UrlFetchApp.fetch(${JSON.stringify(url)}, {
    headers: { "X-API-Key": ${JSON.stringify(key)} },
  });
  const data = JSON.parse(response.getContentText()).data;
  const rows = Object.values(data).find((value) => Array.isArray(value) && value.length) ?? [data];
  const names = Object.keys(rows[0]);
  const text = (value) => (value !== null && typeof value === "object" ? JSON.stringify(value) : value);
  const table = [names, ...rows.map((row) => names.map((name) => text(row[name])))];
  SpreadsheetApp.getActiveSheet().getRange(1, 1, table.length, names.length).setValues(table);
}`,
};

/** The requests for these paths, closed at first. They contain the key only if the visitor chooses that. */
export const Requests = ({ paths }) => {
  const [language, choose] = useState("curl");
  const [hasKey, showKey] = useState(false);
  const key = hasKey ? readKey() : "YOUR_KEY";
  const textOf = () => paths.map((path, index) => LANGUAGES[language](new URL(path, location.href).href, key, index ? index + 1 : "")).join("\n\n");
  const addresses = paths.map((path) => html`<li key=${path}><code>GET /${path}</code></li>`);
  return html`<details class="requests"><summary>API</summary>
    <ul class="plain">${addresses}</ul>
    <div role="group" aria-label="Language">${Object.keys(LANGUAGES).map((name) => html`
      <button key=${name} type="button" aria-pressed=${name === language} onClick=${() => choose(name)}>${name}</button>`)}</div>
    <pre tabindex="0" aria-label=${`Requests in ${language}`}><code>${textOf()}</code></pre>
    <${Copy} key=${`${language} ${hasKey}`} label="Copy" textOf=${textOf} />
    ${readKey() && html`<label><input type="checkbox" checked=${hasKey} onChange=${() => showKey(!hasKey)} /> With my key</label>`}
  </details>`;
};
