// The words of the page in the reader's language, and the switch between the two.

// Both modules are made by the server, of the catalogue its own messages are in.
import de from "./strings.de.js";
import en from "./strings.en.js";

const TABLES = { de, en };

/** The language in use; index.html was given it before anything was painted. */
export function language() {
  return document.documentElement.lang === "de" ? "de" : "en";
}

/** The words of `key`, with {name} filled in from `values`. */
export function t(key, values = {}) {
  const text = TABLES[language()][key];
  if (text === undefined) throw new Error(`No words for ${key}.`);
  return text.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));
}

/** Whether there are words of that name. */
export function has(key) {
  return key in TABLES[language()];
}

/** The words for one of it, or for several. */
export function counted(key, count) {
  return t(count === 1 ? `${key}_one` : key, { count });
}

/** Why something was refused, in a few words. */
export function reason(code) {
  return t(/^agent\d?_/.test(code) ? "reason_agent" : `reason_${code}`);
}

/** Fill every element that names its words in data-t, data-t-label or data-t-title. */
export function label(root = document) {
  const fill = (name, put) => root.querySelectorAll(`[${name}]`).forEach((element) => put(element, t(element.getAttribute(name))));
  fill("data-t", (element, text) => element.replaceChildren(text));
  fill("data-t-label", (element, text) => element.setAttribute("aria-label", text));
  fill("data-t-title", (element, text) => element.setAttribute("title", text));
}
