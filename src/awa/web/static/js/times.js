// Relative times go on while the page is open. The exact instant stays in the title, as the server wrote it.

import { $$ } from "./dom.js";

const SPACE = "\u00a0";
const UNITS = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]];

// The same words as awa.web.words.age.
export const age = (seconds) => {
  const left = Math.round(Math.abs(seconds));
  if (left < 1) return "now";
  const at = UNITS.findIndex(([size]) => left >= size);
  const [size, unit] = UNITS[at];
  const whole = Math.floor(left / size);
  let text = `${whole.toLocaleString("en-US")}${SPACE}${unit}`;
  if (at < 2 && whole < 10) {
    const [below, small] = UNITS[at + 1];
    const rest = Math.floor((left - whole * size) / below);
    if (rest) text += ` ${rest}${SPACE}${small}`;
  }
  return text;
};

export const relative = (at, now = Date.now()) => {
  const seconds = (now - at.getTime()) / 1000;
  if (Math.abs(seconds) < 1) return "now";
  if (Math.abs(seconds) >= 60 * 86400) return at.toISOString().slice(0, 10);
  const text = age(seconds);
  if (text === "now") return text;
  return seconds > 0 ? `${text} ago` : `in ${text}`;
};

const tick = () => {
  for (const element of $$("time[data-relative]")) {
    const text = relative(new Date(element.dateTime));
    if (element.textContent !== text) element.textContent = text;
  }
};

export const startTimes = () => {
  setInterval(() => document.hidden || tick(), 1000);
};
