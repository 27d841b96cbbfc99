// What visitors take with them: a file, or a text in the clipboard.
import { html, useState } from "./htm-preact.js";

/** Saves the text as a file of this name. */
export const save = (name, text) => {
  const url = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
};

/** Returns rows of values as CSV. */
export const csvOf = (rows) => {
  const field = (value) => (/[",\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);
  return rows.map((row) => `${row.map((value) => field(String(value ?? ""))).join(",")}\r\n`).join("");
};

/** A button that copies the text of `textOf()`. Where the browser allows no copying, it shows the text, selected. */
export const Copy = ({ label, textOf }) => {
  const [state, set] = useState({});
  const copy = async () => {
    const text = textOf();
    try {
      await navigator.clipboard.writeText(text);
      set({ isCopied: true });
    } catch {
      set({ text });
    }
  };
  return html`<button type="button" onClick=${copy}>${label}</button>${" "}
    <span class="muted" role="status">${state.isCopied && "Copied."}</span>
    ${state.text && html`<input readonly class="copy" aria-label="Copy this text" value=${state.text} ref=${(field) => field?.select()} />`}`;
};
