"""Where two entries give different values for the same thing and the same days: which one is answered, and which is named beside it; pure.

The same thing are two rows with the same key (or, where one has none, with the same label), or two sentences that differ in one figure
only. Nothing is guessed from likeness: a conflict that is none would take a right value from an answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import reduce

from agent.language import Language, citations
from agent.language.figures import Figure, parse, supports
from agent.language.pieces import Piece, holding, pieces
from agent.language.timing import FIRST, LAST, mentions
from agent.values import Conflict, Evidence, Hit, Period

VALUES = ("amount", "percent", "quantity", "number", "fraction")
"""The kinds of figures that are a value; a date, a norm or an ordinal says what the value holds for."""
LABEL = 2
"""Words a label or a sentence needs to name a thing without its entry's title."""


@dataclass(frozen=True, slots=True)
class _Statement:
    """A piece that states a value: of what, for which days, and how high its entry was ranked."""

    hit: Hit
    piece: Piece
    subject: tuple[str, ...]
    key: str
    value: str
    figures: tuple[Figure, ...]
    days: tuple[date, date]
    rank: int


def settled(evidence: Evidence, period: Period, language: Language) -> Evidence:
    """The evidence with its conflicts; what they overrule is no longer quotable."""
    if len(evidence.ids) < 2:
        return evidence
    alike: dict[tuple[str, ...], list[_Statement]] = {}
    for statement in _statements(evidence, period, language):
        for name in {(statement.key,), statement.subject} - {("",)}:
            alike.setdefault(name, []).append(statement)
    conflicts = [conflict for group in alike.values() for conflict in _among(group, period, language)]
    return replace(evidence, conflicts=tuple(dict.fromkeys(conflicts))) if conflicts else evidence


def told(evidence: Evidence, text: str, language: Language) -> tuple[Conflict, ...]:
    """The conflicts about a value that an answer's text states."""
    sentences = [text[a:b] for a, b in language.sentences(text)] if evidence.conflicts else []
    return tuple(
        conflict
        for conflict in evidence.conflicts
        if any(conflict.holder in citations.cited(sentence) and _states(sentence, conflict.value, language) for sentence in sentences)
    )


def _states(sentence: str, value: str, language: Language) -> bool:
    said = parse(citations.without(sentence), language.notation)
    return all(any(supports(figure, wanted) or supports(wanted, figure) for figure in said) for wanted in parse(value, language.notation))


# --- what is stated -------------------------------------------------------------------------------


def _statements(evidence: Evidence, period: Period, language: Language) -> list[_Statement]:
    """Every piece that states a value for a day of the period."""
    ranks = {entry_id: rank for rank, entry_id in enumerate(dict.fromkeys(hit.entry.id for hit in evidence.hits))}
    made = (
        _statement(hit, piece, ranks[hit.entry.id], language)
        for hit in evidence.hits
        for piece in pieces(hit.entry.title, hit.chunk.text, language)
    )
    return [found for found in made if found and found.days[0] <= period.end and found.days[1] >= period.start]


def _statement(hit: Hit, piece: Piece, rank: int, language: Language) -> _Statement | None:
    cells = dict(piece.segment.cells)
    row = bool(cells)
    label = _cell(cells, language, "label_columns") if row else piece.text
    value = _cell(cells, language, "value_columns") if row else piece.text
    figures = tuple(figure for figure in parse(value, language.notation) if figure.kind in VALUES and not figure.weak)
    if not figures or (not row and len(figures) > 1):
        return None
    subject = _words(label, () if row else figures, language)
    if len([word for word in subject if word[:1].isalpha()]) < LABEL:
        subject = (*language.terms(hit.entry.title), "|", *subject)
    return _Statement(
        hit,
        piece,
        (piece.segment.kind, *subject),
        _cell(cells, language, "hidden_columns"),
        value if row else figures[0].text,
        figures,
        _days(hit, holding(piece, language), language),
        rank,
    )


def _cell(cells: dict[str, str], language: Language, columns: str) -> str:
    return next((cells[name] for name in language.table[columns] if cells.get(name)), "")


def _words(text: str, figures: Sequence[Figure], language: Language) -> tuple[str, ...]:
    """The terms of a text in order, its value left out and what tells its time, too."""
    for figure in reversed(figures):
        text = f"{text[: figure.span[0]]} | {text[figure.span[1] :]}"
    return tuple(term for term in language.terms(text) if not language.tells_time(term))


def _days(hit: Hit, text: str, language: Language) -> tuple[date, date]:
    """The days a statement holds: those it names, within those its entry is valid."""
    named = [mention.reach for mention in mentions(text, language)]
    start = max(min((days.start for days in named), default=FIRST), hit.entry.valid_from or FIRST)
    end = min(max((days.end for days in named), default=LAST), hit.entry.valid_to or LAST)
    return start, end


# --- what differs ---------------------------------------------------------------------------------


def _among(group: Sequence[_Statement], period: Period, language: Language) -> Iterable[Conflict]:
    """The conflicts among statements on one thing: each entry speaks with its latest one, and the one that prevails is answered."""
    latest: dict[str, _Statement] = {}
    for statement in group:
        known = latest.get(statement.hit.entry.id)
        if known is None or statement.days[0] > known.days[0]:
            latest[statement.hit.entry.id] = statement
    if len(latest) < 2:
        return
    kept = reduce(_prevailing, latest.values())
    for other in latest.values():
        if _differ(kept, other) and max(kept.days[0], other.days[0], period.start) <= min(kept.days[1], other.days[1], period.end):
            subject = _subject(kept, language)
            yield Conflict(subject, _told(kept, language), _told(other, language), kept.hit.entry.id, kept.value, other.piece.key)


def _prevailing(one: _Statement, other: _Statement) -> _Statement:
    """The statement that holds from a later day; where that is not told, the one of the newer Stand; else the better ranked."""
    starts = (one.days[0], other.days[0])
    if FIRST not in starts and starts[0] != starts[1]:
        return one if starts[0] > starts[1] else other
    if one.hit.entry.stand != other.hit.entry.stand:
        return one if one.hit.entry.stand > other.hit.entry.stand else other
    return one if one.rank <= other.rank else other


def _differ(one: _Statement, other: _Statement) -> bool:
    """Whether two statements give comparable values, figure by figure, of which one is another."""
    if one.key and other.key and one.key != other.key:
        return False
    if len(one.figures) != len(other.figures):
        return False
    pairs = list(zip(one.figures, other.figures, strict=True))
    comparable = all(_form(a) == _form(b) and (a.period == b.period or None in (a.period, b.period)) for a, b in pairs)
    return comparable and not all(supports(a, b) or supports(b, a) for a, b in pairs)


def _form(figure: Figure) -> tuple[str, str | None, str | None, bool]:
    return figure.kind, figure.unit, figure.bound, figure.end is None


def _subject(statement: _Statement, language: Language) -> str:
    label = _cell(dict(statement.piece.segment.cells), language, "label_columns")
    return label or statement.hit.entry.title


def _told(statement: _Statement, language: Language) -> str:
    """A value with the days it holds, its entry and that entry's Stand."""
    entry = statement.hit.entry
    start, end = statement.days
    days = language.validity(None if start == FIRST else start, None if end == LAST else end)
    told = (days, entry.id, language.message("stand", stand=language.day(entry.stand)))
    return f"{statement.value} ({', '.join(part for part in told if part)})"
