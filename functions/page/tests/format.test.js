// Numbers and times are readable.
import assert from "node:assert/strict";
import { test } from "node:test";

import * as format from "../market/values/format.js";

process.env.TZ = "Europe/Berlin";

/** Calls with their results. */
const CALLS = {
  coins: [[0, "0.00"], [0.1, "0.10"], [359.6563897763578, "359.66"], [1039674.5, "1,039,675"], [5e8, "500,000,000"], [-3.5, "-3.50"],
    [null, "–"], [undefined, "–"], [NaN, "–"]],
  amount: [["1.5m", 1_500_000], ["200,000", 200_000], ["1,5m", NaN], ["-3", NaN], ["1.5mil", NaN]],
  compact: [[999, "999"], [359.66, "360"], [1039674.5, "1.04M"], [1584797717, "1.58B"]],
  integer: [[31317, "31,317"]],
  percent: [[31.280630886, "31.28%"], [null, "–"]],
  dateTime: [["2026-11-22T15:17:00Z", "22 Nov 2026, 16:17"], [1795360620000, "22 Nov 2026, 16:17"]],
  exactTime: [["2026-11-22T15:17:00Z", "22 Nov 2026, 16:17:00"]],
  utc: [[1795737600000, "27 Nov, 00:00 UTC"]],
  date: [["2026-11-22T23:17:00Z", "23 Nov 2026"], [null, "–"], ["x", "–"]],
  duration: [[0, "0 s"], [-1, "0 s"], [59_999, "59 s"], [61_000, "1 min 1 s"], [3_605_000, "1 h"], [183_600_000, "2 d 3 h"], [NaN, "–"]],
};

test("numbers and times are readable", () => {
  for (const [name, calls] of Object.entries(CALLS)) {
    for (const [value, text] of calls) assert.equal(format[name](value), text, `${name}(${value})`);
  }
});
