// One question and what became of it: the steps while it is worked on, then the answer, the refusal, or what went wrong.

import * as api from "./api.js";
import { answerParts, summary, timeOf, trail } from "./answer.js";
import { asText, copyText } from "./copy.js";
import { byId, el } from "./dom.js";
import { counted, t } from "./strings.js";

const PATIENCE = 3; // seconds
let number = 0;

/**
 * A turn for `request` ({question, stichtag?, …}). `on.reply(request)` asks another question, `on.again(turn)` this one once more,
 * `on.edit(request)` hands it back to the form, `on.token()` asks for the server's token.
 */
export class Turn {
  constructor(request, on) {
    number += 1;
    Object.assign(this, { request, on, steps: [], state: "working", control: new AbortController() });
    this.heading = el("h2", { id: `turn-${number}`, tabindex: "-1", dir: "auto" }, request.question);
    this.time = el("p", { class: "time" });
    this.body = el("div", { class: "body" });
    this.element = el("article", { "aria-labelledby": this.heading.id }, this.heading, this.time, this.body);
    this.draw();
  }

  /** Ask, and show what comes; resolves when there is something to read. */
  async run() {
    const started = Date.now();
    const clock = setInterval(() => this.elapse(Math.round((Date.now() - started) / 1000)), 1000);
    try {
      this.document = await api.ask(this.request, { onStep: (step) => this.stepped(step), signal: this.control.signal });
      this.became("done", summary(this.document));
    } catch (problem) {
      if (problem.name === "AbortError") return this.became("cancelled", t("cancelled"));
      this.problem = problem;
      if (problem.kind === "token") this.on.token();
      this.became("failed", t("failed_ready"));
    } finally {
      clearInterval(clock);
    }
  }

  /** A model may take minutes: the seconds tell that it is still at it. */
  elapse(seconds) {
    if (this.state === "working" && seconds >= PATIENCE) this.time.replaceChildren(t("elapsed", { seconds }));
  }

  cancel() {
    this.control.abort();
  }

  /** The same question once more. */
  async again() {
    Object.assign(this, { steps: [], state: "working", control: new AbortController(), problem: null });
    this.draw();
    await this.on.again(this);
  }

  stepped(step) {
    const last = this.steps.at(-1);
    if (last?.step === step.step) Object.assign(last, step);
    else this.steps.push(step);
    this.draw();
    announce(stepName(step));
  }

  became(state, said) {
    this.state = state;
    this.draw();
    announce(said);
  }

  /** Everything anew, in the language now chosen. */
  draw() {
    const parts = { working: () => [this.progress()], done: () => this.answered(), failed: () => [this.failed()], cancelled: () => [this.stopped()] };
    this.element.className = `turn ${this.state}${this.document?.refused ? " refused" : ""}`;
    this.element.setAttribute("aria-busy", String(this.state === "working"));
    this.time.replaceChildren(this.document ? timeOf(this.document) : "");
    this.body.replaceChildren(...parts[this.state]().filter(Boolean));
  }

  progress() {
    const items = this.steps.map((step, i) => {
      const now = i === this.steps.length - 1;
      return el("li", { class: now ? "now" : "done", "aria-current": now ? "step" : null }, stepName(step), found(step));
    });
    return el("div", { class: "progress" }, items.length ? el("ol", {}, items) : el("p", {}, t("working")));
  }

  answered() {
    const onReply = (back, reply) => this.on.reply({ ...this.request, question: t("question_back_form", { question: this.request.question, back, reply }) });
    return [...answerParts(this.document, { onReply }), this.actions(), trail(this.document)];
  }

  actions() {
    const copy = el("button", { type: "button", click: () => this.copied(copy) }, t("copy"));
    return el(
      "p",
      { class: "actions" },
      copy,
      el("button", { type: "button", click: () => this.print() }, t("print")),
      el("button", { type: "button", click: () => this.on.edit(this.request) }, t("edit")),
    );
  }

  async copied(button) {
    const done = await copyText(asText(this.document));
    const said = t(done ? "copied" : "copy_failed");
    button.replaceChildren(said);
    announce(said);
    setTimeout(() => button.replaceChildren(t("copy")), 2500);
  }

  /** This answer alone; the browser's own print takes the whole page. */
  print() {
    this.element.classList.add("printed");
    document.body.classList.add("print-one");
    const after = () => {
      this.element.classList.remove("printed");
      document.body.classList.remove("print-one");
    };
    addEventListener("afterprint", after, { once: true });
    window.print();
  }

  failed() {
    const { kind, detail, wait } = this.problem;
    const own = {
      network: () => t("problem_network"),
      broken: () => t("problem_broken"),
      token: () => t("token_help"),
      too_long: () => t("problem_too_long"),
      busy: () => (wait ? t("problem_busy", { seconds: wait }) : t("problem_busy_now")),
    };
    const text = own[kind]?.() ?? detail;
    return el("div", { class: "box problem" }, el("h3", {}, t("problem")), el("p", {}, text), el("p", {}, this.retry()));
  }

  stopped() {
    return el("div", { class: "box" }, el("p", {}, t("cancelled")), el("p", {}, this.retry()));
  }

  retry() {
    return el("button", { type: "button", click: () => this.again() }, t("retry"));
  }
}

function stepName({ step, again }) {
  return t(again ? "step_again" : `step_${step}`);
}

function found({ sources }) {
  if (!sources?.length) return null;
  const titles = [...new Map(sources.map(({ id, title }) => [id, title || id])).values()];
  return el("div", { class: "found" }, el("p", {}, counted("step_found", titles.length)), el("ul", {}, titles.slice(0, 8).map((title) => el("li", {}, title))));
}

/** Say something to a screen reader without moving the focus. */
export function announce(text) {
  byId("status").replaceChildren(text);
}
