// The API key. It is kept for this tab only, and it is in no address: the link of a terminal carries it in the fragment, which browsers
// send to nobody, and which is removed at once.
import { useEffect, useState } from "./htm-preact.js";

const NAME = "key";
const listeners = new Set();

// Storage can be switched off in a browser. Then the key lasts until the next reload.
let memory = null;
try {
  memory = sessionStorage.getItem(NAME);
} catch {}

/** Returns the key, or `null`. */
export const readKey = () => memory;

/** Keeps the key, or forgets it if it is `null`. */
export const keepKey = (key) => {
  memory = key;
  try {
    if (key) sessionStorage.setItem(NAME, key);
    else sessionStorage.removeItem(NAME);
  } catch {}
  for (const listener of listeners) listener(key);
};

/** Calls the function with each new key, and returns the function that ends this. */
export const watchKey = (listener) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** Returns the key, and renders again when it changes. */
export const useKey = () => {
  const [key, set] = useState(memory);
  useEffect(() => watchKey(set), []);
  return key;
};

/** Returns the text as a key, or `null` if no header can hold it. */
export const asKey = (text) => {
  const key = text.trim();
  return /^[\x21-\x7e]{1,200}$/.test(key) ? key : null;
};

const takeFromFragment = () => {
  if (!location.hash.startsWith("#key=")) return;
  const text = location.hash.slice("#key=".length);
  history.replaceState(null, "", location.pathname + location.search);
  const key = asKey(text);
  if (key) keepKey(key);
};

takeFromFragment();
addEventListener("hashchange", takeFromFragment);
