"""The contracts: what keeps one becomes a value, everything else a fault, and a changed question is never taken over."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent import texts
from agent.review.contracts import Correction, Fault, Proposal, Review, Rewrite, Status, normalised, same
from tests.review.script import QUESTION, correction, proposal, rewrite, verdict

GOOD: dict[str, Callable[..., str]] = {"rewrite": rewrite, "answer": proposal, "verdict": verdict, "correction": correction}
KINDS = {"rewrite": Rewrite, "answer": Proposal, "verdict": Review, "correction": Correction}
NAMES = sorted(GOOD)
WITH_QUESTION = ["answer", "correction", "rewrite"]


def status(name: str, text: str) -> Status:
    found = normalised(name, text, QUESTION)
    return found.status if isinstance(found, Fault) else Status.VALID


@pytest.mark.parametrize("name", NAMES)
def test_every_contract_is_a_json_schema_of_2020_12_that_admits_nothing_else(name: str) -> None:
    schema = texts.schema(f"review.{name}")
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["additionalProperties"] is False
    assert set(schema["required"]) <= set(schema["properties"])


@pytest.mark.parametrize("name", NAMES)
def test_valid_json_becomes_the_role_s_value(name: str) -> None:
    assert isinstance(normalised(name, GOOD[name](), QUESTION), KINDS[name])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("around", ["```json\n{}\n```", "```\n{}\n```", "\n\n{}\n"])
def test_fenced_json_is_read(name: str, around: str) -> None:
    assert status(name, around.replace("{}", GOOD[name]())) is Status.VALID


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "around", ["Hier ist das JSON: {}", "{} Das war es.", "```json\n{}\n```\nFertig.", "{}{}", "[{}]", "", "null", "kein JSON", "{"]
)
def test_invalid_json_and_prose_beside_it_are_refused(name: str, around: str) -> None:
    assert status(name, around.replace("{}", GOOD[name]())) is Status.INVALID_JSON


@pytest.mark.parametrize("name", NAMES)
def test_a_missing_field_is_refused(name: str) -> None:
    whole = json.loads(GOOD[name]())
    for field in texts.schema(f"review.{name}")["required"]:
        assert status(name, json.dumps({key: value for key, value in whole.items() if key != field})) is Status.INVALID_JSON, field


@pytest.mark.parametrize("name", NAMES)
def test_an_extra_field_is_refused(name: str) -> None:
    assert status(name, GOOD[name](thoughts="Das fiel mir noch ein.")) is Status.INVALID_JSON


@pytest.mark.parametrize("name", NAMES)
def test_a_field_that_stands_twice_is_refused(name: str) -> None:
    whole = GOOD[name]()
    first = next(iter(json.loads(whole).items()))
    twice = whole[:-1] + f", {json.dumps(first[0])}: {json.dumps(first[1], ensure_ascii=False)}}}"
    assert status(name, twice) is Status.INVALID_JSON


QUERY = {"query": "Grenze", "purpose": "literal"}
TERM = {"surface": "a", "normalized_family": "a", "kind": "lemma"}
USED = {"chunk_id": "pv-grenze#0", "source": "s", "claim_supported": "c"}


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("rewrite", {"original_question": ""}),
        ("rewrite", {"retrieval_queries": []}),
        ("rewrite", {"retrieval_queries": [QUERY] * 6}),
        ("rewrite", {"retrieval_queries": [{**QUERY, "query": ""}]}),
        ("rewrite", {"retrieval_queries": [{**QUERY, "query": "x" * 181}]}),
        ("rewrite", {"retrieval_queries": [{**QUERY, "purpose": "guess"}]}),
        ("rewrite", {"retrieval_queries": [{**QUERY, "answer": "551,10"}]}),
        ("rewrite", {"must_keep_focus": []}),
        ("rewrite", {"must_keep_focus": ["a"] * 7}),
        ("rewrite", {"must_keep_focus": ["x" * 81]}),
        ("rewrite", {"semantic_terms": [TERM] * 13}),
        ("rewrite", {"semantic_terms": [{**TERM, "surface": "x" * 61}]}),
        ("rewrite", {"semantic_terms": [{**TERM, "normalized_family": "x" * 61}]}),
        ("rewrite", {"semantic_terms": [{**TERM, "kind": "verb"}]}),
        ("rewrite", {"negative_constraints": ["a"] * 7}),
        ("rewrite", {"negative_constraints": ["x" * 121]}),
        ("rewrite", {"confidence": 1.01}),
        ("rewrite", {"confidence": -0.01}),
        ("rewrite", {"confidence": "0.9"}),
        ("rewrite", {"confidence": True}),
        ("answer", {"answer": "x" * 39}),
        ("answer", {"answer": "x" * 2201}),
        ("answer", {"answer_scope": "maybe"}),
        ("answer", {"evidence_used": []}),
        ("answer", {"evidence_used": [USED] * 9}),
        ("answer", {"evidence_used": [{**USED, "claim_supported": "x" * 221}]}),
        ("answer", {"evidence_used": [{**USED, "pages": [1.5]}]}),
        ("answer", {"evidence_used": [{**USED, "quote": "q"}]}),
        ("answer", {"unsupported_or_uncertain": ["a"] * 7}),
        ("answer", {"unsupported_or_uncertain": ["x" * 181]}),
        ("answer", {"coverage": {"uses_retrieved_chunks": "yes"}}),
        ("answer", {"coverage": {"more": True}}),
        ("answer", {"grounding_notes": "x" * 601}),
        ("verdict", {"verdict": "maybe"}),
        ("verdict", {"unsupported_claims": ["a"] * 9}),
        ("verdict", {"unsupported_claims": ["x" * 181]}),
        ("verdict", {"required_action": "regenerate"}),
        ("verdict", {"minor_revision": "x" * 2201}),
        ("verdict", {"review_notes": "x" * 701}),
        ("verdict", {"grounded_in_sources": None}),
        ("correction", {"corrected_answer": "x" * 39}),
        ("correction", {"corrected_answer": "x" * 2201}),
        ("correction", {"evidence_used": []}),
        ("correction", {"removed_claims": ["x" * 181]}),
        ("correction", {"corrected_claims": ["a"] * 9}),
        ("correction", {"correction_notes": "x" * 601}),
    ],
)
def test_every_limit_holds(name: str, changes: dict[str, Any]) -> None:
    assert status(name, GOOD[name](**changes)) is Status.INVALID_JSON


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("rewrite", {"retrieval_queries": [{**QUERY, "query": "x" * 180}] * 5, "must_keep_focus": ["x" * 80] * 6}),
        ("rewrite", {"semantic_terms": [TERM] * 12, "negative_constraints": ["x" * 120] * 6, "confidence": 1}),
        ("answer", {"answer": "x" * 2200, "evidence_used": [{**USED, "pages": [1, "2–3"]}] * 8, "grounding_notes": "x" * 600}),
        ("answer", {"answer": "x" * 40, "unsupported_or_uncertain": ["x" * 180] * 6}),
        ("verdict", {"unsupported_claims": ["x" * 180] * 8, "minor_revision": "x" * 2200, "review_notes": "x" * 700}),
        ("correction", {"corrected_answer": "x" * 40, "removed_claims": [], "correction_notes": "x" * 600}),
    ],
)
def test_what_just_keeps_the_limits_is_valid(name: str, changes: dict[str, Any]) -> None:
    assert status(name, GOOD[name](**changes)) is Status.VALID


# --- original_question måste vara exakt användarens originalfråga ------------------------------------


@pytest.mark.parametrize("name", WITH_QUESTION)
@pytest.mark.parametrize("other", ["Wie hoch ist 2025 die Geringfügigkeitsgrenze im Monat?", QUESTION.lower(), QUESTION[:-1], "x"])
def test_a_changed_original_question_breaks_the_contract(name: str, other: str) -> None:
    assert status(name, GOOD[name](original_question=other)) is Status.CHANGED_QUESTION


@pytest.mark.parametrize("name", WITH_QUESTION)
@pytest.mark.parametrize("same_one", [f"  {QUESTION}\n", QUESTION.replace(" ", "  "), QUESTION.replace("ü", "u\u0308")])
def test_white_space_and_unicode_form_do_not_change_a_question(name: str, same_one: str) -> None:
    assert status(name, GOOD[name](original_question=same_one)) is Status.VALID


@given(st.text(), st.text())
def test_same_is_an_equivalence_that_only_white_space_and_form_escape(one: str, other: str) -> None:
    assert same(one, one)
    assert same(one, other) is same(other, one)
    assert same(f" {one} ", one)


@settings(max_examples=50, deadline=None)
@given(st.text(max_size=400))
def test_no_text_raises(text: str) -> None:
    for name in NAMES:
        assert isinstance(normalised(name, text, QUESTION), Fault | KINDS[name])


SHORT = st.text(max_size=8)


@settings(max_examples=25, deadline=None)
@given(st.recursive(st.none() | st.booleans() | st.floats() | SHORT, lambda inner: st.dictionaries(SHORT, inner), max_leaves=8))
def test_no_json_raises(value: Any) -> None:
    for name in NAMES:
        assert isinstance(normalised(name, json.dumps(value), QUESTION), Fault)
