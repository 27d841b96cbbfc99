import { html } from "../../../vendor/htm-preact.js";
import { Skeleton } from "../../parts/skeleton.js";

/** A value, or a placeholder until it arrives. */
export const Value = ({ isHere, children }) => (isHere ? children : html`<${Skeleton} length=${9} />`);

/** A figure of a resource with its label, and a note below it. `line` is the line of the chart that shows the figure, if any. */
export const Tile = ({ resource: { data, failure }, label, note, line = "", children }) => html`<div class=${`tile ${line}`}>
  <dt>${label}</dt><dd><${Value} isHere=${data || failure}>${children}<//><small>${note}</small></dd></div>`;
