// The time of the service: a chart ends at it, and countdowns run to it. The clock of a browser can be off by minutes or days.

/** Up to this difference, in milliseconds, the clocks agree: a response can be as old as its request may take. */
const TOLERANCE = 30_000;

let difference = 0;

/** Takes the time of the service from the header `Date` of a response that is new, in Unix milliseconds. */
export const setTime = (time) => {
  const measured = time - Date.now();
  if (Number.isFinite(measured)) difference = Math.abs(measured) > TOLERANCE ? measured : 0;
};

/** Returns the present time in Unix milliseconds. */
export const present = () => Date.now() + difference;
