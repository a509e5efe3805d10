"""The web as a source: excerpts with URL and day, only of public pages; off unless named; labelled in the answer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from agent import render
from agent.errors import ConfigError, SourceError
from agent.settings import Settings
from agent.sources.web import WebSearch
from agent.testing import STICHTAG, german, on
from agent.transport import Web
from agent.values import Citation, Grounded, Origin, Question, SubQuery, Trace, Validity
from agent.wiring import Bench, Place
from tests.search_server import Scripted, SearchServer

DE = german()


@pytest.fixture
def engine() -> Iterator[SearchServer]:
    with SearchServer() as server:
        yield server


def source(engine: SearchServer, seconds: float = 5.0) -> WebSearch:
    return WebSearch(Web(engine.url), DE, seconds=seconds, today=lambda: STICHTAG)


def result(url: str, content: str = "Ein Ausschnitt der Seite.", title: str = "Eine Seite") -> dict[str, str]:
    return {"url": url, "title": title, "content": content, "engine": "test"}


def test_a_hit_has_its_url_its_day_and_its_excerpt(engine: SearchServer) -> None:
    engine.results = [result("https://example.org/seite?id=1&x=(2)", "Der Wert\n beträgt | 5 EUR."), result("https://example.org/b")]
    evidence = source(engine).search(SubQuery("Wert 2026", on()), k=3)
    first, second = evidence.hits
    assert first.entry.id == "https://example.org/seite?id=1&x=%282%29@2026-11-30"
    assert (first.url, first.source, first.entry.stand, first.entry.title) == (
        "https://example.org/seite?id=1&x=(2)",
        "web",
        STICHTAG,
        "Eine Seite",
    )
    assert first.chunk.text == "Der Wert beträgt 5 EUR."
    assert first.score > second.score
    assert engine.asked == [{"q": "Wert 2026", "format": "json", "language": "de", "safesearch": "1"}]
    assert evidence.searched
    assert evidence.searched.queries == ("Wert 2026",)


def test_there_are_at_most_as_many_as_asked_for_and_each_once(engine: SearchServer) -> None:
    engine.results = [
        result("https://example.org/a"),
        result("https://example.org/a"),
        result("https://example.org/b"),
        result("https://example.org/c"),
    ]
    found = source(engine).search(SubQuery("x", on()), k=2)
    assert [hit.url for hit in found.hits] == ["https://example.org/a", "https://example.org/b"]


@pytest.mark.parametrize(
    "bad",
    [
        result("http://127.0.0.1/geheim"),
        result("file:///etc/passwd"),
        result("javascript:alert(1)"),
        result("https://example.org/ohne-text", ""),
        result("https://example.org/" + "x" * 400),
        {"title": "ohne Adresse", "content": "x"},
        {"url": 7, "content": ["x"], "title": None},
        "kein Treffer",
        None,
    ],
)
def test_what_cannot_be_shown_is_left_out(engine: SearchServer, bad: object) -> None:
    engine.results = [bad, result("https://example.org/gut")]
    assert [hit.url for hit in source(engine).search(SubQuery("x", on()), k=3).hits] == ["https://example.org/gut"]


@pytest.mark.parametrize(
    ("said", "mend"),
    [
        (Scripted(403), "search.formats"),
        (Scripted(500), "log"),
        (Scripted(body=b"<html>"), "PV_WEB_URL"),
        (Scripted(body=b"[]"), "PV_WEB_URL"),
        (Scripted(body=b'{"results": 3}'), "PV_WEB_URL"),
        (Scripted(302, {"Location": "http://169.254.169.254/"}), "169.254.169.254"),
        (Scripted(wait=30), "longer than"),
    ],
)
def test_an_engine_that_fails_is_one_sentence(engine: SearchServer, said: Scripted, mend: str) -> None:
    engine.script = [said]
    with pytest.raises(SourceError, match=mend):
        source(engine, seconds=0.5).search(SubQuery("x", on()), k=3)


def test_it_is_off_unless_it_is_named_and_has_an_address(tmp_path: Path) -> None:
    here = Place(tmp_path, tmp_path / "index.db", tmp_path / "runs.db", tmp_path / "goldset.yaml")

    def named(settings: Settings) -> list[str]:
        bench = Bench(settings, here, code="de")
        vars(bench)["wissensbasis"] = source  # the index is not what this is about
        return list(bench.sources)

    assert named(Settings()) == ["wissensbasis", "sql"]
    assert named(Settings(web_url="http://127.0.0.1:8888")) == ["wissensbasis", "sql"]
    assert named(Settings(sources="web", web_url="http://127.0.0.1:8888")) == ["wissensbasis", "web"]
    with pytest.raises(ConfigError, match="PV_WEB_URL"):
        named(Settings(sources="wissensbasis web"))
    with pytest.raises(ConfigError, match="wissensbasis, sql, web"):
        named(Settings(sources="wissensbasis, internet"))


def test_it_is_labelled_in_the_answer() -> None:
    citation = Citation(
        "https://example.org/a@2026-11-30", "Eine Seite", STICHTAG, Validity.UNKNOWN, "", "web", quote="x", url="https://example.org/a"
    )
    answer = Grounded("Text [https://example.org/a@2026-11-30].", (citation,), Origin.STRATEGY, Trace(Question("Frage?", STICHTAG)))
    shown = render.answer(answer, DE)
    assert "[https://example.org/a@2026-11-30] Eine Seite · aus dem Web, gefunden am 30.11.2026 · https://example.org/a" in shown


def test_an_answer_that_rests_on_the_web_says_so() -> None:
    from agent import outcome
    from agent.testing import parts

    def warnings(kind: str) -> tuple[str, ...]:
        citation = Citation("a", "A", STICHTAG, Validity.UNKNOWN, "", kind)
        return outcome.grounded("Text [a].", (citation,), Origin.STRATEGY, Trace(Question("Frage?", STICHTAG)), parts([])).trace.warnings

    assert warnings("web") == (DE.message("web_cited"),)
    assert warnings("wissensbasis") == ()
