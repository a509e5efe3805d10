"""One at a time changes a knowledge base: a second import or build beside the first would write over what that one registers."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from agent.errors import KnowledgeBaseError
from agent.i18n import tr
from agent.stores.sqlite import connect

NAME = ".kb.lock"
"""An empty file beside kb.json. It stays: one that took it away could take it from under the next."""


@contextmanager
def locked(kb_dir: Path) -> Iterator[None]:
    """Inside, no other process changes the knowledge base. Raises KnowledgeBaseError at once where one is at it."""
    try:
        held = connect.exclusive(kb_dir / NAME)
    except sqlite3.Error:
        yield  # nothing can be written there, by nobody; who needs to is told by what it writes
        return
    if held is None:
        raise KnowledgeBaseError(tr("Another process is changing the knowledge base {kb}.", kb=kb_dir), tr("Wait until it has finished."))
    with closing(held):
        yield
