"""What a knowledge base covers and where it has gaps: entries by topic and year, orphans, values nobody cites, entries nobody asks for."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from agent.ingest import folder, werte
from agent.ingest.folder import FileRead
from agent.ingest.strict import by_key, cited
from agent.ingest.werte import Wert
from agent.values import Period


@dataclass(frozen=True, slots=True)
class Topic:
    """One topic (`thema`): its entries, and by year how many of them hold in it and how many dated values of that year they cite."""

    name: str
    entries: int
    holding: Mapping[int, int]
    values: Mapping[int, int]


@dataclass(frozen=True, slots=True)
class Stats:
    """The coverage of a knowledge base. `orphans` are entries no other refers to; `unread` files that are no sound entry."""

    entries: int
    unread: int
    years: tuple[int, ...]
    topics: tuple[Topic, ...]
    orphans: tuple[str, ...]
    uncited: tuple[str, ...]
    """Keys of werte.yaml that no entry cites."""
    unasked: tuple[str, ...] | None
    """Entries no question of the goldset expects; None where there is no goldset."""

    def document(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)


def stats(kb_dir: Path, years: Sequence[int], *, asked: Collection[str] | None) -> Stats:
    """The stats of a knowledge base for some years; `asked` are the entries its goldset expects (None: there is no goldset).

    Raises KnowledgeBaseError where there is no knowledge base.
    """
    files = folder.documents(kb_dir)
    values, _ = werte.read(kb_dir)
    sound = {file.entry.info.id: file for file in files if file.entry}
    by_name = by_key(values)
    cites = {entry_id: cited(file, by_name) for entry_id, file in sound.items()}
    referred = {ref for file in sound.values() if file.entry for ref in file.entry.info.cross_refs}
    held = {name for names in cites.values() for name in names}
    return Stats(
        entries=len(sound),
        unread=len(files) - len(sound),
        years=tuple(years),
        topics=_topics(sound, cites, by_name, years),
        orphans=tuple(sorted(sound.keys() - referred)),
        uncited=tuple(sorted({wert.key for wert in values if not {wert.key, wert.name} & held})),
        unasked=None if asked is None else tuple(sorted(sound.keys() - set(asked))),
    )


def _topics(
    sound: Mapping[str, FileRead], cites: Mapping[str, Collection[str]], values: Mapping[str, Sequence[Wert]], years: Sequence[int]
) -> tuple[Topic, ...]:
    of: dict[str, list[str]] = {}
    for entry_id, file in sound.items():
        of.setdefault(file.entry.info.topic if file.entry else "", []).append(entry_id)
    spans = {year: Period.year(year) for year in years}
    found = []
    for name, ids in sorted(of.items()):
        infos = [file.entry.info for entry_id in ids if (file := sound[entry_id]).entry]
        dated = {wert.line: wert for entry_id in ids for key in cites[entry_id] for wert in values[key]}.values()
        holding = {year: sum(span.overlaps(info.valid_from, info.valid_to) for info in infos) for year, span in spans.items()}
        counted = {year: sum(span.overlaps(wert.valid_from, wert.valid_to) for wert in dated) for year, span in spans.items()}
        found.append(Topic(name, len(ids), holding, counted))
    return tuple(found)
