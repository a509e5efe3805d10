"""Makes the database of dated values from `werte.yaml`: each row as it is read, what it is called, and which entries hold it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date

from agent import texts
from agent.errors import KnowledgeBaseError
from agent.ingest import tables
from agent.ingest.register import Admission
from agent.ingest.werte import Notation, Wert, read
from agent.language import Language
from agent.values import DatedValue, Entry, EntryInfo

_ASIDE = re.compile(r"\([^()]*\)")


@dataclass
class _Held:
    """What the entries' tables say of one value: who holds it, and how they call it."""

    entries: list[EntryInfo] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)


def dated(admission: Admission, language: Language, *, skip_bad: bool = False) -> tuple[DatedValue, ...]:
    """The values of what was admitted; none without a `werte.yaml`. Raises KnowledgeBaseError at an unsound one, unless `skip_bad`."""
    werte, problems = read(admission.kb_dir)
    entries = admission.entries
    if problems and not skip_bad:
        raise KnowledgeBaseError(f"{problems[0].path}:{problems[0].line}: {problems[0].message}", problems[0].mend)
    if not werte:
        return ()
    notation = Notation(texts.table(f"kb.{language.code}"))
    held = _held(entries, notation)
    newest = max((entry.info.stand for entry in entries), default=date.min)
    return tuple(_value(wert, held.get((wert.name, notation.period(wert)), _Held()), newest, notation, language) for wert in werte)


def meta(admission: Admission, language: Language) -> dict[str, str]:
    """What the database says of itself: made with another analyser its terms are of no use."""
    return {"language": language.version, "kb_version": admission.version}


def _held(entries: Iterable[Entry], notation: Notation) -> Mapping[tuple[str, str], _Held]:
    """What is held under each (name, days as written)."""
    label, _, period, _, key = notation.forms["columns"]
    found: dict[tuple[str, str], _Held] = {}
    for entry in entries:
        for head, _, *rows in (table for section in entry.sections for table in tables.found(section.text) if len(table) > 1):
            for row in rows:
                said = dict(zip(head.cells, row.cells, strict=False))
                if said.get(key):
                    held = found.setdefault((said[key].strip("`"), said.get(period, "")), _Held())
                    held.entries.append(entry.info)
                    held.labels.append(said.get(label, ""))
    return found


def _value(wert: Wert, held: _Held, newest: date, notation: Notation, language: Language) -> DatedValue:
    called = (wert.label, _ASIDE.sub(" ", wert.label), *held.labels)
    labels = dict.fromkeys(_terms(label, language) for label in called)
    holders = " ".join(" ".join((entry.title, *entry.tags)) for entry in held.entries)
    return DatedValue(
        wert.key,
        wert.row or "",
        wert.label,
        wert.value if isinstance(wert.value, str) else float(wert.value),
        wert.unit,
        wert.period,
        wert.valid_from,
        wert.valid_to,
        wert.norm,
        max((entry.stand for entry in held.entries), default=newest),
        notation.table([wert], [wert.name]),
        tuple(dict.fromkeys(entry.id for entry in held.entries)),
        tuple(label for label in labels if label),
        _terms(" ".join((holders, wert.unit or "", wert.period or "")), language),
        start_known=not wert.seit_ungeprueft,
    )


def _terms(text: str, language: Language) -> frozenset[str]:
    return frozenset(term for term in language.terms(text) if not language.tells_time(term))
