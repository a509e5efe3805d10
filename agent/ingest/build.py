"""Brings the register up to date: `kb build` admits the entries lint finds fit, of layer 2, with a licence note."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

from agent.i18n import tr
from agent.ingest import folder, register
from agent.ingest.lint import lint
from agent.ingest.lock import locked
from agent.ingest.problems import EntryProblem, Severity
from agent.ingest.register import Register, Registered
from agent.language import Language
from agent.values import EntryInfo


@dataclass(frozen=True, slots=True)
class Built:
    """What a build did to the register (ids), and what it could not admit."""

    added: tuple[str, ...]
    updated: tuple[str, ...]
    removed: tuple[str, ...]
    problems: tuple[EntryProblem, ...]


def build(kb_dir: Path, language: Language, *, licence: str = "", today: date | None = None) -> Built:
    """Registers what is fit. A known entry keeps its licence note; a new one has `licence`, else the register's own.

    An entry that has become unfit stays as it was registered, so that the gate names it and its licence note is not lost.
    """
    with locked(kb_dir):
        return _built(kb_dir, language, licence, (today or date.today()).isoformat())


def _built(kb_dir: Path, language: Language, licence: str, day: str) -> Built:
    before = register.load(kb_dir) or Register(language.code)
    problems = [problem for problem in lint(kb_dir, language) if problem.severity is Severity.PROBLEM]
    unfit = {problem.path for problem in problems}
    by_path = {entry.path: entry for entry in before.entries}
    by_id = {entry.id: entry for entry in before.entries}
    after: list[Registered] = []
    for file in folder.documents(kb_dir):
        known = by_path.get(file.relative) or (by_id.get(file.entry.info.id) if file.entry else None)
        if file.entry is None or file.path in unfit:
            after += [known] if known and known.path == file.relative else []
            continue
        note = (known.licence if known else "") or licence or before.licence
        if note.strip():
            after.append(_registered(file.entry.info, note, known, day))
        else:
            mend = tr("Run `pv-agent kb build --licence TEXT`, or set `licence` in kb.json.")
            problems.append(EntryProblem(file.path, 1, tr("The entry has no licence note."), mend))
    built = replace(before, entries=tuple(sorted(after, key=lambda entry: entry.id)))
    if built != before or not (kb_dir / "kb.json").exists():
        register.save(built, kb_dir)
    return _told(by_id, {entry.id: entry for entry in after}, problems)


def _registered(info: EntryInfo, licence: str, known: Registered | None, day: str) -> Registered:
    entry = Registered(info.id, info.path, info.sha256, info.layer, licence, known.registered if known else day)
    return entry if entry == known else replace(entry, registered=day)


def _told(before: dict[str, Registered], after: dict[str, Registered], problems: list[EntryProblem]) -> Built:
    return Built(
        added=tuple(sorted(after.keys() - before.keys())),
        updated=tuple(sorted(name for name in after.keys() & before.keys() if after[name] != before[name])),
        removed=tuple(sorted(before.keys() - after.keys())),
        problems=tuple(problems),
    )
