// The Markdown that answers and entries use (paragraphs, headings, lists, tables, code, quotes), as DOM; links and images stay text.

import { el } from "./dom.js";
import { inline } from "./inline.js";

const FENCE = /^\s*(```|~~~)/;
const HEADING = /^ {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*$/;
const RULE = /^ {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*$/;
const ITEM = /^(\s*)(?:([-*+])|(\d{1,4})[.)])[ \t]+/;
const QUOTE = /^ {0,3}>[ \t]?/;
const DELIMITER = /^\s*\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)*\|?\s*$/;

/**
 * Elements of a text. Options: those of `inline`; `level` is the heading level of `#`; with `breaks` a line is a paragraph, as in an
 * answer whose every line is a statement; `tableLabel` names a table to a screen reader.
 */
export function markdown(source, options = {}) {
  return blocks(lines(source), source, { level: 3, ...options });
}

function lines(source) {
  const found = [];
  let at = 0;
  for (const text of source.split("\n")) {
    found.push({ text: text.replace(/\r$/, ""), at });
    at += text.length + 1;
  }
  return found;
}

function blocks(all, source, options) {
  const made = [];
  let i = 0;
  while (i < all.length) {
    const [block, next] = blockAt(all, i, source, options);
    if (block) made.push(block);
    i = next;
  }
  return made;
}

function blockAt(all, i, source, options) {
  const { text } = all[i];
  if (!text.trim()) return [null, i + 1];
  if (FENCE.test(text)) return code(all, i);
  if (RULE.test(text)) return [el("hr"), i + 1];
  if (HEADING.test(text)) return [heading(all[i], source, options), i + 1];
  if (isTable(all, i)) return table(all, i, source, options);
  if (ITEM.test(text)) return list(all, i, source, options);
  if (QUOTE.test(text)) return quote(all, i, source, options);
  return paragraph(all, i, source, options);
}

function isTable(all, i) {
  return all[i].text.includes("|") && i + 1 < all.length && all[i + 1].text.includes("|") && DELIMITER.test(all[i + 1].text);
}

function code(all, i) {
  const mark = all[i].text.match(FENCE)[1];
  let end = i + 1;
  while (end < all.length && !all[end].text.trimStart().startsWith(mark)) end += 1;
  const text = all.slice(i + 1, end).map((line) => line.text).join("\n");
  return [el("pre", { tabindex: "0" }, el("code", {}, text)), end + 1];
}

function heading(line, source, options) {
  const [, marks, text] = line.text.match(HEADING);
  const start = line.at + line.text.indexOf(text, marks.length);
  const level = Math.min(6, options.level + marks.length - 1);
  return el(`h${level}`, {}, inline(source, start, start + text.length, options));
}

function paragraph(all, i, source, options) {
  let end = i + 1;
  const starts = (j) => [FENCE, RULE, HEADING, ITEM, QUOTE].some((form) => form.test(all[j].text)) || isTable(all, j);
  if (!options.breaks) while (end < all.length && all[end].text.trim() && !starts(end)) end += 1;
  const last = all[end - 1];
  return [el("p", {}, inline(source, ...trimmed(source, all[i].at, last.at + last.text.length), options)), end];
}

function quote(all, i, source, options) {
  let end = i;
  while (end < all.length && QUOTE.test(all[end].text)) end += 1;
  const inner = all.slice(i, end).map(({ text, at }) => {
    const skipped = text.match(QUOTE)[0].length;
    return { text: text.slice(skipped), at: at + skipped };
  });
  return [el("blockquote", {}, blocks(inner, source, { ...options, breaks: true })), end];
}

/** A list with what is indented below its items: further lines, and lists of their own. */
function list(all, i, source, options) {
  const [, indent, , number] = all[i].text.match(ITEM);
  const made = el(number ? "ol" : "ul");
  if (number) made.start = Number(number);
  let item = null;
  while (i < all.length) {
    const match = all[i].text.match(ITEM);
    const depth = all[i].text.search(/\S/);
    if (match && match[1].length <= indent.length) {
      if (match[1].length < indent.length || Boolean(match[3]) !== Boolean(number)) break;
      item = el("li", {}, inline(source, all[i].at + match[0].length, all[i].at + all[i].text.length, options));
      made.append(item);
      i += 1;
    } else if (match) {
      const [inner, next] = list(all, i, source, options);
      item.append(inner);
      i = next;
    } else if (depth > indent.length) {
      item.append(" ", ...inline(source, all[i].at + depth, all[i].at + all[i].text.length, options));
      i += 1;
    } else break;
  }
  return [made, i];
}

function table(all, i, source, options) {
  const head = cells(all[i]);
  const names = head.map(({ start, end }) => source.slice(start, end));
  const rows = [];
  let end = i + 2;
  for (; end < all.length && all[end].text.includes("|") && all[end].text.trim(); end += 1) rows.push(cells(all[end]));
  // Stated roles keep the table a table where narrow columns make its cells blocks.
  const header = el("tr", { role: "row" }, head.map((cell) => el("th", { scope: "col", role: "columnheader" }, inline(source, cell.start, cell.end, options))));
  const body = rows.map((row) => {
    const filled = names.map((name, column) => {
      const cell = row[column];
      const content = cell ? inline(source, cell.start, cell.end, options) : [];
      const shown = column === 0 ? { scope: "row", role: "rowheader" } : { role: "cell", "data-name": name };
      return el(column === 0 ? "th" : "td", content.length ? shown : { ...shown, class: "empty" }, content);
    });
    const made = el("tr", { role: "row" }, filled);
    if (made.querySelector("mark")) made.classList.add("marked");
    return made;
  });
  const label = options.tableLabel ?? names.join(", ");
  const inner = el("table", { role: "table", "aria-label": label }, el("thead", { role: "rowgroup" }, header), el("tbody", { role: "rowgroup" }, body));
  return [el("div", { class: "table" }, inner), end];
}

function cells({ text, at }) {
  const [first, last] = trimmed(text, 0, text.length);
  const start = text[first] === "|" ? first + 1 : first;
  const end = text[last - 1] === "|" && text[last - 2] !== "\\" ? last - 1 : last;
  const found = [];
  let from = start;
  for (let j = start; j <= end; j += 1) {
    if (j < end && (text[j] !== "|" || text[j - 1] === "\\")) continue;
    const [a, b] = trimmed(text, from, j);
    found.push({ start: at + a, end: at + b });
    from = j + 1;
  }
  return found;
}

function trimmed(text, start, end) {
  while (start < end && /\s/.test(text[start])) start += 1;
  while (end > start && /\s/.test(text[end - 1])) end -= 1;
  return [start, end];
}
