"""What stands before the API: each wrong request gets its status and its code, and the server goes on."""

from __future__ import annotations

import json
import socket
import time

import httpx
import pytest

from agent.settings import Settings
from tests.serve.conftest import QUESTION, Serve, Served

TOKEN = "ein-token-mit-genug-zeichen"


def raw(port: int, text: bytes, *, patience: float = 10) -> bytes:
    """What the server answers to these bytes, up to the end of the connection or of the patience."""
    with socket.create_connection(("127.0.0.1", port), timeout=patience) as connection:
        connection.sendall(text)
        received = b""
        try:
            while chunk := connection.recv(65536):
                received += chunk
        except TimeoutError:
            pass
        return received


def problem(response: httpx.Response, status: int, code: str) -> None:
    assert (response.status_code, response.json()["code"]) == (status, code)
    assert response.headers["content-type"] == "application/problem+json"
    assert response.json()["request_id"] == response.headers["x-request-id"]


def alive(served: Served) -> None:
    assert "551,10" in served.ask().json()["answer"]


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8080", "localhost.evil.example", "", "127.0.0.1.evil.example", "local host"]
)
def test_a_foreign_host_is_turned_away(served: Served, host: str) -> None:
    problem(served.client.get("/health", headers={"Host": host}), 421, "foreign_host")
    alive(served)


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "127.0.0.1", "[::1]:8080", "192.168.1.5:80"])
def test_a_host_that_cannot_be_made_to_lie_is_let_in(served: Served, host: str) -> None:
    assert served.client.get("/health", headers={"Host": host}).status_code == 200


def test_configured_hosts_are_let_in(serve: Serve) -> None:
    served = serve(allowed_hosts="payroll.example, other.example")
    assert served.client.get("/health", headers={"Host": "Payroll.example:443"}).status_code == 200
    assert served.client.get("/health", headers={"Host": "third.example"}).status_code == 421


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://localhost:1", "file://"])
def test_a_foreign_origin_may_not_ask(served: Served, origin: str) -> None:
    asked = served.client.post("/ask", json={"question": QUESTION}, headers={"Origin": origin})
    problem(asked, 403, "foreign_origin")
    assert "access-control-allow-origin" not in asked.headers
    alive(served)


def test_its_own_page_may_ask(served: Served) -> None:
    own = f"http://127.0.0.1:{served.port}"
    assert served.client.post("/ask", json={"question": QUESTION}, headers={"Origin": own}).status_code == 200


def test_another_page_cannot_read_by_an_image_or_a_script(served: Served) -> None:
    problem(served.client.get("/search", params={"q": "Urlaub"}, headers={"Sec-Fetch-Site": "cross-site"}), 403, "foreign_origin")
    assert served.client.get("/search", params={"q": "Urlaub"}, headers={"Sec-Fetch-Site": "same-origin"}).status_code == 200


def test_a_configured_origin_may_ask_and_only_that(serve: Serve) -> None:
    served = serve(cors_origins="https://intranet.example", token=TOKEN)
    wanted = {
        "Origin": "https://intranet.example",
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization",
    }
    preflight = served.client.options("/ask", headers=wanted)
    assert preflight.status_code == 200
    assert preflight.headers["access-control-allow-origin"] == "https://intranet.example"
    bearing = {"Origin": "https://intranet.example", "Authorization": f"Bearer {TOKEN}"}
    asked = served.client.post("/ask", json={"question": QUESTION}, headers=bearing)
    assert (asked.status_code, asked.headers["access-control-allow-origin"]) == (200, "https://intranet.example")
    assert served.client.options("/ask", headers={**wanted, "Origin": "https://evil.example"}).status_code == 403


@pytest.mark.parametrize("given", [{}, {"Authorization": "Bearer falsch"}, {"Authorization": f"Basic {TOKEN}"}, {"Authorization": TOKEN}])
def test_without_the_token_nothing_is_told(serve: Serve, given: dict[str, str]) -> None:
    served = serve(token=TOKEN)
    for path in ("/health", "/config", "/search?q=x", "/entries/pv-urlaub", "/openapi.json", "/reindex", "/runs/20200101-000000-abcdef"):
        refused = served.client.get(path, headers=given)
        problem(refused, 401, "token_missing")
        assert refused.headers["www-authenticate"] == "Bearer"
    problem(served.client.post("/ask", json={"question": QUESTION}, headers=given), 401, "token_missing")
    problem(served.client.post("/reindex", headers=given), 401, "token_missing")
    assert served.client.get("/").status_code == 200  # the page itself, which asks for it
    bearing = {"Authorization": f"Bearer {TOKEN}"}
    assert served.client.post("/ask", json={"question": QUESTION}, headers=bearing).status_code == 200


def test_an_oversized_body_is_not_read(served: Served) -> None:
    problem(served.client.post("/ask", json={"question": "x" * 70_000}), 413, "too_large")
    chunked = served.client.post("/ask", content=(b"x" * 1000 for _ in range(100)), headers={"Content-Type": "application/json"})
    problem(chunked, 413, "too_large")
    alive(served)


def test_a_long_question_is_a_sentence(served: Served) -> None:
    problem(served.ask("Wie " * 1100), 400, "bad_request")
    problem(served.ask("?!"), 400, "bad_request")
    problem(served.client.post("/ask/stream", json={"question": "  ?"}), 400, "bad_request")


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b'{"question": "\xff\xfe Wie hoch"}', 400),
        (b'{"question": "\\ud800 Wie hoch"}', 422),
        (b"{", 422),
        (b"[]", 422),
        (b"", 422),
        (b"null", 422),
        (b'{"question": 7}', 422),
        (b'{"question": "Wie?", "stichtag": "31.2.2026"}', 422),
        (b'{"question": "Wie?", "strategy": "raten"}', 422),
        (b'{"question": "Wie?", "review": "vielleicht"}', 422),
        (b'{"question": "Wie?", "frage": "x"}', 422),
        (b'{"question": "Wie?", "scope": "mond"}', 400),
        (b"[" * 30_000, 400),
    ],
)
def test_what_has_not_the_form_it_should_have_is_told(served: Served, body: bytes, status: int) -> None:
    said = served.client.post("/ask", content=body, headers={"Content-Type": "application/json"})
    assert said.status_code == status, said.text
    assert said.headers["content-type"] == "application/problem+json"
    alive(served)


def test_a_client_that_sends_slowly_is_let_go(serve: Serve) -> None:
    served = serve(request_timeout=0.5)
    start = time.monotonic()
    body = raw(served.port, b"POST /ask HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{")
    head = raw(served.port, b"GET /health HTTP/1.1\r\nHost: local")
    nothing = raw(served.port, b"")
    assert body.startswith(b"HTTP/1.1 408")
    assert json.loads(body.partition(b"\r\n\r\n")[2])["code"] == "too_slow"
    assert head.startswith(b"HTTP/1.1 408")
    assert nothing.startswith(b"HTTP/1.1 408")
    assert time.monotonic() - start < 8
    alive(served)


@pytest.mark.parametrize("bytes_", [b"\x16\x03\x01\x02\x00", b"GET / HTTP/1.1\r\n\r\n", b"GET /\xff HTTP/1.1\r\nHost: localhost\r\n\r\n"])
def test_what_is_no_request_is_turned_away(served: Served, bytes_: bytes) -> None:
    assert raw(served.port, bytes_ + b"\r\n\r\n", patience=2).startswith(b"HTTP/1.1 4")
    alive(served)


def test_a_path_and_a_method_that_do_not_exist(served: Served) -> None:
    problem(served.client.get("/nirgends"), 404, "not_found")
    wrong = served.client.get("/ask")
    problem(wrong, 405, "method_not_allowed")
    assert wrong.headers["allow"] == "POST"
    problem(served.client.get("/static/..%2f..%2fservice.py"), 404, "not_found")


def test_every_answer_has_its_headers(served: Served) -> None:
    for response in (
        served.client.get("/"),
        served.ask(),
        served.client.get("/nirgends"),
        served.client.get("/health", headers={"Host": "x"}),
    ):
        assert "default-src 'none'" in response.headers["content-security-policy"]
        assert "'unsafe" not in response.headers["content-security-policy"]
        assert response.headers["x-content-type-options"] == "nosniff"
    assert served.ask().headers["cache-control"] == "no-store"
    assert served.client.get("/health", headers={"X-Request-ID": "abc-1"}).headers["x-request-id"] == "abc-1"
    assert served.client.get("/health", headers={"X-Request-ID": "a b"}).headers["x-request-id"] != "a b"


def test_the_log_names_the_request_and_not_what_was_asked(served: Served, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", logger="pv_agent.serve")
    request_id = served.client.get("/search", params={"q": "Vertraulich"}).headers["x-request-id"]
    served.ask("Wie viel verdient Frau Vertraulich?")
    lines = [record.getMessage() for record in caplog.records]
    assert any(line.startswith(f"{request_id} GET /search 200") for line in lines)
    assert "Vertraulich" not in " ".join(lines)


def test_the_token_is_not_shown() -> None:
    assert TOKEN not in repr(Settings(token=TOKEN))
