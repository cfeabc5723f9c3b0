// Light, dark or as the system says: chosen at once, and kept in a cookie that the server reads for the next page.

import { $, $$, root, say } from "./dom.js";

const A_YEAR_S = 365 * 24 * 3600;

const choose = (theme) => {
  const html = document.documentElement;
  if (theme === "system") delete html.dataset.theme;
  else html.dataset.theme = theme;
  const secure = location.protocol === "https:" ? "; Secure" : "";
  document.cookie = `awa_theme=${theme}; Path=${root() || "/"}; Max-Age=${A_YEAR_S}; SameSite=Lax${secure}`;
  for (const button of $$("[data-theme-choice] button")) {
    button.setAttribute("aria-pressed", String(button.value === theme));
  }
  say(`Appearance: ${theme}`);
};

export const startTheme = () => {
  $("[data-theme-choice]")?.addEventListener("submit", (event) => {
    if (!event.submitter) return;
    event.preventDefault();
    choose(event.submitter.value);
  });
};
