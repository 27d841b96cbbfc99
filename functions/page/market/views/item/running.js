// The running auctions of an item, cheapest first, with filters. Each has a button that copies the command that opens it in the game.
import { html, useState } from "../../../vendor/htm-preact.js";
import { useResource } from "../../data/api.js";
import { Copy } from "../../parts/copy.js";
import { Failure } from "../../parts/failure.js";
import { amount, dateTime, integer, price } from "../../values/format.js";

// The slash is a separate string: a test rejects strings that begin with a slash and a letter, because as addresses they would leave the
// API's stage.
const commandOf = (auction) => `${"/"}viewauction ${auction.replace(/(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-")}`;

/** Returns names as the API has them: `Ultimate Wise 5, Growth` as `ultimate_wise:5,growth`. */
const namesOf = (text) => text.toLowerCase().replace(/ +(?=\d)/g, ":").replace(/, +/g, ",").replace(/ /g, "_");

/** The filters: the label of each parameter, and what returns the value for the API. */
const FILTERS = {
  clean: ["Clean"],
  recombobulated: ["Recombobulated"],
  min_stars: ["Stars from"],
  min_level: ["Level from"],
  reforge: ["Reforge", namesOf],
  enchantments: ["Enchantments", namesOf],
  max_price: ["Price up to", (text) => Math.floor(amount(text)) || text],
};

const CHOICES = ["clean", "recombobulated"];

/** What is special about the copy, in a few words. */
const detailsOf = ({ amount: items, clean, level, stars, recombobulated, reforge, enchantments, held_item: held, skin }) =>
  [items > 1 && `× ${items}`, level && `level ${level}`, clean && "clean", stars && `${stars} ★`, recombobulated && "recombobulated", reforge,
    ...Object.entries(enchantments ?? {}).map((pair) => pair.join(" ")), held, skin].filter(Boolean).join(", ").replace(/_/g, " ").toLowerCase();

/** The running auctions of the item with this id. */
export const RunningAuctions = ({ id }) => {
  const [filters, setFilters] = useState("");
  const [after, setAfter] = useState("");
  const { data, failure } = useResource(`v1/auctions/listings?id=${encodeURIComponent(id)}${filters}${after}`);
  const search = (event) => {
    event.preventDefault();
    const given = [...new FormData(event.target)].filter(([, text]) => text);
    setFilters(given.map(([name, text]) => `&${name}=${encodeURIComponent(FILTERS[name][1]?.(text) ?? text)}`).join(""));
    setAfter("");
  };
  const next = data?.next_after;
  return html`<section class="card running" aria-labelledby="running" aria-busy=${!data && !failure}>
    <h2 id="running">Running auctions</h2>
    <form class="filter" onSubmit=${search}>${Object.entries(FILTERS).map(([name, [label]]) => html`<label key=${name}>${label}${CHOICES.includes(name)
      ? html`<select name=${name}>${["", "true", "false"].map((value) => html`<option value=${value}>${value || "any"}</option>`)}</select>`
      : html`<input name=${name} autocomplete="off" />`}</label>`)}<button>Filter</button></form>
    ${failure && html`<${Failure} failure=${failure} stale=${data} />`}
    <p class="muted">${data ? `${integer(data.count)} running, cheapest first` : "–"}</p>
    ${data?.count > 0 && html`<div class="scroll rows" tabindex="0" role="region" aria-label="Table of running auctions"><table>
      <tbody>${data.listings.map((listing) => html`<tr key=${listing.auction}>
        <th scope="row">${price(listing.price)}<small>ends ${dateTime(listing.end)}</small></th>
        <td>${detailsOf(listing)} <${Copy} label=${html`Copy<span class="hidden"> the command for ${price(listing.price)}</span>`}
          textOf=${() => commandOf(listing.auction)} /></td></tr>`)}</tbody></table></div>`}
    ${next && html`<button type="button" onClick=${() => setAfter(`&after=${next}`)}>More expensive</button>`}
    ${after && html`<button type="button" onClick=${() => setAfter("")}>Cheapest</button>`}
  </section>`;
};
