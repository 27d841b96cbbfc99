// The search over all active items of both markets, by name and id: a text field with a list, used with the keyboard or a pointer.
import { html, useEffect, useMemo, useState } from "./htm-preact.js";
import { follow, parameters } from "./address.js";
import { aliasesOf } from "./aliases.js";
import { CATALOGUE, load } from "./api.js";
import { Failure } from "./failure.js";
import { AUCTION_PRICES, BAZAAR_PRICES } from "./files.js";
import { auctionIdOf, nameOf, productsOf } from "./names.js";
import { remember, useRecent } from "./recent.js";
import { isSame, useWatched } from "./watched.js";

/** The longest list of results. */
const MOST_RESULTS = 40;

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

/** Returns the items for `matches`, from the data of the bazaar, of auctions, and of the catalogue. Each of them may be missing. */
export const searchable = (bazaar, prices, catalogue) => {
  const [products, auctions] = [bazaar?.items ?? [], prices?.items ?? []];
  const same = productsOf({ items: products });
  const listed = new Set(auctions.map(({ id }) => id));
  const entry = (id, market, markets, volume) => {
    const name = nameOf(id, catalogue, same);
    const own = [words(name), words(id)];
    // An alias matches like the beginning of a name: never exactly.
    const texts = [...own, ...aliasesOf(id).map((alias) => [words(alias), ...own].join(" "))];
    return { id, market, markets, volume: volume || 0, name, texts };
  };
  return [
    ...products.map(({ id, sellMovingWeek, buyMovingWeek }) =>
      entry(id, undefined, listed.has(auctionIdOf(id)) ? ["Bazaar", "Auctions"] : ["Bazaar"], sellMovingWeek + buyMovingWeek)),
    ...auctions.filter(({ id }) => !same.has(id)).map(({ id, listings }) => entry(id, "auctions", ["Auctions"], listings)),
  ];
};

/** Returns the groups that are shown before anything is typed. If `items` are missing, entries are named after their ids. */
const groupsOf = (items, recent, watched) => {
  const known = new Map(items?.flatMap((item) => [[auctionIdOf(item.id), item], [item.id, item]]));
  const entry = ({ id, market }) => ({ name: nameOf(id), markets: [market ? "Auctions" : "Bazaar"], ...known.get(id), id, market });
  const others = watched.filter((item) => !recent.some((other) => isSame(item, other)));
  return [{ label: "Recent", entries: recent.map(entry) }, { label: "Watched", entries: others.map(entry) }].filter(({ entries }) => entries.length);
};

/** Puts the focus into the search. */
export const focusSearch = () => document.getElementById("search")?.focus();

const isTyping = ({ target }) => target.isContentEditable || /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName);

/** Returns the items, requested when the search is first used; they change rarely. If one market fails, returns the items of the other. */
export const useItems = (isUsed) => {
  const [state, set] = useState({ items: null, failure: null });
  const isMissing = !state.items || state.failure !== null;
  useEffect(() => {
    if (!isUsed || !isMissing) return undefined;
    let timer = 0;
    let isWanted = true;
    const request = async () => {
      // The catalogue's names can come later, or never.
      const catalogue = load(CATALOGUE).catch(() => null);
      const [bazaar, prices] = await Promise.allSettled([load(BAZAAR_PRICES), load(AUCTION_PRICES)]);
      const failure = bazaar.reason ?? prices.reason ?? null;
      const keep = (names) => set({ items: bazaar.value || prices.value ? searchable(bazaar.value, prices.value, names) : null, failure });
      keep(null);
      if (isWanted && Number.isFinite(failure?.retryAt)) timer = setTimeout(request, failure.retryAt - Date.now());
      keep(await catalogue);
    };
    request();
    return () => {
      isWanted = false;
      clearTimeout(timer);
    };
  }, [isUsed, isMissing]);
  return state;
};

const Option = ({ item, index, active, choose }) =>
  html`<li id=${`result-${index}`} role="option" aria-selected=${index === active} onClick=${() => choose(item)}>
    <span>${item.name}</span> <small>${item.id}</small>
    <small class="markets">${item.markets.map((market) => html`<span key=${market} class="badge">${market}</span> `)}</small></li>`;

/** The search in the header. */
export const Search = () => {
  const [text, setText] = useState("");
  const [active, setActive] = useState(-1);
  const [isOpen, setOpen] = useState(false);
  const { items, failure } = useItems(isOpen);
  const [recent, watched] = [useRecent(), useWatched()];
  const isTyped = text.trim() !== "";
  const groups = useMemo(
    () => (isTyped ? [{ entries: items ? matches(items, text) : [] }] : groupsOf(items, recent, watched)), [items, text, recent, watched]);
  const results = groups.flatMap(({ entries }) => entries);
  const hasList = isOpen && groups.length > 0;

  useEffect(() => {
    const listener = (event) => {
      if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || isTyping(event)) return;
      event.preventDefault();
      focusSearch();
    };
    addEventListener("keydown", listener);
    return () => removeEventListener("keydown", listener);
  }, []);

  useEffect(() => {
    document.getElementById(`result-${active}`)?.scrollIntoView({ block: "nearest" });
  }, [active]);

  const close = () => {
    setOpen(false);
    setActive(-1);
  };
  const choose = (item) => {
    if (!item) return;
    setText("");
    close();
    remember(item);
    follow({ item: item.id, market: item.market, range: parameters().range });
  };
  const type = ({ target }) => {
    setText(target.value);
    setActive(-1);
    setOpen(true);
  };
  const press = (event) => {
    const moves = { ArrowDown: 1, ArrowUp: -1 };
    if (event.key in moves) {
      setOpen(true);
      const count = results.length;
      if (count) setActive(active < 0 && event.key === "ArrowUp" ? count - 1 : (active + moves[event.key] + count) % count);
    } else if (event.key === "Enter") {
      if (active >= 0 || text.trim()) choose(results[Math.max(active, 0)]);
    } else if (event.key === "Escape") {
      if (!hasList) setText("");
      close();
    } else {
      return;
    }
    event.preventDefault();
  };

  const summary = () => {
    if (!hasList || !isTyped) return "";
    if (!items) return "The list of items is loading…";
    if (!results.length) return "No item has such a name or id.";
    return results.length === MOST_RESULTS ? `The best ${MOST_RESULTS} results` : `${results.length} result${results.length > 1 ? "s" : ""}`;
  };
  return html`<search class="search">
    <input id="search" type="text" role="combobox" aria-label="Search items" placeholder="Search items ( / )" autocomplete="off"
      autocapitalize="off" spellcheck=${false} aria-autocomplete="list" aria-expanded=${hasList} aria-controls="results"
      aria-activedescendant=${active < 0 ? undefined : `result-${active}`} value=${text}
      onInput=${type} onKeyDown=${press} onFocus=${() => setOpen(true)} onBlur=${close} />
    <div class="results" hidden=${!hasList} onMouseDown=${(event) => event.preventDefault()}>
      ${failure && isOpen && html`<${Failure} failure=${failure} stale=${Boolean(items)} />`}
      ${(items || !failure) && html`<p class="muted" role="status">${summary()}</p>`}
      <div id="results" role="listbox" aria-label="Items">${groups.map(({ label, entries }) => html`
        <ul key=${label} role=${label ? "group" : "presentation"} aria-label=${label}>
          ${label && html`<li class="label" role="presentation" aria-hidden="true">${label}</li>`}
          ${entries.map((item) => html`<${Option} key=${`${item.market} ${item.id}`} item=${item} index=${results.indexOf(item)} active=${active}
            choose=${choose} />`)}</ul>`)}</div>
    </div>
  </search>`;
};
