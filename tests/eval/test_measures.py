"""Our measures are trec_eval's: ir_measures is the oracle; the refusal measures are held to their definitions."""

from __future__ import annotations

import ir_measures
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.eval import measures
from agent.eval.measures import MEASURES, Refusals, auroc, per_query, refusal_curve, refusals

ORACLE = {
    "hit@1": ir_measures.Success @ 1,
    "hit-rate@8": ir_measures.Success @ 8,
    "recall@8": ir_measures.R @ 8,
    "MRR@10": ir_measures.RR @ 10,
    "MRR": ir_measures.RR,
    "nDCG@10": ir_measures.nDCG @ 10,
}

documents = st.integers(0, 30).map("d{:02}".format)
rankings = st.lists(documents, unique=True, max_size=25)
judgements = st.dictionaries(documents, st.integers(-1, 3), max_size=14)
scores = st.lists(st.integers(0, 6).map(float), min_size=1, max_size=30)


@given(st.dictionaries(st.sampled_from("abcdef"), st.tuples(rankings, judgements), min_size=1))
@settings(max_examples=200, deadline=None)
def test_measures_agree_with_the_oracle(data: dict[str, tuple[list[str], dict[str, int]]]) -> None:
    qrels = {qid: judged for qid, (_, judged) in data.items() if any(grade > 0 for grade in judged.values())}
    run = {qid: ranking for qid, (ranking, _) in data.items()}
    ours = per_query(run, qrels)
    assert ours.keys() == qrels.keys()
    scored = [ir_measures.ScoredDoc(qid, doc, -place) for qid, ranking in run.items() for place, doc in enumerate(ranking)]
    judged = [ir_measures.Qrel(qid, doc, grade) for qid, grades in qrels.items() for doc, grade in grades.items()]
    theirs = {(metric.query_id, str(metric.measure)): metric.value for metric in ir_measures.iter_calc(ORACLE.values(), judged, scored)}
    for qid, row in ours.items():
        assert row.keys() == MEASURES.keys()
        for name, measure in ORACLE.items():
            # The oracle leaves out a question without a run; we count it as missed.
            assert row[name] == pytest.approx(theirs.get((qid, str(measure)), 0.0), abs=1e-6)
        assert row["all-gold@8"] == (row["recall@8"] == 1)
        assert all(0 <= value <= 1 for value in row.values())


def test_an_example_by_hand() -> None:
    row = per_query({"q": ["x", "a", "y", "b"]}, {"q": {"a": 1, "b": 1, "c": 1}})["q"]
    assert row["hit@1"] == 0
    assert row["recall@8"] == pytest.approx(2 / 3)
    assert row["MRR"] == 0.5
    assert row["nDCG@10"] == pytest.approx((1 / 1.584962500721156 + 1 / 2.321928094887362) / (1 + 1 / 1.584962500721156 + 0.5))


def test_a_question_without_a_run_scores_nothing_and_one_without_relevant_documents_is_left_out() -> None:
    values = per_query({}, {"missed": {"a": 1}, "unjudged": {"a": 0}})
    assert list(values) == ["missed"]
    assert set(values["missed"].values()) == {0.0}


def test_a_document_named_twice_counts_once() -> None:
    assert per_query({"q": ["x", "x", "a"]}, {"q": {"a": 1}})["q"]["MRR"] == 0.5
    assert per_query({"q": ["a", "a"]}, {"q": {"a": 1, "b": 1}})["q"]["recall@8"] == 0.5


def test_a_mean_over_no_questions_is_not_scored() -> None:
    assert measures.mean({}, "MRR") is None


def test_every_measure_says_what_it_is_and_where_it_is_from() -> None:
    for measure in MEASURES.values():
        assert measure.of.__doc__
        assert "hare" in measure.of.__doc__ or "Mean" in measure.of.__doc__


def test_refusals_by_hand() -> None:
    counts = refusals([(True, True), (True, True), (True, False), (False, True), (False, False), (False, False), (False, False)])
    assert counts == Refusals(2, 1, 1, 3)
    assert (counts.precision, counts.recall, counts.false_refusals) == (2 / 3, 2 / 3, 1 / 4)


def test_a_share_of_nothing_is_not_scored() -> None:
    assert (Refusals().precision, Refusals().recall, Refusals().false_refusals) == (None, None, None)
    assert auroc([], [1.0]) is None
    assert auroc([1.0], []) is None


@given(scores, scores)
def test_auroc_is_the_share_of_pairs_won(answerable: list[float], unanswerable: list[float]) -> None:
    wins = sum((good > bad) + 0.5 * (good == bad) for good in answerable for bad in unanswerable)
    assert auroc(answerable, unanswerable) == pytest.approx(wins / (len(answerable) * len(unanswerable)))
    mirrored = auroc(unanswerable, answerable)
    assert mirrored is not None
    assert auroc(answerable, unanswerable) == pytest.approx(1 - mirrored)


@given(scores, scores)
def test_each_point_of_the_curve_is_the_decision_at_its_threshold(answerable: list[float], unanswerable: list[float]) -> None:
    curve = refusal_curve(answerable, unanswerable)
    assert [point.threshold for point in curve] == sorted({*answerable, *unanswerable})
    for point in curve:
        decisions = [(False, score < point.threshold) for score in answerable] + [(True, score < point.threshold) for score in unanswerable]
        counts = refusals(decisions)
        assert (point.precision, point.recall, point.false_refusals) == (counts.precision, counts.recall, counts.false_refusals)
