"""The network, and all of it: a server at a configured address (`server`), and a search that may redirect, under guard (`web`)."""

from agent.transport.places import as_id, may_be_shown
from agent.transport.server import (
    BrokenBody,
    ErrorStatus,
    Server,
    TimedOut,
    TransportError,
    Unreachable,
    address,
    canonical,
    ollama_models,
)
from agent.transport.web import Forbidden, Web

__all__ = [
    "BrokenBody",
    "ErrorStatus",
    "Forbidden",
    "Server",
    "TimedOut",
    "TransportError",
    "Unreachable",
    "Web",
    "address",
    "as_id",
    "canonical",
    "may_be_shown",
    "ollama_models",
]
