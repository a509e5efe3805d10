// Shows an entry beside the answer (on a narrow page above it), at the sentence a citation rests on.

import * as api from "./api.js";
import { byId, el, entryLink, webAddress } from "./dom.js";
import { markdown } from "./markdown.js";
import { passageIn } from "./passage.js";
import { language, t } from "./strings.js";
import { day } from "./text.js";

const wide = matchMedia("(min-width: 68rem)");
const panel = () => byId("entry");
let shown = null; // {id, citation, entry, problem}
let opener = null;
let loading = null;

/** Open the entry `id` as of a day; `citation` says which sentence of it is marked, `opener` is where the focus returns. */
export function openEntry(id, { citation = null, stichtag = null, opener: from = null } = {}) {
  if (from && !panel().contains(from)) opener = from;
  const link = entryLink(id);
  if (location.hash !== link) history.pushState(null, "", link);
  return load(id, citation, stichtag);
}

/** Follow the address: a link to an entry, or back from it. */
export function followAddress() {
  const id = location.hash.match(/^#\/entries\/(.+)$/)?.[1];
  if (id) return load(decoded(id), null, null);
  return panel().close();
}

function decoded(id) {
  try {
    return decodeURIComponent(id);
  } catch {
    return id;
  }
}

/** Prepare the panel: how it closes, and that it is modal only where it covers the page. */
export function prepareEntry() {
  panel().addEventListener("close", closed);
  byId("entry-close").addEventListener("click", () => panel().close());
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && panel().open && wide.matches) panel().close();
  });
  wide.addEventListener("change", () => {
    if (!panel().open) return;
    const kept = opener;
    opener = null;
    panel().removeEventListener("close", closed);
    panel().close();
    panel().addEventListener("close", closed);
    opener = kept;
    raise();
  });
  addEventListener("hashchange", followAddress);
}

/** Say everything again, in the language now chosen. */
export function relabelEntry() {
  if (shown) fill();
}

async function load(id, citation, stichtag) {
  loading?.abort();
  loading = new AbortController();
  const { signal } = loading;
  shown = { id, citation };
  fill();
  raise();
  try {
    shown = { id, citation, entry: await api.entry(id, stichtag, signal) };
  } catch (problem) {
    if (signal.aborted) return;
    shown = { id, citation, problem };
  }
  fill();
  focusPassage();
}

function raise() {
  if (panel().open) return;
  if (wide.matches) panel().show();
  else panel().showModal();
}

function closed() {
  loading?.abort();
  shown = null;
  if (location.hash) history.pushState(null, "", location.pathname + location.search);
  (opener?.isConnected ? opener : byId("question")).focus({ preventScroll: Boolean(opener) });
  opener = null;
}

function focusPassage() {
  const mark = panel().querySelector("mark");
  const target = mark ?? byId("entry-title");
  target.setAttribute("tabindex", "-1");
  target.focus({ preventScroll: true });
  if (mark) (mark.closest("tr") ?? mark).scrollIntoView({ block: "center" });
  else byId("entry-body").scrollTop = 0;
}

function fill() {
  const { id, citation, entry, problem } = shown;
  byId("entry-title").replaceChildren(entry?.title ?? citation?.title ?? id);
  byId("entry-id").replaceChildren(id);
  byId("entry-body").setAttribute("aria-busy", String(!entry && !problem));
  byId("entry-body").replaceChildren(...(entry ? body(entry, citation) : without(citation, problem)));
}

/** What can be shown without an entry: of a citation from another source all that it says itself. */
function without(citation, problem) {
  const alone = problem?.kind === "missing" && citation?.quote;
  return alone ? [cited(citation), el("p", {}, el("mark", {}, citation.quote))] : [el("p", { class: "quiet" }, waiting(problem))];
}

function cited({ source, stand, section, url }) {
  const address = url && webAddress(url);
  const link = address && el("a", { href: address, rel: "noopener noreferrer", target: "_blank" }, address);
  return factList([
    [t("entry_stand"), day(stand, language())],
    [t("entry_section"), section],
    [t("entry_source"), link || source],
  ]);
}

function waiting(problem) {
  if (!problem) return t("entry_loading");
  if (problem.kind === "missing") return t("entry_missing");
  return problem.kind === "network" ? t("problem_network") : problem.detail || t("problem");
}

function body(entry, citation) {
  const passage = citation?.span || citation?.quote ? passageIn(entry.sections, citation) : null;
  const lost = citation?.quote && !passage;
  return [
    facts(entry),
    lost && el("div", { class: "box" }, el("p", {}, t("entry_changed")), el("blockquote", {}, citation.quote)),
    ...entry.sections.map((section, i) => sectionPart(entry, section, i, passage?.index === i ? passage.range : null)),
    seeAlso(entry),
    entry.sources.length > 0 && el("details", { class: "trail" }, el("summary", {}, t("entry_sources")), el("ul", { lang: entriesLanguage() }, entry.sources.map((source) => el("li", {}, source)))),
  ].filter(Boolean);
}

function facts(entry) {
  return factList([
    [t("entry_stand"), day(entry.stand, language())],
    [t("entry_validity"), [period(entry), ["past", "future"].includes(entry.validity) && el("span", { class: `validity ${entry.validity}` }, ` · ${t(`validity_${entry.validity}`)}`)]],
    [t("entry_norms"), entry.norms.map((norm) => [" ", el("span", { class: "norm" }, norm)])],
    [t("entry_category"), [entry.topic, entry.category].filter(Boolean).join(" · ")],
  ]);
}

function factList(rows) {
  const told = rows.filter(([, value]) => value instanceof Node || value.length);
  return el("dl", { class: "facts" }, told.map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));
}

function period({ valid_from: from, valid_to: to }) {
  const start = from && day(from, language());
  const end = to && day(to, language());
  return t(start && end ? "valid_span" : start ? "valid_from" : end ? "valid_to" : "valid_always", { start, end });
}

function sectionPart(entry, { section, text }, i, highlight) {
  const others = new Map(entry.cross_refs.map(({ id, title }) => [id, title]));
  const link = (id) => (others.has(id) ? el("a", { href: entryLink(id), title: others.get(id) }, id) : null);
  const continued = i > 0 && entry.sections[i - 1].section === section;
  const label = section || t("table");
  return el("section", { lang: entriesLanguage() }, section && !continued ? el("h3", {}, section) : null, markdown(text, { highlight, link, level: 4, tableLabel: label }));
}

/** The language of the knowledge base, as far as it is known already. */
function entriesLanguage() {
  return document.documentElement.dataset.entries || null;
}

/** The entries referred to that the text itself does not name. */
function seeAlso({ cross_refs: others, sections }) {
  const rest = others.filter(({ id }) => !sections.some(({ text }) => text.includes(id)));
  if (!rest.length) return null;
  return el("section", {}, el("h3", {}, t("entry_see")), el("ul", { lang: entriesLanguage() }, rest.map(({ id, title }) => el("li", {}, el("a", { href: entryLink(id) }, title)))));
}
