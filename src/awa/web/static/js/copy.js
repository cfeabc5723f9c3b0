// Buttons that copy: <button class="copy" data-copy="text">.

import { onAny, say } from "./dom.js";

const SHOWN_MS = 1500;

const copyText = async (text) => {
  if (navigator.clipboard && window.isSecureContext) return navigator.clipboard.writeText(text);
  // Plain http to another machine has no clipboard; this old way works there.
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "visually-hidden";
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  if (!done) throw new Error("the browser does not allow copying");
};

export const startCopying = () => {
  onAny("click", "[data-copy]", async (event, button) => {
    event.preventDefault();
    try {
      await copyText(button.dataset.copy);
      button.dataset.copied = "";
      say("Copied");
      setTimeout(() => delete button.dataset.copied, SHOWN_MS);
    } catch {
      say("Copying is not allowed here");
    }
    button.focus();
  });
};
