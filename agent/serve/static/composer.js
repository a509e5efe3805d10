// The form: the question, its key date, and what else the server lets one choose.

import { byId, el } from "./dom.js";
import { has, t } from "./strings.js";
import { today } from "./text.js";

const CHOICES = { scope: "scopes", generator: "generators", strategy: "strategies", review: "review_modes" };
const NEED_MODEL = new Set(["generator", "review"]);

/** Prepare the form; `onAsk(request)` gets a question, `onCancel()` is called while one is worked on. */
export function prepareComposer({ onAsk, onCancel }) {
  const form = byId("ask");
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (form.dataset.busy) onCancel();
    else if (byId("question").value.trim()) onAsk(taken());
    else byId("question").focus();
  });
  byId("question").addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing || form.dataset.busy) return;
    event.preventDefault();
    form.requestSubmit();
  });
  if (!CSS.supports("field-sizing", "content")) byId("question").addEventListener("input", grown);
  byId("stichtag").addEventListener("input", marked);
  byId("reset-today").addEventListener("click", () => {
    setDay("");
    byId("stichtag").focus();
  });
  document.addEventListener("visibilitychange", () => {
    if (!byId("stichtag").dataset.chosen) setDay("");
  });
  setDay("");
}

/** Show whether a question is worked on: the button then cancels it. */
export function setBusy(busy) {
  const form = byId("ask");
  if (busy) form.dataset.busy = "true";
  else delete form.dataset.busy;
  byId("send").dataset.t = busy ? "cancel" : "ask";
  byId("send").replaceChildren(t(busy ? "cancel" : "ask"));
}

/** Ask a question with what else is chosen in the form. */
export function put(question) {
  byId("question").value = question;
  byId("ask").requestSubmit();
}

/** Put a question back into the form, to be changed. */
export function edit({ question, stichtag = "" }) {
  byId("question").value = question;
  setDay(stichtag);
  byId("question").focus();
  byId("question").scrollIntoView({ block: "nearest" });
}

/** Offer what the server offers, where there is a choice; without a language model there is none of who writes and who reviews. */
export function offer(config) {
  byId("question").maxLength = config.max_question;
  for (const [name, key] of Object.entries(CHOICES)) {
    const values = NEED_MODEL.has(name) && !config.model.available ? [] : config[key];
    const select = byId(name);
    select.replaceChildren(el("option", { value: "", "data-t": "preset" }, t("preset")), ...values.map((value) => option(name, value)));
    select.closest("label").hidden = values.length < 2;
  }
  byId("options").hidden = false;
}

/** A choice in the page's own words, where it has some. */
function option(name, value) {
  const key = `${name}_${value}`;
  return el("option", has(key) ? { value, "data-t": key } : { value }, has(key) ? t(key) : value);
}

function taken() {
  const request = { question: byId("question").value.trim() };
  const chosen = byId("stichtag");
  if (chosen.dataset.chosen && chosen.value) request.stichtag = chosen.value;
  for (const name of Object.keys(CHOICES)) if (byId(name).value) request[name] = byId(name).value;
  if (byId("unlogged").checked) request.log = false;
  byId("question").value = "";
  byId("question").rows = 1;
  return request;
}

/** As many lines as the question has, where the browser does not see to that itself. */
function grown({ target }) {
  target.rows = 1;
  target.rows = Math.min(6, Math.ceil((target.scrollHeight - 12) / parseFloat(getComputedStyle(target).lineHeight)));
}

/** An empty day is today, and stays today when the day turns. */
function setDay(iso) {
  byId("stichtag").value = iso || today();
  marked();
}

function marked() {
  const input = byId("stichtag");
  const other = input.value !== today() && input.value !== "";
  if (other) input.dataset.chosen = "true";
  else delete input.dataset.chosen;
  byId("reset-today").hidden = !other;
}
