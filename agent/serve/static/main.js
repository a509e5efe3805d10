// Wires the page: the form to the turns, the switches to colours and language, the address to the entry.

import * as api from "./api.js";
import { edit, offer, prepareComposer, put, setBusy } from "./composer.js";
import { byId, el } from "./dom.js";
import { followAddress, prepareEntry, relabelEntry } from "./entry.js";
import { label, language, t } from "./strings.js";
import { day, today } from "./text.js";
import { Turn } from "./turn.js";

const turns = [];
let current = null;
let state = null;
let looked = false;

function ask(request) {
  const turn = new Turn(request, { reply: ask, edit, again: follow, token: askForToken });
  turns.push(turn);
  byId("thread").append(turn.element);
  document.body.classList.add("asked");
  return follow(turn);
}

async function follow(turn) {
  current?.cancel();
  current = turn;
  setBusy(true);
  turn.element.scrollIntoView({ block: "start" });
  await turn.run();
  if (current !== turn) return;
  current = null;
  setBusy(false);
  labels();
  if (focusIsOurs()) turn.heading.focus({ preventScroll: true });
  turn.element.scrollIntoView({ block: "start" });
}

/** The focus goes to the answer unless the reader is at something else: writing the next question, reading an entry. */
function focusIsOurs() {
  const at = document.activeElement;
  return at === document.body || at === byId("send") || (at === byId("question") && !at.value) || at.closest("#thread") !== null;
}

function labels() {
  label();
  document.title = state ? `${state.title} · pv-agent` : "pv-agent";
  byId("question-label").replaceChildren(t(turns.length ? "question_next" : "question"));
  byId("question").setAttribute("placeholder", t(turns.length ? "placeholder_next" : "placeholder"));
  byId("name").replaceChildren(state?.title ?? (looked ? t("title") : "\u00a0"));
  document.documentElement.dataset.entries = state?.language ?? "";
  byId("name").lang = state?.language ?? language();
  byId("about").replaceChildren(...about());
  byId("print-day").replaceChildren(t("printed", { day: day(today(), language()) }));
  for (const button of document.querySelectorAll("[data-language]")) button.setAttribute("aria-pressed", String(button.dataset.language === language()));
  for (const button of document.querySelectorAll("[data-theme-choice]")) {
    button.setAttribute("aria-pressed", String(button.dataset.themeChoice === (document.documentElement.dataset.theme ?? "auto")));
  }
}

function about() {
  const facts = state && [
    state.health.index && t("about_entries", { count: state.health.index.entries }),
    state.model.available ? t("about_model", { model: state.model.name }) : t("about_no_model"),
  ];
  return [...(facts || []), t("about_law")].filter(Boolean).map((text) => el("span", {}, text));
}

function keep(name, value) {
  try {
    if (value) localStorage.setItem(name, value);
    else localStorage.removeItem(name);
  } catch {
    // A browser that keeps nothing still switches.
  }
}

function prepareSwitches() {
  for (const button of document.querySelectorAll("[data-language]")) {
    button.addEventListener("click", () => {
      document.documentElement.lang = button.dataset.language;
      keep("language", button.dataset.language);
      labels();
      relabelEntry();
      turns.forEach((turn) => turn.draw());
    });
  }
  for (const button of document.querySelectorAll("[data-theme-choice]")) {
    button.addEventListener("click", () => {
      const theme = button.dataset.themeChoice;
      if (theme === "auto") delete document.documentElement.dataset.theme;
      else document.documentElement.dataset.theme = theme;
      keep("theme", theme === "auto" ? "" : theme);
      labels();
    });
  }
}

async function look() {
  try {
    state = await api.state();
    byId("token-form").hidden = true;
    offer(state);
    showExamples();
    showProblems(state.health.problems);
  } catch (problem) {
    if (problem.kind === "token") askForToken();
    else showProblems([problem.kind === "network" ? t("problem_network") : problem.detail]);
  }
  looked = true;
  labels();
}

/** What keeps the server from answering, or from answering as well as it could. */
function showProblems(texts) {
  byId("health").hidden = !texts.length;
  byId("health").replaceChildren(...texts.map((text) => el("li", {}, text)));
}

function showExamples() {
  const ask_ = (question) => el("button", { type: "button", click: () => put(question) }, question);
  byId("examples").hidden = !state.examples.length;
  byId("examples").querySelector("ul").replaceChildren(...state.examples.map((question) => el("li", { lang: state.language }, ask_(question))));
}

function askForToken() {
  byId("token-form").hidden = false;
  byId("token").focus();
}

byId("token-form").addEventListener("submit", async (event) => {
  event.preventDefault();
  api.keepToken(byId("token").value.trim());
  byId("token").value = "";
  await look();
  byId("token-error").hidden = byId("token-form").hidden;
  if (byId("token-form").hidden) byId("question").focus();
});

prepareSwitches();
prepareEntry();
prepareComposer({ onAsk: ask, onCancel: () => current?.cancel() });
labels();
document.documentElement.classList.add("ready");
byId("question").focus({ preventScroll: true });
followAddress();
look();
