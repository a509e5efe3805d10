"""An entry's front matter as a pydantic model, and its errors as sentences with a line. Imported late: pydantic is slow to load."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from agent.i18n import tr
from agent.ingest.problems import EntryProblem, near
from agent.ingest.yamlfile import Fields, Items, Node, Scalar
from agent.values import EntryInfo


def _day(value: Any) -> date:
    if not isinstance(value, str) or not re.fullmatch(r"\d{4}-\d{2}-\d{2}", value):
        raise ValueError(tr("{value!r} is no date", value=value))
    try:
        return date.fromisoformat(value)
    except ValueError as error:
        raise ValueError(tr("{value!r} is no day of the calendar", value=value)) from error


Day = Annotated[date, BeforeValidator(_day)]
Text = Annotated[str, Field(min_length=1)]


def _page(value: Any) -> Any:
    return int(value) if isinstance(value, str) and value.isdecimal() else value


Page = Annotated[int | Text, BeforeValidator(_page)]


class FrontMatter(BaseModel):
    """What stands between the two `---` of an entry."""

    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)

    id: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]
    titel: Text
    stand: Day
    thema: str = ""
    tags: tuple[Text, ...] = ()
    gueltig_ab: Day | None = None
    gueltig_bis: Day | None = None
    rechtsgrundlage: tuple[Text, ...] = ()
    quellen: tuple[Text, ...] = ()
    cross_refs: tuple[Text, ...] = ()
    layer: Annotated[int, Field(ge=1, le=9)]
    bereich: Text
    seiten: tuple[Page, ...] = ()
    herkunft: str = ""
    importiert: str = ""

    @model_validator(mode="after")
    def _in_order(self) -> FrontMatter:
        if self.gueltig_ab and self.gueltig_bis and self.gueltig_bis < self.gueltig_ab:
            raise ValueError(tr("`gueltig_bis` lies before `gueltig_ab`"))
        return self

    def info(self, path: str, sha256: str) -> EntryInfo:
        """As the value that travels."""
        return EntryInfo(
            id=self.id,
            title=self.titel,
            stand=self.stand,
            topic=self.thema,
            tags=self.tags,
            valid_from=self.gueltig_ab,
            valid_to=self.gueltig_bis,
            norms=self.rechtsgrundlage,
            sources=self.quellen,
            cross_refs=self.cross_refs,
            bereich=self.bereich,
            layer=self.layer,
            path=path,
            sha256=sha256,
            pages=self.seiten,
        )


FIELDS = tuple(FrontMatter.model_fields)


def checked(node: Fields, path: Path) -> FrontMatter | list[EntryProblem]:
    """The front matter in `node`, or everything that is wrong with it."""
    problems = [
        EntryProblem(path, line, tr("The field `{name}` is given twice.", name=name), tr("Keep one of them.")) for name, line in node.twice
    ]
    given = {name: value for name, field in node.fields.items() if (value := _value(field)) is not None}
    try:
        front = FrontMatter.model_validate(given)
    except ValidationError as error:
        return problems + [_problem(detail, node, path) for detail in error.errors()]
    return problems or front


def _value(node: Node) -> Any:
    """Text, a list of texts, or None where nothing is given; what is nested deeper stays an object that no field accepts."""
    if isinstance(node, Scalar):
        return node.value
    if isinstance(node, Items):
        return [_value(item) for item in node.items]
    return node


def _problem(detail: Any, node: Fields, path: Path) -> EntryProblem:
    where, kind, given = detail["loc"], detail["type"], detail["input"]
    name = str(where[0]) if where else "gueltig_bis"
    line = node.line if kind == "missing" else _line(node, name, where)
    match kind:
        case _ if isinstance(given, Fields | Items) and kind not in ("missing", "extra_forbidden"):
            said = (
                tr("`{name}` holds fields where a text or a list of texts belongs.", name=name),
                tr("Write `{name}: text`, or `{name}: [a, b]`.", name=name),
            )
        case _ if isinstance(given, list) and len(where) == 1 and kind not in ("missing", "extra_forbidden"):
            said = tr("`{name}` is a list where one text belongs.", name=name), tr("Write `{name}: text`.", name=name)
        case "missing":
            said = tr("The field `{name}` is missing.", name=name), tr("Add `{name}: …` to the front matter.", name=name)
        case "extra_forbidden":
            said = tr("There is no field `{name}`.", name=name), near(name, FIELDS, tr("Fields are {fields}.", fields=", ".join(FIELDS)))
        case "value_error" if where:
            said = f"`{name}`: {detail['ctx']['error']}.", tr("Write it as 2026-01-31.")
        case "value_error":
            said = f"{detail['ctx']['error']}.", tr("Put the dates right.")
        case "string_pattern_mismatch":
            said = (
                tr("`{name}` is {given!r}, and only letters, digits and hyphens can be cited.", name=name, given=given),
                tr("Rename the entry."),
            )
        case "tuple_type":
            said = tr("`{name}` is one text where a list belongs.", name=name), tr("Write `{name}: [{given}]`.", name=name, given=given)
        case "string_type":
            said = tr("`{name}` holds something that is no text.", name=name), tr("Write a text, or a list of texts.")
        case _:
            said = f"`{name}`: {detail['msg']}.", tr("Put the field right.")
    return EntryProblem(path, line, *said)


def _line(node: Fields, name: str, where: tuple[Any, ...]) -> int:
    field = node.fields.get(name)
    if isinstance(field, Items) and len(where) > 1 and isinstance(where[1], int):
        return field.items[where[1]].line
    return node.lines.get(name, node.line)
