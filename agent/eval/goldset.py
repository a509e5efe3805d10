"""Reads the questions the product is judged by (`goldset.yaml`), and checks them against the knowledge base.

version: 1
boden: {"hit-rate@8": 0.9}          # floors of --gate: measure -> lowest value allowed
fragen:
  - id: g001
    frage: Wie hoch ist ...?
    stichtag: 2026-11-30            # required, so that the expected figures do not drift with the calendar
    erwartete_quellen: [pv-a, pv-b] # a plain list, or {any: [...]}: one of them is enough; {all: [...]}: every one is needed
    erwartete_werte: ["551,10"]     # figures that must appear, as written, in quotes
    verweigern: false               # true: must be refused, and expects neither source nor figure
    tags: [single]                  # out of goldset_form.Tag
    halten: false                   # true: never used for tuning, reported apart
    note: ...
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from agent.errors import AgentError
from agent.i18n import noted, tr
from agent.values import Period

if TYPE_CHECKING:
    import yaml


@dataclass(frozen=True, slots=True)
class Case:
    """One question with what is expected of its answer. `sources` are needed `all`, or `any` one of them; `at` is its file:line."""

    id: str
    question: str
    stichtag: date
    sources: tuple[str, ...] = ()
    need: Literal["any", "all"] = "any"
    figures: tuple[str, ...] = ()
    refuse: bool = False
    tags: tuple[str, ...] = ()
    held: bool = False
    note: str = ""
    at: str = ""


@dataclass(frozen=True, slots=True)
class Goldset:
    """All questions of a file, and the floors below which a gate closes."""

    version: int
    floors: Mapping[str, float]
    cases: tuple[Case, ...]


def read(path: Path) -> Goldset:
    """The goldset in `path`. Raises AgentError, which names every fault with its file and line."""
    from pydantic import ValidationError

    from agent.eval.goldset_form import Goldfile

    root, data = _loaded(path)
    faults = list(_twice(root, path))
    try:
        checked = Goldfile.model_validate(data).model_dump()
    except ValidationError as error:
        faults += [_fault(found, data, root, path) for found in error.errors(include_url=False)]
    if faults:
        raise AgentError("\n".join(faults), tr("The form of a goldset is shown in agent/eval/goldset.py."))
    lines = (_line(root, ("fragen", place)) for place in range(len(checked["fragen"])))
    cases = tuple(_case(row, f"{path}:{line}") for row, line in zip(checked["fragen"], lines, strict=True))
    return Goldset(checked["version"], checked["boden"], cases)


def _loaded(path: Path) -> tuple[yaml.Node, Any]:
    """The file as YAML nodes, which know their lines, and as plain data."""
    import yaml

    class Loader(yaml.SafeLoader):
        def construct_yaml_timestamp(self, node: yaml.ScalarNode) -> Any:
            try:
                return super().construct_yaml_timestamp(node)
            except ValueError as error:
                raise yaml.constructor.ConstructorError(None, None, tr("{date} is no date", date=node.value), node.start_mark) from error

    Loader.add_constructor("tag:yaml.org,2002:timestamp", Loader.construct_yaml_timestamp)
    try:
        loader = Loader(path.read_text(encoding="utf-8"))
        root = loader.get_single_node()
        if root is None:
            raise AgentError(tr("{path}: this file is empty.", path=path), tr("A goldset has version, boden and fragen."))
        return root, loader.construct_document(root)
    except OSError as error:
        raise AgentError(
            tr("{path} cannot be read ({reason}).", path=path, reason=error.strerror), tr("A goldset lies beside its knowledge base.")
        ) from error
    except yaml.MarkedYAMLError as error:
        at = f"{path}:{error.problem_mark.line + 1}" if error.problem_mark else str(path)
        raise AgentError(
            tr("{at}: this is no readable YAML ({problem}).", at=at, problem=error.problem), tr("Put the line right.")
        ) from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise AgentError(tr("{path}: this is no readable YAML.", path=path), tr("Save the file as UTF-8.")) from error


def _case(row: Mapping[str, Any], at: str) -> Case:
    sources = row["erwartete_quellen"]
    return Case(
        id=row["id"],
        question=row["frage"],
        stichtag=row["stichtag"],
        sources=tuple(sources["all"] or sources["any"]),
        need="all" if sources["all"] else "any",
        figures=tuple(row["erwartete_werte"]),
        refuse=row["verweigern"],
        tags=tuple(row["tags"]),
        held=row["halten"],
        note=row["note"],
        at=at,
    )


# --- faults ---------------------------------------------------------------------------------------


_SENTENCES = {
    "missing": noted("{field} is missing"),
    "extra_forbidden": noted("there is no field {field}"),
    "string_type": noted("{field} must be text; a figure stands in quotes, as it is written"),
    "date_type": noted("{field} must be a date, such as 2026-11-30, without quotes"),
    "bool_type": noted("{field} must be true or false"),
}


def _fault(found: Any, data: Any, root: yaml.Node, path: Path) -> str:
    """One fault that pydantic found, as `file:line: question, what`."""
    where: tuple[str | int, ...] = found["loc"]
    this = tr("this")
    names = [this, *(repr(part) for part in where if isinstance(part, str) and part not in ("any", "all"))]
    field = names[-1] if names[-1] != "'fragen'" or len(where) == 1 else this
    message = found["msg"].removeprefix("Value error, ")
    plain = message if found["type"] == "value_error" else f"{field}: {message}"
    known = _SENTENCES.get(found["type"])
    sentence = tr(known, field=field) if known else plain
    return f"{path}:{_line(root, where)}: {_whose(data, where)}{sentence}."


def _whose(data: Any, where: Sequence[str | int]) -> str:
    if len(where) < 2 or where[0] != "fragen" or not isinstance(where[1], int):
        return ""
    row = data["fragen"][where[1]]
    name = row.get("id") if isinstance(row, dict) else None
    return tr("question {id}:", id=name or where[1] + 1) + " "


def _line(node: yaml.Node, where: Sequence[str | int]) -> int:
    """The line of what `where` leads to, or of the nearest thing around it that the file holds."""
    import yaml

    line = node.start_mark.line + 1
    for part in where:
        if isinstance(node, yaml.SequenceNode) and isinstance(part, int):
            node = node.value[part]
            line = node.start_mark.line + 1
        elif isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                if key.value == part:
                    node, line = value, key.start_mark.line + 1
    return line


def _twice(root: yaml.Node, path: Path) -> Iterator[str]:
    """Keys that stand twice in one mapping (YAML would let the last one win), and ids that two questions share."""
    import yaml

    nodes, ids = [root], dict[str, int]()
    for node in nodes:
        seen = set[str]()
        for key, value in node.value if isinstance(node, yaml.MappingNode) else ():
            line = key.start_mark.line + 1
            if key.value in seen:
                yield tr("{path}:{line}: {name!r} is given twice.", path=path, line=line, name=key.value)
            seen.add(key.value)
            if key.value == "id" and ids.setdefault(value.value, line) != line:
                yield tr(
                    "{path}:{line}: question {id}: the id stands in line {first} already.",
                    path=path,
                    line=line,
                    id=value.value,
                    first=ids[value.value],
                )
            nodes.append(value)
        if isinstance(node, yaml.SequenceNode):
            nodes += node.value


# --- against the knowledge base -------------------------------------------------------------------

Contradiction = Callable[[Case], Iterable[str]]
"""What speaks against a case, each as the end of a sentence that begins with the question's id."""


def check(cases: Iterable[Case], known_ids: Collection[str], *, against: Sequence[Contradiction] = ()) -> tuple[str, ...]:
    """What the knowledge base contradicts, as `file:line: question, what`: unknown entry ids, and whatever `against` finds."""
    return tuple(
        tr("{at}: question {id}: {problem}.", at=case.at, id=case.id, problem=problem)
        for case in cases
        for problem in (
            *(tr("there is no entry {name!r}", name=name) for name in case.sources if name not in known_ids),
            *(problem for contradiction in against for problem in contradiction(case)),
        )
    )


Span = tuple[date | None, date | None]


def by_date(
    rows: Mapping[str, Sequence[Span]],
    *,
    spelled: Callable[[str], str] = str.strip,
    periods: Callable[[Case], Iterable[Period]] | None = None,
) -> Contradiction:
    """Speaks against a figure that the dated values hold, but for no day the question is about.

    `rows`: figure -> the spans (valid from, valid to; None = open) of every row that has it, both spelled alike by `spelled`. A figure
    no row holds is let pass: it may stand in an entry. `periods` tells what a case is about (default: Stichtag and years named in it).
    """

    def found(case: Case) -> Iterator[str]:
        about = tuple((periods or named_periods)(case))
        for figure in case.figures:
            spans = rows.get(spelled(figure), ())
            if spans and not any(period.overlaps(*span) for span in spans for period in about):
                shown = ", ".join(tr("{start} to {end}", start=start or "...", end=end or "...") for start, end in spans)
                yield tr("expects {figure}, which the dated values give only for {spans}", figure=figure, spans=shown)

    return found


def by_text(holds: Callable[[str, str], bool]) -> Contradiction:
    """Speaks against a figure that none of the case's sources holds; `holds` answers for (entry id, figure)."""

    def found(case: Case) -> Iterator[str]:
        for figure in case.figures:
            if not any(holds(source, figure) for source in case.sources):
                yield tr("expects {figure}, which stands in none of its sources", figure=figure)

    return found


def named_periods(case: Case) -> tuple[Period, ...]:
    """The Stichtag, and each year the question names in four digits."""
    years = dict.fromkeys(int(year) for year in re.findall(r"(?<!\d)(?:19|20)\d\d(?!\d)", case.question))
    return (Period.day(case.stichtag), *map(Period.year, years))


# --- towards the measures -------------------------------------------------------------------------


def qrels(cases: Iterable[Case]) -> dict[str, dict[str, int]]:
    """The judgements of all answerable cases. Sources of which any is enough count as one document, the first: see `folded`."""
    return {case.id: dict.fromkeys(case.sources if case.need == "all" else case.sources[:1], 1) for case in cases if not case.refuse}


def folded(run: Mapping[str, Sequence[str]], cases: Sequence[Case]) -> dict[str, list[str]]:
    """The run with every alternative of a case replaced by the first, so that the best placed one counts and no other is missed."""
    alternatives = {case.id: set(case.sources) if case.need == "any" else set[str]() for case in cases}
    first = {case.id: case.sources[0] for case in cases if case.sources}
    return {
        qid: list(dict.fromkeys(first[qid] if doc in alternatives.get(qid, ()) else doc for doc in ranking)) for qid, ranking in run.items()
    }
