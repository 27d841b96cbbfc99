// The number of items of a product that are traded a day. The provider has only the number of the last seven days: the moving week.

const DAY = 86_400_000;

/** Returns both moving weeks at the end of a day that has ended. */
const weeksOf = ({ sell_moving_week: sold, buy_moving_week: bought, complete }) => (complete ? { sold, bought } : undefined);

/**
 * Returns the days of these daily candles as `{ start, sold, bought, traded }`: the items of instant sales, of instant purchases, and of both.
 * A number is `null` if the week before the day is unknown.
 *
 * On a day, a moving week grows by the trade of that day, and shrinks by the trade of the same day a week before. That trade depends on the
 * week before it in turn, and so on, back to the begin of the record, before which the trade of single days is unknown. So the day a week
 * before is always estimated, by the formula of the reference for the first week: half of the change of its moving week, and a seventh of the
 * mean. A day then has the same bar in every range.
 */
export const daysOf = (candles) => {
  const weeks = new Map(candles.map((candle) => [Date.parse(candle.opened_at), weeksOf(candle)]));
  const of = (start, side) => {
    const [end, begin, endBefore, beginBefore] = [0, 1, 7, 8].map((days) => weeks.get(start - days * DAY)?.[side] ?? NaN);
    const left = (endBefore - beginBefore) / 2 + (endBefore + beginBefore) / 14;
    const traded = Math.max(end - begin + left, 0);
    return Number.isFinite(traded) ? Math.round(traded) : null;
  };
  return [...weeks.keys()].map((start) => {
    const [sold, bought] = ["sold", "bought"].map((side) => of(start, side));
    return { start, sold, bought, traded: sold === null || bought === null ? null : sold + bought };
  });
};
