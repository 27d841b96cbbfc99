// The data of the service's own API: one request per address at a time. A response is kept while it is fresh, and requested again when
// it expires while a view shows it. Nothing is requested while the tab is hidden.
import { useEffect, useState } from "../../vendor/htm-preact.js";
import { present, setTime } from "./clock.js";
import { DAYS, NAMES, fileOf } from "./files.js";
import { readKey, watchKey } from "./key.js";

/** The time after which a request counts as failed, in milliseconds. */
const TIMEOUT = 15_000;

/** The shortest time between two requests of a resource, in milliseconds. A response from a cache can have expired on arrival. */
const SHORTEST_WAIT = 5_000;

/** The wait after a failure without `Retry-After`, in milliseconds. The wait doubles with each failure in a row. */
const FIRST_WAIT = 5_000;
const LONGEST_WAIT = 120_000;

/** The longest accepted `Retry-After`, in milliseconds. Timers of browsers hold at most 2^31. */
const LONGEST_ANNOUNCED_WAIT = 86_400_000;

/** The time for which a response without `Expires` is fresh, in milliseconds. */
const USUAL_TTL = 60_000;

/** The catalogue, which is large and rarely changes. Browsers may keep it, like names, candles of whole days and public files. */
export const CATALOGUE = "v1/items";
/** The catalogue with every field of the provider: 2 MB, which only the view of sales to NPCs requests. */
export const WHOLE_CATALOGUE = `${CATALOGUE}?mode=full`;
const isKept = (path) => path.startsWith(CATALOGUE) || path === NAMES || path.startsWith("v1/bazaar/candles/all?");

/** The only requested path that requires no key. */
const STATUS = "v1/status";

/** The most responses that are kept although no view shows them. */
const MOST_UNUSED = 60;

/** Resources by path, in the order of their last use. */
const resources = new Map();

const isOnceOnly = (status) => status >= 400 && status < 500 && status !== 429;

/** Returns the data of a public file, for a visitor without a key. */
const requestFile = async (file) => {
  try {
    const response = await fetch(file.address, { credentials: "omit", redirect: "error", signal: AbortSignal.timeout(TIMEOUT) });
    if (response.ok) return { data: await file.read(response), wait: USUAL_TTL };
    // Days before the service began have no file. Other files appear within minutes.
    return { failure: { status: file.isDay && response.status < 500 ? 404 : 503 } };
  } catch {
    return { failure: { status: 0 } };
  }
};

const request = async (path, key) => {
  const file = key && path !== DAYS ? undefined : fileOf(path);
  if (file) return requestFile(file);
  if (!key && path !== STATUS) return { failure: { status: 401 } };
  let response;
  try {
    response = await fetch(path, {
      headers: key ? { "X-API-Key": key } : {},
      credentials: "omit",
      // Browsers do not know that the data depend on the key, so they must not keep the response.
      cache: isKept(path) ? "default" : "no-store",
      redirect: "error",
      signal: AbortSignal.timeout(TIMEOUT),
    });
    if (response.ok && response.headers.get("content-type").startsWith("text/csv")) return { data: await response.text(), wait: Infinity };
  } catch {
    return { failure: { status: 0 } };
  }
  const body = await response.json().catch(() => null);
  if (response.ok && body?.success && body.data) {
    // Both times come from the service, so the browser's clock does not matter.
    const [expires, date] = ["expires", "date"].map((name) => Date.parse(response.headers.get(name)));
    if (!isKept(path)) setTime(date);
    const ttl = expires - date;
    return { data: body.data, wait: Number.isFinite(ttl) ? ttl : USUAL_TTL };
  }
  const seconds = Number(response.headers.get("retry-after"));
  const wait = seconds ? Math.min(seconds * 1_000, LONGEST_ANNOUNCED_WAIT) : undefined;
  return { failure: { status: response.status || 500, message: body?.error?.message, wait, isOfKey: path !== STATUS } };
};

/** Returns the failure if the service refuses the key, and `null` if the service accepts the key or the key cannot be tried. */
export const refusalOf = async (key) => {
  const { failure } = await request("v1/mayor", key);
  return [401, 403].includes(failure?.status) ? failure : null;
};

/** Requests the resource, unless a request is under way. */
const refresh = async (resource) => {
  if (resource.isLoading) return;
  resource.isLoading = true;
  clearTimeout(resource.timer);
  const key = readKey();
  const { data, failure, wait } = await request(resource.path, key);
  resource.isLoading = false;
  // The key has changed meanwhile, so the resource was forgotten. Its listeners are still called, because `load` may wait for this request.
  if (readKey() !== key) {
    for (const listener of resource.listeners) listener(resource.state);
    return;
  }
  const now = Date.now();
  if (failure) {
    resource.failures += 1;
    const backoff = Math.min(FIRST_WAIT * 2 ** (resource.failures - 1), LONGEST_WAIT);
    // The candles of a day can appear late, so even a 404 is requested again.
    const once = isKept(resource.path) ? 300_000 : Infinity;
    const pause = isOnceOnly(failure.status) ? once : Math.max(failure.wait ?? backoff, 1_000);
    resource.due = now + pause;
    resource.state = { ...resource.state, failure: { ...failure, retryAt: resource.due }, isLoading: false };
  } else {
    resource.failures = 0;
    // While the provider fails, the service responds with expired data. The pauses then grow.
    resource.expired = wait > 0 ? 0 : resource.expired + 1;
    const pause = Math.min(SHORTEST_WAIT * 2 ** Math.max(resource.expired - 1, 0), LONGEST_WAIT);
    resource.due = now + Math.max(wait, pause);
    resource.state = { data, failure: null, isLoading: false, receivedAt: present() };
  }
  for (const listener of resource.listeners) listener(resource.state);
  schedule(resource);
};

const schedule = (resource) => {
  clearTimeout(resource.timer);
  if (!resource.listeners.size || document.hidden || resource.due === Infinity) return;
  // Timers of browsers hold at most 2^31 ms.
  resource.timer = setTimeout(() => refresh(resource), Math.min(Math.max(resource.due - Date.now(), 0), 2 ** 31 - 1));
};

const resourceAt = (path) => {
  const known = resources.get(path);
  const state = { data: undefined, failure: null, isLoading: true, receivedAt: 0 };
  const resource = known ?? { path, state, listeners: new Set(), due: 0, failures: 0, expired: 0, isLoading: false, timer: 0 };
  resources.delete(path);
  resources.set(path, resource);
  const unused = [...resources.values()].filter((other) => !other.listeners.size && other !== resource);
  for (const old of unused.slice(0, Math.max(unused.length - MOST_UNUSED, 0))) resources.delete(old.path);
  return resource;
};

document.addEventListener("visibilitychange", () => {
  for (const resource of resources.values()) schedule(resource);
});

addEventListener("online", () => {
  for (const resource of resources.values()) {
    if (resource.state.failure?.status !== 0) continue;
    resource.due = 0;
    if (resource.listeners.size) refresh(resource);
  }
});

/** Forgets all data. Views that are rendered anew request them again. */
export const forget = () => {
  for (const resource of resources.values()) clearTimeout(resource.timer);
  resources.clear();
};

// The new key may have fewer rights than the old one. The page renders again everything that requires a key.
watchKey(forget);

/**
 * Returns the resource at this path, such as `v1/mayor`: `{ data, failure, isLoading, receivedAt }`, and renders again when that changes.
 * `data` is `undefined` before the first response, and stays while a later request fails. `receivedAt` is a time of the service. `failure`
 * has `status` (0 without a response), the API's `message`, `isOfKey` if the request needed a key, and `retryAt` in the browser's Unix
 * milliseconds. If `path` is `null`, nothing is requested.
 */
export const useResource = (path) => {
  const [, render] = useState(null);
  const resource = path === null ? null : resourceAt(path);
  useEffect(() => {
    if (!resource) return undefined;
    const listener = (state) => render(state);
    resource.listeners.add(listener);
    schedule(resource);
    // The state can have changed since this view was rendered.
    render(resource.state);
    return () => {
      resource.listeners.delete(listener);
      if (!resource.listeners.size) clearTimeout(resource.timer);
    };
  }, [resource]);
  return resource?.state ?? { data: undefined, failure: null, isLoading: false, receivedAt: 0 };
};

/** Returns the data at this path if a view has requested it. */
export const known = (path) => resources.get(path)?.state.data;

/**
 * Returns the data at this path once, for a view that needs several responses together. Rejects with the failure. Sends no request while
 * the data are fresh, or before the time to retry.
 */
export const load = async (path) => {
  const resource = resourceAt(path);
  if (resource.due <= Date.now()) {
    if (resource.isLoading) await new Promise((resolve) => {
      const listener = () => {
        resource.listeners.delete(listener);
        resolve();
      };
      resource.listeners.add(listener);
    });
    else await refresh(resource);
  }
  if (resource.state.data === undefined) throw resource.state.failure ?? { status: 0 };
  return resource.state.data;
};
