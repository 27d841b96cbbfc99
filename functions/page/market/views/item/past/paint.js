// The drawings of a chart that uPlot lacks: the terms of mayors, candles, sales, labels at the ends of lines, and the title of a pane.

/** The space for labels right of a plot, and the height of a label with two lines, in pixels. */
export const END_WIDTH = 56;
const END_HEIGHT = 28;

/** Calls `draw` with the plot's canvas, the box of the plot and the ratio of pixels, and restores the canvas's settings afterwards. */
const paint = (plot, draw, weight = 400) => {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.font = `${weight} ${12 * devicePixelRatio}px system-ui, sans-serif`;
  ctx.textBaseline = "top";
  ctx.textAlign = "left";
  draw(ctx, bbox, devicePixelRatio);
  ctx.restore();
};

/** Draws every second term as a band, and the names of all terms where they fit. */
export const drawTerms = (plot, terms, colours, hasNames) =>
  paint(plot, (ctx, bbox, ratio) => {
    ctx.textAlign = "center";
    for (const { name, from, to } of terms) {
      const left = Math.max(plot.valToPos(from, "x", true), bbox.left);
      const right = Math.min(plot.valToPos(to, "x", true), bbox.left + bbox.width);
      if (right <= left) continue;
      ctx.fillStyle = colours.term;
      // The number of a term is its start divided by its length. Terms with an odd number get a band.
      if (Math.floor(from / (to - from)) % 2) ctx.fillRect(left, bbox.top, right - left, bbox.height);
      ctx.fillStyle = colours.text;
      const isFitting = ctx.measureText(name).width + 8 * ratio <= right - left;
      if (hasNames && isFitting) ctx.fillText(name, (left + right) / 2, bbox.top + 4 * ratio);
    }
  });

// A candle ends at `time`, even if its interval has not ended. A point has no length, so its candle begins one step before it.
const beginOf = ({ start, time, step }) => (start < time ? start : time - step);

/** Returns the middle of the candle of a row in Unix milliseconds. */
export const middleOf = (row) => (beginOf(row) + row.time) / 2;

/** Draws a candle for each row: hollow if the price of the line rose, filled if it fell. */
export const drawCandles = (plot, rows, line, colours) =>
  paint(plot, (ctx, bbox, ratio) => {
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    ctx.lineWidth = ratio;
    for (const row of rows) {
      const close = row[line];
      if (!close) continue;
      const open = row[`${line}Open`] || close;
      const isRise = close >= open;
      const x = (time) => plot.valToPos(time, "x", true);
      const [high, top, bottom, low] = [row[`${line}High`] ?? close, Math.max(open, close), Math.min(open, close), row[`${line}Low`] ?? close]
        .map((value) => Math.round(plot.valToPos(value, "y", true)));
      const middle = Math.round(x(middleOf(row))) + ratio / 2;
      const width = Math.max(Math.round((x(row.time) - x(beginOf(row))) * 0.7), ratio);
      ctx.strokeStyle = isRise ? colours.first : colours.second;
      ctx.fillStyle = isRise ? colours.card : colours.second;
      ctx.beginPath();
      ctx.moveTo(middle, high);
      ctx.lineTo(middle, low);
      ctx.stroke();
      const body = [middle - width / 2, top, width, Math.max(bottom - top, ratio)];
      ctx.fillRect(...body);
      ctx.strokeRect(...body);
    }
  });

/** Draws a line where the prices begin, if that is inside the plot, and this text beside it. */
export const drawBegin = (plot, begin, text, colours) =>
  paint(plot, (ctx, { left, top, width, height }, ratio) => {
    const { min, max } = plot.scales.x;
    if (!(begin > min && begin < max)) return;
    const x = Math.round(plot.valToPos(begin, "x", true));
    ctx.strokeStyle = colours.text;
    ctx.setLineDash([2 * ratio, 3 * ratio]);
    ctx.beginPath();
    ctx.moveTo(x, top);
    ctx.lineTo(x, top + height);
    ctx.stroke();
    const isLeft = x - left > width / 2;
    ctx.textAlign = isLeft ? "right" : "left";
    ctx.fillStyle = colours.text;
    ctx.fillText(fitting(ctx, text, isLeft ? x - left : left + width - x), x + (isLeft ? -4 : 4) * ratio, top + height - 18 * ratio);
  });

/** Draws a dot for each sale inside the plot. */
export const drawSales = (plot, sales, colours) =>
  paint(plot, (ctx, bbox, ratio) => {
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    ctx.fillStyle = colours.sale;
    for (const { sold_at: time, price } of sales) {
      ctx.beginPath();
      ctx.arc(plot.valToPos(Date.parse(time), "x", true), plot.valToPos(price, "y", true), 2.5 * ratio, 0, 2 * Math.PI);
      ctx.fill();
    }
  });

/** Returns the places of labels near the `wanted` places: in the same order, at least this distance apart, and inside the plot. */
export const spread = (wanted, distance, least, most) => {
  const order = wanted.map((_, index) => index).sort((one, other) => wanted[one] - wanted[other]);
  const places = [];
  order.forEach((index, rank) => {
    places[index] = Math.max(wanted[index], rank ? places[order[rank - 1]] + distance : least);
  });
  order.reverse().forEach((index, rank) => {
    places[index] = Math.min(places[index], most - rank * distance);
  });
  return places;
};

const fitting = (ctx, text, room) => {
  let shown = text;
  while (shown.length > 1 && ctx.measureText(shown).width > room) shown = `${shown.slice(0, -2)}…`;
  return shown;
};

/** Draws the name and the last value of lines at their ends. An end has `index` of its series, `name`, `colour` and `format`. */
export const drawEnds = (plot, ends, colours) =>
  paint(plot, (ctx, { left, top, width, height }, ratio) => {
    const { min, max } = plot.scales.x;
    const times = plot.data[0];
    const found = ends.flatMap(({ index, ...end }) => {
      const value = plot.data[index].findLast((each, at) => Number.isFinite(each) && times[at] >= min && times[at] <= max);
      return value === undefined ? [] : [{ ...end, value }];
    });
    const [line, room] = [(END_HEIGHT / 2) * ratio, (END_WIDTH - 6) * ratio];
    const wanted = found.map(({ value }) => plot.valToPos(value, "y", true) - line);
    const places = spread(wanted, 2 * line, top, top + height - 2 * line);
    found.forEach(({ name, value, colour, format }, index) => {
      ctx.fillStyle = colours[colour];
      ctx.fillText(fitting(ctx, name, room), left + width + 4 * ratio, places[index]);
      ctx.fillText(fitting(ctx, format(value), room), left + width + 4 * ratio, places[index] + line);
    });
  });

/** Draws the title of a pane in its corner. */
export const drawTitle = (plot, title, colours) =>
  paint(plot, (ctx, { left, top, width }, ratio) => {
    ctx.fillStyle = colours.text;
    ctx.fillText(fitting(ctx, title, width - 8 * ratio), left + 4 * ratio, top);
  }, 600);
