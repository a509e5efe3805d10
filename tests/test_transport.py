"""The HTTP client against real sockets: addresses, time limits, retries, and bodies that arrive in every unkind way."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent import transport
from agent.errors import ConfigError
from agent.transport import BrokenBody, ErrorStatus, Server, TimedOut, Unreachable, address, canonical, ollama_models
from tests.conftest import NetworkUsed
from tests.ollama_server import BUSY, DEAD, NOT_FOUND, PAGE, OllamaServer, Reply


@pytest.mark.parametrize(
    ("given_form", "meant"),
    [
        ("", "http://127.0.0.1:11434"),
        ("  'box'  ", "http://box:11434"),
        ("box:1234", "http://box:1234"),
        (":1234", "http://127.0.0.1:1234"),
        ("box/", "http://box:11434"),
        ("box/ai/", "http://box:11434/ai"),
        ("http://box", "http://box"),
        ("https://box/ai", "https://box/ai"),
        ("HTTPS://Box.Example:8443/Ai", "https://box.example:8443/Ai"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("0.0.0.0:99", "http://127.0.0.1:99"),
        ("http://0.0.0.0:99/x", "http://127.0.0.1:99/x"),
        ("::", "http://[::1]:11434"),
        ("[::]:99", "http://[::1]:99"),
        ("::1", "http://[::1]:11434"),
        ("[fe80::2]:99", "http://[fe80::2]:99"),
        ("http://me:secret@box:99", "http://me:secret@box:99"),
    ],
)
def test_every_form_of_an_address_is_understood(given_form: str, meant: str) -> None:
    assert address(given_form) == meant


@pytest.mark.parametrize("given_form", ["ftp://box", "box:0", "box:99999", "box:port", "a b", "http://[::1", "box\n/x", "bo$x", "x" * 300])
def test_what_is_no_address_is_refused_in_one_sentence(given_form: str) -> None:
    with pytest.raises(ConfigError, match="is no address of a server"):
        address(given_form)


@given(st.text(max_size=40))
def test_an_address_is_refused_or_stays_as_it_is_when_read_again(text: str) -> None:
    try:
        once = address(text)
    except ConfigError:
        return
    assert address(once) == once


def test_a_shown_address_has_no_password() -> None:
    assert Server("http://me:secret@box:99/ai").url == "http://box:99/ai"


def test_json_is_fetched_and_sent_with_a_path_prefix_kept(ollama: OllamaServer) -> None:
    server = Server(ollama.url)
    assert server.get_json("/api/version", timeout=5) == {"version": "0.33.0"}
    server.post_json("/api/embed", {"model": "bge-m3", "input": "Maß \ud800"}, timeout=5)
    assert ollama.bodies("/api/embed") == [{"model": "bge-m3", "input": "Maß ?"}]
    with pytest.raises(ErrorStatus):
        Server(f"{ollama.url}/ai/").get_json("/api/version", timeout=5)
    assert ollama.requests[-1].path == "/ai/api/version"


def test_no_proxy_is_used(ollama: OllamaServer, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert "models" in Server(ollama.url).get_json("/api/tags", timeout=5)


def test_a_redirect_is_not_followed(ollama: OllamaServer) -> None:
    with OllamaServer() as elsewhere:
        ollama.faults["/api/tags"] = [Reply(status=307, raw=b"", headers={"Location": f"{elsewhere.url}/api/tags"})]
        with pytest.raises(ErrorStatus) as caught:
            Server(ollama.url).get_json("/api/tags", timeout=5)
        assert caught.value.status == 307
        assert elsewhere.requests == []


# --- what goes wrong --------------------------------------------------------------------------------


def test_a_server_that_is_down_is_unreachable(ollama: OllamaServer) -> None:
    server = Server(ollama.url)
    assert server.listening()
    ollama.close()
    assert not server.listening()
    with pytest.raises(Unreachable, match="no connection"):
        server.get_json("/api/tags", timeout=5)


def test_a_refused_connection_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as place:
        place.bind(("127.0.0.1", 0))
        port = place.getsockname()[1]
    late = socket.socket()

    def start_listening(_: float) -> None:
        late.bind(("127.0.0.1", port))
        late.listen()
        threading.Thread(target=_serve, args=(late, [_json_answer(b'{"late": 1}')], None), daemon=True).start()

    monkeypatch.setattr("time.sleep", start_listening)
    with late:
        assert Server(f"127.0.0.1:{port}").get_json("/", timeout=5) == {"late": 1}


@pytest.mark.parametrize(("fault", "tries"), [(BUSY, 3), (DEAD, 3), (NOT_FOUND, 1), (PAGE, 1), (Reply(status=400, error="no"), 1)])
def test_only_faults_that_pass_are_tried_again_and_twice_at_most(ollama: OllamaServer, fault: Reply, tries: int) -> None:
    ollama.faults["/api/tags"] = [fault] * 5
    with pytest.raises(ErrorStatus) as caught:
        Server(ollama.url).get_json("/api/tags", timeout=5)
    assert len(ollama.requests) == tries
    assert caught.value.status == fault.status
    assert caught.value.is_json == (fault.raw is None)
    assert caught.value.said == ("" if fault.raw else fault.error)


def test_after_a_fault_that_passed_comes_the_answer(ollama: OllamaServer) -> None:
    ollama.faults["/api/tags"] = [BUSY]
    assert "models" in Server(ollama.url).get_json("/api/tags", timeout=5)


def test_no_try_begins_that_the_time_limit_would_not_outlast(ollama: OllamaServer) -> None:
    ollama.faults["/api/tags"] = [BUSY] * 5
    with pytest.raises(ErrorStatus):
        Server(ollama.url).get_json("/api/tags", timeout=0.3)
    assert len(ollama.requests) == 2


def test_no_header_within_the_time_limit_is_a_timeout(ollama: OllamaServer) -> None:
    ollama.faults["/api/tags"] = [Reply(wait=60)]
    with pytest.raises(TimedOut, match=r"longer than 0\.2 s"):
        Server(ollama.url).get_json("/api/tags", timeout=0.2)


@contextmanager
def raw(pieces: Sequence[bytes], hold: threading.Event | None = None, pause: float = 0.0) -> Iterator[Server]:
    """A server that answers with these bytes, piece by piece, then closes; or first waits until `hold` is set."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=_serve, args=(listening, pieces, hold, pause), daemon=True).start()
        try:
            yield Server(f"127.0.0.1:{listening.getsockname()[1]}")
        finally:
            if hold is not None:
                hold.set()


def _serve(listening: socket.socket, pieces: Sequence[bytes], hold: threading.Event | None, pause: float = 0.0) -> None:
    connection, _ = listening.accept()
    with connection:
        while not connection.recv(65536).partition(b"\r\n\r\n")[1]:
            pass
        for piece in pieces:
            try:
                connection.sendall(piece)
            except OSError:
                return
            threading.Event().wait(pause)
        if hold is not None:
            hold.wait(60)


def _json_answer(body: bytes) -> bytes:
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body


def _stream_answer(pieces: Sequence[bytes]) -> list[bytes]:
    """The pieces as HTTP chunks, with the end of the body."""
    return [b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", *(b"%x\r\n%s\r\n" % (len(p), p) for p in pieces), b"0\r\n\r\n"]


@pytest.mark.parametrize("start", [b"", b"HTTP/1.1 200 OK\r\n\r\n"], ids=["header", "body"])
def test_a_trickling_server_meets_the_time_limit_too(start: bytes) -> None:
    trickle = [start, *([b"x"] * 1000)] if start else [b"HTTP/1.1 200 OK\r\nX: ", *([b"x"] * 1000)]
    with raw(trickle, pause=0.02) as server, pytest.raises(TimedOut):
        server.get_json("/", timeout=0.3)


def test_a_stream_that_stalls_meets_the_time_limit_and_what_came_before_is_given() -> None:
    with raw(_stream_answer([b'{"n": 1}\n'])[:2], threading.Event()) as server:
        values = server.stream("/", {}, timeout=0.3)
        assert next(values) == {"n": 1}
        with pytest.raises(TimedOut):
            next(values)


def test_a_connection_closed_before_the_status_is_unreachable_and_not_asked_twice() -> None:
    with raw([]) as server, pytest.raises(Unreachable):
        server.post_json("/", {}, timeout=5)


@pytest.mark.parametrize(
    "answer", [b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{}", _json_answer(b"<html>"), _json_answer(b"[" * 10**6)]
)
def test_a_body_that_is_cut_or_no_json_is_broken(answer: bytes) -> None:
    with raw([answer]) as server, pytest.raises(BrokenBody):
        server.get_json("/", timeout=5)


def test_what_is_no_http_at_all_is_unreachable() -> None:
    with raw([b"SSH-2.0-OpenSSH_9.9\r\n"]) as server, pytest.raises(Unreachable):
        server.get_json("/", timeout=5)


def test_a_body_without_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport.server, "_LARGEST", 1000)
    with raw(_stream_answer([b"x" * 600, b"x" * 600])) as server, pytest.raises(BrokenBody, match="no end"):
        list(server.stream("/", {}, timeout=5))


@pytest.mark.parametrize("body", [b"null", b"[]", b'{"error": null}', b'{"error": {}}', b"", b"\xff", b"[" * 10**6])
def test_any_error_body_is_survived(body: bytes) -> None:
    with raw([b"HTTP/1.1 418 No\r\nContent-Length: %d\r\n\r\n" % len(body) + body]) as server, pytest.raises(ErrorStatus) as caught:
        server.get_json("/", timeout=5)
    assert (caught.value.status, caught.value.said, caught.value.is_json) == (418, "", False)


@pytest.mark.parametrize(
    "body", [b'{"error": {"message": "zu lang", "type": "x"}}', b'{"object": "error", "message": "zu lang"}', b'{"detail": "zu lang"}']
)
def test_the_errors_of_other_servers_are_read(body: bytes) -> None:
    with raw([b"HTTP/1.1 418 No\r\nContent-Length: %d\r\n\r\n" % len(body) + body]) as server, pytest.raises(ErrorStatus) as caught:
        server.get_json("/", timeout=5)
    assert (caught.value.said, caught.value.is_json) == ("zu lang", False)


@pytest.mark.parametrize("to", ["data:application/json,{}", "http://0177.0.0.1/", "https://example.org/", "javascript:alert(1)"])
def test_a_redirect_is_not_followed_whatever_it_leads_to(to: str) -> None:
    answer = f"HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n".encode()
    with raw([answer]) as server, pytest.raises((ErrorStatus, Unreachable)):
        server.get_json("/", timeout=5)


def test_an_error_body_that_is_cut_still_has_its_status() -> None:
    with raw([b'HTTP/1.1 418 No\r\nContent-Length: 99\r\n\r\n{"err']) as server, pytest.raises(ErrorStatus) as caught:
        server.get_json("/", timeout=5)
    assert caught.value.status == 418


# --- lines ------------------------------------------------------------------------------------------


@given(values=st.lists(st.dictionaries(st.text(max_size=5), st.text(max_size=20), max_size=3), max_size=6), data=st.data())
def test_lines_do_not_depend_on_where_the_bytes_are_cut(values: list[dict[str, str]], data: st.DataObject) -> None:
    ends = data.draw(st.sampled_from([b"\n", b"\r\n", b"\n\n"]))
    body = ends.join(json.dumps(value, ensure_ascii=False).encode() for value in values)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(body)), max_size=10)))
    pieces = [body[start:end] for start, end in zip([0, *cuts], [*cuts, len(body)], strict=True)]
    assert [json.loads(line) for line in transport.server._lines(iter(pieces))] == values


@pytest.mark.parametrize("size", [1, 2, 3, 7, 10**6])
def test_a_stream_is_read_however_it_is_cut(size: int) -> None:
    values = [{"text": "Sätze über Bezüge 🙂"}, {"text": "<ß>"}, {"done": True}]
    body = b"".join(json.dumps(value, ensure_ascii=False).encode() + b"\n" for value in values)
    pieces = [body[start : start + size] for start in range(0, len(body), size)]
    with raw([b"".join(_stream_answer(pieces))]) as server:
        assert list(server.stream("/", {}, timeout=5)) == values


# --- Ollama's model list ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "full"),
    [
        ("BGE-M3", "bge-m3:latest"),
        ("qwen3.8:27b", "qwen3.8:27b"),
        ("hf.co/me/Model", "hf.co/me/model:latest"),
        ("box:5000/me/m", "box:5000/me/m:latest"),
    ],
)
def test_a_model_name_is_compared_with_its_tag(name: str, full: str) -> None:
    assert canonical(name) == full


def test_the_model_list_gives_names_and_digests(ollama: OllamaServer) -> None:
    models = ollama_models(Server(ollama.url), timeout=5)
    assert models.keys() == {"qwen3.8:27b", "deepthink:latest", "bge-m3:latest"}
    assert all(len(digest) == 12 for digest in models.values())


@pytest.mark.parametrize("body", [b"[]", b"{}", b'{"models": 1}'])
def test_a_list_of_something_else_is_no_model_list(ollama: OllamaServer, body: bytes) -> None:
    ollama.faults["/api/tags"] = [Reply(raw=body)]
    with pytest.raises(BrokenBody, match="no Ollama"):
        ollama_models(Server(ollama.url), timeout=5)


def test_the_tests_themselves_cannot_leave_the_machine() -> None:
    with pytest.raises(NetworkUsed):
        Server("192.0.2.1").get_json("/", timeout=1)
    with pytest.raises(NetworkUsed):
        Server("http://ollama.example").get_json("/", timeout=1)
