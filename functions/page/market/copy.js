// Copies texts, such as the link to what a chart shows.
import { html, useState } from "./htm-preact.js";
import { address } from "./address.js";
import { iso } from "./format.js";

/** Copies the text, and returns whether the browser allows that. Without HTTPS there is no clipboard. */
export const copy = async (text) => {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
};

const select = (field) => {
  field?.focus();
  field?.select();
};

/** A button for a link to the view: to its range, which ends when the link is opened, or to the times that are shown now. */
export const CopyLink = ({ view, span }) => {
  const [isOpen, setOpen] = useState(false);
  const [result, setResult] = useState(null);
  const copyTo = async (ends) => {
    const link = new URL(address({ ...view, ...ends }), location.href).href;
    setResult({ link, isCopied: await copy(link) });
  };
  const times = () => ({ from: iso(span.from), to: iso(span.to) });
  const shown = isOpen && result;
  return html`<div role="group" aria-label="Link" class="more link">
    <button type="button" aria-expanded=${isOpen} onClick=${() => setOpen(!isOpen)}>Copy link</button>
    ${isOpen && html`<button type="button" onClick=${() => copyTo({})}>Latest ${view.range}</button>
      <button type="button" onClick=${() => copyTo(times())}>These times</button>`}
    ${shown && !shown.isCopied && html`<input key=${shown.link} ref=${select} aria-label="Link" readonly value=${shown.link} />`}
    <span class="muted" role="status">${shown && (shown.isCopied ? "Copied." : "Your browser does not allow it. Copy the selected text.")}</span>
  </div>`;
};
