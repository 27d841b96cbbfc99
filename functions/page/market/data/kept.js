// Values that the browser keeps on this device, the same in all tabs. If storage is switched off, they last until the next reload.
import { useEffect, useState } from "../../vendor/htm-preact.js";

/**
 * Returns a value that is kept under this name: `read()`, `write(value)`, and `use()`, which renders again when it changes in any tab.
 * `parse` returns the value for the stored data, which may be anything, or for `null`.
 */
export const kept = (name, parse) => {
  const listeners = new Set();
  const stored = () => {
    try {
      return parse(JSON.parse(localStorage.getItem(name)));
    } catch {
      return parse(null);
    }
  };
  let value = stored();
  const set = (next) => {
    value = next;
    for (const listener of listeners) listener(value);
  };
  addEventListener("storage", (event) => {
    if (event.key === name || event.key === null) set(stored());
  });
  return {
    read: () => value,
    write: (next) => {
      try {
        localStorage.setItem(name, JSON.stringify(next));
      } catch {}
      set(next);
    },
    use: () => {
      const [current, change] = useState(value);
      useEffect(() => {
        listeners.add(change);
        change(value);
        return () => listeners.delete(change);
      }, []);
      return current;
    },
  };
};
