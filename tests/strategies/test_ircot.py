"""IRCoT: a sentence, a search, until a sentence holds the answer; what the pool keeps, where a reply is cut, what the answer rests on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent import texts
from agent.answer import Way, answered
from agent.errors import SourceError
from agent.generators import extractive, point
from agent.language import Language, citations
from agent.settings import Settings
from agent.strategies import direct, ircot
from agent.testing import STICHTAG, ListSource, Recorder, ScriptedModel, german, hit, on, parts
from agent.values import Answer, Evidence, Flag, Gathered, Grounded, Hit, Origin, Plan, Question, Reason, Refused, Searched, SubQuery, Trace

QUESTION = Question("Where was the director of X born?", STICHTAG)
PLAN = Plan("specific", (SubQuery(QUESTION.text, on()),))
DIRECTOR = "X was directed by Y."
SHARED = Path(__file__).parents[3] / "shared" / "data" / "ircot_annotated"


@dataclass
class Told:
    """A source that finds what it is told to for each query; None fails."""

    found: Callable[[str], Sequence[Hit] | None]
    name: str = "wissensbasis"
    about: str = "told"
    queries: list[str] = field(default_factory=list)

    def search(self, subquery: SubQuery, /, k: int) -> Evidence:
        self.queries.append(subquery.query)
        hits = self.found(subquery.query)
        if hits is None:
            raise SourceError("Die Suche antwortet nicht.")
        return Evidence(tuple(hits)[:k], Searched((subquery.query,), subquery.scope, subquery.period.end), weights={"x": 3.0})


def gathered(script: Sequence[str], source: Any, **changes: Any) -> tuple[Gathered, ScriptedModel, Recorder]:
    model = ScriptedModel(list(script))
    bench = parts([source], model=model, settings=Settings(**changes))
    found = ircot.gather(QUESTION, PLAN, bench)
    assert isinstance(bench.log, Recorder)
    return found, model, bench.log


def asked(script: Sequence[str], source: Any) -> tuple[Answer, ScriptedModel]:
    model = ScriptedModel(list(script))
    way = Way(ircot.gather, point.draft, extractive.draft, plain=direct.gather, strategy_name="ircot")
    return answered(QUESTION, parts([source], model=model), way, Trace(QUESTION, language="de")), model


FILM = hit("pv-film", "X was directed by Y in Vienna.", title="X")
BORN = hit("pv-born", "Y was born in Z.", title="Y")


def test_two_searches_the_second_with_the_sentence_and_the_answer() -> None:
    source = Told(lambda query: [BORN] if query == DIRECTOR else [FILM])
    found, model, log = gathered([DIRECTOR, "So the answer is: Z"], source)
    assert source.queries == [QUESTION.text, DIRECTOR]
    assert found.draft
    assert citations.without(found.draft.text) == "Z"
    assert len(model.requests) == 2
    assert found.draft.origin is Origin.STRATEGY
    assert [(hop.query, hop.ids) for hop in found.hops] == [(QUESTION.text, ("pv-film",)), (DIRECTOR, ("pv-born",))]
    assert [(data["text"], data["ids"]) for kind, data in log.steps if kind == "reasoned"] == [(DIRECTOR, ("pv-born",))]
    assert found.evidence.ids == {"pv-film", "pv-born"}


def test_over_the_whole_way_the_answer_cites_what_the_reasoning_rests_on() -> None:
    source = Told(lambda query: [BORN] if query == DIRECTOR else [FILM])
    answer, model = asked([DIRECTOR, "So the answer is: Z"], source)
    assert isinstance(answer, Grounded)
    assert answer.text == "Z [pv-film][pv-born]"
    assert len(model.requests) == 2
    assert answer.trace.tokens.prompt == 200


def test_ids_the_sentences_cite_go_before_those_that_fit_their_words() -> None:
    source = Told(lambda query: [FILM, BORN])
    found, _, _ = gathered([f"{DIRECTOR[:-1]} [pv-film].", "Y was born in Z [pv-born].", "So the answer is: Z"], source)
    assert found.draft
    assert found.draft.text == "Z [pv-film][pv-born]"
    assert source.queries == [QUESTION.text, DIRECTOR, "Y was born in Z."]
    own, _, _ = gathered(["So the answer is: Y was born in Z [pv-born]."], source)
    assert own.draft
    assert own.draft.text == "Y was born in Z [pv-born]."


def test_a_reply_that_runs_ahead_skips_no_search() -> None:
    source = Told(lambda query: [FILM])
    gathered([f"{DIRECTOR} So the answer is: Z", "So the answer is: Z"], source)
    assert source.queries == [QUESTION.text, DIRECTOR]


def test_the_reasoning_and_the_newest_paragraphs_are_in_the_prompt() -> None:
    source = Told(lambda query: [BORN] if query == DIRECTOR else [FILM])
    _, model, _ = gathered([DIRECTOR, "So the answer is: Z"], source)
    assert "(noch nichts)" in model.requests[0].user
    assert DIRECTOR in model.requests[1].user
    assert model.requests[1].user.index("pv-born") < model.requests[1].user.index("pv-film")


def test_the_pool_holds_each_paragraph_once_and_drops_the_oldest() -> None:
    found_for = {n: [hit(f"pv-{n + m}", f"Text {n + m}") for m in range(4)] for n in range(0, 40, 2)}
    source = Told(lambda query: found_for[2 * len(source.queries)])
    found, _, _ = gathered(["Ein Satz."] * 6 + ["Schluss."], source, ircot_pool=5)
    ids = [one.entry.id for one in found.evidence.hits]
    assert len(ids) == len(set(ids)) == 5
    assert ids == [f"pv-{n}" for n in range(13, 18)]


def test_at_the_cap_the_answer_is_asked_for_outright() -> None:
    source = Told(lambda query: [FILM])
    found, model, _ = gathered([DIRECTOR] * 6 + ["Z [pv-film]. Mehr [pv-film]."], source)
    assert len(source.queries) == 7
    assert len(model.requests) == 7
    assert Flag.STEP_LIMIT in found.flags
    assert found.draft
    assert found.draft.text == "Z [pv-film]. Mehr [pv-film]."
    assert model.requests[-1].system != model.requests[0].system


def test_caps_are_settings() -> None:
    many = ListSource([hit(f"pv-{n}", f"Text {n}") for n in range(9)])
    found, model, _ = gathered(["Ein Satz.", "Schluss."], many, ircot_sentences=1, ircot_paragraphs=2)
    assert len(model.requests) == 2
    assert len(found.evidence.hits) == 2


def test_a_failed_search_keeps_the_pool() -> None:
    source = Told(lambda query: None if query == DIRECTOR else [FILM])
    found, _, _ = gathered([DIRECTOR, "Y was born in Z.", "So the answer is: Z"], source)
    assert len(source.queries) == 3
    assert Flag.SEARCH_FAILED in found.flags
    assert [hop.note for hop in found.hops] == ["", "Die Suche antwortet nicht.", ""]
    assert found.evidence.ids == {"pv-film"}


def test_a_model_that_says_nothing_is_asked_outright() -> None:
    found, model, _ = gathered(["", "Z [pv-film]."], Told(lambda query: [FILM]))
    assert len(model.requests) == 2
    assert found.draft
    assert found.draft.text == "Z [pv-film]."
    assert Flag.STEP_LIMIT not in found.flags


def test_an_answer_that_rests_on_nothing_is_not_published() -> None:
    answer, _ = asked(["So the answer is: 42 EUR", "Dazu steht dort nichts, also 42 EUR."], Told(lambda query: [FILM]))
    assert isinstance(answer, Refused)
    assert answer.reason is Reason.CITATIONS_INVALID


# --- where a reply is cut -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reply", "sentence"),
    [
        ("Das gilt z. B. für Lehrlinge. Danach mehr.", "Das gilt z. B. für Lehrlinge."),
        ("Das regelt § 67 Abs. 1 EStG. Danach mehr.", "Das regelt § 67 Abs. 1 EStG."),
        ("Die Frist ist lt. Gesetz ein Monat. Danach mehr.", "Die Frist ist lt. Gesetz ein Monat."),
        ("Es gilt ab 1.1.2026 für alle. Danach mehr.", "Es gilt ab 1.1.2026 für alle."),
        ("Es gilt ab 1. Jänner 2026. Danach mehr.", "Es gilt ab 1. Jänner 2026."),
        ("Der Betrag ist 5.850,00 EUR. Danach mehr.", "Der Betrag ist 5.850,00 EUR."),
        ("1. Zuerst die Grenze. 2. Dann der Satz.", "Zuerst die Grenze."),
        ("\n\n- Zuerst die Grenze\n- dann der Satz", "Zuerst die Grenze"),
        ("Ist das so? Ja.", "Ist das so?"),
        ("", ""),
        ("…", ""),
    ],
)
def test_a_reply_is_cut_to_its_first_sentence(reply: str, sentence: str) -> None:
    assert ircot.first_sentence(reply, german()) == sentence


def test_english_abbreviations_end_no_sentence() -> None:
    english = Language(texts.table("language.en"))
    assert ircot.first_sentence("It was made by Dr. Smith, e.g. in Vermont in 1990. More.", english).endswith("1990.")


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        ("de", "Die Antwort lautet: Z"),
        ("de", "**So the answer is:** Z"),
        ("sv", "Svaret är: Z"),
        ("sv", "so the answer is: Z"),
        ("en", "So the  answer is: Z"),
    ],
)
def test_the_marker_in_each_language(code: str, sentence: str) -> None:
    assert ircot.answer_in(sentence, Language(texts.table(f"language.{code}"))) == "Z"


def test_a_sentence_without_the_marker_is_no_answer() -> None:
    assert ircot.answer_in("Die Antwort hängt vom Eintritt ab.", german()) == ""


@given(st.text(alphabet="aB. :?!\n1-*[]"))
def test_the_first_sentence_is_a_part_of_the_reply_in_one_line(reply: str) -> None:
    sentence = ircot.first_sentence(reply, german())
    assert sentence in reply
    assert "\n" not in sentence


# --- what it finds, whatever a model knows --------------------------------------------------------


@pytest.mark.skipif(not SHARED.is_dir(), reason="the test set lies beside the repository")
def test_gold_reasoning_finds_more_than_one_search_with_as_many_paragraphs(tmp_path: Path) -> None:
    from benchmarks import ircot_gain

    found = ircot_gain.gain(SHARED, every=3, embed=False, vectors=tmp_path)
    interleaved, at_once = (sum(getattr(each, name) == 1 for each in found) / len(found) for name in ("interleaved", "at_once"))
    assert interleaved - at_once >= ircot_gain.WANTED
    assert all(each.paragraphs <= 15 for each in found)


def test_hits_of_one_entry_count_as_paragraphs() -> None:
    chunks = [replace(FILM, chunk=replace(FILM.chunk, ordinal=n)) for n in range(3)]
    found, _, _ = gathered(["So the answer is: Z [pv-film]"], Told(lambda query: chunks))
    assert len(found.evidence.hits) == 3
