"""A whole evaluation over a small knowledge base: same figures twice, a gate that closes on a broken search, a run that goes on."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from agent import texts
from agent.errors import AgentError
from agent.eval import evaluation, report, scorecard
from agent.eval.report import Result, Row
from agent.eval.support import Neighbours
from agent.settings import changed
from agent.wiring import Bench
from tests.eval.world import options, world
from tests.ollama_server import OllamaServer, Reply


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return world(tmp_path_factory.mktemp("world"))


@pytest.fixture(scope="module")
def result(bench: Bench, tmp_path_factory: pytest.TempPathFactory) -> Result:
    return evaluation.on_goldset(bench, options(tmp_path_factory.mktemp("first")))[0]


def rows(result: Result) -> dict[str, Row]:
    return {row["id"]: row for row in result["questions"]}


def figure(result: Result, measure: str) -> float | None:
    return scorecard.figures_of(result)[measure]


def test_what_is_measured_of_each_question(result: Result) -> None:
    found = rows(result)
    assert found["g1"]["outcome"] == "right"
    assert found["g1"]["values"]["fused:hit@1"] == 1
    assert found["g1"]["values"]["answers:figure-present"] == 1
    assert found["g1"]["values"]["answers:figure-alone"] == 1
    assert found["g5"]["refused"] is True
    assert not any(name.startswith("fused") for name in found["g5"]["values"])
    assert 0 <= (found["g1"]["evidence_score"] or 0) <= 1
    assert {score["part"] for score in result["scores"]} == {"", "tuning", "held"}
    assert result["settings"]["generator"] == "extractive"
    assert not {"kb_dir", "token", "lang"} & result["settings"].keys()


def test_the_result_keeps_its_schema_and_so_does_the_scorecard(result: Result) -> None:
    jsonschema.validate(json.loads(json.dumps(result)), texts.schema("eval"))
    alone = scorecard.alone(result)
    jsonschema.validate(json.loads(json.dumps(alone)), texts.schema("eval"))
    assert "Geringfügigkeitsgrenze" not in json.dumps(alone, ensure_ascii=False)
    assert "Geringfügigkeitsgrenze" in json.dumps(result, ensure_ascii=False)
    assert report.markdown(result).startswith("# Goldset: 6 Fragen ohne Sprachmodell\n")


def test_two_runs_give_the_same_figures_and_no_difference(bench: Bench, result: Result, tmp_path: Path) -> None:
    again = evaluation.on_goldset(bench, options(tmp_path))[0]
    assert again["scores"] == result["scores"]
    assert again["refusal"] == result["refusal"]
    changes = scorecard.compared(scorecard.alone(result), again)
    assert changes
    assert {(change["verdict"], change["p"]) for change in changes} == {("no_difference_shown", 1.0)}
    assert not scorecard.gate({**again, "comparison": changes}, {"hit-rate@8": 0.5}).closed


def test_repeating_without_a_model_changes_nothing(bench: Bench, result: Result, tmp_path: Path) -> None:
    thrice = evaluation.on_goldset(bench, options(tmp_path, repeat=3))[0]
    assert thrice["scores"] == result["scores"]
    assert len(thrice["latencies_ms"]) == 3 * len(result["latencies_ms"])


def test_the_gate_closes_below_a_floor(result: Result) -> None:
    assert scorecard.gate(result, {"hit-rate@8": 1.01}).reasons == ("hit-rate@8 is 1.000, below its floor 1.01",)
    assert scorecard.gate(result, {"citation-precision": 0.5}).closed  # not scored is not "good enough"


def test_a_shuffled_ranking_loses_its_order(bench: Bench, result: Result, tmp_path: Path) -> None:
    broken = replace(bench, settings=changed(bench.settings, shuffle_ranking=True))
    shuffled = evaluation.on_goldset(broken, options(tmp_path))[0]
    assert (figure(shuffled, "MRR") or 0) < (figure(result, "MRR") or 0)


def test_the_gate_closes_on_a_real_drop(result: Result) -> None:
    def copies(value: float) -> list[Row]:
        row = rows(result)["g1"]
        return [{**row, "id": f"g{n}", "values": {"fused:hit-rate@8": value}} for n in range(20)]

    good: Result = {**result, "questions": copies(1.0)}
    bad: Result = {**result, "questions": copies(0.0)}
    assert scorecard.gate({**bad, "comparison": scorecard.compared(good, bad)}, {}).reasons
    assert not scorecard.gate({**good, "comparison": scorecard.compared(bad, good)}, {}).closed


def test_a_reworded_question_is_not_compared(result: Result) -> None:
    other: Result = {**result, "questions": [{**row, "fingerprint": "another"} for row in result["questions"]]}
    with pytest.raises(AgentError, match="no question in common"):
        scorecard.compared(result, other)


def test_an_interrupted_run_goes_on(bench: Bench, result: Result, tmp_path: Path) -> None:
    def interrupted(done: int, total: int, what: str) -> None:
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        evaluation.on_goldset(bench, options(tmp_path, progress=interrupted))
    kept = (tmp_path / "eval.journal").read_text(encoding="utf-8").splitlines()
    assert len(kept) == 1 + 3
    gone_on = evaluation.on_goldset(bench, options(tmp_path, resume=True))[0]
    assert gone_on["scores"] == result["scores"]
    assert (tmp_path / "eval.journal").read_text(encoding="utf-8").splitlines()[:4] == kept


def test_a_journal_of_another_run_is_not_gone_on_with(bench: Bench, tmp_path: Path) -> None:
    evaluation.on_goldset(bench, options(tmp_path))
    other = replace(bench, settings=changed(bench.settings, rrf_k=7))
    with pytest.raises(AgentError, match="another run"):
        evaluation.on_goldset(other, options(tmp_path, resume=True))


def test_a_goldset_that_the_knowledge_base_contradicts(tmp_path: Path) -> None:
    bench = world(tmp_path)
    text = bench.place.goldset.read_text(encoding="utf-8")
    wrong = text.replace("pv-faelligkeit", "pv-gibtsnicht").replace("551,10 EUR", "518,44 EUR")
    bench.place.goldset.write_text(wrong, encoding="utf-8")
    with pytest.raises(AgentError) as refused:
        evaluation.on_goldset(bench, options(tmp_path))
    assert "question g2: there is no entry 'pv-gibtsnicht'" in refused.value.message
    assert "question g1: expects 518,44 EUR, which the dated values give only for 2024-01-01 to 2024-12-31" in refused.value.message


def test_a_floor_for_no_measure(tmp_path: Path) -> None:
    bench = world(tmp_path)
    text = bench.place.goldset.read_text(encoding="utf-8")
    bench.place.goldset.write_text(text.replace("hit-rate@8", "hitrate"), encoding="utf-8")
    with pytest.raises(AgentError, match="floor for 'hitrate', which is no measure"):
        evaluation.on_goldset(bench, options(tmp_path))


# --- answers of a model ---------------------------------------------------------------------------

GOOD = "Die Geringfügigkeitsgrenze beträgt 2026 monatlich 551,10 EUR [pv-grenze]."


def scripted(body: Any) -> Reply | str:
    """Answers g1 well, cites an id it was never shown for g2, and breaks down at every other question."""
    asked = body["messages"][-1]["content"]
    if "Geringfügigkeitsgrenze im Monat" in asked:
        return GOOD
    if "Finanzamt zu zahlen" in asked:
        return "Bis zum 15. des Folgemonats [pv-erfunden]."
    return Reply(status=500, error="it died")


@pytest.fixture
def speaking(tmp_path: Path, ollama: OllamaServer) -> Bench:
    ollama.replies = scripted
    return world(tmp_path, ollama_url=ollama.url)


def test_answers_of_a_model(speaking: Bench, tmp_path: Path) -> None:
    result = evaluation.on_goldset(speaking, options(tmp_path, answers=True))[0]
    found = rows(result)
    good = found["g1"]["values"]
    assert (good["answers:citation-precision"], good["answers:model-calls"], good["answers:regenerated"]) == (1, 1, 0)
    assert good["answers:tokens-in"] > 0
    bad = found["g2"]
    assert (bad["values"]["answers:citation-precision"], bad["values"]["answers:model-calls"]) == (0, 2)
    assert bad["refused"] is True
    assert found["g3"]["outcome"] == "not_scored"
    assert not any(name.startswith("answers") for name in found["g3"]["values"])
    assert found["g3"]["values"]["fused:hit-rate@8"] == 1


def test_without_the_model_there_is_no_run(bench: Bench, tmp_path: Path) -> None:
    with pytest.raises(AgentError, match="does not answer"):
        evaluation.on_goldset(replace(bench, settings=changed(bench.settings, generator="point")), options(tmp_path, answers=True))


def test_a_cassette_plays_without_the_model(speaking: Bench, tmp_path: Path, ollama: OllamaServer) -> None:
    tape = tmp_path / "tape.jsonl"
    recorded = evaluation.on_goldset(speaking, options(tmp_path, answers=True, cassette=tape, record=True))[0]
    asked = len(ollama.chats)
    ollama.replies = []
    played = evaluation.on_goldset(speaking, options(tmp_path, answers=True, cassette=tape))[0]
    assert len(ollama.chats) == asked
    assert played["scores"] == recorded["scores"]
    assert played["warnings"] == []
    tape.write_text(tape.read_text(encoding="utf-8").replace('"point": "', '"point": "0', 1), encoding="utf-8")
    warned = evaluation.on_goldset(speaking, options(tmp_path, answers=True, cassette=tape))[0]["warnings"]
    assert warned == ["The cassette was recorded with other prompts; changed since: point."]
    assert [row["answer"] for row in played["questions"]] == [row["answer"] for row in recorded["questions"]]


def test_failures_are_asked_again_on_demand(speaking: Bench, tmp_path: Path, ollama: OllamaServer) -> None:
    evaluation.on_goldset(speaking, options(tmp_path, answers=True))
    ollama.replies = lambda body: "Dazu enthält die Wissensbasis keine Angaben."
    asked = len(ollama.chats)
    again = evaluation.on_goldset(speaking, options(tmp_path, answers=True, resume=True, retry=True))[0]
    assert not [row for row in again["questions"] if row["outcome"] == "not_scored"]
    assert rows(again)["g1"]["answer"] == GOOD
    assert len(ollama.chats) > asked


def test_a_bakeoff_puts_the_better_model_first(speaking: Bench, tmp_path: Path, ollama: OllamaServer) -> None:
    ollama.models["clever:1b"] = "chat"
    ollama.replies = lambda body: GOOD if body["model"] == "clever:1b" else "Siehe [pv-erfunden]."
    results = evaluation.bakeoff(
        speaking, evaluation.varied("answer_model", ["qwen3.8:27b", "missing:1b", "clever:1b"]), options(tmp_path, answers=True)
    )
    assert [setting.name for setting, _ in results] == ["clever:1b", "qwen3.8:27b", "missing:1b"]
    last = results[-1][1]
    assert not isinstance(last, str)
    assert {row["outcome"] for row in last["questions"] if row["values"].get("fused:hit@1") is not None} == {"not_scored"}


def test_a_sweep_reports_what_it_has_not_seen(bench: Bench, tmp_path: Path) -> None:
    from agent.eval.experiment import grid

    choice = evaluation.swept(bench, grid(["shuffle_ranking=true,false"]), "MRR@10", options(tmp_path), folds=3)
    assert choice.winner == "now"
    assert choice.difference.value == 0
    seen = [qid for fold in choice.folds for qid in fold.questions]
    assert sorted(seen) == ["g1", "g3", "g4"]  # neither what is held back nor what is to be refused


def test_a_set_in_beir_layout(tmp_path: Path) -> None:
    folder = tmp_path / "set"
    folder.mkdir()
    docs = [("d1", "Der Hund bellt laut im Garten."), ("d2", "Die Katze schläft auf dem Ofen."), ("d3", "Der Vogel singt am Morgen.")]
    queries = [("q1", "Wo schläft die Katze?", True), ("q2", "Wann singt der Vogel?", True), ("q3", "Wie tief ist der Ozean?", False)]
    lines = "".join(json.dumps({"id": doc, "text": text}) + "\n" for doc, text in docs)
    (folder / "corpus.jsonl").write_text(lines, encoding="utf-8")
    lines = "".join(json.dumps({"id": qid, "text": text, "answerable": known}) + "\n" for qid, text, known in queries)
    (folder / "queries.jsonl").write_text(lines, encoding="utf-8")
    (folder / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td2\t1\nq2\td3\t1\n", encoding="utf-8")
    settings = changed(world(tmp_path).settings)
    result, ranked = evaluation.on_collection(folder, settings, options(tmp_path), language="de", where=())
    jsonschema.validate(json.loads(json.dumps(result)), texts.schema("eval"))
    assert ranked["q1"][0] == "d2"
    assert figure(result, "hit@1") == 1
    assert rows(result)["q3"]["refused"] is True
    evaluation.write_run(ranked, tmp_path / "run.trec")
    assert (tmp_path / "run.trec").read_text(encoding="utf-8").startswith("q1 Q0 d2 1 ")


def test_an_answer_without_a_source_is_no_refusal(bench: Bench) -> None:
    from datetime import date

    from agent.eval.assess import assessed
    from agent.eval.figures import Figures
    from agent.eval.goldset import Case
    from agent.values import Question, Trace, Ungrounded

    day = date(2026, 11, 30)
    answer = Ungrounded("Es sind 551,10 EUR.", Trace(Question("Was?", day)))
    figures = Figures(bench.language)
    expected = assessed(Case("a", "Was?", day, ("pv-grenze",), figures=("551,10 EUR",)), answer, figures, Neighbours())
    assert (expected.values["refusal-correct"], expected.values["source-cited"]) == (1.0, 0.0)
    assert "source_not_cited" in expected.wrong
    assert assessed(Case("b", "Was?", day, refuse=True), answer, figures, Neighbours()).wrong == ("answered_wrongly",)
