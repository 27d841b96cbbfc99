// Labels of axes, and the times of rows, as text.
import { date, dateTime } from "../../../values/format.js";

const DAY = 86_400_000;

/** The least value for which each unit is used, the unit, and its letter. */
const UNITS = [[1e9, 1e9, "B"], [1e6, 1e6, "M"], [1e4, 1e3, "K"], [0, 1, ""]];

/** Returns the labels of an axis, with as many digits as `distance`, the distance between two labels, needs. */
export const labels = (splits, distance) => {
  const largest = Math.max(...splits.map(Math.abs));
  const [, unit, letter] = UNITS.find(([least]) => largest >= least);
  const step = distance / unit;
  // A step is 1, 2, 2.5 or 5 times a power of ten. A step of 2.5 needs one more digit.
  const least = Math.max(Math.ceil(-Math.log10(step) - 1e-9), 0);
  const digits = least + (Math.abs(step * 10 ** least - Math.round(step * 10 ** least)) > 1e-6 ? 1 : 0);
  const format = new Intl.NumberFormat("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
  return splits.map((value) => (value ? format.format(value / unit) + letter : "0"));
};

const times = (options) => new Intl.DateTimeFormat("en-GB", options);
const MONTH_LABEL = times({ month: "short", year: "numeric" });
const DAY_LABEL = times({ day: "numeric", month: "short" });
const TIME_LABEL = times({ hour: "2-digit", minute: "2-digit", hourCycle: "h23" });

/** Returns the labels of an axis of times. */
export const timeLabels = (splits, distance) =>
  splits.map((time) => {
    if (distance >= 28 * DAY) return MONTH_LABEL.format(time);
    const isMidnight = new Date(time).getHours() === 0 && new Date(time).getMinutes() === 0;
    return (distance >= DAY || isMidnight ? DAY_LABEL : TIME_LABEL).format(time);
  });

/** Returns the time of a row as text: a moment, an interval, or a day in UTC. */
export const periodOf = ({ start, step, source }) => {
  if (source.recorded_at) return dateTime(start);
  if (step >= DAY) return `${date(start + step / 2)} (UTC)`;
  return `${dateTime(start)}–${TIME_LABEL.format(start + step)}`;
};
