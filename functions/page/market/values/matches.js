// The items that match a text by name, id or alias, the best first.
import { auctionIdOf, indexOf, nameOfId } from "./ids.js";

/** The longest list of results. */
export const MOST_RESULTS = 40;

const words = (text) => text.toLowerCase().replace(/[\s_:;+'(),-]+/g, " ").trim();

/** Returns the rank of a match: 0 exactly, 1 at the beginning, 2 at the beginnings of words, 3 anywhere, `Infinity` not at all. */
const rank = (text, query, parts) => {
  if (text === query) return 0;
  if (text.startsWith(query)) return 1;
  const padded = ` ${text}`;
  if (parts.every((part) => padded.includes(` ${part}`))) return 2;
  return parts.every((part) => text.includes(part)) ? 3 : Infinity;
};

/** Returns whether the word begins with the part, apart from one wrong, missing, additional or swapped character. */
const isNear = (word, part) => {
  if (word.startsWith(part)) return true;
  // A short part may have no error.
  if (part.length < 4) return false;
  let at = 0;
  while (part[at] === word[at]) at += 1;
  const isSwapped = part[at] === word[at + 1] && part[at + 1] === word[at];
  return word.startsWith(part.slice(at + 1), at + 1) || word.startsWith(part.slice(at), at + 1) ||
    word.startsWith(part.slice(at + 1), at) || (isSwapped && word.startsWith(part.slice(at + 2), at + 2));
};

/** Sorts the levels of an enchantment by number. */
const byId = new Intl.Collator("en", { numeric: true });

/**
 * Returns the matching items, the best first, and equal matches by volume. Without a match, returns the items whose name and id together
 * have these words, each with at most one typing error.
 */
export const matches = (items, text) => {
  const query = words(text);
  if (!query) return [];
  const parts = query.split(" ");
  const ranked = items
    .map((item) => ({ item, rank: Math.min(...item.texts.map((own) => rank(own, query, parts))) }))
    .filter((match) => match.rank !== Infinity);
  const near = (item) => {
    const all = item.texts.join(" ").split(" ");
    return parts.every((part) => all.some((word) => isNear(word, part)));
  };
  return (ranked.length ? ranked : items.filter(near).map((item) => ({ item, rank: 0 })))
    .sort((one, other) => one.rank - other.rank || other.item.volume - one.item.volume || byId.compare(one.item.id, other.item.id))
    .slice(0, MOST_RESULTS)
    .map(({ item }) => item);
};

/** Returns the items for `matches`, from the data of the bazaar, of auctions, and of the names. Each of them may be missing. */
export const searchable = (bazaar, prices, names) => {
  const [products, auctions] = [bazaar?.items ?? [], prices?.items ?? []];
  const same = new Set(products.map(({ id }) => auctionIdOf(id)));
  const rows = indexOf(names);
  const listed = new Set(auctions.map(({ id }) => id));
  const entry = (id, market, markets, volume) => {
    const { name = nameOfId(id), aliases = [] } = rows.get(id) ?? {};
    const own = [words(name), words(id)];
    // An alias matches like the beginning of a name: never exactly.
    const texts = [...own, ...aliases.map((alias) => [words(alias), ...own].join(" "))];
    return { id, market, markets, volume: volume || 0, name, texts };
  };
  return [
    ...products.map(({ id, sellMovingWeek, buyMovingWeek }) =>
      entry(id, undefined, listed.has(auctionIdOf(id)) ? ["Bazaar", "Auctions"] : ["Bazaar"], sellMovingWeek + buyMovingWeek)),
    ...auctions.filter(({ id }) => !same.has(id)).map(({ id, listings }) => entry(id, "auctions", ["Auctions"], listings)),
  ];
};
