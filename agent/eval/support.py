"""Whether what an answer says stands in what it cites, and whether it says figures of another time or case; pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from agent.eval.figures import Figures
from agent.eval.goldset import Case, named_periods
from agent.language import Language, citations
from agent.values import Hit

LEAST = 0.6
"""The share of a sentence's words that must stand in one cited piece for the sentence to count as supported."""


@dataclass(frozen=True, slots=True)
class Support:
    """How many sentences an answer has, those nothing cited carries, and the figures no cited piece holds."""

    sentences: int
    unsupported: tuple[str, ...]
    foreign: tuple[str, ...]

    @property
    def share(self) -> float | None:
        """The share of supported sentences; None for a text that says nothing."""
        return 1 - len(self.unsupported) / self.sentences if self.sentences else None


def support(answer: str, question: str, hits: Sequence[Hit], figures: Figures) -> Support:
    """Sentence by sentence: every figure stands in a cited entry (or in the question), and enough of the words in one piece of it.

    The share of words is K-precision (Adlakha et al. 2023), taken per sentence against its own citations instead of per answer.
    """
    language = figures.language
    pieces: dict[str, list[Hit]] = {}
    for hit in hits:
        pieces.setdefault(hit.entry.id, []).append(hit)
    spoken, unsupported, foreign = 0, [], list[str]()
    for start, end in language.sentences(answer):
        sentence = answer[start:end]
        plain = citations.without(sentence)
        terms = [term for term in language.terms(plain) if not language.tells_time(term)]
        if not terms:
            continue
        spoken += 1
        cited = [hit for name in citations.cited(sentence) for hit in pieces.get(name, ())]
        beside = figures.missing(plain, "\n\n".join([*(_text(hit) for hit in cited), question, figures.worked(plain)]))
        foreign += beside
        if beside or not cited or max(_held(terms, hit, language) for hit in cited) < LEAST:
            unsupported.append(plain)
    return Support(spoken, tuple(unsupported), tuple(dict.fromkeys(foreign)))


def _text(hit: Hit) -> str:
    return f"{hit.entry.title}\n{hit.chunk.section}\n{hit.chunk.text}"


def _held(terms: Sequence[str], hit: Hit, language: Language) -> float:
    held = set(language.terms(_text(hit)))
    return sum(term in held for term in terms) / len(terms)


# --- values of another time or case ---------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Dated:
    """A dated value: which thing (`key`), the value as it is written, and the days it holds (None = open)."""

    key: str
    written: str
    start: date | None
    end: date | None


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Values an answer must not give: those of other `times` nowhere, those of other `rows` in no sentence without the expected value.

    A sentence with both is a whole statement of the base ("bis 18 Jahre 166,68 EUR, danach 58,34 EUR") and says which holds for whom.
    """

    times: tuple[str, ...] = ()
    rows: tuple[str, ...] = ()

    def said(self, answer: str, expected: Collection[str], figures: Figures) -> tuple[str, ...]:
        """Which of these values an answer states where it must not."""
        spans = figures.language.sentences(answer)
        bare = [answer[a:b] for a, b in spans if all(figures.missing(figure, citations.without(answer[a:b])) for figure in expected)]
        return tuple(dict.fromkeys((*said(self.times, answer, figures), *said(self.rows, "\n".join(bare), figures))))


def neighbours(case: Case, values: Sequence[Dated], figures: Figures, names_key: Callable[[str], bool]) -> Neighbours:
    """The values of another row or time of a thing that the case expects a value of.

    A thing is meant where one of its values on a day of the question is expected and `names_key` finds its key in an expected source.
    """
    about = named_periods(case)
    expected = "\n".join(case.figures)
    meant = {
        value.key
        for value in values
        if not figures.missing(value.written, expected)
        and figures.any(value.written)
        and any(period.overlaps(value.start, value.end) for period in about)
        and names_key(value.key)
    }
    others = [value for value in values if value.key in meant and figures.any(value.written) and figures.missing(value.written, expected)]
    rows = dict.fromkeys(value.written for value in others if any(period.overlaps(value.start, value.end) for period in about))
    return Neighbours(tuple(dict.fromkeys(value.written for value in others if value.written not in rows)), tuple(rows))


def said(written: Collection[str], answer: str, figures: Figures) -> tuple[str, ...]:
    """Which of these values an answer states."""
    plain = citations.without(answer)
    return tuple(value for value in written if not figures.missing(value, plain))


def of_case(case: Case, answer: str, figures: Figures) -> Mapping[str, bool]:
    """Each expected figure, and whether the answer states it."""
    plain = citations.without(answer)
    return {figure: not figures.missing(figure, plain) for figure in case.figures}
