"""Cutting Markdown into what can be quoted alone."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agent.language.segments import segments
from agent.testing import german

DE = german()

TEXT = """Ein Satz. Noch **ein** Satz
geht weiter.

### Überschrift

- Erster Punkt.
- Zweiter Punkt mit 1.1.2026.

| Name | Wert |
|---|---|
| A | 1 EUR |
| B | 2 EUR |

Annahme: Bezug 100 EUR
100 EUR × 2 = 200 EUR
Schluss."""


def test_kinds_and_texts() -> None:
    found = segments(TEXT, DE.sentences)
    assert [(s.kind, s.text) for s in found] == [
        ("sentence", "Ein Satz."),
        ("sentence", "Noch ein Satz geht weiter."),
        ("item", "Erster Punkt."),
        ("item", "Zweiter Punkt mit 1.1.2026."),
        ("row", "A · 1 EUR"),
        ("row", "B · 2 EUR"),
        ("sentence", "Annahme: Bezug 100 EUR"),
        ("sentence", "100 EUR × 2 = 200 EUR"),
        ("sentence", "Schluss."),
    ]
    assert found[4].cells == (("Name", "A"), ("Wert", "1 EUR"))


def test_spans_point_at_the_source() -> None:
    for segment in segments(TEXT, DE.sentences):
        assert segment.text.split()[0].strip("*") in TEXT[slice(*segment.span)]


@given(st.text(alphabet="ab.|- \n#*`:=1", max_size=120))
def test_never_raises_and_spans_are_in_order(text: str) -> None:
    spans = [segment.span for segment in segments(text, DE.sentences)]
    assert spans == sorted(spans)
    assert all(0 <= a < b <= len(text) for a, b in spans)
