"""Server-side request forgery: whatever a search engine redirects to, no connection is opened to this machine or its network."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.errors import ConfigError
from agent.transport import BrokenBody, ErrorStatus, Forbidden, TimedOut, Unreachable, Web, as_id, may_be_shown
from agent.transport.places import objection, public
from agent.transport.web import LARGEST
from tests.search_server import Scripted, SearchServer, redirect

FORGED = [
    "http://127.0.0.1/",
    "http://127.0.0.1:{other}/",
    "https://127.0.0.1:{other}/",
    "http://127.8.9.10/",
    "http://0.0.0.0:{other}/",
    "http://10.0.0.5/",
    "http://172.16.0.1/",
    "http://192.168.1.1/",
    "http://100.64.0.1/",
    "http://169.254.169.254/latest/meta-data/",
    "http://224.0.0.1/",
    "http://255.255.255.255/",
    "http://[::1]:{other}/",
    "http://[::]:{other}/",
    "http://[fe80::1]/",
    "http://[fe80::1%25eth0]/",
    "http://[fc00::1]/",
    "http://[fec0::1]/",
    "http://[::ffff:127.0.0.1]:{other}/",
    "http://[::ffff:10.0.0.1]/",
    "http://[::127.0.0.1]:{other}/",
    "http://[64:ff9b::7f00:1]:{other}/",
    "http://[64:ff9b:1::1]/",
    "http://[2002:7f00:1::]/",
    "http://2130706433:{other}/",
    "http://0x7f000001:{other}/",
    "http://0x7f.0.0.1:{other}/",
    "http://0177.0.0.1:{other}/",
    "http://017700000001:{other}/",
    "http://127.1:{other}/",
    "http://127.0.1:{other}/",
    "http://0:{other}/",
    "http://localhost:{other}/",
    "http://localhost.:{other}/",
    "http://drucker/",
    "http://%31%32%37.0.0.1:{other}/",
    "http://①②⑦.⓪.⓪.①:{other}/",
    "http://user:secret@example.org/",
    "http://127.0.0.1:{own}@example.org/",
    "http://example.org@127.0.0.1:{other}/",
    "http://127.0.0.1:{own}\\@example.org/",
    "//127.0.0.1:{other}/",
    "file:///etc/passwd",
    "gopher://127.0.0.1:{other}/_GET",
    "ftp://127.0.0.1/",
    "dict://127.0.0.1:{other}/",
    "data:application/json,{}",
    "javascript:alert(1)",
    "ldap://127.0.0.1/",
    "unix:/var/run/docker.sock",
    "http://:80/",
    "http://127.0.0.1:0/",
    "http://loopback.example:{other}/",
    "http://mixed.example:{other}/",
    "http://mapped.example:{other}/",
    "http://gone.example/",
]  # fmt: skip
NAMES = {
    "loopback.example": ["127.0.0.1"],
    "mixed.example": ["93.184.216.34", "127.0.0.1"],
    "mapped.example": ["::ffff:127.0.0.1"],
}


def numeric(host: str, port: int, *_: Any, **__: Any) -> list[Any]:
    """What the system says of an address that is one already."""
    return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (host, port))]


def by_table(host: str, port: int) -> list[str]:
    if host in NAMES:
        return NAMES[host]
    if host.rstrip(".") == "localhost":
        return ["127.0.0.1"]
    raise OSError("no such name")


@pytest.fixture
def engine() -> Iterator[SearchServer]:
    with SearchServer() as server:
        yield server


@pytest.fixture
def connections(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Every address a socket is connected to, or would be."""
    made: list[Any] = []
    connect = socket.socket.connect

    def noted(self: socket.socket, address: Any) -> None:
        made.append(address)
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", noted)
    return made


@pytest.mark.parametrize("url", FORGED)
def test_a_forged_redirect_is_refused_before_a_connection_is_opened(engine: SearchServer, connections: list[Any], url: str) -> None:
    with SearchServer() as other:
        to = url.replace("{other}", str(other.port)).replace("{own}", str(engine.port))
        engine.script = [redirect(to.encode("utf-8").decode("latin-1"))]
        web = Web(engine.url, resolve=by_table)
        with pytest.raises((Forbidden, Unreachable, BrokenBody)) as refused:
            web.get_json("/search", {"q": "x"}, timeout=5)
        assert other.asked == []
    assert isinstance(refused.value, Forbidden)
    assert [address[1] for address in connections] == [engine.port], "only the engine itself was connected to"


def test_a_name_is_asked_for_once_and_the_address_that_was_checked_is_connected_to(
    engine: SearchServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rebinding: the second answer of the name server would lead to this machine."""
    answers = [["93.184.216.34"], ["127.0.0.1"]]
    asked, made = [], []

    def rebinding(host: str, port: int) -> list[str]:
        asked.append(host)
        return answers.pop(0)

    connect = socket.socket.connect

    def noted(self: socket.socket, address: Any) -> None:
        if address[1] == engine.port:
            return connect(self, address)
        made.append(address[:2])
        raise ConnectionRefusedError

    monkeypatch.setattr(socket.socket, "connect", noted)
    monkeypatch.setattr(socket, "getaddrinfo", numeric)
    engine.script = [redirect("http://rebind.example:8080/search")]
    with pytest.raises(Unreachable):
        Web(engine.url, resolve=rebinding).get_json("/search", {"q": "x"}, timeout=5)
    assert asked == ["rebind.example"]
    assert made == [("93.184.216.34", 8080)]


def test_a_public_host_gets_its_own_name(engine: SearchServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """The address stands in for the name in the connection only. (A public address is played by this machine.)"""
    connect = socket.socket.connect
    played = {"93.184.216.34": ("127.0.0.1", engine.port)}
    monkeypatch.setattr(socket.socket, "connect", lambda self, address: connect(self, played.get(address[0]) or address))
    monkeypatch.setattr(socket, "getaddrinfo", numeric)
    engine.script = [redirect("http://public.example:8080/anders?format=json")]
    found = Web(engine.url, resolve=lambda host, port: ["93.184.216.34"]).get_json("/search", {"q": "x"}, timeout=5)
    assert found["results"] == []
    assert engine.hosts[1:] == ["public.example:8080"]


def test_the_configured_origin_may_redirect_within_itself(engine: SearchServer) -> None:
    engine.script = [redirect("/search/?format=json"), redirect(f"{engine.url}/search")]
    assert Web(engine.url, resolve=by_table).get_json("/search", {"q": "x"}, timeout=5) == {"query": "", "results": []}


def test_the_name_and_password_of_its_address_are_for_the_engine_alone(engine: SearchServer, monkeypatch: pytest.MonkeyPatch) -> None:
    connect = socket.socket.connect
    played = {"93.184.216.34": ("127.0.0.1", engine.port)}
    monkeypatch.setattr(socket.socket, "connect", lambda self, address: connect(self, played.get(address[0]) or address))
    monkeypatch.setattr(socket, "getaddrinfo", numeric)
    engine.script = [redirect("http://public.example/")]
    web = Web(engine.url.replace("//", "//ich:geheim@"), resolve=lambda host, port: ["93.184.216.34"])
    assert web.get_json("/search", {"q": "x"}, timeout=5)["results"] == []
    assert engine.authorizations == ["Basic aWNoOmdlaGVpbQ==", None]
    assert "geheim" not in web.url


def test_redirects_without_end_end(engine: SearchServer) -> None:
    engine.script = [redirect("/search")] * 20
    with pytest.raises(BrokenBody, match="without end"):
        Web(engine.url).get_json("/search", {"q": "x"}, timeout=5)
    assert len(engine.asked) == 4


def test_limits_of_size_and_time_hold(engine: SearchServer) -> None:
    engine.script = [Scripted(body=b"[" + b"1," * LARGEST), Scripted(wait=30), Scripted(body=b"<html>"), Scripted(429)]
    web = Web(engine.url)
    with pytest.raises(BrokenBody, match="larger than 2 MB"):
        web.get_json("/search", {"q": "x"}, timeout=20)
    start = time.monotonic()
    with pytest.raises(TimedOut, match=r"longer than 0\.3 s"):
        web.get_json("/search", {"q": "x"}, timeout=0.3)
    assert time.monotonic() - start < 3
    with pytest.raises(BrokenBody, match="is not JSON"):
        web.get_json("/search", {"q": "x"}, timeout=5)
    with pytest.raises(ErrorStatus):
        web.get_json("/search", {"q": "x"}, timeout=5)


def test_a_name_server_that_does_not_answer_is_not_waited_for(engine: SearchServer) -> None:
    def hanging(host: str, port: int) -> list[str]:
        time.sleep(3)
        return []

    engine.script = [redirect("http://slow.example/")]
    start = time.monotonic()
    with pytest.raises(TimedOut):
        Web(engine.url, resolve=hanging).get_json("/search", {"q": "x"}, timeout=0.3)
    assert time.monotonic() - start < 2


@pytest.mark.parametrize("setting", ["file:///etc/passwd", "gopher://127.0.0.1/", "ftp://box", "http://"])
def test_the_engine_s_own_address_is_http(setting: str) -> None:
    if setting == "http://":
        assert Web(setting).url == "http://127.0.0.1"
    else:
        with pytest.raises(ConfigError, match="PV_WEB_URL"):
            Web(setting)


# --- what may be followed and shown ---------------------------------------------------------------


@pytest.mark.parametrize(
    "url", ["https://www.ris.bka.gv.at/a?b=c#d", "http://example.org:8080/", "https://8.8.8.8/", "https://[2a00:1450::1]/x"]
)
def test_a_public_page_may_be_shown(url: str) -> None:
    assert may_be_shown(url)


@pytest.mark.parametrize("url", [*FORGED[:50], "", "http://", "example.org", "https://example.org/a b", "https://example.org/\x1b[2J"])
def test_nothing_else_may(url: str) -> None:
    assert not may_be_shown(url.replace("{other}", "8080").replace("{own}", "8888"))


@settings(deadline=None)
@given(st.ip_addresses(v=4))
def test_an_ipv4_address_is_as_public_inside_an_ipv6_one_as_outside(ip: Any) -> None:
    assert public(f"::ffff:{ip}") == public(str(ip))
    if not public(str(ip)):
        assert not public(f"64:ff9b::{ip}")
        assert not public(f"::{ip}")


@settings(deadline=None)
@given(st.text(max_size=60))
def test_any_text_is_judged(text: str) -> None:
    assert isinstance(objection(text), str)
    assert isinstance(objection(f"http://{text}"), str)


@settings(deadline=None)
@given(st.text(alphabet=st.characters(min_codepoint=33, max_codepoint=126), max_size=40))
def test_an_id_of_a_url_can_be_cited(path: str) -> None:
    from agent.language.citations import cited

    identifier = f"{as_id('https://example.org/' + path)}@2026-11-30"
    assert cited(f"So ist es [{identifier}].") == [identifier]
