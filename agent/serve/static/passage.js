// Finds the sentence a citation rests on in its entry, also where the entry was edited since.

import { letters } from "./text.js";

const TELLING = 25; // letters and digits; what is shorter may stand anywhere

/**
 * Where the cited passage stands: what was said itself, where the entry says it in the same words (an entry may be cited for several
 * sentences, and carries one quote), else the citation's quote; nearest to where that stood when it was cited.
 */
export function passageIn(sections, { said = "", quote = "", span }) {
  const last = said.split(/[.!?]\s+/).at(-1);
  for (const words of [said, last, quote].filter((text) => text === quote || letters(text).length >= TELLING)) {
    const found = nearest(sections, words, span);
    if (found) return found;
  }
  const index = sections.findIndex((section) => span && section.span && section.span[0] <= span[0] && span[1] <= section.span[1]);
  if (quote || index < 0) return null;
  const { text, span: own } = sections[index];
  return { index, range: [unitsAt(text, span[0] - own[0]), unitsAt(text, span[1] - own[0])] };
}

function nearest(sections, words, span) {
  const all = sections.flatMap((section, index) =>
    places(section.text, words).map((range) => ({ index, range, far: span && section.span ? Math.abs(section.span[0] + range[0] - span[0]) : 0 })),
  );
  return all.sort((a, b) => a.far - b.far)[0] ?? null;
}

/** Where the letters and digits of `quote` stand in `text`, each place as [start, end]. */
function places(text, quote) {
  const wanted = letters(quote);
  if (!wanted) return [];
  const tail = quote.match(/[^\p{L}\p{N}]*$/u)[0];
  const at = [];
  let all = "";
  for (const match of text.matchAll(/[\p{L}\p{N}]/gu)) {
    const folded = match[0].toLowerCase();
    all += folded;
    for (let i = 0; i < folded.length; i += 1) at.push([match.index, match.index + match[0].length]);
  }
  const found = [];
  for (let i = all.indexOf(wanted); i >= 0; i = all.indexOf(wanted, i + 1)) {
    let end = at[i + wanted.length - 1][1];
    if (text.startsWith(tail, end)) end += tail.length;
    if (/[.!?]/.test(text.charAt(end))) end += 1;
    found.push([at[i][0], end]);
  }
  return found;
}

/** Where code point `index` of `text` stands in UTF-16 units: the server counts characters, JavaScript units. */
function unitsAt(text, index) {
  let units = 0;
  let points = 0;
  while (points < index && units < text.length) {
    units += text.codePointAt(units) > 0xffff ? 2 : 1;
    points += 1;
  }
  return units;
}
