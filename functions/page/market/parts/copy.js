// Copies texts, such as the link to what a chart shows.
import { html, useState } from "../../vendor/htm-preact.js";
import { address } from "./address.js";
import { iso } from "../values/format.js";

/** Copies the text, and returns whether the browser allows that. Without HTTPS there is no clipboard. */
const copy = async (text) => {
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

const Copied = ({ text, isCopied }) => html`
  ${text && !isCopied && html`<input key=${text} class="copy" ref=${select} aria-label="Text to copy" readonly value=${text} />`}
  <span class="muted" role="status">${text && (isCopied ? "Copied." : "Your browser does not allow it. Copy the selected text.")}</span>`;

/** A button that copies the text of `textOf()`. If the browser does not allow it, the button shows the selected text. */
export const Copy = ({ label, textOf }) => {
  const [result, set] = useState(null);
  const act = async () => {
    const text = textOf();
    set({ text, isCopied: await copy(text) });
  };
  return html`<button type="button" onClick=${act}>${label}</button><${Copied} ...${result} />`;
};

/** A button that copies a link to the latest range of the view, and offers a link to the times that are shown now. */
export const CopyLink = ({ view, span }) => {
  const [isOpen, setOpen] = useState(false);
  const [result, setResult] = useState(null);
  const copyTo = async (ends) => {
    const link = new URL(address({ ...view, ...ends }), location.href).href;
    setResult({ text: link, isCopied: await copy(link) });
  };
  const toggle = () => {
    setOpen(!isOpen);
    if (!isOpen) copyTo({});
  };
  const times = () => ({ from: iso(span.from), to: iso(span.to) });
  return html`<div role="group" aria-label="Link" class="more link">
    <button type="button" aria-expanded=${isOpen} onClick=${toggle}>Copy link</button>
    ${isOpen && html`<button type="button" onClick=${() => copyTo({})}>Latest ${view.range}</button>
      <button type="button" onClick=${() => copyTo(times())}>These times</button>`}
    <${Copied} ...${isOpen && result} />
  </div>`;
};
