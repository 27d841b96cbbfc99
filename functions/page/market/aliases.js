// Players' short names of items, if the item's name does not begin with them. `hyp` needs no alias: the name Hyperion begins with it.

/** The beginnings of ids by alias. Several items can share an alias, and an item can have several. */
export const ALIASES = {
  // Weapons, tools and armor.
  aotd: ["ASPECT_OF_THE_DRAGON"], aote: ["ASPECT_OF_THE_END"], aotj: ["ASPECT_OF_THE_JERRY"], aotv: ["ASPECT_OF_THE_VOID"],
  aots: ["AXE_OF_THE_SHREDDED"], bonemerang: ["BONE_BOOMERANG"], daxe: ["DAEDALUS_AXE"], fot: ["FLOWER_OF_TRUTH"], gs: ["GIANTS_SWORD"],
  ld: ["LIVID_DAGGER"], sceptre: ["BAT_WAND"], fd: ["FINAL_DESTINATION_"], sa: ["SHADOW_ASSASSIN_"], storm: ["WISE_WITHER_"],
  necron: ["POWER_WITHER_"], goldor: ["TANK_WITHER_"], maxor: ["SPEED_WITHER_"],
  // Enchantments.
  dh: ["ENCHANTMENT_DRAGON_HUNTER"], ft: ["ENCHANTMENT_ULTIMATE_FATAL_TEMPO"], gk: ["ENCHANTMENT_GIANT_KILLER"],
  ofa: ["ENCHANTMENT_ULTIMATE_ONE_FOR_ALL"], se: ["ENCHANTMENT_ULTIMATE_SOUL_EATER"], uw: ["ENCHANTMENT_ULTIMATE_WISE"],
  // Pets.
  bcat: ["BLACK_CAT"], edrag: ["ENDER_DRAGON"], eman: ["ENDERMAN;"], gdrag: ["GOLDEN_DRAGON"], mcow: ["MOOSHROOM_COW"], sc: ["SCATHA"],
  wskele: ["WITHER_SKELETON"],
  // Upgrades.
  hpb: ["HOT_POTATO_BOOK"], fpb: ["FUMING_POTATO_BOOK"], fms: ["FIRST_MASTER_STAR"], sms: ["SECOND_MASTER_STAR"], tms: ["THIRD_MASTER_STAR"],
  tboost: ["PET_ITEM_TIER_BOOST"], sf: ["SUPERIOR_FRAGMENT", "STRONG_FRAGMENT"], uf: ["UNSTABLE_FRAGMENT"], wf: ["WISE_FRAGMENT"],
  // Consumables and collectibles.
  cookie: ["BOOSTER_COOKIE"], godpot: ["GOD_POTION"], gxp: ["GRAND_EXP_BOTTLE"], txp: ["TITANIC_EXP_BOTTLE"], scc: ["SIMPLE_CARROT_CANDY"],
  gcc: ["GREAT_CARROT_CANDY"], ucc: ["ULTIMATE_CARROT_CANDY"], tap: ["TOXIC_ARROW_POISON", "TWILIGHT_ARROW_POISON"], stonks: ["STOCK_OF_STONKS"],
  sc3000: ["SUPER_COMPACTOR_3000"], cocoa: ["INK_SACK:3"], lapis: ["INK_SACK:4"], wart: ["NETHER_STALK"], gunpowder: ["SULPHUR"],
  "e-dia": ["ENCHANTED_DIAMOND"], edia: ["ENCHANTED_DIAMOND"], ewood: ["ENCHANTED_OAK_LOG"],
};

const entries = Object.entries(ALIASES);

/** Returns the aliases of the item with this id. */
export const aliasesOf = (id) => entries.filter(([, begins]) => begins.some((begin) => id.startsWith(begin))).map(([alias]) => alias);
