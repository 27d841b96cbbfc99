// Runs the Google Sheets script with stand-ins for Google's services. Its requests go to the service at BASE_URL.
//
//     node sheets.mjs functions/examples/prices.gs

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { runInNewContext } from "node:vm";

let prices;
const range = { getValues: () => [["INK_SACK:3"], ["GOLDEN_DRAGON;4"]], setValues: (values) => (prices = values) };
const sheet = { getLastRow: () => 3, getRange: () => range };
// Requests in Apps Script are synchronous, but requests in Node.js are not.
function fetch(url, { headers }) {
  const body = execFileSync("curl", ["--silent", "--globoff", "--header", `X-API-Key: ${headers["X-API-Key"]}`, url], { encoding: "utf8" });
  return { getContentText: () => body };
}
runInNewContext(readFileSync(process.argv[2], "utf8") + "\nrefreshPrices();", {
  PropertiesService: { getScriptProperties: () => ({ getProperty: (name) => process.env[name] }) },
  SpreadsheetApp: { getActiveSpreadsheet: () => ({ getSheetByName: () => sheet }) },
  UrlFetchApp: { fetch },
});
// These arrays come from another context, so they can be compared only as text.
const filled = JSON.stringify(prices.map((cells) => cells.map((cell) => cell > 0)));
assert.equal(filled, JSON.stringify([[true, true, false], [false, false, true]]));
