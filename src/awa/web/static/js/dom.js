// Short words for the document, and one way to ask the API.

export const $ = (selector, root = document) => root.querySelector(selector);
export const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];

export const on = (target, type, listener, options) => {
  target?.addEventListener(type, listener, options);
};

// Listens for the whole document, so that parts which are swapped need no new listeners.
export const onAny = (type, selector, listener) => {
  document.addEventListener(type, (event) => {
    const found = event.target instanceof Element && event.target.closest(selector);
    if (found) listener(event, found);
  });
};

export const number = (value) => new Intl.NumberFormat("en-US").format(value);

export const things = (count, word) => `${number(count)} ${word}${count === 1 ? "" : "s"}`;

// A sentence for screen readers, without moving anything on the page.
export const say = (text) => {
  let place = $("#spoken");
  if (!place) {
    place = document.createElement("div");
    place.id = "spoken";
    place.className = "visually-hidden";
    place.setAttribute("role", "status");
    document.body.append(place);
  }
  place.textContent = text;
};

export const root = () => document.documentElement.dataset.root ?? "";

export class ApiError extends Error {
  constructor(status, { code, message, fields, hint, details } = {}) {
    super(message ?? `the server answered ${status}`);
    Object.assign(this, { status, code, fields: fields ?? [], hint, details });
  }
}

// path begins with "/api/"; answers the JSON, or throws ApiError.
export const api = async (path, { method = "GET", body, signal } = {}) => {
  const headers = { Accept: "application/json" };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (method !== "GET") headers["X-CSRF-Token"] = $('meta[name="csrf-token"]')?.content ?? "";
  const answer = await fetch(root() + path, {
    method,
    headers,
    signal,
    credentials: "same-origin",
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const told = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new ApiError(answer.status, told.error);
  return told;
};
