// Writes current prices into a Google sheet "Prices". Column A has the ids or English names, from row 2 on. The script fills in what an
// instant sale gets (B) and an instant purchase pays (C) in the bazaar, and the lowest price in auctions (D). A cell without a price is empty.
// Set the script properties BASE_URL and API_KEY, and a trigger that runs `refreshPrices` every ten minutes.

/** The maximum number of ids per request. */
const MOST_IDS = 100;

/** Returns the items of a response, by id. If the request fails, returns nothing, and the reason is in the log of the execution. */
function itemsById(path) {
  const properties = PropertiesService.getScriptProperties();
  try {
    const response = UrlFetchApp.fetch(properties.getProperty("BASE_URL") + path, {
      headers: { "X-API-Key": properties.getProperty("API_KEY") },
      muteHttpExceptions: true,
    });
    const body = JSON.parse(response.getContentText());
    if (!body.success) throw new Error(body.error.message);
    return Object.fromEntries(body.data.items.map((item) => [item.id, item]));
  } catch (error) {
    console.error(`${path}: ${error.message}`);
    return {};
  }
}

/** Returns the id in a cell: "Enchanted Diamond" is ENCHANTED_DIAMOND. Returns "" for a cell without an id, such as a date or an error. */
function idOf(cell) {
  const id = String(cell).trim().toUpperCase().replace(/\s+/g, "_");
  return /^[A-Z0-9_:;+-]{1,64}$/.test(id) ? id : "";
}

/** Fills in the prices. */
function refreshPrices() {
  const sheet = SpreadsheetApp.getActiveSpreadsheet().getSheetByName("Prices");
  const rows = sheet.getLastRow() - 1;
  if (rows < 1) return;
  const ids = sheet.getRange(2, 1, rows, 1).getValues().map(([cell]) => idOf(cell));
  const asked = [...new Set(ids.filter((id) => id !== ""))];
  // One response has the best orders of all products.
  const bazaar = itemsById("/v1/bazaar?mode=prices");
  const auctions = {};
  for (let start = 0; start < asked.length; start += MOST_IDS) {
    const some = asked.slice(start, start + MOST_IDS).map(encodeURIComponent).join(",");
    Object.assign(auctions, itemsById("/v1/auctions/prices?ids=" + some));
  }
  // Without orders on a side of the bazaar, its price is null.
  const prices = ids.map((id) => [bazaar[id]?.topBuyOrder ?? "", bazaar[id]?.topSellOffer ?? "", auctions[id]?.lowest ?? ""]);
  sheet.getRange(2, 2, rows, 3).setValues(prices);
}
