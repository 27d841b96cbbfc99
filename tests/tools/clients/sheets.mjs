// Runs the Google Sheets script with stand-ins for Google's services. Its requests go to the service at BASE_URL.
//
//     node sheets.mjs functions/examples/prices.gs

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { runInNewContext } from "node:vm";

const rows = [["Id", "Sell price", "Buy price", "Lowest"], ["INK_SACK:3"], ["GOLDEN_DRAGON;4"], [""], ["NO_SUCH_ITEM"]];
const range = (row, column, height, width) => ({
  getValues: () => rows.slice(row - 1, row - 1 + height).map((cells) => cells.slice(column - 1, column - 1 + width)),
  setValues: (values) => values.forEach((cells, number) => {
    assert.equal(cells.length, width);
    rows[row - 1 + number].splice(column - 1, width, ...cells);
  }),
});
// Requests of Apps Script are synchronous, and those of Node.js are not.
function fetch(url, { headers, muteHttpExceptions }) {
  assert.equal(muteHttpExceptions, true);
  const options = Object.entries(headers).flatMap(([name, value]) => ["--header", `${name}: ${value}`]);
  const body = execFileSync("curl", ["--silent", "--globoff", "--write-out", "\n%{http_code}", ...options, url], { encoding: "utf8" });
  const end = body.lastIndexOf("\n");
  return { getContentText: () => body.slice(0, end), getResponseCode: () => Number(body.slice(end)) };
}
const sheet = { getLastRow: () => rows.length, getRange: range };
runInNewContext(readFileSync(process.argv[2], "utf8") + "\nrefreshPrices();", {
  PropertiesService: { getScriptProperties: () => ({ getProperty: (name) => process.env[name] }) },
  SpreadsheetApp: { getActiveSpreadsheet: () => ({ getSheetByName: (name) => (name === "Prices" ? sheet : null) }) },
  UrlFetchApp: { fetch },
});
const filled = rows.slice(1).map((cells) => cells.slice(1).map((cell) => typeof cell === "number" && cell > 0));
assert.deepEqual(filled, [[true, true, false], [false, false, true], [false, false, false], [false, false, false]]);
console.log(`Sheets: ${rows.slice(1).join(" | ")}`);
