// Counts as one types, and never leaves a check standing beside words that it was not made for.

import { $, on, onAny } from "./dom.js";

const PAUSE_MS = 250;

const form = $("#wish");
const search = $("#q");
const which = $("#which");
const check = $("#check");

let timer;
let asking;

const addressOf = () => {
  const asked = new URL(form.dataset.which, location.href);
  for (const [name, value] of new FormData(form)) if (value) asked.searchParams.set(name, value);
  asked.searchParams.set("part", "which");
  return asked;
};

const count = async () => {
  asking?.abort();
  asking = new AbortController();
  which.setAttribute("aria-busy", "true");
  try {
    const answer = await fetch(addressOf(), {
      headers: { Accept: "text/html" },
      credentials: "same-origin",
      signal: asking.signal,
    });
    if (answer.redirected) return location.reload();
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    const part = $('[data-part="which"]', fresh);
    if (part) which.replaceChildren(part);
    const wrong = $('[role="alert"]', which) !== null;
    if (wrong) search.setAttribute("aria-invalid", "true");
    else search.removeAttribute("aria-invalid");
    which.removeAttribute("aria-busy");
  } catch (problem) {
    if (problem.name === "AbortError") return;
    which.removeAttribute("aria-busy");
    const said = document.createElement("p");
    said.className = "problem";
    said.textContent = "The server does not answer; the count may be old. Press Count to try again.";
    which.append(said);
  }
};

const soon = () => {
  clearTimeout(timer);
  timer = setTimeout(count, PAUSE_MS);
};

// What was checked is no longer what stands above: the last form goes away, so that it can't be sent.
const lapse = () => {
  if (!check || check.dataset.stale !== undefined || !$("#go", check)) return;
  check.dataset.stale = "";
  $("#go", check).remove();
  const said = document.createElement("p");
  said.className = "op-stale";
  said.setAttribute("role", "status");
  said.textContent = "Something above was changed. Press Check to count anew.";
  $(".card-body", check).prepend(said);
};

on(search, "input", () => {
  lapse();
  soon();
});
on(form, "change", (event) => {
  if (event.target === search) return;
  lapse();
  soon();
});
on(form, "input", (event) => {
  if (event.target !== search) lapse();
});

// Enter in the search box counts; the check has a button of its own.
on(search, "keydown", (event) => {
  if (event.key !== "Enter" || event.isComposing) return;
  event.preventDefault();
  clearTimeout(timer);
  count();
});
// Enter in any other field is the check: a browser would press the first button, and that one counts.
on(form, "keydown", (event) => {
  if (event.key !== "Enter" || event.isComposing || event.target === search) return;
  if (!event.target.matches("input, select")) return;
  event.preventDefault();
  form.requestSubmit($('button[name="check"]', form));
});
on($("[data-count-button]", form), "click", (event) => {
  event.preventDefault();
  clearTimeout(timer);
  count();
});

// A suggestion is put into the box; without this module the link asks for the page anew.
onAny("click", "[data-search]", (event, link) => {
  event.preventDefault();
  search.value = link.dataset.search;
  lapse();
  count();
  search.focus();
});

// What the server has shown is looked at: the check, or what is wrong above it.
if (new URLSearchParams(location.search).has("check") || $("#check .notice")) {
  const wrong = $('[aria-invalid="true"]');
  if (wrong) wrong.focus();
  else check?.scrollIntoView({ block: "start" });
}
