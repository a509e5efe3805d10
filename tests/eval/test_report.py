"""A report says what the result says: every figure with its interval, nothing a question holds can break out of the page, no network."""

from __future__ import annotations

import copy
import json
import re
import sys
from html.parser import HTMLParser

import pytest

from agent import texts
from agent.errors import AgentError
from agent.eval import page, report, statistics
from agent.eval.report import Result, Words
from tests.eval import sample

VOID = {"meta", "input"}


class Structure(HTMLParser):
    """Collects tags and attributes, and fails where the nesting of elements is broken."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def parsed(html: str) -> Structure:
    structure = Structure()
    structure.feed(html)
    structure.close()
    assert structure.open == []
    return structure


@pytest.fixture(scope="module")
def html() -> str:
    pytest.importorskip("matplotlib")
    return page.html(sample.result())


def test_the_page_is_whole_and_loads_nothing(html: str) -> None:
    seen = parsed(html).seen
    assert [tag for tag, _ in seen].count("svg") == 3
    assert not [tag for tag, attrs in seen if "src" in attrs or tag == "link" or str(attrs.get("href", "#"))[:1] != "#"]
    assert not re.search(r"url\((?!#)|@import|fetch\(", html)
    assert any(attrs.get("http-equiv") == "Content-Security-Policy" for _, attrs in seen)


def test_nothing_a_question_holds_becomes_markup(html: str) -> None:
    assert "&lt;script&gt;alert(1)" in html
    assert [tag for tag, _ in parsed(html).seen].count("script") == 1
    assert "&lt;niedriger&gt;" in html


def test_every_id_and_reference_of_the_drawings_fits(html: str) -> None:
    ids = [attrs["id"] for _, attrs in parsed(html).seen if "id" in attrs]
    assert len(ids) == len(set(ids))
    assert set(re.findall(r"(?:url\(|href=\")#([^)\"]+)", html)) <= set(ids)


def test_failing_questions_come_first_and_carry_what_the_filters_read(html: str) -> None:
    rows = [attrs for tag, attrs in parsed(html).seen if tag == "details" and "data-outcome" in attrs]
    assert [row["data-outcome"] for row in rows] == ["wrong", "not_scored", "right", "right"]
    assert (rows[0]["data-tags"], rows[0]["data-part"]) == (" temporal typo ", "held")


def test_the_same_result_gives_the_same_page(html: str) -> None:
    assert page.html(sample.result()) == html


def test_the_page_says_what_the_result_says(html: str) -> None:
    result = sample.result()
    words = Words.of(result)
    for score in result["scores"]:
        if not score["tag"]:
            assert words.interval(score) in html
    for text in ("echte Verschlechterung", "erwartete Zahl fehlt", "518,44 fehlt", "551,10", "0,16", "Stichtag: 30.11.2026"):
        assert text in html


@pytest.mark.parametrize(
    "name", ["refusal", "refusal_curve", "latencies_ms", "comparison", "detectable", "settings", "created", "headline"]
)
def test_what_a_run_did_not_measure_may_be_absent(name: str) -> None:
    pytest.importorskip("matplotlib")
    result: Result = copy.deepcopy(sample.result())
    del result[name]  # type: ignore[misc]
    parsed(page.html(result))
    assert report.markdown(result).startswith("# Goldset")


def test_an_empty_result_is_a_page_too() -> None:
    parsed(page.html({"title": "leer", "scores": [], "questions": []}))
    assert "Bei keiner Frage fehlt etwas." in report.markdown({"title": "leer", "scores": [], "questions": []})


def test_not_scored_is_not_nought() -> None:
    result: Result = {"title": "t", "scores": [{"measure": "MRR", "leg": "fused", "tag": "", "value": None}], "questions": []}
    assert "| MRR | nicht bewertet |" in report.markdown(result)
    assert "nicht bewertet" in page.html(result)


def test_markdown_tables_have_even_rows_whatever_a_question_holds() -> None:
    result = sample.result()
    result["questions"][1]["question"] = "a | b\nc"
    text = report.markdown(result)
    assert "a \\| b c" in text
    for block in text.split("\n\n"):
        if block.startswith("|"):
            assert len({len(re.findall(r"(?<!\\)\|", line)) for line in block.strip().splitlines()}) == 1
    assert "| hit-rate@8 | 0,820 | 0,930 | +0,110 (0,030 bis 0,200) | 0,031 | echte Verbesserung |" in text


def test_a_result_survives_json() -> None:
    result = sample.result()
    assert report.markdown(json.loads(json.dumps(result))) == report.markdown(result)


def test_the_wording_knows_every_verdict() -> None:
    assert set(texts.table("report.de")["verdicts"]) == {verdict.value for verdict in statistics.Verdict}


def test_numbers_are_written_as_the_language_writes_them() -> None:
    words = Words.of({})
    assert words.number(-0.25, 2) == "−0,25"
    assert words.number(0.25, 2, sign=True) == "+0,25"
    assert (words.duration(41.4), words.duration(34_000)) == ("41 ms", "34,0 s")
    assert words.interval({"value": 0.5, "low": None, "high": None}) == ""


def test_without_the_charts_library_one_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(AgentError, match=r"need matplotlib.*pv-agent\[report\]"):
        page.html(sample.result())
