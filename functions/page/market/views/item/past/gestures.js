// The gestures of the chart: the wheel with Ctrl or while the chart has the focus, two fingers, and keys. During a gesture, only the plots
// change; its end changes the address once.

/** The time without a turn after which the wheel has stopped, in milliseconds. */
const PAUSE = 250;

/** The largest change of the span's length by one turn of the wheel, as an exponent of e. */
const TURN = 0.3;

/**
 * Listens to the element that holds the plots. `now` has the shown `span`, the bounds `shortest` and `longest` of its length, `onZoom(from, to)`
 * and `onScale(factor)`. Returns a function that stops listening.
 */
export const listen = (element, plots, now) => {
  const end = new AbortController();
  const on = (name, act) => element.addEventListener(name, act, { signal: end.signal, passive: false });
  const [prices] = plots;
  const place = (event) => event.clientX - prices.over.getBoundingClientRect().left;
  const width = () => prices.over.clientWidth;
  const fingers = new Map();
  // The times under two fingers.
  let grip = null;
  let view = null;
  let timer = 0;

  // Shows a span of this length that has `time` at this share of the plot's width.
  const preview = (time, share, length) => {
    const bounded = Math.min(Math.max(length, now.shortest), now.longest);
    const from = time - share * bounded;
    view = { from, to: from + bounded };
    for (const plot of plots) plot.setScale("x", { min: view.from, max: view.to });
  };
  const settle = () => {
    clearTimeout(timer);
    if (!view) return;
    const { from, to } = view;
    view = null;
    now.onZoom(from, to);
  };

  on("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey && document.activeElement !== element) return;
    event.preventDefault();
    const { from, to } = view ?? now.span;
    const factor = Math.exp(Math.min(Math.max(event.deltaY / 100, -1), 1) * TURN);
    const share = place(event) / width();
    preview(from + share * (to - from), share, (to - from) * factor);
    clearTimeout(timer);
    timer = setTimeout(settle, PAUSE);
  });

  on("pointerdown", (event) => {
    if (event.pointerType !== "touch") return;
    fingers.set(event.pointerId, place(event));
    if (fingers.size === 2) grip = [...fingers.values()].map((left) => prices.posToVal(left, "x"));
  });
  on("pointermove", (event) => {
    if (event.pointerType !== "touch") return;
    if (fingers.has(event.pointerId)) fingers.set(event.pointerId, place(event));
    if (grip && fingers.size === 2) {
      const [first, second] = fingers.values();
      const scale = (grip[1] - grip[0]) / (second - first);
      if (scale > 0 && Number.isFinite(scale)) preview(grip[0], first / width(), scale * width());
    } else if (!grip) {
      // Fingers have no hover: a touch shows the values, and a vertical move still scrolls.
      const plot = plots.find(({ over }) => over.contains(event.target));
      plot?.setCursor({ left: place(event), top: event.clientY - plot.over.getBoundingClientRect().top }, true, true);
    }
  });
  const release = ({ pointerId }) => {
    fingers.delete(pointerId);
    if (!grip || fingers.size > 1) return;
    grip = null;
    settle();
  };
  on("pointerup", release);
  on("pointercancel", release);

  on("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const factor = { "+": 0.5, "=": 0.5, "-": 2 }[event.key];
    if (!step && !factor) return;
    event.preventDefault();
    if (factor) return now.onScale(factor);
    const times = prices.data[0];
    const isShown = (index) => now.rowAt[index] && times[index] >= now.span.from && times[index] <= now.span.to;
    let index = (prices.cursor.idx ?? (step < 0 ? times.length : -1)) + step;
    while (index in times && !isShown(index)) index += step;
    if (index in times) prices.setCursor({ left: prices.valToPos(times[index], "x"), top: 0 }, true, true);
  });

  return () => {
    clearTimeout(timer);
    end.abort();
  };
};
