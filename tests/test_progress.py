"""What a question says while it is under way: every search, what it found, what a model is to decide; nothing that steers a terminal."""

from __future__ import annotations

from io import StringIO

import pytest

from agent.progress import spinner
from agent.testing import german


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("kind", "data", "said"),
    [
        ("searching", {"source": "sql", "query": "HBG 2026"}, "Suche in sql: HBG 2026"),
        ("hop", {"ids": ("pv-a", "pv-b"), "note": ""}, "Gefunden: pv-a, pv-b"),
        ("hop", {"ids": (), "note": ""}, "Gefunden: –"),
        ("hop", {"ids": (), "note": "Die Suche antwortet nicht."}, "Die Suche antwortet nicht."),
        ("deciding", {"hop": 2}, "Das Sprachmodell wählt den nächsten Schritt …"),
        ("classified", {"by": "trained", "label": "B", "error": ""}, "Eingestuft als B."),
        ("searching", {"source": "web", "query": "a\x1b[2J\u202eb"}, "Suche in web: a[2Jb"),
        ("called", {"text": "…"}, ""),
    ],
)
def test_steps_are_told(kind: str, data: dict[str, object], said: str) -> None:
    stream = Terminal()
    with spinner(stream, quiet=False, language=german()) as listener:
        listener(kind, data)
    assert stream.getvalue() == (f"\033[2m{said}\033[0m\n" if said else "")


def test_nothing_is_told_where_nobody_looks() -> None:
    for stream, quiet in ((StringIO(), False), (Terminal(), True)):
        with spinner(stream, quiet=quiet, language=german()) as listener:
            listener("deciding", {"hop": 1})
        assert stream.getvalue() == ""
