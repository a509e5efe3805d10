"""What a statement that nobody has read can do to the dated values: read a few rows, soon; nothing else, and never for long."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from hashlib import sha256
from pathlib import Path
from time import perf_counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.errors import SourceError
from agent.sources.sql.guard import Bounds, _like, selected
from agent.stores import werte
from agent.values import DatedValue

ROWS, SECONDS = 50, 1.0

FORBIDDEN = [
    # writes, in every guise
    "INSERT INTO werte VALUES ('x', '', 'x', 1, '', '', '2026-01-01', NULL, '')",
    "UPDATE werte SET value = 0",
    "DELETE FROM werte",
    "REPLACE INTO werte SELECT * FROM werte",
    "WITH x AS (SELECT 1) DELETE FROM werte",
    "WITH x AS (SELECT 'a' AS a) INSERT INTO werte SELECT a, a, a, 1, a, a, a, a, a FROM x",
    "DROP TABLE werte",
    "ALTER TABLE werte RENAME TO weg",
    "CREATE TABLE neu (x)",
    "CREATE TEMP TABLE neu AS SELECT * FROM werte",
    "CREATE TEMP VIEW v AS SELECT * FROM shown",
    "CREATE TRIGGER t AFTER INSERT ON werte BEGIN DELETE FROM werte; END",
    "CREATE VIRTUAL TABLE v USING fts5(x)",
    "SELECT * FROM werte RETURNING *",
    # other files, other tables, the program itself
    "ATTACH DATABASE '{elsewhere}' AS weg",
    "VACUUM INTO '{elsewhere}'",
    "VACUUM",
    "DETACH DATABASE main",
    "PRAGMA writable_schema = ON",
    "PRAGMA journal_mode = WAL",
    "PRAGMA query_only = OFF",
    "SELECT * FROM pragma_table_info('werte')",
    "SELECT * FROM pragma_database_list",
    "SELECT load_extension('{elsewhere}')",
    "SELECT writefile('{elsewhere}', 'x')",
    "SELECT readfile('/etc/passwd')",
    "SELECT fts3_tokenizer('simple')",
    "SELECT * FROM sqlite_master",
    "SELECT sql FROM main.sqlite_schema",
    "SELECT * FROM shown",
    "SELECT (SELECT value FROM meta LIMIT 1) FROM werte",
    "SELECT * FROM json_each('[1,2]')",
    "SELECT * FROM generate_series(1, 1000000000)",
    # several statements, none, transactions
    "SELECT 1; DELETE FROM werte",
    "SELECT key FROM werte; SELECT 1",
    "BEGIN EXCLUSIVE",
    "SAVEPOINT s",
    "COMMIT",
    "",
    "-- SELECT\nDELETE FROM werte",
    "EXPLAIN SELECT * FROM werte",
    "SELECT \x00 FROM werte",
    "SELECT '\ud800' FROM werte",
    "VALUES (1), (2)",
    "REINDEX",
    "ANALYZE",
]

RUNAWAY = [
    # what has no end
    "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c",
    "WITH RECURSIVE c(x) AS (SELECT 'a' UNION ALL SELECT x || x FROM c) SELECT length(x) FROM c",
    "WITH c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT max(x) FROM c",
    "SELECT count(*) FROM werte a, werte b, werte c, werte d, werte e",
    "SELECT * FROM werte a, werte b, werte c ORDER BY a.label || b.label || c.label",
    "SELECT DISTINCT a.label || b.label || c.label || d.label FROM werte a, werte b, werte c, werte d",
    "SELECT sum(a.value * b.value * c.value) FROM werte a, werte b, werte c GROUP BY a.key || b.key || c.key",
    "SELECT key FROM werte a WHERE NOT EXISTS (SELECT 1 FROM werte b, werte c, werte d WHERE b.value + c.value + d.value = a.value + 0.3)",
    "SELECT key, (SELECT count(*) FROM werte x, werte y, werte z WHERE x.value > y.value + z.value + w.value) FROM werte w",
    # what grows
    "SELECT randomblob(1000000000)",
    "SELECT zeroblob(1000000000)",
    "SELECT hex(zeroblob(100000000))",
    "SELECT printf('%.*c', 1000000000, 'x')",
    "SELECT format('%1000000000d', 1)",
    "SELECT replace(hex(zeroblob(5000)), '0', hex(zeroblob(5000)))",
    "SELECT group_concat(a.label, b.label) FROM werte a, werte b, werte c",
    "SELECT json_group_array(label) FROM werte a, werte b",
    "SELECT quote(zeroblob(100000000)), char(65, 66), unhex('00')",
    "SELECT a || a || a || a FROM (SELECT b || b || b || b || b AS a FROM (SELECT label || label || label || label AS b FROM werte))",
    # what is slow between two steps, or before the first
    "SELECT count(*) FROM werte a, werte b WHERE a.label || b.label LIKE '%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%b'",
    "SELECT 1 FROM werte WHERE label || label || label || label LIKE '" + "%_" * 40 + "x'",
    "SELECT 1 FROM werte WHERE label LIKE '" + "%" * 3000 + "'",
    "SELECT 1 FROM werte WHERE label GLOB '*a*a*a*a*a*a*a*a*a*a*a*a*b'",
    "SELECT 1 FROM werte WHERE label REGEXP '(a+)+b'",
    "SELECT 1 FROM werte WHERE label MATCH 'x'",
    "WITH " + ", ".join(f"t{n} AS (SELECT a.x FROM t{n - 1} a, t{n - 1} b)" if n else "t0 AS (SELECT 1 AS x)" for n in range(40))
    + " SELECT count(*) FROM t39",
    "SELECT " + "(" * 400 + "1" + ")" * 400,
    "SELECT " + " + ".join(["1"] * 1500),
    "SELECT 1 " + "UNION ALL SELECT 1 " * 100,
    "SELECT * FROM " + ", ".join(f"werte w{n}" for n in range(64)),
    "SELECT " + ", ".join(["*"] * 40) + " FROM werte",
    "SELECT x FROM (WITH t AS (SELECT key AS x FROM werte) SELECT a.x FROM t a, t b)",
    "SELECT abs(-9223372036854775808)",
    "SELECT 1 FROM werte WHERE key IN (" + ", ".join(["'x'"] * 1200) + ")",
]  # fmt: skip


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Nine hundred values with long labels: as many as a real knowledge base has."""
    path = tmp_path_factory.mktemp("werte") / "index.werte.db"
    werte.write(path, (value(n) for n in range(900)), {"language": "de-2"})
    yield path
    assert [found.name for found in path.parent.iterdir()] == [path.name], "nothing was left beside it"


def value(number: int) -> DatedValue:
    label = f"Grenzbetrag der {number}. Klasse für aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa und Übrige"
    return DatedValue(
        f"test.{number}", "", label, number / 10, "EUR", "monatlich", date(2026, 1, 1), None, "§ 1", date(2026, 1, 1), f"| {label} |"
    )


def asked(path: Path, statement: str) -> list[dict[str, object]]:
    return selected(path, statement, Bounds("werte", ROWS, SECONDS))


@pytest.mark.parametrize("statement", [*FORBIDDEN, *RUNAWAY], ids=range(len(FORBIDDEN) + len(RUNAWAY)))
def test_a_hostile_statement_is_refused_or_ends_soon_with_few_rows(database: Path, statement: str) -> None:
    before, elsewhere = sha256(database.read_bytes()).hexdigest(), database.parent / "weg.db"
    rows: list[dict[str, object]] = []
    said, start = "", perf_counter()
    try:
        rows = asked(database, statement.replace("{elsewhere}", str(elsewhere)))
    except SourceError as refused:
        said = str(refused)
    assert perf_counter() - start < 2
    assert len(rows) <= ROWS
    assert said or statement in RUNAWAY
    assert "\n" not in said
    assert len(said) < 400
    assert sha256(database.read_bytes()).hexdigest() == before
    assert not elsewhere.exists()


def test_there_are_enough_of_them() -> None:
    assert len({*FORBIDDEN, *RUNAWAY}) >= 80


@pytest.mark.parametrize(
    ("statement", "first"),
    [
        ("SELECT key, value FROM werte WHERE key = 'test.7'", {"key": "test.7", "value": 0.7}),
        ("SELECT key FROM werte WHERE label LIKE '%ÜBRIGE' AND value > 80 ORDER BY value LIMIT 1", {"key": "test.801"}),
        ("SELECT key FROM (SELECT key, value FROM werte ORDER BY value DESC) LIMIT 1;", {"key": "test.899"}),
        ("SELECT key FROM werte WHERE label LIKE '%with%' OR key = 'test.1' -- with", {"key": "test.1"}),
        ("SELECT count(*) AS n, round(avg(value), 1) AS mittel FROM werte", {"n": 900, "mittel": 45.0}),
        ("select a.key from werte a join werte b on a.key = b.key where b.valid_from <= '2026-12-31' and a.value = 3", {"key": "test.30"}),
    ],
)
def test_plain_questions_are_answered(database: Path, statement: str, first: dict[str, object]) -> None:
    assert asked(database, statement)[0] == first


def test_there_are_never_more_rows_than_allowed(database: Path) -> None:
    assert len(asked(database, "SELECT * FROM werte")) == ROWS


def test_a_file_that_is_missing_or_no_database_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="pv-agent ingest"):
        asked(tmp_path / "fehlt.db", "SELECT 1")
    (tmp_path / "text.db").write_text("kein SQLite " * 100, encoding="utf-8")
    with pytest.raises(SourceError, match="pv-agent ingest"):
        asked(tmp_path / "text.db", "SELECT key FROM werte")


@settings(deadline=None)
@given(st.text("aAbÄä%_", max_size=8), st.text("aAbÄä%_", max_size=8))
def test_like_is_sql_s_like(pattern: str, text: str) -> None:
    import re

    meant = "".join(".*" if c == "%" else "." if c == "_" else re.escape(c) for c in pattern.casefold())
    assert _like(pattern, text) == bool(re.fullmatch(meant, text.casefold(), re.DOTALL))


def test_like_knows_an_escape_and_nothing() -> None:
    assert _like("50\\%", "50%", "\\")
    assert not _like("50\\%", "500", "\\")
    assert _like(None, "x") is None
