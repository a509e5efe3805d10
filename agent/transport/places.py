"""Which places on the network a foreign URL may lead to: public ones over http or https, written plainly; pure.

Against server-side request forgery: a search engine or a page must not send this program into the machine or the office's network.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from urllib.parse import quote, urlsplit

from agent.i18n import tr

PORTS = {"http": 80, "https": 443}
_NAME = re.compile(r"(?=.{1,253}$)[A-Za-z0-9_-]{1,63}(\.[A-Za-z0-9_-]{1,63})*\.?$")
_NUMBER = re.compile(r"(?:0[xX][0-9A-Fa-f]*|\d+)$")
_NAT64 = IPv6Network("64:ff9b::/96")
_CLOSED = (IPv6Network("::/96"), IPv6Network("64:ff9b:1::/48"), IPv6Network("fec0::/10"))
"""Addresses that hold an IPv4 address in a form of old, or are of one network only, whatever a library calls them."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a URL leads: scheme, host in lower case without brackets, port."""

    scheme: str
    host: str
    port: int


def place(url: str) -> Place | None:
    """The place of a URL; None where it is none that http or https can reach."""
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or "").lower(), parts.port
    except ValueError:
        return None
    if parts.scheme not in PORTS or not host or port == 0:
        return None
    return Place(parts.scheme, host, port or PORTS[parts.scheme])


def objection(url: str) -> str:
    """What speaks against following a URL, as far as it can be told without asking for the name's address; empty where nothing does."""
    found = place(url)
    if found is None:
        return tr("it is no address of the web")
    if urlsplit(url).username is not None or urlsplit(url).password is not None:
        return tr("it bears a name or a password")
    try:
        return "" if public(found.host) else tr("it leads into a network that is not public")
    except ValueError:
        pass
    if not _NAME.match(found.host) or _NUMBER.match(found.host.rstrip(".").rpartition(".")[2]):
        return tr("its host is not written plainly")  # 2130706433, 0x7f.1 and 0177.0.0.1 are all 127.0.0.1 to a resolver
    return "" if "." in found.host.rstrip(".") else tr("it leads into a network that is not public")


def may_be_shown(url: str) -> bool:
    """Whether a URL may stand in an answer as a source: of the web, public, without what could be a password."""
    return not objection(url) and url.isprintable() and " " not in url


def as_id(url: str) -> str:
    """A URL written so that it can be cited in brackets: what else stands in it is escaped."""
    return quote(url, safe="/:@+%#?=&~-._")


def public(address: str) -> bool:
    """Whether an IP address is one of the public internet, an IPv4 address inside of it included. Raises ValueError where it is none."""
    ip = ip_address(address)
    if isinstance(ip, IPv6Address):
        inner = _inner(ip)
        if inner is not None and not public(str(inner)):
            return False
        if ip.ipv4_mapped is not None:
            return True
        if any(ip in network for network in _CLOSED):
            return False
    return ip.is_global and not (ip.is_multicast or ip.is_reserved or ip.is_unspecified)


def _inner(ip: IPv6Address) -> IPv4Address | None:
    """The IPv4 address an IPv6 one stands for: mapped, by NAT64, 6to4 or Teredo."""
    if ip in _NAT64:
        return IPv4Address(int(ip) & 0xFFFFFFFF)
    return ip.ipv4_mapped or ip.sixtofour or (ip.teredo[1] if ip.teredo else None)
