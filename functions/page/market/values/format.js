// Numbers and times as text. Numbers are in English, like the page; times are in the reader's time zone.
import { html } from "../../vendor/htm-preact.js";

const NONE = "–";
const LANGUAGE = "en";

// A browser takes 15 ms to create the first `Intl` format of a page, so formats are created on first use.
const numbers = (options) => {
  let format;
  return (value) => (Number.isFinite(value) ? (format ??= new Intl.NumberFormat(LANGUAGE, options)).format(value) : NONE);
};
const timeFormat = (options) => new Intl.DateTimeFormat("en-GB", { hourCycle: "h23", ...options });
const times = (options) => {
  let format;
  return (time) => {
    const date = new Date(time ?? NaN);
    return Number.isNaN(date.getTime()) ? NONE : (format ??= timeFormat(options)).format(date);
  };
};
const day = { year: "numeric", month: "short", day: "numeric" };
const minute = { hour: "2-digit", minute: "2-digit" };

/** Returns coins to 0.01, because 0.01 decides between orders: `1,039,674.50`. */
export const exact = numbers({ minimumFractionDigits: 2, maximumFractionDigits: 2 });

/** Returns coins or amounts in short form: `1.04M`. */
export const compact = numbers({ notation: "compact", maximumSignificantDigits: 3 });

/** Returns an amount: `31,317`. */
export const integer = numbers({ maximumFractionDigits: 0 });

/** Returns coins: to 0.01 like the history, `359.70`, and from 1,000 on whole coins, `1,039,675`. */
export const coins = (value) => (Math.abs(value) < 1_000 ? exact(value) : integer(value));

/**
 * Returns a format for tables and tiles that shortens numbers from ten million on to `12.3M`, with all digits on hover and for screen
 * readers.
 */
const short = (text) => (value) =>
  Math.abs(value) < 1e7 || !Number.isFinite(value) ? text(value) : html`<span title=${text(value)}><span aria-hidden="true">${compact(value)}</span>
    <span class="hidden">${text(value)}</span></span>`;

/** Returns coins for a table or a tile. */
export const price = short(coins);

/** Returns an amount for a table or a tile. */
export const count = short(integer);

/** Returns a percentage: `31.28%` for 31.28. */
export const percent = (value) => (Number.isFinite(value) ? `${exact(value)}%` : NONE);

const signed = numbers({ minimumFractionDigits: 1, maximumFractionDigits: 1, signDisplay: "exceptZero" });

/** Returns a change in per cent: `+3.2%`. */
export const change = (value) => (Number.isFinite(value) ? `${signed(value)}%` : NONE);

/** Returns a number that players write, such as `1.5m` or `200,000`, or `NaN`. */
export const amount = (text) => {
  const [, digits, unit] = /^(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d*\.?\d+)\s*([kmb]?)$/.exec(text.trim().toLowerCase()) ?? [];
  return Number(digits?.replaceAll(",", "") ?? NaN) * { "": 1, k: 1e3, m: 1e6, b: 1e9 }[unit ?? ""];
};

/** Returns the local day and minute of a time in Unix milliseconds or RFC 3339: `22 Nov 2026, 16:17`. */
export const dateTime = times({ ...day, ...minute });

/** Returns the local day, minute and second: `22 Nov 2026, 16:17:05`. */
export const exactTime = times({ ...day, ...minute, second: "2-digit" });

const inUtc = times({ month: "short", day: "numeric", ...minute, timeZone: "UTC" });

/** Returns the day and minute in UTC: `22 Nov, 15:17 UTC`. */
export const utc = (time) => `${inUtc(time)} UTC`;

/** Returns the local day: `22 Nov 2026`. */
export const date = times(day);

/** Returns the time in UTC as addresses and files have it: `2026-11-22T15:17:00Z`. */
export const iso = (time) => new Date(time).toISOString().replace(/\.\d+Z/, "Z");

let days;

/** Returns two local days as a short range: `15–20 Nov 2026`. */
export const dateRange = (from, to) => {
  const [first, last] = [new Date(from ?? NaN), new Date(to ?? NaN)];
  return first <= last ? (days ??= timeFormat(day)).formatRange(first, last) : `${date(from)} – ${date(to)}`;
};

/** Returns a duration in milliseconds in its two largest units: `2 d 3 h`, `4 min 5 s`, `5 min`, and `0 s` below a second. */
export const duration = (milliseconds) => {
  if (!Number.isFinite(milliseconds)) return NONE;
  const seconds = Math.floor(Math.max(milliseconds, 0) / 1_000);
  const units = [
    [Math.floor(seconds / 86_400), "d"],
    [Math.floor(seconds / 3_600) % 24, "h"],
    [Math.floor(seconds / 60) % 60, "min"],
    [seconds % 60, "s"],
  ];
  const first = units.findIndex(([count]) => count);
  if (first < 0) return "0 s";
  return units
    .slice(first, first + 2)
    .filter(([count]) => count)
    .map(([count, unit]) => `${integer(count)} ${unit}`)
    .join(" ");
};
