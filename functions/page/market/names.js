// Names of items, and the match between the ids of both markets. The catalogue has names for about two of five products of the bazaar. The
// other products, and pets, books and runes in auctions, are named after their ids.
import { useEffect, useMemo, useState } from "./htm-preact.js";
import { CATALOGUE, load, useResource } from "./api.js";
import { BAZAAR_PRICES } from "./files.js";

/** Words in lower case inside a title. */
const SMALL = new Set(["a", "an", "and", "for", "in", "of", "on", "the", "to"]);
const ROMAN = [[10, "X"], [9, "IX"], [5, "V"], [4, "IV"], [1, "I"]];

/** Returns a text from the game without colour codes (`§a`, `%%green%%`), glyphs of the game's font, and invisible characters. */
export const plain = (text) =>
  String(text ?? "")
    .replace(/§[0-9a-z]?|%%[a-z_]+%%/gi, "")
    .replace(/[\p{C}\s]+/gu, " ")
    .trim();

const roman = (level) => {
  let rest = Number(level);
  if (!rest || rest > 39) return level;
  let text = "";
  for (const [value, letters] of ROMAN) {
    for (; rest >= value; rest -= value) text += letters;
  }
  return text;
};

const titleCase = (words) =>
  plain(words)
    .toLowerCase()
    .split(/[\s_:-]+/)
    .filter(Boolean)
    .map((word, index) => (index && SMALL.has(word) ? word : word[0].toUpperCase() + word.slice(1)))
    .join(" ");

/** Returns the game's name of an enchantment: only Wise and Jerry are called "Ultimate", and Reiterate is called "Duplex". */
const enchantmentName = (id) => titleCase(id.replace(/^ULTIMATE_(?!(WISE|JERRY)$)/, "").replace(/^REITERATE$/, "DUPLEX"));

/** Returns a name that follows from the id alone: `ENCHANTMENT_FIRE_PROTECTION_2` is `Fire Protection II`. */
export const nameOfId = (id) => {
  const enchantment = /^ENCHANTMENT_(.+?)(?:_(\d+))?$/.exec(id);
  if (enchantment) return `${enchantmentName(enchantment[1])} ${enchantment[2] ? roman(enchantment[2]) : ""}`.trim();
  const part = /^(ESSENCE|SHARD|PET_SKIN)_(.+)$/.exec(id);
  if (part) return `${titleCase(part[2])} ${titleCase(part[1])}`;
  return titleCase(id) || "Unnamed item";
};

/** Returns the id that an item of the bazaar has in auctions: `GROWTH;5` for `ENCHANTMENT_GROWTH_5`, and `LOG-2` for `LOG:2`. */
export const auctionIdOf = (id) => id.replace(/^ENCHANTMENT_(.+)_(\d+)$/, "$1;$2").replaceAll(":", "-");

/** Returns the ids of the products of the bazaar by their ids in auctions. `list` is the data of `v1/bazaar?mode=prices`. */
export const productsOf = (list) => new Map(list.items.map(({ id }) => [auctionIdOf(id), id]));

const NONE = new Map();

/** Returns the products like `productsOf`, requested once. They can be late or missing. */
export const useProducts = () => {
  const [products, set] = useState(NONE);
  useEffect(() => {
    load(BAZAAR_PRICES).then((list) => set(productsOf(list))).catch(() => {});
  }, []);
  return products;
};

/** The tiers of pets by the number in their ids. */
const TIERS = ["Common", "Uncommon", "Rare", "Epic", "Legendary", "Mythic"];

/** Returns the parts of an id in auctions: `SHEEP;4+100` is `{ base: "SHEEP", level: "4", variant: "100" }`. */
const partsOf = (id) => /^(?<base>.*?)(;(?<level>\d+))?(\+(?<variant>\w+))?$/.exec(id)?.groups ?? { base: id };

/** Returns whether the id in auctions belongs to a pet. Ids of books have the same form, but their enchantments are in the bazaar. */
export const isPet = (id, products) => {
  const { base, level } = partsOf(id);
  return level in TIERS && !/^(POTION|ATTRIBUTE_SHARD|ULTIMATE)_|_RUNE$/.test(base) && !TIERS.some((_, other) => products.has(`${base};${other}`));
};

/** Returns a name that follows from an id in auctions alone: `GOLDEN_DRAGON;4+100` is `Golden Dragon (Legendary, level 100)`. */
const nameInAuctions = (id, products) => {
  const { base, level, variant } = partsOf(id);
  if (isPet(id, products)) return `${titleCase(base)} (${TIERS[level]}${variant ? `, level ${variant}` : ""})`;
  const part = /^(POTION|ATTRIBUTE_SHARD)_(.+)$/.exec(base);
  return `${part ? `${titleCase(part[2])} ${titleCase(part[1])}` : enchantmentName(base)} ${roman(level)}`;
};

const indexes = new WeakMap();

/** Returns the names in the data of `v1/items` by id. They can have colour codes, which `nameOf` removes. */
const indexOf = (catalogue) => {
  if (!indexes.has(catalogue)) indexes.set(catalogue, new Map(catalogue.items.map(({ id, name }) => [id, name])));
  return indexes.get(catalogue);
};

/** Returns the name of an item in either market: from the data of `v1/items` if it has one, otherwise from the id. */
export const nameOf = (id, catalogue, products = NONE) => {
  const product = products.get(id) ?? id.replace(/-(\d+)$/, ":$1");
  const known = catalogue && plain(indexOf(catalogue).get(product));
  if (known) return known;
  const { base, level, variant } = partsOf(product);
  if (level) return nameInAuctions(id, products);
  if (variant) return `${nameOf(base, catalogue)} (${/\d/.test(variant) ? `year ${variant}` : titleCase(variant)})`;
  return nameOfId(product);
};

/** Returns a function from id to name. Without the catalogue, which can be missing or late, it names all items after their ids. */
export const useNames = (products) => {
  const { data } = useResource(CATALOGUE);
  return useMemo(() => {
    const names = new Map();
    return (id) => names.get(id) ?? names.set(id, nameOf(id, data, products)).get(id);
  }, [data, products]);
};
