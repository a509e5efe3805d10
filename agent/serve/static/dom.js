// Builds elements: the only place that makes DOM, so that nothing a server sent is ever parsed as HTML.

import { clean } from "./text.js";

const ATTRIBUTES = new Set([
  "class", "id", "lang", "dir", "for", "type", "name", "value", "placeholder", "rows", "maxlength", "autocomplete", "tabindex", "role",
  "scope", "title", "hidden", "open", "rel", "target", "min", "max", "datetime", "required", "disabled",
]);

/** An element. `href` is kept only where it leads inside this page or to http(s); a function is a listener for its event. */
export function el(name, properties = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(key, value);
    else if (key === "href") setLink(element, value);
    else if (key.startsWith("aria-") || key.startsWith("data-") || ATTRIBUTES.has(key)) {
      element.setAttribute(key, value === true ? "" : clean(String(value)));
    } else throw new Error(`No attribute ${key} is set here.`);
  }
  element.append(...children.flat(3).filter((child) => child !== null && child !== undefined && child !== false).map(node));
  return element;
}

/** The http(s) address a text is, or null. */
export function webAddress(text) {
  try {
    const address = new URL(text);
    return address.protocol === "https:" || address.protocol === "http:" ? address.href : null;
  } catch {
    return null;
  }
}

/** The address, inside this page, under which an entry is shown. */
export function entryLink(id) {
  return `#/entries/${encodeURIComponent(id)}`;
}

export function byId(id) {
  return document.getElementById(id);
}

function node(child) {
  return child instanceof Node ? child : document.createTextNode(clean(String(child)));
}

function setLink(element, value) {
  const address = value.startsWith("#") ? value : webAddress(value);
  if (address) element.setAttribute("href", address);
}
