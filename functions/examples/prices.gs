// Writes current prices into a Google sheet "Prices". Column A has the ids, from row 2 on; the script fills in columns B to D.
// Set the script properties BASE_URL and API_KEY, and a trigger that runs `refreshPrices` every ten minutes.

/** The maximum number of ids per request. */
const MOST_IDS = 100;

/** Returns the data of a response. */
function getData(path) {
  const properties = PropertiesService.getScriptProperties();
  const response = UrlFetchApp.fetch(properties.getProperty("BASE_URL") + path, {
    headers: { "X-API-Key": properties.getProperty("API_KEY") },
    muteHttpExceptions: true,
  });
  const body = JSON.parse(response.getContentText());
  if (!body.success) throw new Error(response.getResponseCode() + ": " + body.error.message);
  return body.data;
}

/** Returns the items with these ids, by id. */
function itemsById(path, ids) {
  const items = {};
  for (let start = 0; start < ids.length; start += MOST_IDS) {
    const some = ids.slice(start, start + MOST_IDS).map(encodeURIComponent).join(",");
    for (const item of getData(path + some).items) items[item.id] = item;
  }
  return items;
}

/** Fills in the prices: sell price and buy price in the bazaar, and lowest price in auctions. */
function refreshPrices() {
  const sheet = SpreadsheetApp.getActiveSpreadsheet().getSheetByName("Prices");
  const rows = sheet.getLastRow() - 1;
  if (rows < 1) return;
  const ids = sheet.getRange(2, 1, rows, 1).getValues().map(([id]) => String(id).trim());
  const asked = [...new Set(ids.filter((id) => id !== ""))];
  const bazaar = itemsById("/v1/bazaar?mode=items&ids=", asked);
  const auctions = itemsById("/v1/auctions/prices?ids=", asked);
  const prices = ids.map((id) => [
    bazaar[id] ? bazaar[id].sellPrice : "",
    bazaar[id] ? bazaar[id].buyPrice : "",
    auctions[id] ? auctions[id].lowest : "",
  ]);
  sheet.getRange(2, 2, rows, 3).setValues(prices);
}
