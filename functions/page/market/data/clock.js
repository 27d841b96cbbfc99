// The time of the service, at which charts end and countdowns run. A browser's clock can be wrong by minutes or days.

/** Clocks count as equal up to this difference, in milliseconds, because a response can be on its way that long. */
const TOLERANCE = 30_000;

let difference = 0;

/** Sets the time of the service to the header `Date` of a new response, in Unix milliseconds. */
export const setTime = (time) => {
  const measured = time - Date.now();
  if (Number.isFinite(measured)) difference = Math.abs(measured) > TOLERANCE ? measured : 0;
};

/** Returns the present time in Unix milliseconds. */
export const present = () => Date.now() + difference;
