"""The published figure comes out of our measures, where the set and bm25s are at hand; another figure is an error."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import xquad_oracle

pytest.importorskip("bm25s")


@pytest.mark.skipif(not xquad_oracle.DEFAULT.is_dir(), reason="the set lies beside the project, not in it")
def test_the_published_figure_comes_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert xquad_oracle.main(["--run-file", str(tmp_path / "run")]) == 0
    assert "it is." in capsys.readouterr().out
    assert (tmp_path / "run").read_text(encoding="utf-8").count("\n") > 1000


def test_another_figure_or_no_set_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert xquad_oracle.main([str(tmp_path)]) == 1
    assert "corpus.jsonl cannot be read" in capsys.readouterr().err
    (tmp_path / "corpus.jsonl").write_text('{"id": "a", "text": "blue sky"}\n{"id": "b", "text": "green field"}\n')
    (tmp_path / "queries.jsonl").write_text('{"id": "q", "text": "green"}\n')
    (tmp_path / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq\tb\t1\n")
    assert xquad_oracle.main([str(tmp_path)]) == 1
    assert "it is not." in capsys.readouterr().out
