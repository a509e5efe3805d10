"""Where one knowledge base lies with all that is made from it, and the language it is in."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from agent import texts
from agent.errors import KnowledgeBaseError
from agent.i18n import tr
from agent.language import Language
from agent.late import Late
from agent.settings import Settings

if TYPE_CHECKING:
    from agent.ingest import folder, register
else:
    folder, register = map(Late, ("agent.ingest.folder", "agent.ingest.register"))

FIRST_LANGUAGE = "de"


@dataclass(frozen=True, slots=True)
class Place:
    """Where one knowledge base is, and where what is made from it goes."""

    kb: Path
    index: Path
    runs: Path
    goldset: Path

    @property
    def values(self) -> Path:
        """The database of dated values: made with the index, and beside it."""
        return self.index.with_suffix(".werte.db")


def place(settings: Settings) -> Place:
    """The knowledge base named by the settings, else `wissensbasis` here. Raises KnowledgeBaseError where there is none."""
    kb = Path(settings.kb_dir or "wissensbasis")
    if not (kb / "kb.json").is_file() and not (kb / folder.DOCUMENTS).is_dir():
        raise KnowledgeBaseError(
            tr("There is no knowledge base at {kb} (no kb.json in it).", kb=kb), tr("Name one with --kb DIR or PV_KB_DIR.")
        )
    # knowledge bases that lie side by side keep their indexes apart; the usual one has the plain place
    beside = kb.parent if kb.name not in ("", "..") else kb.resolve().parent
    data = beside / "data" if kb.resolve().name == "wissensbasis" else beside / "data" / kb.resolve().name
    index = Path(settings.db_path) if settings.db_path else data / "index.db"
    return Place(kb, index, index.with_name("runs.db"), beside / "goldset.yaml" if data.name == "data" else kb / "goldset.yaml")


@cache
def language(code: str) -> Language:
    """The language of that code, one for all: what it has read once is remembered with it. ConfigError: the package has no table for it."""
    return Language(texts.table(f"language.{code}"), texts.table(f"figures.{code}"))


def language_of(kb: Path) -> Language:
    """The language a knowledge base says it is in; the first one known to the program where nothing is registered yet."""
    known = register.load(kb)
    if known is None:
        return language(FIRST_LANGUAGE)
    codes = [name.removeprefix("language.") for name in texts.names("tables", ".json") if name.startswith("language.")]
    if known.language not in codes:
        raise KnowledgeBaseError(
            tr("{kb}: there is no language {language!r}.", kb=kb / "kb.json", language=known.language),
            tr("It is one of {choices}.", choices=", ".join(codes)),
        )
    return language(known.language)
