"""The source `sql`: rows of the dated values as evidence, each cited by its own id (`werte:<key>[/<row>]@<valid_from>`)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Any

from agent.errors import SourceError
from agent.i18n import tr
from agent.interfaces import VALUES_COLUMNS, VALUES_TABLE
from agent.language import Language
from agent.language.timing import asked_periods
from agent.lookup import looked_up
from agent.settings import Settings
from agent.sources.sql.guard import Bounds, opened, selected
from agent.values import Chunk, DatedValue, EntryInfo, Evidence, Hit, Period, Searched, SubQuery

_COLUMNS = ", ".join(VALUES_COLUMNS)
_STATEMENT = re.compile(
    r"\W*(?:SELECT|WITH|VALUES|EXPLAIN|INSERT|UPDATE|DELETE|REPLACE|CREATE|DROP|ALTER|ATTACH|DETACH|PRAGMA|VACUUM|REINDEX|ANALYZE|BEGIN"
    r"|COMMIT|ROLLBACK|SAVEPOINT|RELEASE)\s",
    re.IGNORECASE,
)
_FENCE = re.compile(r"\A\s*```\w*|```\s*\Z|\A\s*`|`\s*\Z")


class Sql:
    """The database of dated values at `path`: asked in SQL, or in words for a value by its name and time."""

    name = "sql"

    def __init__(self, path: Path, language: Language, settings: Settings) -> None:
        self._path = path
        self._language = language
        self._settings = settings

    @cached_property
    def about(self) -> str:
        """What is in it, with its columns and an example of each way to ask."""
        try:
            dated = [value for value in self._values if value.valid_to and not isinstance(value.value, str)]
            plain = [value for value in dated if not any(c.isdigit() for c in value.label)]
            example = min(plain or dated, key=lambda value: (len(value.label), -value.valid_from.toordinal()))
        except (SourceError, ValueError):
            key, label, year = "…", "…", ""
        else:
            key, label, year = example.key, example.label, str(example.valid_from.year)
        days = f"valid_from <= '{year}-12-31' AND (valid_to IS NULL OR valid_to >= '{year}-01-01')"
        statement = f"SELECT key, row, valid_from, value FROM {VALUES_TABLE} WHERE key = '{key}' AND {days}"
        return str(self._language.table["sources"][self.name]).format(
            table=VALUES_TABLE, columns=_COLUMNS, example=statement, label=label, year=year
        )

    def search(self, subquery: SubQuery, /, k: int) -> Evidence:
        query = _FENCE.sub("", subquery.query).strip()
        if _STATEMENT.match(query):
            found, why = self._selected(query), "SQL"
        else:
            found, why = self._named(query, subquery.period), "look-up"
        hits = tuple(self._hit(value, 1 / place, why) for place, value in enumerate(found[:k], start=1))
        return Evidence(hits, Searched((subquery.query,), subquery.scope, subquery.period.end))

    def cited(self, identifier: str) -> Hit | None:
        """The value that is cited by this id; None where there is none."""
        return next((self._hit(value, 1.0, "cited") for value in self._values if value.id == identifier), None)

    def _selected(self, statement: str) -> list[DatedValue]:
        """The rows a statement names. What it made of them besides is no evidence: each is told as it stands in the table."""
        settings = self._settings
        rows = selected(self._path, statement, Bounds(VALUES_TABLE, settings.sql_rows, settings.sql_seconds))
        if rows and not {"key", "valid_from"} <= rows[0].keys():
            raise SourceError(tr("The rows cannot be cited: they do not say which they are."), tr("Select key, row and valid_from too."))
        known = {(value.key, value.row, value.valid_from.isoformat()): value for value in self._values}
        cases: dict[tuple[object, object], list[DatedValue]] = {}
        for (key, _, start), value in known.items():
            cases.setdefault((key, start), []).append(value)
        found: dict[str, DatedValue] = {}
        for row in rows:
            key, start = row["key"], row["valid_from"]
            exact = known.get((key, row["row"] or "", start)) if "row" in row else None
            # a statement that names a key alone is about all of its cases
            for value in [exact] if exact else [] if "row" in row else cases.get((key, start), ()):
                found[value.id] = value
        return list(found.values())

    def _named(self, query: str, period: Period) -> list[DatedValue]:
        """The plain look-up: in the days the query names, else in those asked for."""
        named = asked_periods(query, period.end, self._language)
        days = Period(min(each.start for each in named), max(each.end for each in named)) if named else period
        return list(looked_up(query, days, self._values, self._language, self._synonyms))

    def _hit(self, value: DatedValue, score: float, why: str) -> Hit:
        entry = EntryInfo(
            value.id,
            value.label,
            value.stand,
            valid_from=value.valid_from if value.start_known else None,
            valid_to=value.valid_to,
            norms=(value.norm,) if value.norm else (),
            cross_refs=value.entries,
        )
        return Hit(Chunk(value.id, 0, "", value.shown, (0, len(value.shown))), entry, score, source=self.name, why=why)

    # --- what is in it ----------------------------------------------------------------------------

    @cached_property
    def _values(self) -> tuple[DatedValue, ...]:
        with opened(self._path) as connection:
            made = connection.execute("SELECT value FROM meta WHERE key = 'language'").fetchone()
            if made != (self._language.version,):
                raise SourceError(tr("{path} was made by another version of the program.", path=self._path), tr("Run `pv-agent ingest`."))
            rows = connection.execute(
                f"SELECT {_COLUMNS}, stand, shown, entries, labels, around, start_known FROM {VALUES_TABLE}"
                f" JOIN shown USING (key, row, valid_from) ORDER BY {VALUES_TABLE}.rowid"
            )
            return tuple(_value(row) for row in rows)

    @cached_property
    def _synonyms(self) -> Mapping[str, tuple[str, ...]]:
        with opened(self._path) as connection:
            found = connection.execute("SELECT value FROM meta WHERE key = 'synonyms'").fetchone()
        return {term: tuple(others) for term, others in json.loads(found[0]).items()} if found else {}


def _value(row: Iterable[Any]) -> DatedValue:
    key, case, label, value, unit, period, start, end, norm, stand, shown, entries, labels, around, known = row
    return DatedValue(
        key,
        case,
        label,
        value,
        unit,
        period,
        date.fromisoformat(start),
        date.fromisoformat(end) if end else None,
        norm,
        date.fromisoformat(stand),
        shown,
        tuple(entries.split()),
        tuple(frozenset(label.split()) for label in labels.splitlines()),
        frozenset(around.split()),
        start_known=bool(known),
    )
