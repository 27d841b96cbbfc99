// Writes current prices into a Google sheet "Prices". Column A has what players type, from row 2 on: ids, names ("Cocoa Beans", "Bank 5") or
// short forms ("gdrag"). The script fills in what an instant sale gets (B) and an instant purchase pays (C) in the bazaar, and the lowest
// price in auctions (D). A cell without a price is empty.
// Set the script properties BASE_URL and API_KEY, and a trigger that runs `refreshPrices` every ten minutes.

/** The maximum number of ids per request. */
const MOST_IDS = 100;

/** How long the ids of cells are kept, in seconds. Names change once an hour. */
const KEPT_SECONDS = 3600;

/** Names have Roman levels. Players type both. */
const LEVELS = ["i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x"];

/** Returns the items of a response. If the request fails, returns nothing, and the reason is in the log of the execution. */
function itemsOf(path) {
  const properties = PropertiesService.getScriptProperties();
  try {
    const response = UrlFetchApp.fetch(properties.getProperty("BASE_URL") + path, {
      headers: { "X-API-Key": properties.getProperty("API_KEY") },
      muteHttpExceptions: true,
    });
    const body = JSON.parse(response.getContentText());
    if (!body.success) throw new Error(body.error.message);
    return body.data.items;
  } catch (error) {
    console.error(`${path}: ${error.message}`);
    return [];
  }
}

/** Returns the items of a response, by id. */
const itemsById = (path) => Object.fromEntries(itemsOf(path).map((item) => [item.id, item]));

/** Returns the words in lower case, with levels as digits: "Bank V" is "bank 5". */
function wordsOf(text) {
  const words = String(text).toLowerCase().replace(/'/g, "").split(/[^\p{L}\p{N}]+/u).filter((word) => word !== "");
  return words.map((word) => (LEVELS.includes(word) ? LEVELS.indexOf(word) + 1 : word)).join(" ");
}

/** Returns the id in a cell, if its item has no name: "Enchanted Diamond" is ENCHANTED_DIAMOND. "" for a cell such as a date or an error. */
function idOf(cell) {
  const id = cell.trim().toUpperCase().replace(/\s+/g, "_");
  return /^[A-Z0-9_:;+-]{1,64}$/.test(id) ? id : "";
}

/** Returns the ids of each cell in the bazaar and in auctions, from the cache if it has all cells. */
function idsOf(cells) {
  const cache = CacheService.getScriptCache();
  const known = JSON.parse(cache.get("ids") ?? "{}");
  if (!cells.every((cell) => cell in known)) {
    const ids = {};
    // Ids precede names, names precede short forms, and short names precede long ones.
    const items = itemsOf("/v1/names").sort((one, other) => one.name.length - other.name.length);
    const add = (text, { id, market, other_id: other = id }) => (ids[text] ??= market === "bazaar" ? [id, other] : [other, id]);
    for (const item of items) add(item.id.toLowerCase(), item);
    for (const item of items) add(wordsOf(item.name), item);
    for (const item of items) for (const alias of item.aliases ?? []) add(alias, item);
    for (const item of items) add(wordsOf(item.name.replace(/ \(.*/, "")), item);
    for (const cell of cells) known[cell] = ids[cell.trim().toLowerCase()] ?? ids[wordsOf(cell)] ?? [idOf(cell), idOf(cell)];
    // Without names, the next execution asks again.
    if (items.length) cache.put("ids", JSON.stringify(Object.fromEntries(cells.map((cell) => [cell, known[cell]]))), KEPT_SECONDS);
  }
  return cells.map((cell) => known[cell]);
}

/** Fills in the prices. */
function refreshPrices() {
  const sheet = SpreadsheetApp.getActiveSpreadsheet().getSheetByName("Prices");
  const rows = sheet.getLastRow() - 1;
  if (rows < 1) return;
  const cells = sheet.getRange(2, 1, rows, 1).getValues().map(([cell]) => String(cell));
  const ids = idsOf(cells);
  const asked = [...new Set(ids.map(([, id]) => id).filter((id) => id !== ""))].filter((id) => !id.includes(":"));
  // One response has the best orders of all products.
  const bazaar = itemsById("/v1/bazaar?mode=prices");
  const auctions = {};
  for (let start = 0; start < asked.length; start += MOST_IDS) {
    const some = asked.slice(start, start + MOST_IDS).map(encodeURIComponent).join(",");
    Object.assign(auctions, itemsById("/v1/auctions/prices?ids=" + some));
  }
  // Without orders on a side of the bazaar, its price is null.
  const prices = ids.map(([named, id], row) => {
    // A product without a price has no name, but its id may be the name of another item.
    const product = bazaar[idOf(cells[row])] ?? bazaar[named];
    return [product?.topBuyOrder ?? "", product?.topSellOffer ?? "", auctions[id]?.lowest ?? ""];
  });
  sheet.getRange(2, 2, rows, 3).setValues(prices);
}
