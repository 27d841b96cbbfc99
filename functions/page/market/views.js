// The views. All but the overview and the watched items are loaded when they are first shown: the view of an item and its chart library are
// more than half of the page's code.
import { lazy } from "./parts/lazy.js";
import { Overview } from "./views/overview.js";
// Two of the files that are loaded later share this module, so it is in neither.
import {} from "./parts/save.js";
import { Watch } from "./views/watch.js";

const LIBRARY = new URL("../vendor/uPlot.iife.min.js", import.meta.url).href;

/** The policy for the only script that this page adds. The header `Content-Security-Policy` names it. */
const policy = globalThis.trustedTypes?.createPolicy("library", { createScriptURL: () => LIBRARY });

const loadLibrary = () =>
  new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = policy ? policy.createScriptURL("") : LIBRARY;
    script.onload = resolve;
    script.onerror = reject;
    document.head.append(script);
  });

const item = lazy(() => Promise.all([import("./views/item/item.js"), loadLibrary()]).then(([{ Item }]) => Item), "chart", (parameters) => parameters.item);
const mayor = lazy(() => import("./views/mayor/mayor.js").then(({ Mayor }) => Mayor), "view", () => "Mayor and election");
const table = (name, title) => lazy(() => import("./tables.js").then(({ TABLES }) => TABLES[name]), "view", () => title).Lazy;
const sales = lazy(() => import("./views/sales.js").then(({ Sales }) => Sales), "view", () => "Fire sales");
const status = lazy(() => import("./views/status.js").then(({ Status }) => Status), "view", () => "Status");

/** Loads the view of an item before it is shown. */
export const loadItem = item.load;

/** The views by the parameter `view`. If there are public files, views with `hasFiles` are also shown without a key. */
export const VIEWS = {
  overview: { View: Overview, hasFiles: true },
  items: { View: table("items", "Items"), label: "Items", hasFiles: true },
  flips: { View: table("flips", "Flips"), label: "Flips", hasFiles: true },
  auctions: { View: table("auctions", "Auctions"), label: "Auctions", hasFiles: true },
  watch: { View: Watch, label: "Watched", hasFiles: true },
  mayor: { View: mayor.Lazy, label: "Mayor" },
  sales: { View: sales.Lazy, label: "Fire sales" },
  status: { View: status.Lazy, label: "Status", isPublic: true },
  item: { View: item.Lazy },
  key: { View: Overview },
};
