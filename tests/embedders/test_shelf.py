"""What every embedder does to a text before it and to a vector after it."""

from __future__ import annotations

import math
import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.embedders import prepared, unit


@pytest.mark.parametrize(
    ("text", "ready"),
    [
        ("  Maß \n und\tZahl ", "Maß und Zahl"),
        ("u\u0308ber", "über"),
        ("vor\0nach \ud800x", "vornach x"),
        ("", ""),
        (" \n\0\ud83d", ""),
        ("a" * 450, "a" * 200 + " " + "a" * 200 + " " + "a" * 50),
        ("🙂", "🙂"),
    ],
)
def test_a_text_is_made_fit(text: str, ready: str) -> None:
    assert prepared(text, 1000) == ready


@given(st.text(st.characters() | st.characters(categories=["Cs"]), max_size=600), st.integers(1, 500))
def test_what_is_fit_is_short_encodable_normal_and_has_no_endless_word(text: str, limit: int) -> None:
    ready = prepared(text, limit)
    assert len(ready) <= limit + limit // 200
    assert b"\0" not in ready.encode()
    assert unicodedata.is_normalized("NFC", ready)
    assert all(len(word) <= 200 for word in ready.split())
    assert ready == ready.strip()


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=20))
def test_a_vector_comes_out_with_length_one_or_not_at_all(values: list[float]) -> None:
    vector = unit(values)
    if vector is None:
        assert not any(values)
    else:
        assert vector.dtype == np.float32
        assert float(np.linalg.norm(vector)) == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("values", [[], [0.0, 0.0], [1.0, math.nan], [math.inf, 1.0]])
def test_what_has_no_direction_is_no_vector(values: list[float]) -> None:
    assert unit(values) is None
