"""Every setting, where it comes from, and the check that it can be what it is: defaults < agent.yaml < environment < flags.

The defaults stand here as a dataclass and, explained, in `defaults.yaml` (a test holds the two together): reading YAML or importing
pydantic would cost every question 20 to 80 ms before it has begun.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args, get_type_hints
from typing import Literal as Choice

from agent.errors import ConfigError, UsageError
from agent.i18n import tr


@dataclass(frozen=True, slots=True)
class Settings:
    """What the program can be told. Environment name of a field: `PV_` + its name in capitals."""

    # where things are
    kb_dir: str = ""
    db_path: str = ""
    ollama_url: str = "http://127.0.0.1:11434"
    web_url: str = ""

    # models
    llm: Choice["ollama", "openai_compatible"] = "ollama"
    openai_url: str = "http://127.0.0.1:8000/v1"
    openai_key: str = ""
    answer_model: str = "qwen3.8:27b"
    embed_model: str = "bge-m3"
    embedder: Choice["auto", "ollama", "embedded", "none"] = "auto"
    embed_off: bool = False
    generator: Choice["auto", "point", "extractive"] = "auto"
    think: bool = False
    temperature: float = 0.1
    num_ctx: int = 32768
    max_answer_tokens: int = 2048
    connect_timeout: float = 3.0
    model_timeout: float = 300.0
    embed_timeout: float = 60.0

    # retrieval
    fusion: Choice["rescored", "rrf"] = "rescored"
    candidate_pool: int = 50
    rrf_k: int = 20
    dense_weight: float = 2.0
    cross_ref_expand: int = 6
    context_blocks: int = 8
    survey_blocks: int = 16
    companion_entries: int = 3
    max_context_chars: int = 90000
    per_query_slots: int = 2
    temporal_boost: float = 0.0
    shuffle_ranking: bool = False

    # the way of a question
    strategy: Choice["direct", "router", "ircot", "adaptive"] = "direct"
    router_hops: int = 4
    router_results: int = 3
    ircot_sentences: int = 6
    ircot_paragraphs: int = 4
    ircot_pool: int = 15
    classifier: Choice["trained", "prompted"] = "trained"
    adaptive_searches: int = 4
    adaptive_documents: int = 5
    allow_ungrounded: bool = False
    sources: str = "wissensbasis, sql"
    look_up: bool = False
    sql_rows: int = 50
    sql_seconds: float = 1.0
    web_seconds: float = 10.0
    query_planner: bool = True
    planner_model: str = ""
    extractive_sentences: int = 6

    # the reviewed chain
    review_mode: Choice["off", "shadow", "reviewed_answer"] = "off"
    review_enabled: bool = True
    review_require: bool = True
    review_queries: int = 5
    review_chunks: int = 8
    review_timeout: float = 18.0
    agent1_model: str = "gpt-oss:20b"
    agent2_model: str = "gpt-oss:120b"
    agent3_model: str = "gpt-oss:20b"
    agent4_model: str = "gpt-oss:120b"
    agent1_timeout: float = 4.0
    agent2_timeout: float = 9.0
    agent3_timeout: float = 4.0
    agent4_timeout: float = 6.0
    agent1_tokens: int = 2400
    agent2_tokens: int = 3600
    agent3_tokens: int = 2000
    agent4_tokens: int = 2000
    review_log_contracts: bool = False

    # what is said
    lang: Choice["", "de", "en"] = ""

    # records
    log_drafts: bool = True

    # serving
    host: str = "127.0.0.1"
    port: int = 8080
    token: str = field(default="", repr=False)
    allowed_hosts: str = ""
    cors_origins: str = ""
    max_question: int = 4000
    max_body: int = 65536
    workers: int = 8
    queue: int = 64
    queue_timeout: float = 30.0
    request_timeout: float = 10.0
    shutdown_timeout: float = 60.0


_HINTS = get_type_hints(Settings)

ALIASES: Mapping[str, tuple[str, ...]] = {
    "ollama_url": ("OLLAMA_URL", "OLLAMA_HOST"),
    "review_mode": ("SYSTEMINFORANDE_AGENTIC_RAG_MODE",),
    "review_enabled": ("SYSTEMINFORANDE_ENABLE_AGENTIC_RAG",),
    "review_require": ("SYSTEMINFORANDE_AGENTIC_RAG_REQUIRE_REVIEW",),
    "review_queries": ("SYSTEMINFORANDE_AGENTIC_RAG_MAX_RETRIEVAL_QUERIES",),
    "review_chunks": ("SYSTEMINFORANDE_AGENTIC_RAG_MAX_CONTEXT_CHUNKS",),
    "review_timeout": ("SYSTEMINFORANDE_AGENTIC_RAG_TIMEOUT_SECONDS",),
    "review_log_contracts": ("SYSTEMINFORANDE_AGENTIC_RAG_LOG_CONTRACTS",),
    **{f"agent{number}_model": (f"SYSTEMINFORANDE_AGENT{number}_MODEL",) for number in (1, 2, 3, 4)},
}
"""Environment names besides PV_<FIELD>; the first that is set wins, in the order given, PV_ first."""

_TRUE = {"1", "true", "yes", "on", "ja"}
_FALSE = {"0", "false", "no", "off", "nein", ""}

_BOUNDS: Mapping[str, tuple[float, float]] = {
    "port": (1, 65535),
    "temperature": (0, 2),
    "num_ctx": (1024, 1_000_000),
    "max_answer_tokens": (64, 100_000),
    "connect_timeout": (0.1, 120),
    "model_timeout": (0.1, 7200),
    "embed_timeout": (0.1, 7200),
    "candidate_pool": (1, 10_000),
    "rrf_k": (0, 10_000),
    "dense_weight": (0, 100),
    "cross_ref_expand": (0, 50),
    "context_blocks": (1, 64),
    "survey_blocks": (1, 64),
    "companion_entries": (0, 64),
    "max_context_chars": (1000, 10_000_000),
    "per_query_slots": (0, 20),
    "temporal_boost": (0, 10),
    "router_hops": (1, 20),
    "router_results": (1, 50),
    "ircot_sentences": (1, 30),
    "ircot_paragraphs": (1, 50),
    "ircot_pool": (1, 200),
    "adaptive_searches": (1, 20),
    "adaptive_documents": (1, 50),
    "sql_rows": (1, 1000),
    "sql_seconds": (0.05, 1.5),
    "web_seconds": (0.1, 120),
    "extractive_sentences": (1, 20),
    "review_queries": (1, 5),
    "review_chunks": (1, 12),
    "review_timeout": (0.1, 7200),
    **{f"agent{number}_timeout": (0.1, 7200) for number in (1, 2, 3, 4)},
    **{f"agent{number}_tokens": (64, 100_000) for number in (1, 2, 3, 4)},
    "max_question": (10, 100_000),
    "max_body": (1024, 100_000_000),
    "workers": (1, 64),
    "queue": (0, 10_000),
    "queue_timeout": (0.1, 3600),
    "request_timeout": (0.1, 600),
    "shutdown_timeout": (0, 3600),
}


@dataclass(frozen=True, slots=True)
class Given:
    """Settings together with where each that differs from its default was set (for `doctor` and error messages)."""

    settings: Settings
    origin: Mapping[str, str] = field(default_factory=dict)


def choices(name: str) -> tuple[str, ...]:
    """What a setting can be, its default first; empty where there is no such setting, or where it is no choice."""
    found: tuple[str, ...] = get_args(_HINTS.get(name))
    default = getattr(Settings(), name, None)
    return tuple(sorted(found, key=lambda choice: choice != default))


def listed(text: str) -> tuple[str, ...]:
    """The items of a setting that is a list, written with commas or blanks between them."""
    return tuple(text.replace(",", " ").split())


def load(flags: Mapping[str, Any] | None = None, *, environ: Mapping[str, str] | None = None, folder: Path | None = None) -> Given:
    """Settings from `agent.yaml` in `folder` (default: here), the environment and `flags` (None values are not set)."""
    environ = os.environ if environ is None else environ
    values: dict[str, Any] = {}
    origin: dict[str, str] = {}
    for layer, where in (
        (_from_file((folder or Path.cwd()) / "agent.yaml"), "agent.yaml"),
        (_from_environment(environ), ""),
        ({k: ("--" + k.replace("_", "-"), v) for k, v in (flags or {}).items() if v is not None}, ""),
    ):
        for name, (label, raw) in layer.items():
            shown = f"{where}: {label}" if where else label
            try:
                values[name] = _value(name, raw, shown)
            except ConfigError as error:
                if label.startswith("--"):
                    raise UsageError(error.message, error.mend) from error
                raise
            origin[name] = shown
    return Given(Settings(**values), origin)


def language(environ: Mapping[str, str], folder: Path) -> str:
    """The language of messages the environment or `agent.yaml` names, "" where neither does; what else is wrong there is told later."""
    try:
        written = _from_file(folder / "agent.yaml").get("lang")
    except ConfigError:
        written = None
    label, raw = ("PV_LANG", environ["PV_LANG"]) if environ.get("PV_LANG") else written or ("lang", "")
    return str(_value("lang", raw, label))


def _from_file(path: Path) -> dict[str, tuple[str, Any]]:
    if path.is_dir():
        raise ConfigError(tr("{path} is a folder.", path=path), tr("Settings stand in a file of that name; move the folder away."))
    if not path.is_file():
        return {}
    import yaml

    try:
        loaded = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
    except (yaml.YAMLError, UnicodeDecodeError, OSError) as error:
        line = getattr(getattr(error, "problem_mark", None), "line", None)
        at = f"{path}:{line + 1}" if line is not None else str(path)
        raise ConfigError(tr("{at}: this is no readable YAML.", at=at), tr("Put it right, or move the file away.")) from error
    if not isinstance(loaded, dict):
        raise ConfigError(tr("{path}: settings are written as `name: value`.", path=path), tr("See agent/defaults.yaml."))
    for name in loaded:
        if name not in _HINTS:
            raise ConfigError(tr("{path}: there is no setting {name!r}.", path=path, name=str(name)), _did_you_mean(str(name)))
    return {str(name): (str(name), value) for name, value in loaded.items()}


def _from_environment(environ: Mapping[str, str]) -> dict[str, tuple[str, Any]]:
    found: dict[str, tuple[str, Any]] = {}
    known = {f"PV_{name.upper()}": name for name in _HINTS}
    for variable, name in known.items():
        for candidate in (variable, *ALIASES.get(name, ())):
            if environ.get(candidate, "") != "":
                found[name] = (candidate, environ[candidate])
                break
    for variable in environ:
        if variable.startswith("PV_") and variable not in known:
            raise ConfigError(tr("There is no setting {variable}.", variable=variable), _did_you_mean(variable))
    return found


def _did_you_mean(name: str) -> str:
    from difflib import get_close_matches

    plain = name.removeprefix("PV_").lower()
    near = get_close_matches(plain, _HINTS, n=1)
    shown = (f"PV_{near[0].upper()}" if name.startswith("PV_") else near[0]) if near else ""
    return tr("Did you mean {name}?", name=shown) if near else tr("See agent/defaults.yaml for all of them.")


def _value(name: str, raw: Any, where: str) -> Any:
    """`raw` as the type the field has, or one sentence that says what it can be."""
    kind = _HINTS[name]
    text = str(raw).strip()
    choices = get_args(kind)
    if choices:
        if text in choices:
            return text
        raise ConfigError(
            tr("{where} cannot be {text!r}.", where=where, text=text),
            tr("It is one of {choices}.", choices=", ".join(filter(None, choices))),
        )
    if kind is str:
        return text
    if kind is bool:
        if text.lower() in _TRUE | _FALSE:
            return text.lower() in _TRUE
        raise ConfigError(tr("{where} cannot be {text!r}.", where=where, text=text), tr("It is true or false."))
    try:
        number = kind(text)
    except ValueError:
        raise ConfigError(
            tr("{where} cannot be {text!r}.", where=where, text=text), tr("It is a whole number.") if kind is int else tr("It is a number.")
        ) from None
    low, high = _BOUNDS[name]
    if not low <= number <= high:
        raise ConfigError(
            tr("{where} cannot be {text}.", where=where, text=text), tr("It lies between {low:g} and {high:g}.", low=low, high=high)
        )
    return number


def changed(settings: Settings, **values: Any) -> Settings:
    """A copy with other values, checked like any: what a sweep or a call's own option uses. Raises ConfigError on an unknown name."""
    for name in values:
        if name not in _HINTS:
            raise ConfigError(tr("There is no setting {name!r}.", name=name), _did_you_mean(name))
    return dataclasses.replace(settings, **{name: _value(name, raw, name) for name, raw in values.items() if raw is not None})
