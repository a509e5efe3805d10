"""Mutation check of grounding over the shipped entries: no answer with one altered digit, unit, year or id is published as it stands."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from agent.grounding import Supported, ground
from agent.ingest import register
from agent.ingest.chunks import cut
from agent.language.pieces import Piece, pieces
from agent.language.timing import FIRST, LAST
from agent.testing import german
from agent.values import Draft, Entry, Evidence, Hit, Origin, Period

KB = Path(__file__).parents[1] / "wissensbasis"
DE = german()
ALWAYS = Period(FIRST, LAST)
SAMPLE = 500


@cache
def sample() -> tuple[tuple[Evidence, Piece, str], ...]:
    """Pieces with a figure, with all of their entry as evidence; the same ones every time."""
    found = [
        (evidence(entry), piece, entry.info.id)
        for entry in register.admitted(KB).entries
        for chunk in cut(entry, DE)
        if not DE.only_if_alone(chunk.section)
        for piece in pieces(entry.info.title, chunk.text, DE)
        if re.search(r"\d", piece.text) and "Annahme" not in piece.text  # an example's assumption claims nothing
    ]
    return tuple(random.Random(2026).sample(found, min(SAMPLE, len(found))))


def evidence(entry: Entry) -> Evidence:
    return Evidence(tuple(Hit(chunk, entry.info, 1.0) for chunk in cut(entry, DE)))


def published(text: str, found: Evidence) -> str:
    """What would reach the reader: the text, what is left of it without faulty sentences, or nothing."""
    outcome = ground(Draft(text, Origin.POINT), found, DE, question="", period=ALWAYS)
    return outcome.text if isinstance(outcome, Supported) else ""


def answer(text: str, identifier: str) -> str:
    return f"{text.rstrip('.!? ')} [{identifier}]."


def test_of_the_unaltered_ones_at_most_one_in_a_hundred_is_refused() -> None:
    refused = [piece.text for found, piece, identifier in sample() if not published(answer(piece.text, identifier), found)]
    assert len(refused) <= len(sample()) // 100, refused


def digit(text: str, chance: random.Random) -> str:
    """One digit changed, of a number that is neither a norm's nor a year."""
    spots = [
        m.start()
        for m in re.finditer(
            r"\d", re.sub(r"§+ ?[\w., ]*|Abs \d+|Z \d+|BGBl[^,;.]*|Rz \d+|(?:19|20)\d\d(?!\d)", lambda m: "x" * len(m.group()), text)
        )
    ]
    if not spots:
        return text
    spot = chance.choice(spots)
    altered = chance.choice([d for d in "123456789" if d != text[spot]])  # no leading zero: "05" is 5
    return f"{text[:spot]}{altered}{text[spot + 1 :]}"


def year(text: str, chance: random.Random) -> str:
    years = list(re.finditer(r"(?<![\d.])20[12]\d(?!\d)", text))
    if not years:
        return text
    found = chance.choice(years)
    # far enough that no value of the base holds then by chance: the year before often had the same rate
    return f"{text[: found.start()]}{int(found.group()) - chance.randint(30, 60)}{text[found.end() :]}"


UNITS = (
    ("monatlich", "täglich"),
    ("täglich", "jährlich"),
    ("jährlich", "monatlich"),
    ("Monate", "Wochen"),
    ("Wochen", "Tage"),
    ("%", "EUR"),
)


def unit(text: str, _: random.Random) -> str:
    """The unit or period behind a figure changed."""
    for one, other in UNITS:
        found = re.search(rf"\d (?:EUR )?({one})(?!\w)", text)
        if found:
            return text[: found.start(1)] + other + text[found.end(1) :]
    return text


def changed(alter: Callable[[str, random.Random], str]) -> Iterator[tuple[Evidence, str, str, str]]:
    chance = random.Random(7)
    for found, piece, identifier in sample():
        altered = alter(piece.text, chance)
        if altered != piece.text:
            yield found, piece.text, altered, identifier


@pytest.mark.parametrize("alter", [digit, year, unit])
def test_nothing_altered_is_published(alter: Callable[[str, random.Random], str]) -> None:
    cases = list(changed(alter))
    assert len(cases) > 30
    slipped = [(text, altered) for found, text, altered, identifier in cases if published(answer(altered, identifier), found)]
    assert slipped == []


def test_no_foreign_id_is_published() -> None:
    assert not any(published(answer(piece.text, f"{identifier}x"), found) for found, piece, identifier in sample())
