// Talks to the server this page came from: one question as a stream of steps, entries, and the state of things.

const TOKEN = "token";

/** A problem the reader is told: `kind` names the page's own words, `detail` is what the server said. */
export class Problem extends Error {
  constructor(kind, { status = 0, detail = "", wait = 0 } = {}) {
    super(detail || kind);
    Object.assign(this, { kind, status, detail, wait });
  }
}

/** Ask; `onStep` gets each step as it begins. Resolves to the answer's document. */
export async function ask(question, { onStep, signal }) {
  const response = await call("ask/stream", {
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: "text/event-stream" },
    body: JSON.stringify(question),
    signal,
  });
  try {
    for await (const { event, data } of events(response.body)) {
      if (event === "step") onStep(JSON.parse(data));
      else if (event === "answer") return JSON.parse(data);
      else if (event === "problem") throw told(JSON.parse(data));
    }
  } catch (error) {
    throw error instanceof Problem || error.name === "AbortError" ? error : new Problem("broken");
  }
  throw new Problem("broken");
}

/** An entry as the server holds it, with its validity on a day (YYYY-MM-DD; without one, today). */
export async function entry(id, stichtag, signal) {
  const day = stichtag ? `?stichtag=${encodeURIComponent(stichtag)}` : "";
  return (await call(`entries/${encodeURIComponent(id)}${day}`, { signal })).json();
}

/** What can be chosen in a question, and how the server is. */
export async function state() {
  const [config, health] = await Promise.all([call("config", {}), call("health", { expected: [503] })]);
  return { ...(await config.json()), health: await health.json() };
}

export function keepToken(token) {
  sessionStorage.setItem(TOKEN, token);
}

async function call(path, options) {
  const headers = { "Accept-Language": document.documentElement.lang, ...options.headers };
  const token = sessionStorage.getItem(TOKEN);
  if (token) headers.Authorization = `Bearer ${token}`;
  let response;
  try {
    response = await fetch(new URL(path, document.baseURI), { ...options, headers, cache: "no-store", redirect: "error" });
  } catch (error) {
    throw error.name === "AbortError" ? error : new Problem("network");
  }
  if (response.ok || options.expected?.includes(response.status)) return response;
  const document_ = await response.json().catch(() => ({}));
  throw told({ ...document_, status: response.status }, Number(response.headers.get("Retry-After")) || 0);
}

function told({ status = 500, code = "", detail = "", mend = "", title = "" }, wait = 0) {
  const kind = code === "busy" ? "busy" : ({ 401: "token", 404: "missing", 413: "too_long" }[status] ?? "other");
  return new Problem(kind, { status, detail: [detail || title, mend].filter(Boolean).join(" "), wait });
}

/** The server-sent events of a body (WHATWG HTML, 9.2.6): fields of a block, which a blank line ends. */
async function* events(body) {
  let rest = "";
  for await (const text of texts(body)) {
    rest += text;
    const blocks = rest.split(/\r?\n\r?\n/);
    rest = blocks.pop();
    yield* blocks.map(event).filter(({ data }) => data);
  }
}

async function* texts(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

function event(block) {
  const found = { event: "message", data: [] };
  for (const line of block.split(/\r?\n/)) {
    const [, field, value] = line.match(/^([^:]*)(?:: ?(.*))?$/) ?? [];
    if (field === "event") found.event = value ?? "";
    else if (field === "data") found.data.push(value ?? "");
  }
  return { event: found.event, data: found.data.join("\n") };
}
