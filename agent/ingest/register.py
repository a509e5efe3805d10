"""The gate: `kb.json`, the register of admitted entries. What is not in it, as it is in it, is never indexed, and is named."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from functools import lru_cache
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Any

from agent.errors import KnowledgeBaseError
from agent.i18n import noted, tr, trn
from agent.ingest import folder
from agent.ingest.entries import file_text, fingerprint
from agent.ingest.folder import FileRead
from agent.ingest.problems import EntryProblem, near
from agent.interfaces import IndexInfo
from agent.values import Entry, EntryInfo

BUILD = noted("Run `pv-agent kb build`.")
LAYER = 2
"""The layer that may be indexed: texts of one's own; layer 1 is licensed, and stays where it is."""

BESIDE = ("werte.yaml", "synonyme.yaml", "schreibweisen.yaml", "grenzen.yaml")
"""What belongs to a knowledge base besides its entries, and counts in its version."""


@dataclass(frozen=True, slots=True)
class Registered:
    """An admitted entry. `path` begins with `dokumente/`; `sha256` is that of the text; `registered` a day, as 2026-01-31."""

    id: str
    path: str
    sha256: str
    layer: int
    licence: str
    registered: str


@dataclass(frozen=True, slots=True)
class Register:
    """What kb.json holds.

    `licence` is the note for entries new to it; `prefixes` of ids and `bereiche` are conventions lint checks; `examples` are questions a
    page offers to who does not know yet what can be asked.
    """

    language: str
    entries: tuple[Registered, ...] = ()
    name: str = ""
    licence: str = ""
    prefixes: tuple[str, ...] = ()
    bereiche: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Admission:
    """What may be indexed, what may not and why, and the version of the knowledge base that this makes."""

    kb_dir: Path
    entries: tuple[Entry, ...]
    problems: tuple[EntryProblem, ...]
    version: str

    def insist(self) -> None:
        """Raises KnowledgeBaseError, with all problems in it, where an entry was refused."""
        if self.problems:
            listed = "\n".join(str(problem) for problem in self.problems)
            raise KnowledgeBaseError(
                listed
                + "\n"
                + trn("The knowledge base has {count} problem.", "The knowledge base has {count} problems.", len(self.problems)),
                tr("Mend them, or go on without these with --skip-bad."),
            )


def load(kb_dir: Path) -> Register | None:
    """The register; None where there is none yet. Raises KnowledgeBaseError where it cannot be understood."""
    path = kb_dir / "kb.json"
    if not kb_dir.is_dir():
        raise KnowledgeBaseError(tr("There is no knowledge base at {kb}.", kb=kb_dir), tr("Give its folder with --kb or PV_KB_DIR."))
    if not path.exists():
        return None
    text = file_text(path)
    if isinstance(text, EntryProblem):
        raise KnowledgeBaseError(f"{path}:{text.line}: {text.message}", text.mend)
    try:
        return _register(json.loads(text))
    except json.JSONDecodeError as error:
        raise KnowledgeBaseError(
            tr("{path}:{line}: This is no readable JSON ({problem}).", path=path, line=error.lineno, problem=error.msg), tr("Put it right.")
        ) from error
    except (TypeError, ValueError, RecursionError) as error:
        raise KnowledgeBaseError(f"{path}: {error}.", tr("Put it right, or move it away and run `pv-agent kb build`.")) from error


def _register(data: Any) -> Register:
    if not isinstance(data, dict) or data.get("version") != 1:
        raise ValueError(tr("This is no register of version 1"))
    known = {field.name for field in fields(Register)}
    for name in data.keys() - known - {"version"}:
        said = tr("There is no field {name!r} in a register.", name=name)
        raise ValueError(f"{said} {near(name, known)}".rstrip(" ."))
    if not isinstance(data.get("language"), str):
        raise ValueError(tr('The field "language" is missing'))
    entries = tuple(_registered(entry) for entry in data.get("entries", []))
    lists = {name: tuple(str(item) for item in data.get(name, [])) for name in ("prefixes", "bereiche", "examples")}
    return Register(data["language"], entries, str(data.get("name", "")), str(data.get("licence", "")), **lists)


def _registered(data: Any) -> Registered:
    if not isinstance(data, dict) or data.keys() != {field.name for field in fields(Registered)}:
        names = ", ".join(field.name for field in fields(Registered))
        raise ValueError(tr("An entry needs exactly the fields {names}: {given:.80}", names=names, given=repr(data)))
    texts = {name: value for name, value in data.items() if name != "layer"}
    if not all(isinstance(value, str) for value in texts.values()) or not isinstance(data["layer"], int):
        raise ValueError(tr("A field has the wrong type in {given:.80}", given=repr(data)))
    return Registered(**data)


def save(register: Register, kb_dir: Path) -> None:
    """Writes kb.json, one line an entry in the order of ids, in one step."""
    head = {"version": 1, **{k: v for k, v in asdict(register).items() if k != "entries" and v}}
    entries = [json.dumps(asdict(entry), ensure_ascii=False) for entry in sorted(register.entries, key=lambda entry: entry.id)]
    lines = [f"  {json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}," for name, value in head.items()]
    text = "\n".join(["{", *lines, '  "entries": [', ",\n".join(f"    {entry}" for entry in entries), "  ]", "}", ""])
    path = kb_dir / "kb.json"
    fresh = path.with_name("kb.json.tmp")
    try:
        fresh.write_text(text, encoding="utf-8", newline="\n")
        fresh.replace(path)
    except OSError as error:
        with suppress(OSError):
            fresh.unlink(missing_ok=True)
        raise KnowledgeBaseError(
            tr("The register {path} cannot be written ({reason}).", path=path, reason=error.strerror), tr("Check permissions and room.")
        ) from error


def admitted(kb_dir: Path) -> Admission:
    """The entries that pass the gate, and a problem for everything else that lies or is registered there."""
    register = load(kb_dir) or Register("")
    files = {file.relative: file for file in folder.documents(kb_dir)}
    counts = Counter(file.entry.info.id for file in files.values() if file.entry)
    known = {entry.path: entry for entry in register.entries}
    entries: list[Entry] = []
    problems: list[EntryProblem] = []
    for relative in sorted(files.keys() | known.keys()):
        found = _judged(kb_dir / relative, files.get(relative), known.get(relative), counts)
        if isinstance(found, Entry):
            entries.append(found)
        else:
            problems += found
    entries.sort(key=lambda entry: entry.info.id)
    return Admission(kb_dir, tuple(entries), tuple(problems), version(((e.info.id, e.info.sha256) for e in entries), kb_dir))


def _judged(path: Path, file: FileRead | None, known: Registered | None, counts: Mapping[str, int]) -> Entry | list[EntryProblem]:
    if file is None:
        parts = PurePosixPath(known.path).parts if known else ()
        inside = parts[:1] == (folder.DOCUMENTS,) and ".." not in parts
        what = (
            tr("The registered file is gone.") if inside else tr("The registered file lies outside of {folder}/.", folder=folder.DOCUMENTS)
        )
        return [EntryProblem(path, 1, what, tr(BUILD))]
    if file.entry is None:
        return list(file.problems)
    refusal = _refusal(file.entry.info, known, counts[file.entry.info.id])
    return [EntryProblem(path, 1, *refusal)] if refusal else file.entry


def _refusal(info: EntryInfo, known: Registered | None, bearers: int) -> tuple[str, str] | None:
    """Why an entry that can be read does not pass, and what mends it."""
    if bearers > 1:
        return tr("The id {id} is borne by {count} files.", id=info.id, count=bearers), " ".join((tr("Give each its own."), tr(BUILD)))
    if info.layer != LAYER or (known and known.layer != LAYER):
        return tr("The entry is not of layer {layer}, and only that is indexed.", layer=LAYER), tr("Take it out of the knowledge base.")
    if known is None:
        return tr("The entry is not registered."), tr(BUILD)
    if (known.sha256, known.id) != (info.sha256, info.id):
        return tr("The content no longer matches the register."), tr(BUILD)
    if not known.licence.strip():
        return tr("The entry is registered without a licence note."), tr("Run `pv-agent kb build --licence TEXT`.")
    return None


def version(entries: Iterable[tuple[str, str]], kb_dir: Path) -> str:
    """The version of a knowledge base: a hash over ids and hashes of its entries, and over what lies beside them."""
    parts = [f"{entry_id} {digest}" for entry_id, digest in sorted(entries)]
    for name in BESIDE:
        text = file_text(kb_dir / name) if (kb_dir / name).exists() else ""
        parts.append(f"{name} {fingerprint(text) if isinstance(text, str) else 'unreadable'}")
    return sha256("\n".join(parts).encode()).hexdigest()[:16]


def changed_since(kb_dir: Path, info: IndexInfo) -> bool:
    """Whether the knowledge base is no longer what the index was made from; reads only files touched since then."""
    registered, known = _as_registered(kb_dir, tuple(_stamp(kb_dir / name) for name in ("kb.json", *BESIDE)))
    if registered != info.kb_version:
        return True
    since, above = datetime.fromisoformat(info.built).timestamp() - 2, len(os.fspath(kb_dir)) + len(os.sep)
    paths = {os.fspath(path)[above:].replace(os.sep, "/"): path for path in folder.paths(kb_dir / folder.DOCUMENTS)}
    if paths.keys() != known.keys():
        return True
    return any(_differs(paths[path], known[path], kb_dir) for path in paths if _touched(paths[path], since))


@lru_cache(maxsize=4)
def _as_registered(kb_dir: Path, stamps: tuple[object, ...]) -> tuple[str, Mapping[str, str]]:
    """The version a knowledge base has by its register, and the hash of each registered file; read anew when a file's stamp is another."""
    register = load(kb_dir)
    if register is None:
        return "", {}
    known = {entry.path: entry.sha256 for entry in register.entries}
    return version(((entry.id, entry.sha256) for entry in register.entries), kb_dir), known


def _stamp(path: Path) -> tuple[int, int, int] | None:
    """What changes when a file is written anew; None where there is none."""
    try:
        told = path.stat()
    except OSError:
        return None
    return told.st_ino, told.st_mtime_ns, told.st_size


def _touched(path: Path, since: float) -> bool:
    try:
        return path.stat().st_mtime >= since
    except OSError:
        return True


def _differs(path: Path, digest: str, kb_dir: Path) -> bool:
    text = folder.barred(path, kb_dir / folder.DOCUMENTS) or file_text(path)
    return not isinstance(text, str) or fingerprint(text) != digest
