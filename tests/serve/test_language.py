"""Errors of the API in the language a request prefers, else in the server's; the words of the page from the same catalogue."""

from __future__ import annotations

import json

import pytest

from agent import i18n
from tests.serve.conftest import QUESTION, Serve, Served

GERMAN = {"Accept-Language": "de-AT,de;q=0.9,en;q=0.8"}


@pytest.mark.parametrize(
    ("accepted", "language"),
    [
        ("", ""),
        ("de", "de"),
        ("de-AT,de;q=0.9,en;q=0.8", "de"),
        ("fr, en;q=0.8, de;q=0.7", "en"),
        ("en;q=0.2, de;q=0.7", "de"),
        ("de;q=0, en", "en"),
        ("fr, *;q=0.5", ""),
        ("de;q=viel", ""),
        ("\xff\xfe;;;,,=", ""),
    ],
)
def test_what_a_request_prefers(accepted: str, language: str) -> None:
    assert i18n.preferred(accepted) == language


def test_a_problem_is_told_in_the_language_of_its_request(served: Served) -> None:
    german, english, plain = (
        served.client.get("/entries/pv-nichts", headers=headers).json() for headers in (GERMAN, {"Accept-Language": "en"}, {})
    )
    assert (german["title"], german["detail"]) == ("Nicht gefunden", "Es gibt keinen Eintrag 'pv-nichts'.")
    assert (english["title"], english["detail"]) == ("Not Found", "There is no entry 'pv-nichts'.")
    assert (plain["title"], plain["code"]) == ("Not Found", german["code"])


def test_what_goes_wrong_in_a_thread_is_told_so_too(served: Served) -> None:
    call = {"question": QUESTION, "scope": "nirgends"}
    german = served.client.post("/ask", json=call, headers=GERMAN).json()
    assert german["detail"].startswith("Es gibt keinen Bereich 'nirgends'.")
    assert served.client.post("/ask", json=call).json()["detail"].startswith("There is no scope 'nirgends'.")


def test_what_the_guard_refuses_is_told_so_too(served: Served) -> None:
    refused = served.client.get("/health", headers={**GERMAN, "Host": "evil.example"})
    assert refused.json()["detail"] == "Dieser Server antwortet nicht auf den Namen 'evil.example'."
    again = served.client.get("/health", headers={"Host": "evil.example"})
    assert again.json()["detail"] == "This server does not answer to the name 'evil.example'."


def test_an_answer_keeps_to_the_language_of_the_knowledge_base(served: Served) -> None:
    german, english = (served.client.post("/ask", json={"question": QUESTION}, headers=headers).json() for headers in (GERMAN, {}))
    assert german["answer"] == english["answer"]


def test_without_a_preference_the_server_speaks_its_own_language(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PV_LANG", "de")
    served = serve()
    assert served.client.get("/entries/pv-nichts").json()["title"] == "Nicht gefunden"
    assert served.client.get("/entries/pv-nichts", headers={"Accept-Language": "en"}).json()["title"] == "Not Found"


@pytest.mark.parametrize(("language", "title"), [("de", "Wissensbasis befragen"), ("en", "Ask the knowledge base")])
def test_the_words_of_the_page_are_a_module_of_it(served: Served, language: str, title: str) -> None:
    response = served.client.get(f"/static/strings.{language}.js")
    assert response.headers["content-type"].startswith("text/javascript")
    words = json.loads(response.text.partition("export default ")[2].strip().removesuffix(";"))
    assert words["title"] == title


def test_there_are_no_words_in_other_languages(served: Served) -> None:
    assert served.client.get("/static/strings.fr.js").status_code == 404
    assert served.client.get("/static/strings.js").text.startswith("// The words of the page")
