// The game's calendar, in milliseconds: year 1 began on 11 June 2019, and a year has 124 hours. The booth of an election opens on the
// 27th day of the sixth month of its year, and closes on the 27th day of the third month of the next year.
const EPOCH = 1_560_275_700_000;
const YEAR = 446_400_000;
const OPENS_AFTER = 217_200_000;
const CLOSES_AFTER = YEAR + 105_600_000;

/** Returns when the booth of the election of this year opens, in Unix milliseconds. */
export const opensAt = (year) => EPOCH + (year - 1) * YEAR + OPENS_AFTER;

/** Returns when the election of this year closes and the term of its winner begins, in Unix milliseconds. */
export const closesAt = (year) => EPOCH + (year - 1) * YEAR + CLOSES_AFTER;

/** Returns the mayor's term that contains this time, as `{ from, to }` in Unix milliseconds. */
export const termAt = (time) => {
  const year = Math.floor((time - closesAt(0)) / YEAR);
  return { from: closesAt(year), to: closesAt(year + 1) };
};
