// Bold, code, citations and highlights within a line, from source positions to DOM.

import { el } from "./dom.js";
import { bound, clean } from "./text.js";

const MARKUP = new RegExp(
  [
    /(?<escape>\\[\\`*_{}[\]()#+.!|-])/,
    /(?<code>`[^`\n]+`)/,
    /(?<strong>\*\*(?=\S)[^\n]*?\S\*\*|__(?=\S)[^\n]*?\S__)/,
    /(?<em>(?<![\w*])\*(?=[^\s*])[^*\n]*?[^\s*]\*(?!\*)|(?<![\w_])_(?=[^\s_])[^_\n]*?[^\s_]_(?!\w))/,
    /(?<cite>(?:[ \t]*\[[^[\]\n]{1,200}\])+)(?<stop>[.,;:!?]?)/,
    /(?<id>(?<![\w-])[a-z][a-z0-9]*(?:-[a-z0-9]+)+(?![\w-]))/,
  ]
    .map((part) => part.source)
    .join("|"),
  "g",
);

/**
 * Nodes of `source` from `start` to `end`. `options.citation(id, said)` gives the chip of an id, or null, for what is said before it, `options.link(id)` the link of an id
 * that stands in the text or null, `options.highlight` is a [start, end] of the source that is marked.
 */
export function inline(source, start, end, options = {}) {
  const nodes = [];
  let from = start;
  for (const match of source.slice(start, end).matchAll(MARKUP)) {
    const at = start + match.index;
    const made = marked(source, at, match, options);
    if (!made) continue;
    nodes.push(...text(source, from, at, options), ...made);
    from = at + match[0].length;
  }
  nodes.push(...text(source, from, end, options));
  return nodes;
}

function marked(source, at, match, options) {
  const { escape, code, strong, em, cite, stop, id } = match.groups;
  const end = at + match[0].length;
  if (escape) return text(source, at + 1, end, options);
  if (code) return [el("code", {}, ...text(source, at + 1, end - 1, options))];
  if (strong) return [el("strong", {}, ...inline(source, at + 2, end - 2, options))];
  if (em) return [el("em", {}, ...inline(source, at + 1, end - 1, options))];
  if (cite) return cited(cite, stop, options, saidBefore(source, at));
  const link = id && options.link?.(id);
  return link ? [link] : null;
}

/** The chips of the ids in brackets, behind the stop that follows them, as a note's number stands; null where none is a citation. */
function cited(brackets, stop, options, said) {
  const made = [...brackets.matchAll(/\[([^\]]+)\]/g)].map(([whole, id]) => options.citation?.(id, said) ?? ` ${whole}`);
  return made.some((chip) => chip instanceof Node) ? [stop, ...made] : null;
}

/** What a citation stands for: the text of its line since the citation before it. */
function saidBefore(source, at) {
  const line = source.slice(source.lastIndexOf("\n", at - 1) + 1, at);
  return line.slice(line.lastIndexOf("]") + 1);
}

/** Text nodes; what lies inside the highlight is in a mark. */
function text(source, start, end, { highlight }) {
  if (start >= end) return [];
  const [from, to] = highlight ?? [end, end];
  const cuts = [start, Math.min(Math.max(from, start), end), Math.min(Math.max(to, start), end), end];
  return [0, 1, 2]
    .filter((i) => cuts[i] < cuts[i + 1])
    .map((i) => {
      const piece = bound(source.slice(cuts[i], cuts[i + 1]).replace(/\n/g, " "));
      return i === 1 ? el("mark", {}, piece) : document.createTextNode(clean(piece));
    });
}
