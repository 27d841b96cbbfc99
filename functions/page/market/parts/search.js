// The search over all active items of both markets, by name and id: a text field with a list, used with the keyboard or a pointer.
import { html, useEffect, useMemo, useState } from "../../vendor/htm-preact.js";
import { follow, parameters } from "./address.js";
import { load } from "../data/api.js";
import { Failure } from "./failure.js";
import { AUCTION_PRICES, BAZAAR_PRICES, NAMES } from "../data/files.js";
import { auctionIdOf, nameOfId } from "../values/ids.js";
import { MOST_RESULTS, matches, searchable } from "../values/matches.js";
import { remember, useRecent } from "../data/recent.js";
import { isSame, useWatched } from "../data/watched.js";

/** Returns the groups that are shown before anything is typed. */
const groupsOf = (items, recent, watched) => {
  const known = new Map(items?.flatMap((item) => [[auctionIdOf(item.id), item], [item.id, item]]));
  const entry = ({ id, market }) => ({ name: nameOfId(id), markets: [market ? "Auctions" : "Bazaar"], ...known.get(id), id, market });
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
      // The names can come later, or never.
      const named = load(NAMES).catch(() => null);
      const [bazaar, prices] = await Promise.allSettled([load(BAZAAR_PRICES), load(AUCTION_PRICES)]);
      const failure = bazaar.reason ?? prices.reason ?? null;
      const keep = (names) => set({ items: bazaar.value || prices.value ? searchable(bazaar.value, prices.value, names) : null, failure });
      keep(null);
      if (isWanted && Number.isFinite(failure?.retryAt)) timer = setTimeout(request, failure.retryAt - Date.now());
      keep(await named);
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
