// Runs the Google Sheets script with stand-ins for Google's services. Its requests go to the service at BASE_URL.
//
//     node sheets.mjs functions/examples/prices.gs

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { runInNewContext } from "node:vm";

const script = readFileSync(process.argv[2], "utf8") + "\nrefreshPrices();";

/** Returns the data of a response, as text. Requests in Apps Script are synchronous, but requests in Node.js are not. */
const get = (url, key) => execFileSync("curl", ["--silent", "--globoff", "--header", `X-API-Key: ${key}`, url], { encoding: "utf8" });

/** Returns columns B to D for the cells of column A. A request whose path begins with `refused` fails. `cache` stays between executions. */
function prices(cells, refused, cache = new Map(), requested = []) {
  let filled;
  const range = { getValues: () => cells.map((cell) => [cell]), setValues: (values) => (filled = values) };
  const sheet = { getLastRow: () => cells.length + 1, getRange: () => range };
  function fetch(url, { headers }) {
    requested.push(url.replace(process.env.BASE_URL, ""));
    const body = refused && url.startsWith(process.env.BASE_URL + refused) ? "<html>" : get(url, headers["X-API-Key"]);
    return { getContentText: () => body, getResponseCode: () => 500 };
  }
  runInNewContext(script, {
    CacheService: { getScriptCache: () => ({ get: (key) => cache.get(key) ?? null, put: (key, value) => cache.set(key, value) }) },
    PropertiesService: { getScriptProperties: () => ({ getProperty: (name) => process.env[name] }) },
    SpreadsheetApp: { getActiveSpreadsheet: () => ({ getSheetByName: () => sheet }) },
    UrlFetchApp: { fetch },
  });
  // These arrays come from another context, so they are compared as copies.
  return JSON.parse(JSON.stringify(filled));
}

const two = () => ["INK_SACK:3", "HYPERION"];
const products = () => JSON.parse(get(`${process.env.BASE_URL}/v1/bazaar?mode=prices`, process.env.API_KEY)).data;

// The cells that people write: names, errors, several ids, dates and nothing cost no other cell its prices.
const bad = ["", "#N/A", "COAL, WHEAT", new Date("2026-11-27"), "2026-11-27T00:00:00.000Z", 7, "x".repeat(70)];
const cells = ["INK_SACK:3", ...bad, "Enchanted Diamond", "HYPERION", " golden_dragon;4 "];
const isFilled = (rows) => rows.map((row) => row.map((cell) => cell > 0));
const [both, auctions, none] = [[true, true, false], [false, false, true], [false, false, false]];
assert.deepEqual(isFilled(prices(cells)), [both, ...bad.map(() => none), both, auctions, auctions]);

// What players type.
const typed = ["golden dragon", "gdrag", "hyp", "Bank 5", "cocoa beans", "elder owl shard", "Bank V"];
const [first, second] = [[], []];
const cache = new Map();
assert.deepEqual(isFilled(prices(typed, "", cache, first)).map((row) => row.some(Boolean)), typed.map(() => true));
prices(typed, "", cache, second);
assert.deepEqual([first, second].map((paths) => paths.filter((path) => path === "/v1/names").length), [1, 0]);
assert.deepEqual(isFilled(prices(two(), "/v1/names")), [both, auctions]);

// A source that fails costs only its own prices.
assert.deepEqual(isFilled(prices(two(), "/v1/bazaar")), [none, auctions]);
assert.deepEqual(isFilled(prices(two(), "/v1/auctions")), [both, none]);

// The prices are those of the best orders, and a side without orders has none.
for (;;) {
  const { lastUpdated, items } = products();
  const some = items.filter(({ topBuyOrder, topSellOffer }, position) => !topBuyOrder || !topSellOffer || position % 50 === 0);
  const filled = prices(some.map(({ id }) => id), "/v1/auctions");
  if (products().lastUpdated !== lastUpdated) continue;
  assert(some.some(({ topBuyOrder, topSellOffer }) => topBuyOrder && !topSellOffer));
  assert.deepEqual(filled, some.map(({ topBuyOrder, topSellOffer }) => [topBuyOrder ?? "", topSellOffer ?? "", ""]));
  break;
}
