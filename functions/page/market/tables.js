// The views that are tables of items. They are loaded together, because they share the table.
import { Auctions } from "./views/auctions.js";
import { Flips } from "./views/flips.js";
import { Items } from "./views/items.js";

/** The views by their names in the address. */
export const TABLES = { items: Items, flips: Flips, auctions: Auctions };
