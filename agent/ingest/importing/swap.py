"""Puts new files of a knowledge base in place together with its register: all is written beside first, and then moved in one go.

A run that is stopped before everything lies ready has changed nothing. One that is killed among the moves is finished by the next.
"""

from __future__ import annotations

import shutil
import signal
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp

from agent.errors import KnowledgeBaseError
from agent.i18n import tr
from agent.ingest import register
from agent.ingest.entries import file_text, fingerprint
from agent.ingest.folder import DOCUMENTS
from agent.ingest.register import Register

_STAGE = ".import-"
_READY = "ready"


def put(kb_dir: Path, texts: Mapping[str, str], known: Register) -> None:
    """Writes texts (by path in the knowledge base, `dokumente/…`) and the register. Raises KnowledgeBaseError where that cannot be."""
    try:
        stage = Path(mkdtemp(prefix=_STAGE, dir=kb_dir))
    except OSError as error:
        raise _refused(kb_dir, error) from error
    try:
        for relative, text in texts.items():
            path = stage / relative
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")
        register.save(known, stage)
        with _undisturbed():
            (stage / _READY).write_text(_register_print(kb_dir), encoding="utf-8")
            _move(stage, kb_dir)
    except OSError as error:
        raise _refused(kb_dir, error) from error
    finally:
        if not ((stage / _READY).exists() and (stage / "kb.json").exists()):
            shutil.rmtree(stage, ignore_errors=True)


def finish(kb_dir: Path) -> bool:
    """Finishes what a killed import left, if the register is still the one it was to change, else clears it away; whether it did finish."""
    moved = False
    for stage in sorted(kb_dir.glob(f"{_STAGE}*")):
        try:
            ready = stage / _READY
            whole = ready.is_file() and (stage / "kb.json").is_file()
            if whole and ready.read_text(encoding="utf-8") == _register_print(kb_dir):
                with _undisturbed():
                    _move(stage, kb_dir)
                moved = True
            shutil.rmtree(stage)
        except OSError as error:
            raise _refused(kb_dir, error) from error
    return moved


def _move(stage: Path, kb_dir: Path) -> None:
    for path in sorted((stage / DOCUMENTS).rglob("*.md")):
        target = kb_dir / path.relative_to(stage)
        target.parent.mkdir(parents=True, exist_ok=True)
        path.replace(target)
    (stage / "kb.json").replace(kb_dir / "kb.json")


def _register_print(kb_dir: Path) -> str:
    text = file_text(kb_dir / "kb.json") if (kb_dir / "kb.json").exists() else ""
    return fingerprint(text) if isinstance(text, str) else "unreadable"


def _refused(kb_dir: Path, error: OSError) -> KnowledgeBaseError:
    return KnowledgeBaseError(
        tr("Nothing can be written to {kb} ({reason}).", kb=kb_dir, reason=error.strerror), tr("Check permissions and room.")
    )


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Holds Ctrl-C back for the moment in which files are moved; it is heard right after."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    heard: list[int] = []
    before = {kind: signal.signal(kind, lambda number, _: heard.append(number)) for kind in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for kind, handler in before.items():
            signal.signal(kind, handler)
        if heard:
            signal.raise_signal(heard[0])
