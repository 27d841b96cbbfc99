import { html } from "../../vendor/htm-preact.js";

/** A placeholder for a text of about this many characters. */
export const Skeleton = ({ length = 8 }) =>
  html`<span class="skeleton" aria-hidden="true" style=${{ width: `${length}ch` }}>${"\u00a0"}</span>`;

/** Placeholders for list items with texts of these lengths. */
export const SkeletonRows = ({ lengths, count = 8 }) =>
  Array.from({ length: count }, (_, index) => html`<li key=${index}>
    ${lengths.map((length) => html`<span key=${length}><${Skeleton} length=${length} /></span>`)}</li>`);
