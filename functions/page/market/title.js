import { useEffect } from "./htm-preact.js";

/** Sets the title of the page while the calling view is shown. `undefined` leaves it to a part of the view. */
export const useTitle = (title) =>
  useEffect(() => {
    if (title === undefined) return;
    document.title = title ? `${title} – Market` : "Market – Game Data Query Service";
  }, [title]);
