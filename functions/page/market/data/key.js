// The API key. It is kept for this tab, or on this device if the visitor chooses that. No request has the key in its address: a link from a
// terminal has it in the fragment, which browsers never send, and which this module removes at once. Tabs share the key, and forget it
// together.
import { useEffect, useState } from "../../vendor/htm-preact.js";

const NAME = "key";
const listeners = new Set();

/** Returns the result of `action`, or `null` if storage is switched off in the browser. The key then lasts until the next reload. */
const attempt = (action) => {
  try {
    return action();
  } catch {
    return null;
  }
};

/** Returns the text as a key, or `null` if no header can hold it. */
export const asKey = (text) => {
  const key = text?.trim() ?? "";
  return /^[\x21-\x7e]{1,200}$/.test(key) ? key : null;
};

const FORGOTTEN = "key-forgotten";
const SINCE = "key-since";

/** Returns the key of this tab, unless another tab has forgotten it: this tab got no message if it showed another page at that time. */
const ofTab = () => {
  const isForgotten = Number(localStorage.getItem(FORGOTTEN)) > Number(sessionStorage.getItem(SINCE));
  return isForgotten ? null : asKey(sessionStorage.getItem(NAME));
};

const stored = () => attempt(ofTab) ?? asKey(attempt(() => localStorage.getItem(NAME)));

let memory = stored();

/** The channel to the other tabs of this service. */
const tabs = globalThis.BroadcastChannel ? new BroadcastChannel(NAME) : null;

/** Returns the key, or `null`. */
export const readKey = () => memory;

/** Returns whether the key is kept on this device. */
export const isRemembered = () => attempt(() => localStorage.getItem(NAME)) !== null;

const keepInSession = () =>
  attempt(() => {
    for (const [name, value] of [[NAME, memory], [SINCE, memory && Date.now()]]) {
      if (value) sessionStorage.setItem(name, value);
      else sessionStorage.removeItem(name);
    }
  });

/** Keeps the key for this tab only, for example because the key was not tried yet. */
export const keepForTab = (key) => {
  memory = key;
  keepInSession();
  for (const listener of listeners) listener(key);
};

/** Keeps the present key on this device until the key is forgotten, or only for the tab if `isWanted` is false. */
export const remember = (isWanted) => {
  attempt(() => (isWanted ? localStorage.setItem(NAME, memory) : localStorage.removeItem(NAME)));
  keepInSession();
};

/** Keeps the key, also in other tabs, or forgets it everywhere if it is `null`. */
export const keepKey = (key) => {
  keepForTab(key);
  if (!key) attempt(() => localStorage.setItem(FORGOTTEN, Date.now()));
  if (!key || isRemembered()) remember(key !== null);
  tabs?.postMessage({ key });
};

/** Calls the function with each new key, and returns the function that ends this. */
export const watchKey = (listener) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** Returns the key, and renders again when it changes. */
export const useKey = () => {
  const [key, set] = useState(memory);
  useEffect(() => {
    // Another tab can have sent a key before this effect runs.
    set(memory);
    return watchKey(set);
  }, []);
  return key;
};

const takeFromFragment = () => {
  if (!location.hash.startsWith("#key=")) return;
  const text = location.hash.slice("#key=".length);
  history.replaceState(null, "", location.pathname + location.search);
  const key = asKey(text);
  if (key) keepForTab(key);
};

takeFromFragment();
addEventListener("hashchange", takeFromFragment);

tabs?.addEventListener("message", ({ data }) => {
  if (data.isWanted) {
    if (memory) tabs.postMessage({ key: memory, isAnswer: true });
  } else if (!data.isAnswer || !memory) {
    keepForTab(data.key);
  }
});
if (!memory) tabs?.postMessage({ isWanted: true });

// When a browser restores this page as it was left, the key may have changed meanwhile.
addEventListener("pageshow", ({ persisted }) => {
  if (persisted && memory !== stored()) keepForTab(stored());
});
