// Small work on texts: what must not reach the screen, dates and numbers as the reader writes them, positions.

const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Without control characters and without marks that turn the reading direction. */
export function clean(text) {
  return text.replace(UNSEEN, "");
}

/** A number stays on one line with its unit, a paragraph sign with its number. */
export function bound(text) {
  return text.replace(/(\d) (?=%|€|[A-Z]{3}\b)/g, "$1\u00a0").replace(/(§§?|\b(?:Abs|Art|Z|Rz|lit|Nr)\.?) (?=\d|[a-z]\b)/g, "$1\u00a0");
}

/** An ISO day as the language writes it: 30.11.2026, or 30 Nov 2026. */
export function day(iso, language) {
  const date = new Date(`${iso}T00:00:00Z`);
  if (Number.isNaN(date.getTime())) return iso;
  const month = language === "de" ? "numeric" : "short";
  return new Intl.DateTimeFormat(language === "de" ? "de-AT" : "en-GB", { day: "numeric", month, year: "numeric", timeZone: "UTC" }).format(date);
}

/** The reader's own day as YYYY-MM-DD. */
export function today(now = new Date()) {
  const two = (number) => String(number).padStart(2, "0");
  return `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}`;
}

/** Milliseconds as seconds with one decimal. */
export function seconds(milliseconds, language) {
  return new Intl.NumberFormat(language, { minimumFractionDigits: 1, maximumFractionDigits: 1 }).format(milliseconds / 1000);
}

/** A text as it is compared: its letters and digits alone, so that markup, table bars and line ends are one. */
export function letters(text) {
  return text.replace(/[^\p{L}\p{N}]+/gu, "").toLowerCase();
}
