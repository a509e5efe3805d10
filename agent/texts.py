"""Opens what the package ships as data (prompts, schemas, tables, defaults); nobody else does."""

from __future__ import annotations

import json
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from agent.errors import ConfigError
from agent.i18n import tr

_HERE = Path(__file__).parent


def release() -> str:
    """The version of the package, as it is installed; empty where the program runs from its source."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("pv-agent")
    except PackageNotFoundError:
        return ""


@cache
def prompt(language: str, name: str) -> str:
    """The prompt `name` in `language`. Placeholders are `$name` (string.Template), since JSON braces stand in prompts."""
    path = _HERE / "prompts" / language / f"{name}.md"
    if not path.is_file():
        raise ConfigError(
            tr("There is no prompt {name!r} for the language {language!r}.", name=name, language=language),
            tr("Add {language}/{name}.md to the prompts.", language=language, name=name),
        )
    return path.read_text(encoding="utf-8").strip()


def prompt_hash(language: str, name: str) -> str:
    """A short fingerprint of a prompt's wording, so that a logged answer can be traced to it."""
    return sha256(prompt(language, name).encode()).hexdigest()[:12]


@cache
def schema(name: str) -> dict[str, Any]:
    """The JSON Schema (2020-12) `name`."""
    path = _HERE / "schemas" / f"{name}.json"
    if not path.is_file():
        raise ConfigError(tr("There is no schema {name!r}.", name=name), tr("Known: {names}.", names=", ".join(names("schemas", ".json"))))
    loaded: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return loaded


@cache
def table(name: str) -> dict[str, Any]:
    """The data table `name`, such as `language.de`."""
    path = _HERE / "tables" / f"{name}.json"
    if not path.is_file():
        raise ConfigError(tr("There is no table {name!r}.", name=name), tr("Known: {names}.", names=", ".join(names("tables", ".json"))))
    loaded: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return loaded


@cache
def own_table(name: str, language: str) -> dict[str, Any]:
    """The table `name` as it was fitted for a language; the common one, `name` alone, where there is none of its own."""
    own = f"{name}.{language}"
    return table(own if own in names("tables", ".json") else name)


def store_table(name: str, table: dict[str, Any]) -> None:
    """Write a fitted table where the package keeps it; only `fit --write` does."""
    path = _HERE / "tables" / f"{name}.json"
    try:
        path.write_text(json.dumps(table, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise ConfigError(
            tr("{path} cannot be written ({reason}).", path=path, reason=error.strerror),
            tr("Leave --write out and store the output yourself."),
        ) from error


def names(folder: str, suffix: str) -> list[str]:
    """The names one can ask for in a data folder."""
    return sorted(path.name.removesuffix(suffix) for path in (_HERE / folder).glob(f"*{suffix}"))


def defaults() -> str:
    """The commented defaults of every setting, as they ship."""
    return (_HERE / "defaults.yaml").read_text(encoding="utf-8")
