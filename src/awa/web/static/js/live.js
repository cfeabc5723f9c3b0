// Parts of a page that stay fresh.
//
//   <div data-live="URL of the parts" data-live-events="URL of the events" data-live-every="3">
//     <section data-part="progress">…</section>
//   </div>
//
// Each event is the sign to fetch the parts again, at most once a second; what changed is put in place.
// Without events (a proxy that holds them back, too many streams) it asks every few seconds. A part is left alone
// while somebody is in it: a field with the focus, an open menu, a row that is ticked. A part that holds
// [data-live-done] ends it.

import { $, $$ } from "./dom.js";

const GAP_MS = 1000;
const RETRY_EVENTS_MS = 30_000;
const AWAY_AFTER_FAILURES = 3;

const listeners = new Set();
export const onSwap = (listener) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

const isHeld = (part) =>
  part.matches(":has(dialog[open], [data-menu][open], .pick input:checked)") ||
  (part.contains(document.activeElement) && document.activeElement.matches("input, select, textarea"));

// What is open stays open, what has the focus keeps it, what is scrolled stays where it is.
const replace = (part, fresh) => {
  const open = new Set($$("details[open][id]", part).map((element) => element.id));
  const closed = new Set($$("details:not([open])[id]", part).map((element) => element.id));
  const scrolled = $$(".table-wrap, .tabs", part).map((element) => element.scrollLeft);
  const focused = part.contains(document.activeElement) ? document.activeElement : null;
  const path = focused && pathOf(focused, part);
  part.replaceChildren(...fresh.childNodes);
  for (const element of $$("details[id]", part)) {
    if (open.has(element.id)) element.open = true;
    if (closed.has(element.id)) element.open = false;
  }
  $$(".table-wrap, .tabs", part).forEach((element, index) => {
    element.scrollLeft = scrolled[index] ?? 0;
  });
  if (path) atPath(path, part)?.focus({ preventScroll: true });
};

const pathOf = (element, top) => {
  const path = [];
  for (let at = element; at !== top; at = at.parentElement) {
    path.unshift([...at.parentElement.children].indexOf(at));
  }
  return path;
};

const atPath = (path, top) => path.reduce((at, index) => at?.children[index], top);

class Live {
  constructor(place) {
    this.place = place;
    this.url = place.dataset.live;
    this.events = place.dataset.liveEvents;
    this.everyMs = 1000 * Number(place.dataset.liveEvery || 3);
    this.failures = 0;
    this.lastAt = 0;
    document.addEventListener("visibilitychange", () => (document.hidden ? this.rest() : this.begin()));
    this.begin();
  }

  begin() {
    // What is over already stays as it was shown: a swap could take a link away from under a click.
    if ($("[data-live-done]", this.place)) {
      this.done = true;
      this.show("done");
    }
    if (this.done || document.hidden) return;
    this.rest();
    if (this.lastAt) this.soon();
    if (this.events && window.EventSource) this.listen();
    else this.poll();
  }

  rest() {
    this.source?.close();
    clearTimeout(this.timer);
    clearTimeout(this.pollTimer);
    clearTimeout(this.listenTimer);
    this.timer = this.pollTimer = undefined;
  }

  listen() {
    const source = (this.source = new EventSource(this.events));
    const sign = () => {
      clearTimeout(this.pollTimer);
      this.show("live");
      this.soon();
    };
    source.onopen = () => {
      clearTimeout(this.pollTimer);
      this.show("live");
    };
    for (const type of ["message", "overview", "progress", "transition", "done", "gone"]) {
      source.addEventListener(type, sign);
    }
    source.onerror = () => {
      source.close();
      this.poll();
      this.listenTimer = setTimeout(() => this.begin(), RETRY_EVENTS_MS);
    };
  }

  poll() {
    this.show("polling");
    clearTimeout(this.pollTimer);
    this.pollTimer = setTimeout(async () => {
      await this.refresh();
      if (!this.done) this.poll();
    }, this.everyMs);
  }

  soon() {
    if (this.timer || this.done) return;
    const wait = Math.max(0, this.lastAt + GAP_MS - Date.now());
    this.timer = setTimeout(async () => {
      await this.refresh();
      this.timer = undefined;
    }, wait);
  }

  async refresh() {
    if (this.busy || document.hidden) return;
    this.busy = true;
    this.lastAt = Date.now();
    try {
      const answer = await fetch(this.url, { headers: { Accept: "text/html" }, credentials: "same-origin" });
      const text = await answer.text();
      const fresh = new DOMParser().parseFromString(text, "text/html");
      // Logged out meanwhile, or no answer with parts: the page itself says why.
      if (answer.redirected && !$("[data-part]", fresh)) location.reload();
      if (!answer.ok) throw new Error(`status ${answer.status}`);
      this.failures = 0;
      this.swap(fresh);
    } catch {
      this.failures += 1;
      if (this.failures >= AWAY_AFTER_FAILURES) this.show("away");
    } finally {
      this.busy = false;
    }
  }

  swap(fresh) {
    for (const part of $$("[data-part]", this.place)) {
      const other = $(`[data-part="${CSS.escape(part.dataset.part)}"]`, fresh);
      if (!other || isHeld(part) || same(part, other)) continue;
      part.className = other.className;
      replace(part, other);
      for (const listener of listeners) listener(part);
    }
    if ($("[data-live-done]", this.place)) {
      this.done = true;
      this.rest();
      this.show("done");
    }
  }

  show(state) {
    this.place.dataset.liveState = state;
    const words = {
      live: "Live",
      polling: `Refreshed every ${this.everyMs / 1000} s`,
      away: "The server does not answer; still trying",
      done: "Finished",
    };
    const note = $("[data-live-words]", this.place);
    if (note && note.textContent !== words[state]) note.textContent = words[state];
  }
}

// Relative times tick by themselves; they are no difference.
const same = (part, other) => stripped(part) === stripped(other);
const stripped = (element) => {
  const copy = element.cloneNode(true);
  for (const time of $$("time[data-relative]", copy)) time.textContent = "";
  for (const fold of $$("details", copy)) fold.removeAttribute("open");
  return copy.innerHTML;
};

export const startLive = () => {
  for (const place of $$("[data-live]")) new Live(place);
};
