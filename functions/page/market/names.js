// Names of items for people. The catalogue has names for about two of five products of the bazaar; the others are named after their id.
import { useResource } from "./api.js";

/** Words that are small inside of a title. */
const SMALL = new Set(["a", "an", "and", "for", "in", "of", "on", "the", "to"]);
const ROMAN = [[10, "X"], [9, "IX"], [5, "V"], [4, "IV"], [1, "I"]];

/** Returns a text of the game without colour codes (`§a`, `%%green%%`), glyphs of its own font, and characters that cannot be seen. */
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
    .split(/[\s_:]+/)
    .filter(Boolean)
    .map((word, index) => (index && SMALL.has(word) ? word : word[0].toUpperCase() + word.slice(1)))
    .join(" ");

/** Returns a name that follows from the id alone: `ENCHANTMENT_FIRE_PROTECTION_2` is `Fire Protection II`. */
export const nameOfId = (id) => {
  const enchantment = /^ENCHANTMENT_(.+?)(?:_(\d+))?$/.exec(id);
  if (enchantment) return `${titleCase(enchantment[1])} ${enchantment[2] ? roman(enchantment[2]) : ""}`.trim();
  const part = /^(ESSENCE|SHARD|PET_SKIN)_(.+)$/.exec(id);
  if (part) return `${titleCase(part[2])} ${titleCase(part[1])}`;
  return titleCase(id) || "Unnamed item";
};

const indexes = new WeakMap();

/** Returns the names of the data of `v1/items` by id. They are cleaned when they are shown: thousands never are. */
const indexOf = (catalogue) => {
  if (!indexes.has(catalogue)) indexes.set(catalogue, new Map(catalogue.items.map(({ id, name }) => [id, name])));
  return indexes.get(catalogue);
};

/** Returns the name of an item: from the data of `v1/items` if it has one, otherwise from the id. */
export const nameOf = (id, catalogue) => (catalogue && plain(indexOf(catalogue).get(id))) || nameOfId(id);

/** Returns a function from id to name. Without the catalogue, which can be missing or late, it names all items after their ids. */
export const useNames = () => {
  const { data } = useResource("v1/items");
  return (id) => nameOf(id, data);
};
