// An item: one page for both markets, with a tab for each market if both have the item.
import { html } from "../../../vendor/htm-preact.js";
import { Link, useTitle } from "../../parts/address.js";
import { useResource } from "../../data/api.js";
import { AuctionItem } from "./auction-item.js";
import { BazaarItem } from "./bazaar-item.js";
import { useReport } from "../../parts/failure.js";
import { auctionIdOf } from "../../values/ids.js";
import { productOf, useNames } from "../../data/names.js";
import { focusSearch } from "../../parts/search.js";
import { Star } from "../../parts/star.js";

/** The tabs. Changing the tab keeps the range if both charts have it. */
const Tabs = ({ product, auction, market, range }) => {
  const tab = (label, name, view) => html`<${Link} view=${{ ...view, range }} aria-current=${name === market ? "page" : undefined}>${label}</${Link}>`;
  return html`<nav class="tabs" aria-label="Markets">
    ${tab("Bazaar", "bazaar", { item: product })}${tab("Auctions", "auctions", { item: auction, market: "auctions" })}
  </nav>`;
};

/** The view of the item that the address names, by its id in either market. `market` is `auctions`, or missing. */
export const Item = ({ parameters }) => {
  const id = parameters.item;
  const auction = auctionIdOf(id);
  const names = useNames();
  const name = names(id);
  const isAuction = parameters.market === "auctions" || /[;+]/.test(id);
  const item = useResource(isAuction ? null : `v1/bazaar?mode=item&id=${encodeURIComponent(id)}`);
  const week = useResource(isAuction ? null : `v1/auctions/averages?window=7d&ids=${encodeURIComponent(auction)}`);
  const isMissing = item.failure?.status === 404;
  // The first averages appear hours after the first prices.
  const listed = useResource(isMissing && week.data?.count === 0 ? `v1/auctions/prices?ids=${encodeURIComponent(auction)}` : null);
  const isInAuctions = isAuction || week.data?.count > 0 || listed.data?.count > 0;
  const isUnknown = isMissing && !isInAuctions && !week.isLoading && !listed.isLoading && !listed.failure && (!week.failure || [400, 404].includes(week.failure.status));
  useReport(isMissing && !isUnknown ? week.failure ?? listed.failure : null, false);
  useTitle(isUnknown ? "Unknown item" : name);
  if (isUnknown) {
    return html`<h1>Unknown item</h1>
      <p>No market has an item with the id <code>${id}</code>. <button type="button" onClick=${focusSearch}>Search for an item</button></p>`;
  }
  const market = isAuction || isMissing ? "auctions" : "bazaar";
  const product = market === "bazaar" ? id : productOf(auction);
  return html`<div class="title"><h1>${name}</h1><${Star} id=${market === "bazaar" ? id : auction} market=${market === "bazaar" ? undefined : market} name=${name} /><code class="muted">${market === "bazaar" ? id : auction}</code>
      ${product && isInAuctions && html`<${Tabs} product=${product} auction=${auction} market=${market} range=${parameters.range} />`}</div>
    ${market === "bazaar"
      ? html`<${BazaarItem} key=${id} id=${id} names=${names} parameters=${parameters} item=${item} />`
      : isInAuctions && html`<${AuctionItem} key=${auction} id=${auction} names=${names} parameters=${parameters} />`}`;
};
