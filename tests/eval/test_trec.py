"""A run file holds the same ranking after a round trip, for us and for the oracle."""

from __future__ import annotations

from pathlib import Path

import ir_measures
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.errors import AgentError
from agent.eval import trec

names = st.text(st.characters(categories=("L", "N", "P")), min_size=1, max_size=8).filter(lambda name: name.split() == [name])
runs = st.dictionaries(names, st.lists(names, min_size=1, max_size=12, unique=True), max_size=5)


@given(runs)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_what_is_written_is_read(tmp_path: Path, run: dict[str, list[str]]) -> None:
    trec.write(run, tmp_path / "run")
    assert trec.read(tmp_path / "run") == run


def test_the_oracle_reads_it_in_our_order(tmp_path: Path) -> None:
    trec.write({"q": ["b", "a", "c"]}, tmp_path / "run", tag="test")
    assert (tmp_path / "run").read_text().splitlines()[0] == "q Q0 b 1 3 test"
    found = list(ir_measures.read_trec_run(str(tmp_path / "run")))  # type: ignore[no-untyped-call]
    assert [doc.doc_id for doc in sorted(found, key=lambda doc: -doc.score)] == ["b", "a", "c"]


def test_ties_are_broken_as_trec_eval_does(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("q Q0 a 1 2.5 x\nq Q0 b 2 2.5 x\n\nq Q0 c 3 7 x\n")
    assert trec.read(tmp_path / "run") == {"q": ["c", "b", "a"]}


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("q Q0 a 1 2.5\n", 1, "5 columns"),
        ("q Q0 a 1 1 x\nq Q0 a 2 0 x\n", 2, "twice"),
        ("q Q0 a 1 high x\n", 1, "no number"),
    ],
)
def test_a_broken_line_is_named(tmp_path: Path, text: str, line: int, said: str) -> None:
    (tmp_path / "run").write_text(text)
    with pytest.raises(AgentError, match=f"run:{line}: .*{said}"):
        trec.read(tmp_path / "run")


def test_a_missing_file_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(AgentError, match="cannot be read"):
        trec.read(tmp_path / "none")


@pytest.mark.parametrize("name", ["two words", "", "tab\there"])
def test_an_id_the_format_cannot_hold_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(AgentError, match="TREC run file"):
        trec.write({"q": [name]}, tmp_path / "run")
