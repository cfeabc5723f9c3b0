// What every page does.

import { startCopying } from "./copy.js";
import { $, $$, on, onAny } from "./dom.js";
import { onSwap, startLive } from "./live.js";
import { startTheme } from "./theme.js";
import { startTimes } from "./times.js";

// A menu closes when one leaves it, by Escape or by a click elsewhere.
const startMenus = () => {
  const close = (menu) => menu.removeAttribute("open");
  on(document, "click", (event) => {
    for (const menu of $$("[data-menu][open]")) if (!menu.contains(event.target)) close(menu);
  });
  on(document, "keydown", (event) => {
    if (event.key !== "Escape") return;
    for (const menu of $$("[data-menu][open]")) {
      close(menu);
      $("summary", menu)?.focus();
    }
  });
};

// "/" goes to the search box, as in every tool that has one.
const startSearchKey = () => {
  const box = $("[data-search]");
  if (!box) return;
  on(document, "keydown", (event) => {
    if (event.key !== "/" || event.metaKey || event.ctrlKey || event.altKey) return;
    if (event.target.matches("input, textarea, select, [contenteditable]")) return;
    event.preventDefault();
    box.focus();
    box.select();
  });
};

// A form that is under way is not sent twice.
const startForms = () => {
  on(document, "submit", (event) => {
    if (event.defaultPrevented || event.target.method !== "post") return;
    if (event.target.dataset.sent !== undefined) event.preventDefault();
    event.target.dataset.sent = "";
  });
  on(window, "pageshow", () => {
    for (const form of $$("form[data-sent]")) delete form.dataset.sent;
  });
};

// A choice that sends its form by itself; without scripts there is a button.
const startAutoSubmit = () => {
  onAny("change", "[data-submits]", (_event, field) => field.form.requestSubmit());
};

// On a narrow screen the navigation scrolls; the page that is open must be in sight.
const showCurrentPage = () => {
  const [nav, current] = [$(".nav"), $(".nav [aria-current]")];
  if (nav && current) nav.scrollLeft = current.offsetLeft - (nav.clientWidth - current.offsetWidth) / 2;
};

// Only a table that scrolls needs a place in the order of the Tab key.
const startTables = () => {
  const look = (wrap) => {
    if (wrap.scrollWidth > wrap.clientWidth + 1) wrap.tabIndex = 0;
    else wrap.removeAttribute("tabindex");
  };
  const sizes = new ResizeObserver((entries) => entries.forEach((entry) => look(entry.target)));
  const watch = (root) => $$(".table-wrap", root).forEach((wrap) => sizes.observe(wrap));
  watch(document);
  onSwap(watch);
};

showCurrentPage();
startTables();
startTheme();
startTimes();
startCopying();
startMenus();
startSearchKey();
startForms();
startAutoSubmit();
startLive();
