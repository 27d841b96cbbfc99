import { useEffect } from "./htm-preact.js";

/** Sets the title of the page while the calling view is shown. */
export const useTitle = (title) =>
  useEffect(() => {
    document.title = title ? `${title} – Market` : "Market – Game Data Query Service";
  }, [title]);
