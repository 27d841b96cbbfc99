// Names of items.
import { useMemo } from "../../vendor/htm-preact.js";
import { known, useResource } from "./api.js";
import { NAMES } from "./files.js";
import { auctionIdOf, indexOf, nameOfId, plain } from "../values/ids.js";

const rows = () => known(NAMES)?.items ?? [];

/** Returns the id in the bazaar of the item with this id in auctions, or `undefined`. */
export const productOf = (auction) => rows().find(({ id, market }) => market === "bazaar" && auctionIdOf(id) === auction)?.id;

/** Returns whether the id in auctions belongs to a pet. */
export const isPet = (auction) => rows().some(({ id, kind }) => kind === "pet" && id === auction);

/**
 * Returns a function from id to name. While the names are late or missing, it names all items after their ids. `catalogue` is the path of a
 * list with names of items that have no price; the view may do without.
 */
export const useNames = (catalogue = null) => {
  const { data } = useResource(NAMES);
  const others = useResource(catalogue).data;
  return useMemo(() => {
    const [names, more] = [indexOf(data), indexOf(others)];
    return (id) => names.get(id)?.name || plain(more.get(id)?.name) || nameOfId(id);
  }, [data, others]);
};
