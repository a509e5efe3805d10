"""A set in BEIR's layout is read whole, filtered by its queries' fields, and refused with file and line where it is broken."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.errors import AgentError, UsageError
from agent.eval import beir

CORPUS = '{"id": "d1", "title": "Eins", "text": "Text eins"}\n{"_id": "d2", "text": "Text zwei"}\n'
QUERIES = (
    '{"id": "q1", "text": "Frage eins?", "group": "in", "names_law": false, "marks": ["a", "b"]}\n'
    '{"_id": "q2", "text": "Frage zwei?", "group": "near_out", "names_law": true, "answerable": false}\n'
    '{"id": 3, "text": "Frage drei?", "group": "in", "names_law": true}\n'
)
QRELS = "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t0\n3\td2\t1.0\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "corpus.jsonl").write_text(CORPUS, encoding="utf-8-sig")
    (tmp_path / "queries.jsonl").write_text(QUERIES, encoding="utf-8", newline="\r\n")
    (tmp_path / "qrels.tsv").write_text(QRELS, encoding="utf-8")
    return tmp_path


def test_a_set_is_read_whole(folder: Path) -> None:
    found = beir.read(folder)
    assert found.documents == (beir.Document("d1", "Eins", "Text eins"), beir.Document("d2", "", "Text zwei"))
    assert [query.id for query in found.queries] == ["q1", "3"]
    assert [query.id for query in found.unanswerable] == ["q2"]
    assert found.unjudged == ()
    assert found.qrels == {"q1": {"d1": 2, "d2": 0}, "3": {"d2": 1}}
    assert found.queries[0].fields == {"group": "in", "names_law": False, "marks": ["a", "b"]}
    assert found.name == folder.name


@pytest.mark.parametrize(
    ("where", "ids"),
    [
        (["group=in"], ["q1", "3"]),
        (["names_law=true"], ["q2", "3"]),
        (["group=in", "names_law=false"], ["q1"]),
        (["marks=b"], ["q1"]),
        (["answerable=false"], ["q2"]),
    ],
)
def test_filters_all_hold(folder: Path, where: list[str], ids: list[str]) -> None:
    found = beir.read(folder, where=where)
    assert sorted(query.id for query in (*found.queries, *found.unanswerable)) == sorted(ids)
    assert found.qrels.keys() == {query.id for query in found.queries}
    assert len(found.documents) == 2


@pytest.mark.parametrize(("where", "said"), [("group", "no filter"), ("colour=red", "Known: .*group"), ("group=out", "No query passes")])
def test_a_filter_that_is_none_is_a_usage_error(folder: Path, where: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        beir.read(folder, where=[where])


def test_beirs_own_archives_keep_the_judgements_in_a_folder(folder: Path) -> None:
    (folder / "qrels").mkdir()
    (folder / "qrels.tsv").rename(folder / "qrels" / "test.tsv")
    assert beir.read(folder).qrels["q1"] == {"d1": 2, "d2": 0}


def test_an_answerable_query_nobody_judged_is_kept_apart(folder: Path) -> None:
    (folder / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t1\n3\td1\t0\n")
    found = beir.read(folder)
    assert [query.id for query in found.unjudged] == ["3"]
    assert list(found.qrels) == ["q1"]


@pytest.mark.parametrize(
    ("name", "text", "at", "said"),
    [
        ("corpus.jsonl", '{"id": "d1", "text": "x"}\n{"id": "d2", \n', 2, "no valid JSON"),
        ("corpus.jsonl", '["d1"]\n', 1, "not a JSON object"),
        ("corpus.jsonl", '{"id": "d1", "text": "x"}\n\n{"id": "d1", "text": "y"}\n', 3, "'d1' stands in line 1 already"),
        ("corpus.jsonl", '{"id": "d1"}\n', 1, "'text' is missing"),
        ("corpus.jsonl", '{"text": "x"}\n', 1, "'id' is missing"),
        ("queries.jsonl", '{"id": "q1", "text": "x", "answerable": "no"}\n', 1, "neither true nor false"),
        ("queries.jsonl", '{"id": "q1", "text": "x"}\n{"id": "q1", "text": "x"}\n', 2, "already"),
        ("qrels.tsv", "query-id\tcorpus-id\tscore\nq1\td1\n", 2, "three columns"),
        ("qrels.tsv", "query-id\tcorpus-id\tscore\nq1\td1\tgood\n", 2, "no whole number"),
        ("qrels.tsv", "query-id\tcorpus-id\tscore\nq1\td1\t0.5\n", 2, "no whole number"),
        ("qrels.tsv", "query-id\tcorpus-id\tscore\nq1\td1\tinf\n", 2, "no whole number"),
        ("qrels.tsv", "query-id\tcorpus-id\tscore\nq9\td1\t1\n", 2, "no query 'q9'"),
        ("qrels.tsv", "query-id\tcorpus-id\tscore\nq1\td9\t1\n", 2, "no document 'd9'"),
        ("qrels.tsv", "query-id\tcorpus-id\tscore\nq2\td1\t1\n", 2, "not answerable"),
        ("qrels.tsv", "q1\td1\t1\nq1\td1\t1\n", 2, "judged twice"),
    ],
)
def test_a_broken_line_is_named(folder: Path, name: str, text: str, at: int, said: str) -> None:
    (folder / name).write_text(text)
    with pytest.raises(AgentError, match=f"{name}:{at}: .*{said}") as caught:
        beir.read(folder)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["corpus.jsonl", "queries.jsonl", "qrels.tsv"])
def test_a_missing_file_is_one_sentence(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(AgentError, match=f"{name} cannot be read"):
        beir.read(folder)


def test_text_that_is_no_utf8_is_named(folder: Path) -> None:
    (folder / "corpus.jsonl").write_bytes(b'{"id": "d1", "text": "a"}\n{"id": "d2", "text": "gr\xfcn"}\n')
    with pytest.raises(AgentError, match=r"corpus\.jsonl:2: this is not UTF-8"):
        beir.read(folder)
