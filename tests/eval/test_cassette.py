"""A cassette plays what it recorded, request by request, and says when the prompts are others by now."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.errors import AgentError, ModelError
from agent.eval import cassette
from agent.eval.cassette import Cassette, Counter
from agent.interfaces import ChatRequest
from agent.testing import ScriptedModel


def test_what_was_recorded_is_played(tmp_path: Path) -> None:
    tape = tmp_path / "tape.jsonl"
    model = Cassette(tape, "de", record=True).around(ScriptedModel(["eins", "zwei", "drei"]))
    first, second = ChatRequest("s", "a"), ChatRequest("s", "b")
    recorded = [model.chat(first), model.chat(second), model.chat(first)]
    playing = Cassette(tape, "de").around(ScriptedModel([]))
    assert playing.installed()
    # asked in another order, and once more than was recorded
    assert [playing.chat(r).text for r in (second, first, first, first)] == ["zwei", "eins", "drei", "drei"]
    assert Cassette(tape, "de").around(ScriptedModel([])).chat(first) == recorded[0]


@pytest.mark.parametrize("other", [ChatRequest("s", "b"), ChatRequest("t", "a"), ChatRequest("s", "a", temperature=0.9)])
def test_another_request_has_no_reply(tmp_path: Path, other: ChatRequest) -> None:
    tape = tmp_path / "tape.jsonl"
    Cassette(tape, "de", record=True).around(ScriptedModel(["eins"])).chat(ChatRequest("s", "a"))
    with pytest.raises(ModelError, match="another by now"):
        Cassette(tape, "de").around(ScriptedModel([])).chat(other)


def test_changed_prompts_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tape = tmp_path / "tape.jsonl"
    Cassette(tape, "de", record=True)
    assert Cassette(tape, "de").changed_prompts == []
    monkeypatch.setattr(cassette, "prompts", lambda language: {"point": "another"})
    assert "point" in Cassette(tape, "de").changed_prompts
    with pytest.raises(ModelError, match=r"prompts changed since: .*point"):
        Cassette(tape, "de").around(ScriptedModel([])).chat(ChatRequest("s", "a"))


def test_a_recording_cut_off_in_the_middle_of_a_line_still_plays(tmp_path: Path) -> None:
    tape = tmp_path / "tape.jsonl"
    Cassette(tape, "de", record=True).around(ScriptedModel(["eins"])).chat(ChatRequest("s", "a"))
    tape.write_text(tape.read_text(encoding="utf-8") + '{"key": "abc", "re', encoding="utf-8")
    assert Cassette(tape, "de").around(ScriptedModel([])).chat(ChatRequest("s", "a")).text == "eins"


@pytest.mark.parametrize("text", ["", "no json", '{"other": 1}', '{"cassette": 1, "language": "de", "prompts": {}}\n{}\n{}\n'])
def test_what_is_no_cassette(tmp_path: Path, text: str) -> None:
    tape = tmp_path / "tape.jsonl"
    if text:
        tape.write_text(text, encoding="utf-8")
    with pytest.raises(AgentError):
        Cassette(tape, "de")


def test_a_counter_counts_failed_calls_too() -> None:
    counter = Counter()
    model = counter.around(ScriptedModel(["eins", ModelError("it died")]))
    model.chat(ChatRequest("s", "a"))
    with pytest.raises(ModelError):
        model.chat(ChatRequest("s", "a"))
    assert (counter.calls, len(counter.replies)) == (2, 1)
