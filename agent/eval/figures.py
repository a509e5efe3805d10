"""Which figures of one text another does not hold: how an answer's figures are checked; pure."""

from __future__ import annotations

from dataclasses import dataclass

from agent.language import Language


@dataclass(frozen=True, slots=True)
class Figures:
    """The comparison for one language. Years, dates and norms are no figures here: they say when and by which rule, not how much."""

    language: Language

    def missing(self, claim: str, source: str) -> tuple[str, ...]:
        """The figures of `claim`, as written, that no figure of `source` states."""
        stated = {term for term, _ in self.language.tokens(source)}
        return tuple(dict.fromkeys(word for term, word in self.language.tokens(claim) if self._figure(term) and term not in stated))

    def any(self, text: str) -> bool:
        """Whether a text holds a figure at all."""
        return any(self._figure(term) for term in self.language.terms(text))

    def _figure(self, term: str) -> bool:
        return term[0].isdigit() and not self.language.tells_time(term)
