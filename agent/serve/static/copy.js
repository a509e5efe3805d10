// An answer with its sources as plain text, for a mail or a file note.

import { language, t } from "./strings.js";
import { clean, day } from "./text.js";
import { timeOf } from "./answer.js";

/** The question, the answer with the ids in it, and each source with its Stand and its supporting sentence. */
export function asText(document_) {
  const shown = (iso) => day(iso, language());
  const head = [document_.question, `(${timeOf(document_)})`, "", document_.answer];
  const sources = document_.citations.flatMap((citation, i) => [
    `${i + 1}. [${citation.id}] ${[citation.title, t("stand", { stand: shown(citation.stand) }), t(`validity_${citation.validity}`), citation.section].filter(Boolean).join(" · ")}`,
    ...(citation.quote ? [`   „${citation.quote}“`] : []),
    ...(citation.url ? [`   ${citation.url}`] : []),
  ]);
  const conflicts = document_.conflicts.map(({ subject, answered, other }) => `${subject}: ${answered} (${t("conflict_answered")}); ${other} (${t("conflict_other")})`);
  const nearest = document_.nearest.map(({ id, title, why_not: why }) => `- [${id}] ${title}: ${why}`);
  const block = (name, lines) => (lines.length ? ["", `${t(name)}:`, ...lines] : []);
  const notes = [...document_.warnings, ...document_.flags.map((flag) => t(`flag_${flag}`))];
  return clean([...head, ...block("sources", sources), ...block("conflicts", conflicts), ...block("nearest", nearest), ...block("notes", notes)].join("\n"));
}

/** Put a text on the clipboard. On plain http in a local network browsers offer only the older way. */
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copySelected(text);
  }
}

function copySelected(text) {
  const focused = document.activeElement;
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "unseen";
  area.setAttribute("aria-hidden", "true");
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  focused?.focus({ preventScroll: true });
  return done;
}
