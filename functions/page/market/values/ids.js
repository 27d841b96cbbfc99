// Ids of items, the match between the ids of both markets, and texts from the game.

/** Words in lower case inside a title. */
const SMALL = new Set(["a", "an", "and", "for", "in", "of", "on", "the", "to"]);

/** Returns a text from the game without colour codes (`§a`, `%%green%%`), glyphs of the game's font, and invisible characters. */
export const plain = (text) =>
  String(text ?? "")
    .replace(/§[0-9a-z]?|%%[a-z_]+%%/gi, "")
    .replace(/[\p{C}\s]+/gu, " ")
    .trim();

/** Returns the words of an id, the name of an item while its own name is not known: `SHARD_KING_COBRA` is `King Cobra Shard`. */
export const nameOfId = (id) =>
  plain(id)
    .replace(/^(ESSENCE|SHARD|PET_SKIN)_(.+)$/, "$2_$1")
    .toLowerCase()
    .split(/[\s_:;+-]+/)
    .filter(Boolean)
    .map((word, index) => (index && SMALL.has(word) ? word : word[0].toUpperCase() + word.slice(1)))
    .join(" ") || "Unnamed item";

/** Returns the id that an item of the bazaar has in auctions: `GROWTH;5` for `ENCHANTMENT_GROWTH_5`, and `LOG-2` for `LOG:2`. */
export const auctionIdOf = (id) => id.replace(/^ENCHANTMENT_(.+)_(\d+)$/, "$1;$2").replaceAll(":", "-");

/** Returns the rows of the data of `v1/names`, which may be missing, by id. An id that both markets have has the same name in both. */
export const indexOf = (names) => new Map(names?.items.map((row) => [row.id, row]));
