"""What a sentence says against a text without any figure."""

from __future__ import annotations

import pytest

from agent.language.denial import contrary
from agent.language.pieces import pieces
from agent.testing import german

DE = german()
TEXT = """Ortsübliches Trinkgeld ist lohnsteuerfrei, aber beitragspflichtig. Bei Selbstkündigung besteht kein Anspruch auf Postensuchtage.
Den Beitrag trägt der Dienstgeber allein. Eine Vereinbarung darüber ist unwirksam. Die Prämie erhöht das Sechstel nicht."""


@pytest.mark.parametrize(
    "sentence",
    [
        "Trinkgeld ist lohnsteuerpflichtig.",
        "Trinkgeld ist steuerpflichtig.",
        "Trinkgeld ist steuer- und beitragsfrei.",
        "Bei Selbstkündigung besteht Anspruch auf Postensuchtage.",
        "Den Beitrag trägt der Dienstnehmer allein.",
        "Eine Vereinbarung darüber ist wirksam.",
        "Die Prämie erhöht das Sechstel.",
    ],
)
def test_the_contrary_is_found(sentence: str) -> None:
    assert contrary(sentence, pieces("T", TEXT, DE), DE)


@pytest.mark.parametrize(
    "sentence",
    [
        "Trinkgeld ist nicht steuerpflichtig.",
        "Trinkgeld ist lohnsteuerfrei und beitragspflichtig.",
        "Bei Selbstkündigung gibt es keine Postensuchtage.",
        "Der Dienstgeber trägt den Beitrag.",
        "Der Dienstnehmer trägt die Kosten.",
        "Die Prämie erhöht das Sechstel nicht.",
        "Die Abgabe ist steuerpflichtig.",
        "",
    ],
)
def test_what_agrees_or_speaks_of_something_else_is_not(sentence: str) -> None:
    assert contrary(sentence, pieces("T", TEXT, DE), DE) == []
