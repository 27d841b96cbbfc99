// Fields above a table for numbers that are in the address. `fields` has for each name of a parameter its `label`, the value `free` of an
// empty field, and the `largest` number if there is one.
import { html } from "../../vendor/htm-preact.js";
import { show } from "./address.js";
import { amount } from "../values/format.js";

const isAllowed = (text, largest = Infinity) => amount(text) <= largest;

/** Returns the number of each field. A field without an allowed number has its value `free`. */
export const numbersOf = (fields, parameters) =>
  Object.fromEntries(Object.entries(fields).map(([name, { free, largest }]) => {
    const text = parameters[name] ?? "";
    return [name, isAllowed(text, largest) ? amount(text) : free];
  }));

/** The fields. */
export const Fields = ({ fields, parameters }) => Object.entries(fields).map(([name, { label, free, largest }]) => {
  const isWrong = Boolean(parameters[name]) && !isAllowed(parameters[name], largest);
  return html`<label key=${name}>${label}<input inputmode="decimal" autocomplete="off" placeholder=${Number.isFinite(free) ? free : "any"}
    value=${parameters[name] ?? ""} aria-invalid=${isWrong} title=${isWrong ? "A number, such as 250000, 1.5m or 2b" : undefined}
    onInput=${({ target }) => show({ ...parameters, [name]: target.value.trim(), page: "" }, { replace: true })} /></label>`;
});
