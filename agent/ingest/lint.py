"""Everything that is wrong with a knowledge base, file by file and line by line; what the gate itself would refuse is told as a notice."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path

from agent import texts
from agent.i18n import noted, tr
from agent.ingest import crossrefs, folder, limits, readings, register, synonyms, tables, werte
from agent.ingest.entries import line_at
from agent.ingest.folder import FileRead
from agent.ingest.importing.writing import origin_of
from agent.ingest.problems import EntryProblem, Severity, near
from agent.ingest.register import Register
from agent.language import Language
from agent.language.citations import citable
from agent.values import Entry

_SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


def lint(kb_dir: Path, language: Language, *, strict: bool = False, today: date | None = None) -> list[EntryProblem]:
    """All problems and notices, in order of file and line; `strict` finds more, and counts notices as problems.

    Raises KnowledgeBaseError where there is no knowledge base to look at.
    """
    files = folder.documents(kb_dir)
    known = register.load(kb_dir) or Register(language.code)
    values, found = werte.read(kb_dir)
    problems = [*found, *(problem for file in files for problem in file.problems), *_beside(kb_dir)]
    notation = werte.Notation(texts.table(f"kb.{language.code}"))
    for file in files:
        if file.entry:
            problems += _form(file, file.entry, known, language)
            problems += tables.problems(file.path, file.text, None if origin_of(file.text) else values, notation)
    problems += [*crossrefs.problems(files, language), *_same_ids(files)]
    wrong = {problem.path for problem in problems if problem.severity is Severity.PROBLEM}
    problems += [_notice(problem) for problem in register.admitted(kb_dir).problems if problem.path not in wrong]
    if strict:
        from agent.ingest import strict as stricter

        problems += stricter.problems(files, values, language, today or date.today())
        problems = [replace(problem, severity=Severity.PROBLEM) for problem in problems]
    problems += crossrefs.cyclic(files)
    return sorted(set(problems))


def _notice(problem: EntryProblem) -> EntryProblem:
    return EntryProblem(problem.path, problem.line, problem.message, problem.mend, Severity.NOTICE, noted("not admitted as they are"))


def _beside(kb_dir: Path) -> list[EntryProblem]:
    """The faults of what lies beside the entries."""
    found = (synonyms.read(kb_dir), limits.read(kb_dir), readings.read(kb_dir))
    return [problem for faults in found if isinstance(faults, list) for problem in faults]


def _form(file: FileRead, entry: Entry, known: Register, language: Language) -> Iterator[EntryProblem]:
    """What an entry looks like: its id, its sections, the words that must be known."""

    def at(what: str) -> int:
        return _line_of(file, what)

    def notice(kind: str, what: str, message: str, mend: str) -> EntryProblem:
        return EntryProblem(file.path, at(what), message, mend, Severity.NOTICE, kind)

    info = entry.info
    if info.id != file.path.stem:
        yield EntryProblem(
            file.path, at("id:"), tr("The id {id} is not the file's name.", id=info.id), tr("Rename the file to {id}.md.", id=info.id)
        )
    if not _SLUG.fullmatch(info.id):
        yield notice(
            noted("form of ids"), "id:", tr("The id {id} is not in lower case, digits and hyphens.", id=info.id), tr("Rename the entry.")
        )
    if not citable(info.id):
        said = tr("The id {id} is a bare word, which no answer can cite.", id=info.id)
        yield EntryProblem(file.path, at("id:"), said, tr("Give it a hyphen or a digit, as {id}-1.", id=info.id))
    if known.prefixes and not info.id.startswith(tuple(f"{prefix}-" for prefix in known.prefixes)):
        hint = tr("Prefixes are {prefixes} (kb.json).", prefixes=", ".join(known.prefixes))
        yield notice(noted("unknown prefixes"), "id:", tr("The id {id} has none of the known prefixes.", id=info.id), hint)
    if known.bereiche and info.bereich not in known.bereiche:
        hint = near(info.bereich, known.bereiche, tr("Known are {bereiche} (kb.json).", bereiche=", ".join(known.bereiche)))
        yield EntryProblem(file.path, at("bereich:"), tr("There is no bereich {bereich!r}.", bereich=info.bereich), hint)
    if info.layer != register.LAYER:
        yield EntryProblem(
            file.path,
            at("layer:"),
            tr("The entry is of layer {layer}.", layer=info.layer),
            tr("Only layer {layer} is admitted.", layer=register.LAYER),
        )
    yield from _sections(file, entry, language)


def _sections(file: FileRead, entry: Entry, language: Language) -> Iterator[EntryProblem]:
    """The sections an entry should have, and those nobody expects; a document that was imported has the sections it came with."""
    imported = origin_of(file.text) is not None
    sections = {section.name for section in entry.sections}
    for name in language.table["required_sections"]:
        if name not in sections and not imported:
            yield EntryProblem(file.path, 1, tr("The section `{name}` is missing.", name=name), tr("Add `## {name}`.", name=name))
    unwritten = texts.table(f"kb.{language.code}")["skeleton"]["hint"]
    for found in re.finditer(rf"^{re.escape(unwritten)}\s*$", file.text, re.MULTILINE):
        line = line_at(file.text, found.start())
        yield EntryProblem(file.path, line, tr("This section is still the skeleton's."), tr("Write it, or take it out."))
    for name in set() if imported else sections - set(language.table["sections"]):
        said, hint = tr("The section `{name}` is not among the usual ones.", name=name), near(name, language.table["sections"])
        yield EntryProblem(file.path, _line_of(file, f"## +{re.escape(name)}"), said, hint, Severity.NOTICE, noted("unusual sections"))


def _line_of(file: FileRead, what: str) -> int:
    """The line that begins with a pattern; the first where none does."""
    found = re.search(rf"^{what}(?=\s|$)", file.text, re.MULTILINE)
    return line_at(file.text, found.start()) if found else 1


def _same_ids(files: Iterable[FileRead]) -> list[EntryProblem]:
    read = [file for file in files if file.entry]
    counts = Counter(file.entry.info.id for file in read if file.entry)
    return [
        EntryProblem(
            file.path,
            1,
            tr("The id {id} is borne by {count} files.", id=file.entry.info.id, count=counts[file.entry.info.id]),
            tr("Give each its own."),
        )
        for file in read
        if file.entry and counts[file.entry.info.id] > 1
    ]
