// Choosing jobs: some rows, the page, or all that match. What is chosen is always said in words.

import { $, $$, number, on, things } from "./dom.js";

const form = $("[data-selection]");

if (form) {
  const words = $("[data-selection-words]", form);
  const page = $("[data-select-page]", form);
  const all = $("[data-select-all]", form);
  const none = $("[data-select-none]", form);
  const change = $("[data-change]", form);
  const bar = $(".selection", form);
  const boxes = $$(".pick input[name=id]", form);
  const allWords = form.dataset.all;
  const isOnePage = form.dataset.onePage === "yes";
  let everything = false;
  let last = null;

  const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

  const label = () => {
    if (everything) return `Change ${allWords}…`;
    const chosen = boxes.filter((box) => box.checked).length;
    if (!chosen) return "Change these jobs…";
    return chosen === 1 ? "Change this job…" : `Change these ${number(chosen)} jobs…`;
  };

  const sentence = (chosen) => {
    if (everything) return `${capital(allWords)} are chosen, on every page.`;
    if (!chosen) return "Nothing is chosen.";
    if (chosen === boxes.length && boxes.length > 1) return `All ${number(chosen)} jobs on this page are chosen.`;
    return `${things(chosen, "job")} ${chosen === 1 ? "is" : "are"} chosen.`;
  };

  const show = () => {
    const chosen = boxes.filter((box) => box.checked).length;
    words.textContent = sentence(chosen);
    page.checked = chosen === boxes.length;
    page.indeterminate = chosen > 0 && chosen < boxes.length;
    all.hidden = everything || isOnePage;
    all.textContent = `Choose ${allWords}`;
    none.hidden = !chosen && !everything;
    bar.toggleAttribute("data-some", chosen > 0 || everything);
    if (change) {
      change.textContent = label();
      change.value = everything ? "all" : "rows";
      change.disabled = !chosen && !everything;
    }
  };

  const tick = (checked) => {
    for (const box of boxes) box.checked = checked;
  };

  words.setAttribute("role", "status");
  boxes.forEach((box, index) => {
    on(box, "click", (event) => {
      everything = false;
      // With Shift the whole stretch since the last click.
      if (event.shiftKey && last !== null) {
        const [from, to] = [last, index].sort((a, b) => a - b);
        for (const between of boxes.slice(from, to + 1)) between.checked = box.checked;
      }
      last = index;
      show();
    });
  });
  on(page, "change", () => {
    everything = false;
    tick(page.checked);
    show();
  });
  on(all, "click", () => {
    everything = true;
    tick(true);
    show();
    change?.focus();
  });
  on(none, "click", () => {
    everything = false;
    tick(false);
    show();
    page.focus();
  });
  on(window, "pageshow", show);
  show();
}
