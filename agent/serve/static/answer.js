// An answer or a refusal as it is read: text with citations, sources, what is open or disputed, and how it came about.

import { el, entryLink, webAddress } from "./dom.js";
import { openEntry } from "./entry.js";
import { markdown } from "./markdown.js";
import { counted, language, reason, t } from "./strings.js";
import { day, letters, seconds } from "./text.js";

const HELP = { no_evidence: "help_words", weak_evidence: "help_words", out_of_date: "help_date", out_of_scope: "help_scope" };

/** What stands under the question, in reading order. `onReply(text)` asks the question again with what was missing. */
export function answerParts(document_, { onReply }) {
  const parts = document_.refused ? refusal(document_) : answer(document_);
  return [...parts, notes(document_), questionBack(document_, onReply)];
}

/** What is announced once it is there. */
export function summary(document_) {
  if (document_.refused) return t("refusal_ready", { reason: reason(document_.reason) });
  return document_.citations.length ? counted("answer_ready", document_.citations.length) : t("answer_ready_none");
}

/** The first and last day an answer is for: the key date, or what the question itself named. */
function period({ plan, stichtag }) {
  const days = (plan?.subqueries ?? []).flatMap(({ date }) => date).sort();
  return [days[0] ?? stichtag, days.at(-1) ?? stichtag];
}

/** The time an answer is for, in words. */
export function timeOf(document_) {
  const { stichtag } = document_;
  const [start, end] = period(document_);
  const shown = (iso) => day(iso, language());
  if (start === stichtag && end === stichtag) return t("for_day", { day: shown(stichtag) });
  const year = start.slice(0, 4);
  if (start === `${year}-01-01` && end === `${year}-12-31`) return `${t("for_year", { year })} (${t("dated")})`;
  const span = start === end ? t("for_day", { day: shown(start) }) : t("for_span", { start: shown(start), end: shown(end) });
  return `${span} (${t("dated")})`;
}

function answer(document_) {
  const numbers = new Map(document_.citations.map((citation, i) => [citation.id, { citation, number: i + 1, document_ }]));
  const citation = (id, said) => (numbers.has(id) ? chip(numbers.get(id), said) : null);
  return [
    el("div", { class: "text", lang: document_.language }, markdown(document_.answer, { breaks: true, citation, tableLabel: t("table") })),
    conflicts(document_),
    document_.citations.length > 0 && sources(document_),
  ];
}

function chip({ citation, number, document_ }, said) {
  const stand = day(citation.stand, language());
  return el("a", { class: "cite", ...opening({ ...citation, said }, document_), "aria-label": t("cite", { number, title: citation.title, stand }), title: citation.title }, number);
}

/** What makes a link open its entry, as of the day of the answer. */
function opening(citation, document_) {
  const click = (event) => {
    event.preventDefault();
    openEntry(citation.id, { citation, stichtag: period(document_)[1], opener: event.currentTarget });
  };
  return { href: entryLink(citation.id), click };
}

function sources(document_) {
  const said = letters(document_.answer);
  // A row is said by its first two cells; the others are not for reading.
  const quoted = ({ quote }) => quote.split(" · ").slice(0, 2).every((part) => said.includes(letters(part)));
  const items = document_.citations.map((citation) => source(citation, document_, { quoted: quoted(citation) }));
  return el("section", { class: "sources" }, el("h3", {}, t("sources")), el("ol", { lang: document_.language }, items));
}

/** A source; its supporting sentence is shown where the answer does not already say it word for word (in print always). */
function source(citation, document_, { quoted }) {
  const address = citation.url && webAddress(citation.url);
  return el(
    "li",
    {},
    el("p", { class: "source" }, el("a", opening(citation, document_), citation.title), " ", el("span", { class: "id" }, citation.id)),
    el(
      "p",
      { class: "about" },
      el("span", { lang: language() }, t("stand", { stand: day(citation.stand, language()) })),
      el("span", { lang: language(), class: `validity ${citation.validity}` }, t(`validity_${citation.validity}`)),
      citation.section && el("span", {}, citation.section),
      citation.pages?.length && el("span", { lang: language() }, t("pages", { pages: citation.pages.join(", ") })),
      address && el("a", { href: address, rel: "noopener noreferrer", target: "_blank" }, address),
    ),
    citation.quote && el("blockquote", quoted ? { class: "said" } : {}, citation.quote),
  );
}

function conflicts({ conflicts: found, language: lang }) {
  if (!found.length) return null;
  const items = found.map(({ subject, answered, other }) =>
    el(
      "div",
      { lang },
      el("p", { class: "subject" }, subject),
      el("dl", {}, el("dt", { lang: language() }, t("conflict_answered")), el("dd", {}, answered), el("dt", { lang: language() }, t("conflict_other")), el("dd", {}, other)),
    ),
  );
  return el("section", { class: "box conflicts" }, el("h3", {}, t("conflicts")), items);
}

function refusal(document_) {
  const [first, ...rest] = document_.answer.split("\n").filter((line) => line.trim());
  const help = t(HELP[document_.reason] ?? "help_read");
  return [
    el("div", { class: "text", lang: document_.language }, el("p", { class: "verdict" }, first), rest.map((line) => el("p", {}, line))),
    document_.language !== language() && el("p", { class: "reason" }, `${t("refused")}: ${reason(document_.reason)}.`),
    document_.nearest.length > 0 &&
      el("section", { class: "nearest" }, el("h3", {}, t("nearest")), el("ul", { lang: document_.language }, document_.nearest.map((found) => near(found, document_)))),
    (document_.nearest.length > 0 || document_.reason === "out_of_scope") && el("p", { class: "help" }, help),
  ];
}

function near({ id, title, why_not: why }, document_) {
  return el("li", {}, el("p", { class: "source" }, el("a", opening({ id, title }, document_), title), " ", el("span", { class: "id" }, id)), el("p", { class: "about" }, why));
}

function notes({ warnings, flags, reason: code, refused, language: lang }) {
  const items = [
    ...warnings.map((text) => el("li", { lang }, text)),
    ...flags.filter((flag) => !(flag === "sentence_dropped" && warnings.length)).map((flag) => el("li", {}, t(`flag_${flag}`))),
    ...(!refused && code ? [el("li", {}, t("instead", { reason: reason(code) }))] : []),
  ];
  return items.length ? el("section", { class: "box notes" }, el("h3", {}, t("notes")), el("ul", {}, items)) : null;
}

function questionBack({ question_back: back, language: lang }, onReply) {
  if (!back) return null;
  const input = el("input", { type: "text", name: "reply", autocomplete: "off", maxlength: "200", "aria-label": back, required: true });
  const submit = (event) => {
    event.preventDefault();
    if (input.value.trim()) onReply(back, input.value.trim());
  };
  return el(
    "form",
    { class: "box back", submit },
    el("h3", {}, t("question_back")),
    el("p", { lang }, back),
    el("p", { class: "row" }, input, el("button", { type: "submit" }, t("question_back_send"))),
  );
}

/** How the answer came about, folded away. */
export function trail(document_) {
  const { retrieved, searched, review, strategy, embedder, checks, timings_ms: timings, run_id: run, kb_version: version, hops } = document_;
  const found = [...new Set(retrieved.map(({ id }) => id))];
  const rows = [
    [t("trail_generator"), document_.refused ? null : origin(document_)],
    [t("trail_searched"), [...new Set(searched.queries), searched.scope, day(searched.stichtag, language())].join(" · ")],
    [t("trail_review"), reviewed(review)],
    [t("trail_strategy"), [strategy, ...hops.map(({ note }) => note).filter(Boolean)].join(" · ")],
    [t("trail_embedder"), embedder],
    [t("trail_found"), found.length ? el("span", { class: "ids" }, found.map((id) => el("a", opening({ id }, document_), id))) : null],
    [t("trail_kb"), version],
    [t("trail_run"), run],
  ].filter(([, value]) => value);
  return el(
    "details",
    { class: "trail" },
    el("summary", {}, t(document_.refused ? "trail_refused" : "trail"), timings.total ? el("span", {}, ` · ${t("seconds", { seconds: seconds(timings.total, language()) })}`) : null),
    el("dl", {}, rows.map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)])),
    checks.regenerated && el("p", {}, t("trail_regenerated")),
  );
}

function reviewed(review) {
  if (!review) return null;
  const verdict = review.verdict && t(`verdict_${review.verdict}`);
  return [verdict, review.fallback_reason && reason(review.fallback_reason)].filter(Boolean).join(" · ");
}

function origin({ origin: from, model }) {
  if (from === "extractive" || from === "fallback" || !model) return t("origin_extractive");
  if (from === "ungrounded") return t("origin_ungrounded");
  return t(from.startsWith("agent") && from !== "agent2_unreviewed" ? "origin_reviewed" : "origin_model", { model });
}
