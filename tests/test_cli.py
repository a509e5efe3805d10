"""The command line, in process: exit codes, one sentence for every wrong input, one JSON document and nothing else."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from agent import cli, texts
from tests.ingest.samples import put

GRENZE = """## Zusammenfassung

Die Geringfügigkeitsgrenze beträgt 2026 monatlich 551,10 EUR.

## Kernwerte

| Bezeichnung | Wert | Zeitraum |
|---|---|---|
| Geringfügigkeitsgrenze 2026 | 551,10 EUR monatlich | 1.1.2026 bis 31.12.2026 |
| Geringfügigkeitsgrenze 2024 | 518,44 EUR monatlich | 1.1.2024 bis 31.12.2024 |
"""
URLAUB = "## Zusammenfassung\n\nDer gesetzliche Urlaub beträgt 30 Werktage im Urlaubsjahr."


@dataclass(frozen=True)
class Said:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@pytest.fixture
def kb(tmp_path: Path) -> Path:
    kb = tmp_path / "wissensbasis"
    put(kb, "pv-geringfuegigkeitsgrenze", GRENZE, titel="Geringfügigkeitsgrenze", gueltig_ab="2024-01-01")
    put(kb, "pv-urlaub", URLAUB, titel="Urlaubsausmaß")
    return kb


@pytest.fixture
def pv(kb: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Said]:
    monkeypatch.chdir(kb.parent)
    monkeypatch.setenv("PV_EMBEDDER", "none")
    monkeypatch.setenv("OLLAMA_URL", "http://127.0.0.1:9")

    def run(*arguments: str) -> Said:
        monkeypatch.setattr(sys, "argv", ["pv-agent", *arguments])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        captured = capsys.readouterr()
        return Said(int(ended.value.code or 0), captured.out, captured.err)

    assert run("kb", "build", "--licence", "eigene Texte").code == 0
    return run


def test_the_first_question_builds_the_index_and_is_answered(pv: Callable[..., Said], kb: Path) -> None:
    said = pv("ask", "Wie hoch ist die Geringfügigkeitsgrenze 2026?")
    assert said.code == 0
    assert "551,10 EUR" in said.out
    assert "[pv-geringfuegigkeitsgrenze]" in said.out
    assert "Stand" in said.out
    assert "building it" in said.err
    assert (kb.parent / "data" / "index.db").is_file()


def test_the_json_keeps_its_schema_and_nothing_else_is_printed(pv: Callable[..., Said]) -> None:
    pv("ingest")
    for question, code in (("Wie hoch ist die Geringfügigkeitsgrenze 2026?", 0), ("Rezept für Marillenknödel", 3)):
        said = pv("ask", "--json", question)
        assert (said.code, said.err) == (code, "")
        Draft202012Validator(texts.schema("answer")).validate(said.json)
        assert said.json["refused"] == (code == 3)
        if code == 3:
            Draft202012Validator(texts.schema("refusal")).validate(said.json)


def test_a_past_year_is_answered_with_its_value_whatever_the_stichtag(pv: Callable[..., Said]) -> None:
    for stichtag in ("2026-01-31", "31.1.2025", "2024"):
        said = pv("ask", "Wie hoch war die Geringfügigkeitsgrenze 2024?", "--stichtag", stichtag)
        assert "518,44" in said.out
        assert "551,10" not in said.out


def test_before_any_value_it_refuses_as_out_of_date(pv: Callable[..., Said]) -> None:
    said = pv("ask", "--json", "Wie hoch ist die Geringfügigkeitsgrenze?", "--stichtag", "2019-01-01")
    assert (said.code, said.json["reason"]) == (3, "out_of_date")


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["ask", ""], 2, "The question is empty"),
        (["ask", "???"], 2, "The question is empty"),
        (["ask", "Wort " * 20000], 2, "Shorten it"),
        (["ask", "Grenze?", "--stichtag", "31.2.2026"], 2, "is no date"),
        (["ask", "Grenze?", "--strategy", "raten"], 2, "direct"),
        (["ask", "Grenze?", "--generator", "orakel"], 2, "auto, point, extractive"),
        (["search", "Grenze", "-k", "0"], 2, "-k"),
        (["search", "Grenze", "--scope", "welt"], 2, "alle, gesetz, kv"),
        (["runs", "show", "nichts"], 2, "No run has been logged"),
        (["runs", "list", "--where", "reason"], 2, "--where field=value"),
        (["runs", "purge"], 2, "--before DATE"),
        (["runs", "replay", "nirgends.json"], 1, "runs export"),
        (["kb", "show", "pv-nichts"], 2, "no entry"),
        (["kb", "new", "Böse ID"], 2, "cannot be an id"),
        (["schema", "alles"], 2, "Published: "),
        (["ask", "Grenze?", "--kb", "nirgends"], 1, "no knowledge base at nirgends"),
        (["frag"], 2, "frag"),
    ],
)
def test_wrong_input_is_one_sentence(pv: Callable[..., Said], arguments: list[str], code: int, said: str) -> None:
    result = pv(*arguments)
    assert result.code == code, result.err
    assert said in result.err
    assert result.out == ""
    assert "Traceback" not in result.err


def test_search_without_a_hit_exits_like_a_refusal(pv: Callable[..., Said]) -> None:
    assert pv("search", "Quantenchromodynamik").code == 3
    found = pv("search", "--json", "Urlaub")
    assert found.code == 0
    assert found.json["hits"][0]["id"] == "pv-urlaub"


def test_search_shows_each_entry_once_the_best_first(pv: Callable[..., Said]) -> None:
    hits = pv("search", "--json", "Urlaub Grenze").json["hits"]
    assert len(hits) > 1
    assert len({hit["id"] for hit in hits}) == len(hits)
    scores = [hit["score"] for hit in hits]
    assert scores == sorted(scores, reverse=True)


def test_runs_are_logged_shown_and_purged_unless_told_not_to(pv: Callable[..., Said]) -> None:
    pv("ask", "--no-log", "Wie viel Urlaub gibt es?")
    assert pv("runs", "list").code == 2
    answered = pv("ask", "--json", "Wie viel Urlaub gibt es?").json
    shown = pv("runs", "show", answered["run_id"], "--json").json
    assert [step["kind"] for step in shown["steps"]] == ["asked", "planned", "searching", "hop", "gathered", "judged", "grounded"]
    assert shown["answer"] == answered
    assert pv("runs", "list", "--where", "refused=0", "--json").json[0]["id"] == answered["run_id"]
    assert "1 run deleted" in pv("runs", "purge", "--all").out


def test_a_run_is_exported_replayed_and_found_affected(pv: Callable[..., Said], kb: Path) -> None:
    answered = pv("ask", "--json", "Wie viel Urlaub gibt es?").json
    out = kb.parent / "run.json"
    assert pv("runs", "export", answered["run_id"], "--out", str(out)).code == 0
    assert json.loads(out.read_text(encoding="utf-8")) == pv("runs", "export", answered["run_id"]).json
    same = pv("runs", "replay", str(out))
    assert (same.code, "nothing is different" in same.out) == (0, True)
    path = kb / "dokumente" / "pv-urlaub.md"
    path.write_text(path.read_text(encoding="utf-8").replace("30 Werktage", "31 Werktage"), encoding="utf-8")
    os.utime(path, (path.stat().st_mtime + 5,) * 2)
    pv("ingest", "--register")
    different = pv("runs", "replay", str(out), "--json")
    assert (different.code, different.json["same"]) == (3, False)
    assert {"what": "figures", "then": "30 Werktage", "today": "31 Werktage"} in different.json["differences"]
    assert "31 Werktage" in pv("runs", "replay", str(out)).out
    assert "pv-urlaub (changed)" in pv("runs", "affected").out
    assert pv("runs", "affected", "--since", "2999-01-01", "--json").json == {"answers": [], "questions": []}
    assert pv("runs", "replay", str(path)).code == 1


def test_a_read_only_data_folder_still_answers(pv: Callable[..., Said], kb: Path) -> None:
    pv("ingest")
    data = kb.parent / "data"
    (data / "runs.db").mkdir()  # a place no log can be written to, whoever runs the test
    said = pv("ask", "Wie viel Urlaub gibt es?")
    assert said.code == 0
    assert "30 Werktage" in said.out
    assert "protokolliert" in said.out


def test_an_edit_is_told_until_it_is_ingested(pv: Callable[..., Said], kb: Path) -> None:
    pv("ingest")
    path = kb / "dokumente" / "pv-urlaub.md"
    path.write_text(path.read_text(encoding="utf-8").replace("30 Werktage", "31 Werktage"), encoding="utf-8")
    stamp = path.stat().st_mtime + 5
    os.utime(path, (stamp, stamp))
    before = pv("ask", "--json", "Wie viel Urlaub gibt es?").json
    assert before["flags"] == ["kb_newer_than_index", "lexical_only"]
    refused = pv("ingest")
    assert refused.code == 1
    assert "pv-agent kb build" in refused.err
    assert "changed 1: pv-urlaub" in pv("ingest", "--register").err
    assert "31 Werktage" in pv("ask", "Wie viel Urlaub gibt es?").out


def test_an_unknown_setting_and_a_foreign_index(pv: Callable[..., Said], kb: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PV_RRFK", "3")
    said = pv("ask", "Wie viel Urlaub gibt es?")
    assert (said.code, "PV_RRF_K" in said.err) == (1, True)
    monkeypatch.delenv("PV_RRFK")
    (kb.parent / "data").mkdir(exist_ok=True)
    (kb.parent / "data" / "index.db").write_text("no database at all, but long enough to be looked at", encoding="utf-8")
    said = pv("ask", "Wie viel Urlaub gibt es?")
    assert (said.code, "pv-agent ingest --full" in said.err) == (1, True)
    assert pv("ingest", "--full").code == 0


def test_explain_shows_both_legs_and_what_was_dropped(pv: Callable[..., Said]) -> None:
    said = pv("ask", "--explain", "Wie hoch ist die Geringfügigkeitsgrenze 2026?")
    for head in ("Gesucht", "Gefunden", "BM25", "cosine", "Tragende Sätze"):
        assert head in said.out


def test_doctor_names_what_is_missing_and_what_mends_it(pv: Callable[..., Said]) -> None:
    said = pv("doctor")
    assert said.code == 0
    assert "pv-agent ingest" in said.out
    assert "ollama serve" in said.out
    assert {check["name"] for check in pv("doctor", "--json").json} >= {"knowledge base", "index", "model"}


def test_a_bug_is_one_sentence_with_the_place_of_its_traceback(pv: Callable[..., Said], monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("boom")

    monkeypatch.setattr("agent.wiring.Bench.asked", broken)
    said = pv("ask", "Wie viel Urlaub gibt es?")
    assert said.code == 70
    place = said.err.strip().splitlines()[-1].split(" in ")[-1].rstrip(".")
    assert "boom" in Path(place).read_text(encoding="utf-8")
    Path(place).unlink()


def test_control_characters_of_an_entry_never_reach_the_terminal(pv: Callable[..., Said], kb: Path) -> None:
    put(kb, "pv-boese", "## Zusammenfassung\n\nDas Kilometergeld \u202ebeträgt\u202c 0,50 EUR je Kilometer.", titel="Kilometergeld")
    pv("ingest", "--register", "--licence", "x")
    said = pv("ask", "Wie hoch ist das Kilometergeld?")
    assert "0,50 EUR" in said.out
    assert "\u202e" not in said.out


def test_imported_chunks_are_cited_with_their_pages(pv: Callable[..., Said], tmp_path: Path) -> None:
    chunk = {
        "chunk_id": "plan-1",
        "source": "plan.pdf",
        "pages": [3, "4"],
        "title": "Probezeit",
        "text": "Die Probezeit dauert einen Monat.",
    }
    (tmp_path / "chunks.json").write_text(json.dumps([chunk]), encoding="utf-8")
    assert pv("kb", "import", "chunks.json").code == 2
    said = pv("kb", "import", "chunks.json", "--licence", "eigen", "--json")
    assert (said.code, said.json["added"], said.json["problems"]) == (0, ["plan-1"], [])
    assert pv("ingest", "--register", "--licence", "eigen").code == 0
    answer = pv("ask", "Wie lange dauert die Probezeit?", "--json").json
    assert [(citation["id"], citation["pages"]) for citation in answer["citations"]] == [("plan-1", [3, 4])]
    Draft202012Validator(texts.schema("answer")).validate(answer)
    assert "S. 3, 4" in pv("ask", "Wie lange dauert die Probezeit?").out


def test_an_import_says_what_it_kept_out(pv: Callable[..., Said], tmp_path: Path) -> None:
    folder = tmp_path / "texte"
    folder.mkdir()
    (folder / "a.txt").write_text("Stand: 2026\n\nText.", encoding="utf-8")
    (folder / "b.txt").write_text("", encoding="utf-8")
    tried = pv("kb", "import", "texte", "--licence", "x", "--dry-run")
    assert (tried.code, tried.out) == (1, "1 added; 1 document kept out.\nNothing was written.\n")
    assert "texte/b.txt:1: The file is empty." in tried.err
    new = pv("kb", "import", "texte", "--licence", "x", "--kb", "neu/kb", "--language", "sv")
    assert (tmp_path / "neu/kb/kb.json").is_file()
    assert (new.code, "a new knowledge base (sv)" in new.err) == (1, True)
    assert pv("kb", "import", "texte", "--licence", "x", "--kb", "nichts").code == 1
    assert pv("kb", "import", "texte", "--licence", "x", "--kb", "fremd", "--language", "xx").code == 1
    assert not (tmp_path / "fremd").exists()


def test_an_import_that_brings_nothing_leaves_no_new_base(pv: Callable[..., Said], tmp_path: Path) -> None:
    (tmp_path / "chunks.json").write_text('[{"id": "x", "text": "Ohne Quelle."}]', encoding="utf-8")
    begin = ("kb", "import", "chunks.json", "--kb", "neu", "--language", "de", "--licence", "x")
    failed = pv(*begin)
    assert (failed.code, failed.out) == (1, "Nothing imported; 1 document kept out.\n")
    (tmp_path / "chunks.json").write_text('[{"id": "x", "source": "a", "text": "Mit Quelle."}]', encoding="utf-8")
    assert pv(*begin, "--dry-run").code == 0
    (tmp_path / "chunks.json").write_text("{", encoding="utf-8")
    assert pv(*begin).code == 1
    assert not (tmp_path / "neu").exists()


def test_two_chunks_make_a_base_that_answers(pv: Callable[..., Said], tmp_path: Path) -> None:
    texts = {"hunde": "Hunde dürfen freitags ins Büro, wenn alle zustimmen.", "kantine": "Das Mittagessen kostet 6,50 EUR."}
    chunks = [{"id": name, "source": f"{name}.pdf", "title": name.title(), "text": text} for name, text in texts.items()]
    (tmp_path / "chunks.json").write_text(json.dumps(chunks), encoding="utf-8")
    said = pv("kb", "import", "chunks.json", "--kb", "neu", "--language", "de", "--stand", "1.11.2026", "--licence", "x")
    assert (said.code, "pv-agent ingest --register" in said.out) == (0, True)
    answer = pv("ask", "Wann dürfen Hunde ins Büro?", "--kb", "neu")
    assert (answer.code, answer.out.splitlines()[0]) == (0, "Hunde dürfen freitags ins Büro, wenn alle zustimmen [hunde-1].")


def test_an_empty_base_says_that_it_is_empty(pv: Callable[..., Said], tmp_path: Path) -> None:
    (tmp_path / "leer/dokumente").mkdir(parents=True)
    register = tmp_path / "leer/kb.json"
    register.write_text('{"version": 1, "language": "de", "entries": []}', encoding="utf-8")
    for before in ((), ("ingest", "--kb", "leer")):
        if before:
            assert pv(*before).code == 0
        said = pv("ask", "Was?", "--kb", "leer")
        assert (said.code, said.out, said.err.count("\n")) == (1, "", 1)
        assert "holds no entries yet. Bring documents in" in said.err
    put(tmp_path / "leer", "pv-urlaub", URLAUB, titel="Urlaub")
    assert "is registered yet. Register them" in pv("ask", "Wie lang ist der Urlaub?", "--kb", "leer").err
    pv("kb", "build", "--licence", "x", "--kb", "leer")
    assert "30 Werktage" in pv("ask", "Wie viele Werktage beträgt der gesetzliche Urlaub im Urlaubsjahr?", "--kb", "leer").out


def test_a_dated_value_is_shown_by_the_id_it_is_cited_with(pv: Callable[..., Said], kb: Path) -> None:
    row = "- {key: sv.grenze, label: Grenze, value: 551.10, unit: EUR, valid_from: 2026-01-01, valid_to: null, norm: § 5, source: [x]}\n"
    (kb / "werte.yaml").write_text(row + row.replace("2026-01-01, valid_to: null", "2025-01-01, valid_to: 2025-12-31"), encoding="utf-8")
    shown = pv("kb", "show", "werte:sv.grenze@2025-01-01")
    assert (shown.code, shown.out.count("\n"), "551,10 EUR" in shown.out, "1.1.2025" in shown.out) == (0, 3, True, True)
    wrong = pv("kb", "show", "werte:sv.grenze@2024-01-01")
    assert (wrong.code, "werte:sv.grenze@2025-01-01, werte:sv.grenze@2026-01-01" in wrong.err) == (2, True)


def test_lint_counts_notices_by_kind(pv: Callable[..., Said], kb: Path) -> None:
    put(kb, "pv-a", cross_refs="[pv-b]")
    put(kb, "pv-b", "## Zusammenfassung\n\nEtwas anderes.", cross_refs="[pv-a]")
    pv("kb", "build", "--licence", "eigen")
    assert pv("kb", "lint").out == "0 problems, 1 notice (1 circles of references; --notices lists them).\n"


@pytest.mark.parametrize(("label", "told"), [("B", False), ("C", True)])
def test_adaptive_without_a_model_says_where_it_would_have_needed_one(
    pv: Callable[..., Said], monkeypatch: pytest.MonkeyPatch, label: str, told: bool
) -> None:
    from agent import wiring
    from agent.interfaces import Classified

    monkeypatch.setitem(wiring.CLASSIFIERS, "trained", lambda *_: Classified(label))
    said = pv("ask", "Wie hoch ist die Geringfügigkeitsgrenze 2026?", "--strategy", "adaptive")
    assert (said.code, "Die Strategie adaptive braucht ein Sprachmodell" in said.out) == (0, told)


def test_the_version(pv: Callable[..., Said]) -> None:
    said = pv("--version")
    assert (said.code, said.out.split()[0]) == (0, "pv-agent")


@pytest.mark.parametrize(
    "arguments",
    [
        ("ask", "Urlaub", "--generator", "x"),
        ("ask", "Urlaub", "--strategy", "x"),
        ("ask", "Urlaub", "--review", "x"),
        ("search", "Urlaub", "--scope", "x"),
        ("eval", "--where", "a=b"),
        ("eval", "--language", "sv"),
    ],
)
def test_an_option_with_a_wrong_value_or_without_its_partner_is_wrong_usage(pv: Callable[..., Said], arguments: tuple[str, ...]) -> None:
    said = pv(*arguments)
    assert (said.code, said.out) == (2, "")
    option = next(word for word in arguments if word.startswith("--")).removeprefix("--")
    assert option in said.err


def test_a_wrong_value_from_elsewhere_is_an_expected_error(pv: Callable[..., Said], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PV_GENERATOR", "x")
    assert pv("ask", "Urlaub").code == 1


@pytest.mark.parametrize(
    ("text", "what"),
    [("{", "kb.json:1: This is no readable JSON"), ("7", "no register of version 1"), ('{"version": 1}', '"language" is missing'),
     ('{"version": 1, "language": "xx"}', "no language 'xx'. It is one of de, en, sv.")],
)  # fmt: skip
def test_what_is_wrong_with_the_register_is_said(pv: Callable[..., Said], kb: Path, text: str, what: str) -> None:
    (kb / "kb.json").write_text(text, encoding="utf-8")
    said = pv("kb", "lint")
    assert (said.code, what in said.err) == (1, True), said.err


def test_settings_in_a_folder_are_not_passed_over(pv: Callable[..., Said], tmp_path: Path) -> None:
    (tmp_path / "agent.yaml").mkdir()
    said = pv("kb", "lint")
    assert (said.code, "agent.yaml is a folder" in said.err) == (1, True)


def test_counts_have_their_word(pv: Callable[..., Said], kb: Path) -> None:
    put(kb, "pv-neu", "## Details\n\nText.")
    assert pv("kb", "lint").out.endswith("1 problem, 0 notices (--notices lists them).\n")


def test_the_doctor_sees_damage(pv: Callable[..., Said], tmp_path: Path) -> None:
    pv("ingest", "--register", "--licence", "eigen")
    index = tmp_path / "data" / "index.db"
    assert pv("doctor").code == 0
    whole = index.read_bytes()
    half = len(whole) // 8192 * 4096
    index.write_bytes(whole[:half] + b"\x07" * 40000 + whole[half + 40000 :])
    said = pv("doctor")
    assert (said.code, "BAD  index" in said.out) == (1, True)
    for beside in tmp_path.glob("data/index.db*"):
        beside.unlink()
    index.mkdir()
    said = pv("doctor")
    assert (said.code, "is a folder" in said.out) == (1, True)


def test_stats_as_text_and_as_json(pv: Callable[..., Said], kb: Path, tmp_path: Path) -> None:
    told = pv("kb", "stats", "--since", "2026", "--json").json
    assert (told["entries"], told["years"][0], told["unasked"]) == (2, 2026, None)
    assert "Entries no other refers to: 2\n  pv-geringfuegigkeitsgrenze\n  pv-urlaub" in pv("kb", "stats").out


def test_a_strict_lint_finds_more(pv: Callable[..., Said]) -> None:
    pv("kb", "build", "--licence", "eigen")
    assert pv("kb", "lint").code == 0
    said = pv("kb", "lint", "--strict")
    assert (said.code, "The section `Verweise` is missing." in said.out) == (1, True)


def test_ingest_makes_the_dated_values_and_the_doctor_sees_them(
    pv: Callable[..., Said], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pv("ingest", "--register", "--licence", "eigen")
    (made,) = tmp_path.rglob("*.werte.db")
    assert "ok   dated values: " in pv("doctor").out
    made.unlink()
    said = pv("doctor")
    assert (said.code, "note dated values: none at" in said.out) == (0, True)
    pv("ingest")
    assert made.is_file()
    monkeypatch.setenv("PV_SOURCES", "sql, web")
    said = pv("doctor")
    assert "PV_WEB_URL" in said.out
    assert said.code == 1


@pytest.mark.skipif(os.name == "nt", reason="signals")
@pytest.mark.parametrize("after", [0.0, 0.02, 0.06, 0.15])
def test_an_early_interruption_is_quiet(after: float) -> None:
    """From the moment the program's own first line runs; before that the interpreter itself is still starting."""
    import signal
    import subprocess
    import time

    script = "import sys; print('begin', flush=True); sys.argv = ['pv-agent', '--help']; from agent.__main__ import main; main()"
    process = subprocess.Popen(
        [sys.executable, "-c", f"try:\n    exec({script!r})\nexcept KeyboardInterrupt:\n    sys.exit(130)"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=Path(__file__).parents[1],
        text=True,
    )
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(after)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=60)
    # In its last moments, the help printed, the interpreter listens no more and the signal itself ends it.
    assert process.returncode in (0, 130, -signal.SIGINT)
    assert "Traceback" not in told
