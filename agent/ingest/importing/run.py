"""`kb import`: documents to entries, each new, updated, unchanged or refused by name; then all put in place and registered at once."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

from agent import texts
from agent.errors import UsageError
from agent.i18n import noted, tr
from agent.ingest import folder, register
from agent.ingest.embed import Progress, quiet
from agent.ingest.entries import parse
from agent.ingest.folder import DOCUMENTS, FileRead
from agent.ingest.importing import chunkfile, files, swap
from agent.ingest.importing.draft import Draft, Reader
from agent.ingest.importing.identity import doubts, own_name
from agent.ingest.importing.references import Citations, Norm, holders, references
from agent.ingest.importing.writing import Terms, entry_text, origin_of
from agent.ingest.lock import locked
from agent.ingest.problems import EntryProblem, Severity
from agent.ingest.register import LAYER, Register, Registered
from agent.language import Language
from agent.language.citations import citable
from agent.values import Entry, EntryInfo

_LONGEST_ID = 80


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an import did (ids), and every document it did not take in; `notices` are remarks on those it did."""

    added: tuple[str, ...]
    updated: tuple[str, ...]
    unchanged: tuple[str, ...]
    problems: tuple[EntryProblem, ...]
    notices: tuple[EntryProblem, ...]

    def counted(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """The ids by what became of them."""
        return (noted("added"), self.added), (noted("updated"), self.updated), (noted("unchanged"), self.unchanged)

    def document(self) -> dict[str, Any]:
        """As JSON."""
        named = {name: [_told(problem) for problem in getattr(self, name)] for name in ("problems", "notices")}
        return {name: list(ids) for name, ids in self.counted()} | named


def _told(problem: EntryProblem) -> dict[str, Any]:
    return {"file": str(problem.path), "line": problem.line, "message": problem.message, "mend": problem.mend}


def bring(kb_dir: Path, source: Path, terms: Terms, *, language: Language, progress: Progress = quiet, dry: bool = False) -> Outcome:
    """Imports the documents at `source` (a folder, a document, a chunks.json) into a knowledge base; `dry` only says what would happen.

    Raises UsageError or KnowledgeBaseError where nothing can be imported at all, or another process is changing the knowledge base.
    """
    with nullcontext() if dry else locked(kb_dir):
        if not dry:
            swap.finish(kb_dir)
        known = register.load(kb_dir) or Register(language.code)
        work = _Work(kb_dir, _completed(terms, known, language), language, progress)
        work.read(source)
        work.place()
        work.write()
        after = work.registered(known)
        if not dry and (work.texts or after != known):
            swap.put(kb_dir, work.texts, after)
    return work.outcome()


def insist_on_licence(terms: Terms) -> None:
    """Raises UsageError where it is not said under which terms the documents may be used."""
    if not terms.licence.strip():
        raise UsageError(tr("An import needs a licence note."), tr("Say under which terms the documents may be used: --licence TEXT."))


def _completed(terms: Terms, known: Register, language: Language) -> Terms:
    """The terms with what the knowledge base's conventions say; UsageError where they leave something open."""
    insist_on_licence(terms)
    if known.prefixes and terms.prefix not in known.prefixes:
        said = (
            tr("{prefix!r} is no prefix of this knowledge base.", prefix=terms.prefix)
            if terms.prefix
            else tr("An import needs a prefix for its ids.")
        )
        raise UsageError(
            said, tr("Give --prefix, one of {prefixes}, or add yours to `prefixes` in kb.json.", prefixes=", ".join(known.prefixes))
        )
    if terms.prefix and not re.fullmatch(r"[a-z0-9]+", terms.prefix):
        raise UsageError(tr("{prefix!r} cannot be a prefix.", prefix=terms.prefix), tr("Write it in lower case and digits."))
    if terms.bereich and known.bereiche and terms.bereich not in known.bereiche:
        raise UsageError(
            tr("There is no bereich {bereich!r}.", bereich=terms.bereich),
            tr("Known are {bereiche} (kb.json).", bereiche=", ".join(known.bereiche)),
        )
    first = known.bereiche[0] if known.bereiche else str(texts.table(f"kb.{language.code}")["skeleton"]["bereich"])
    return replace(terms, bereich=terms.bereich or first)


class _Work:
    """One import on its way: documents become drafts, drafts get their ids, and what may be written is written out."""

    def __init__(self, kb_dir: Path, terms: Terms, language: Language, progress: Progress) -> None:
        self._terms, self._language, self._progress = terms, language, progress
        self._reader = Reader(language)
        self._files = {file.entry.info.id: file for file in _there(kb_dir) if file.entry}
        self._kb_dir = kb_dir
        origins = ((entry_id, origin_of(file.text)) for entry_id, file in self._files.items())
        self._origins = {entry_id: origin for entry_id, origin in origins if origin is not None}
        self._drafts: list[Draft] = []
        self._placed: dict[str, Draft] = {}
        self._problems: list[EntryProblem] = []
        self._entries: dict[str, EntryInfo] = {}
        self.texts: dict[str, str] = {}

    def read(self, source: Path) -> None:
        """Reads every document at `source`; what has become of documents that are no longer there is a notice."""
        if source.suffix.lower() == ".json" and source.is_file():
            self._drafts, self._problems = chunkfile.read(source, self._reader)
            origins = {draft.origin for draft in self._drafts}
            self._missed(chunkfile.origin(source, ""), origins)
            return
        sources, self._problems = files.found(source)
        for number, one in enumerate(sources, 1):
            read = self._reader.read(one)
            if isinstance(read, Draft):
                self._problems += read.notices
                if read.stand or self._terms.stand:
                    self._drafts.append(read)
                else:
                    said = tr("The document states no Stand.")
                    self._problems.append(EntryProblem(one.path, 1, said, tr("Write it in (Stand: 31.1.2026), or give --stand.")))
            else:
                self._problems.append(read)
            self._progress(number, len(sources), noted("documents"))
        if source.is_dir():
            self._missed(f"{source.resolve().name}/", {one.origin for one in sources})

    def _missed(self, beginning: str, origins: Collection[str]) -> None:
        for entry_id, imported in self._origins.items():
            if imported.origin.startswith(beginning) and imported.origin not in origins:
                said = tr("The document {origin} of this entry is no longer there; the entry stays.", origin=imported.origin)
                self._problems.append(EntryProblem(self._files[entry_id].path, 1, said, tr("Delete it by hand."), Severity.NOTICE))

    def place(self) -> None:
        """Gives each draft its id: that of its last import, else prefix and name; and names those that may not have it."""
        by_origin = {imported.origin: entry_id for entry_id, imported in self._origins.items()}
        ids = {draft.origin: by_origin.get(draft.origin) or self._id(draft) for draft in self._drafts}
        bearers: dict[str, list[Draft]] = {}
        for draft in self._drafts:
            bearers.setdefault(ids[draft.origin], []).append(draft)
        for entry_id, drafts in bearers.items():
            for draft in drafts:
                problems = [*self._taken(draft, entry_id, drafts), *doubts(draft, self._language)]
                self._problems += problems
                if all(problem.severity is Severity.NOTICE for problem in problems):
                    self._placed[entry_id] = replace(draft, short=own_name(draft, self._language))

    def _id(self, draft: Draft) -> str:
        slug = slugged(draft.name, self._language.figures["folds"])
        prefix = f"{self._terms.prefix}-" if self._terms.prefix else ""
        entry_id = slug if prefix and slug.startswith(prefix) else f"{prefix}{slug}"[:_LONGEST_ID].rstrip("-")
        return f"{entry_id}-1" if slug and not citable(entry_id) else entry_id

    def _taken(self, draft: Draft, entry_id: str, drafts: Sequence[Draft]) -> list[EntryProblem]:
        """Why a draft may not have an id; empty where it may."""
        there, imported = self._files.get(entry_id), self._origins.get(entry_id)
        others = ", ".join(other.origin for other in drafts if other is not draft)
        what, mend = "", tr("Rename the document, or replace the entry: --overwrite.")
        if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", entry_id) or entry_id == self._terms.prefix:
            what, mend = tr("No id can be made of the name."), tr("Give it a name of letters and digits.")
        elif others:
            what, mend = tr("The id {id} would also be that of {others}.", id=entry_id, others=others), tr("Rename one of them.")
        elif there is None and (self._kb_dir / DOCUMENTS / f"{entry_id}.md").exists():
            what, mend = tr("The id {id} is that of a file that is no entry.", id=entry_id), tr("Look at it: pv-agent kb lint")
        elif there is not None and imported is None:
            what = tr("The id {id} is that of an entry written here ({file}).", id=entry_id, file=there.relative)
            mend = tr("Rename the document.")
        elif imported is not None and imported.origin != draft.origin and not self._terms.overwrite:
            what = tr("The id {id} is that of an entry from {origin}.", id=entry_id, origin=imported.origin)
        elif imported is not None and imported.edited and not self._terms.overwrite:
            what = tr("The entry {id} was edited since its import, and is kept.", id=entry_id)
            mend = tr("Replace it with --overwrite.")
        return [EntryProblem(draft.path, draft.line, what, mend)] if what else []

    def write(self) -> None:
        """Writes out what differs from what is there; a text that would be no sound entry is a problem."""
        held = self._held()
        citations = Citations({act for act, _ in held}, self._language)
        for number, (entry_id, draft) in enumerate(sorted(self._placed.items()), 1):
            refs = references(citations.of(draft.text()), held, entry_id)
            there = self._files.get(entry_id)
            stand = there.entry.info.stand if there and there.entry else None
            text = self._text(draft, entry_id, refs, stand, there)
            relative = there.relative if there else f"{DOCUMENTS}/{entry_id}.md"
            entry = parse(text, draft.path, relative=relative)
            if isinstance(entry, Entry):
                self._entries[entry_id] = entry.info
                if there is None or there.text != text:
                    self.texts[relative] = text
            else:
                self._problems += (replace(problem, line=draft.line) for problem in entry)
            self._progress(number, len(self._placed), noted("entries"))

    def _text(self, draft: Draft, entry_id: str, refs: tuple[str, ...], stand: date | None, there: FileRead | None) -> str:
        """The text, with the Stand of the last import where none is stated and nothing else has changed."""
        text = entry_text(draft, entry_id, refs, self._terms, self._reader.table, stand)
        if there is not None and text == there.text:
            return text
        return entry_text(draft, entry_id, refs, self._terms, self._reader.table)

    def _held(self) -> dict[Norm, str]:
        """Which entry, of those there and those to come, holds which norm."""
        coming = ((entry_id, draft.title, draft.short) for entry_id, draft in sorted(self._placed.items()))
        there = (
            # an imported act bears its short names as tags, among plain words
            (entry_id, file.entry.info.title, [tag for tag in file.entry.info.tags if entry_id in self._origins and _short_name(tag)])
            for entry_id, file in sorted(self._files.items())
            if file.entry and entry_id not in self._placed
        )
        return holders([*coming, *there], self._language)

    def registered(self, known: Register) -> Register:
        """The register with the entries of this import, each under its licence note."""
        entries = {entry.id: entry for entry in known.entries}
        day = self._terms.today.isoformat()
        for entry_id, info in self._entries.items():
            before = entries.get(entry_id)
            fresh = Registered(entry_id, info.path, info.sha256, LAYER, self._terms.licence, before.registered if before else day)
            entries[entry_id] = fresh if fresh == before else replace(fresh, registered=day)
        return replace(known, entries=tuple(sorted(entries.values(), key=lambda entry: entry.id)))

    def outcome(self) -> Outcome:
        written = {entry_id for entry_id, info in self._entries.items() if info.path in self.texts}
        added = written - self._files.keys()
        by_severity = {kind: tuple(sorted(p for p in self._problems if p.severity is kind)) for kind in Severity}
        return Outcome(
            tuple(sorted(added)),
            tuple(sorted(written - added)),
            tuple(sorted(self._entries.keys() - written)),
            by_severity[Severity.PROBLEM],
            by_severity[Severity.NOTICE],
        )


def _short_name(tag: str) -> bool:
    return sum(c.isupper() for c in tag) >= 2


def _there(kb_dir: Path) -> tuple[FileRead, ...]:
    return folder.documents(kb_dir) if (kb_dir / DOCUMENTS).is_dir() else ()


def slugged(name: str, folds: Mapping[str, str]) -> str:
    """A name as part of an id: small letters without umlauts and accents, digits, and hyphens for all else."""
    low = name.casefold()
    for letter, plain in folds.items():
        low = low.replace(letter.casefold(), plain.casefold())
    bare = "".join(c for c in unicodedata.normalize("NFKD", low) if not unicodedata.combining(c))
    return re.sub(r"[^a-z0-9]+", "-", bare).strip("-")
