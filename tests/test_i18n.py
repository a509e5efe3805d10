"""Messages in German and English: every message of the source is in the catalogue, and every way to choose a language leads there."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from string import Formatter
from typing import Any

import pytest
from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

from agent import audit, i18n, settings
from agent.cli import spoken
from agent.errors import ConfigError

ROOT = Path(__file__).parents[1]
PO = ROOT / "agent" / "locale" / "de" / "LC_MESSAGES" / "pv_agent.po"
KEYWORDS = {"tr": None, "noted": None, "trn": (1, 2)}


@pytest.fixture(scope="module")
def catalogue() -> Catalog:
    with PO.open("rb") as file:
        return read_po(file)


def forms(text: Any) -> tuple[str, ...]:
    """A message or its translation: one text, or one for each number."""
    return tuple(text) if isinstance(text, tuple | list) else (text,)


@pytest.fixture
def german(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PV_LANG", "de")


def extracted() -> Iterator[Any]:
    for _, _, message, _, _ in extract_from_dir(ROOT / "agent", [("**.py", "python")], {}, KEYWORDS):
        yield message


def fields(text: str) -> list[tuple[str, str, str]]:
    """The places of a template with what is done to what stands there."""
    try:
        parsed = list(Formatter().parse(text))
    except ValueError:
        return []
    return sorted((name, spec or "", conversion or "") for _, name, spec, conversion in parsed if name and re.fullmatch(r"\w+", name))


# --- the catalogue ------------------------------------------------------------------------------------


def test_every_message_of_the_source_is_in_the_catalogue_and_none_besides(catalogue: Catalog) -> None:
    source = set(extracted())
    assert len(source) > 800
    known = {message.id for message in catalogue if message.id}
    assert source - known == set(), "make messages, then translate what is new"
    assert known - source == set(), "make messages takes out what nothing says any more"


def test_every_message_is_translated(catalogue: Catalog) -> None:
    for message in catalogue:
        assert not message.fuzzy, message.id
        assert all(form.strip() for form in forms(message.string)), message.id


def test_a_translation_has_the_places_of_its_message(catalogue: Catalog) -> None:
    checked = 0
    for message in catalogue:
        if not message.id:
            continue
        for one, form in zip(forms(message.id), forms(message.string), strict=True):
            assert fields(one) == fields(form), one
            assert one[:1].isspace() == form[:1].isspace(), one
            assert one[-1:].isspace() == form[-1:].isspace(), one
            checked += len(fields(one))
    assert checked > 300


def test_what_is_shipped_was_compiled_from_what_is_written(catalogue: Catalog) -> None:
    made = BytesIO()
    write_mo(made, catalogue)
    assert PO.with_suffix(".mo").read_bytes() == made.getvalue(), "make messages"


def test_no_message_is_made_before_it_is_translated() -> None:
    """An f-string in tr() is a sentence nobody can look up, and a message within an f-string is one nobody gathers."""
    for path in (ROOT / "agent").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in KEYWORDS:
                messages = node.args[:2] if node.func.id == "trn" else node.args[:1]
                assert not any(isinstance(message, ast.JoinedStr | ast.BinOp) for message in messages), f"{path}:{node.lineno}"
            if isinstance(node, ast.JoinedStr):
                calls = [part for part in ast.walk(node) if isinstance(part, ast.Call) and part.args]
                made = [call for call in calls if isinstance(call.func, ast.Name) and call.func.id in KEYWORDS]
                assert not [call for call in made if isinstance(call.args[0], ast.Constant)], f"{path}:{node.lineno}"


def test_every_error_a_user_may_meet_is_translated() -> None:
    """What is raised with words of its own, and not through tr(), is a message somebody forgot."""
    families = {name for name in dir(__import__("agent.errors").errors) if re.fullmatch(r"[A-Z]\w+", name)} | {"EntryProblem", "Problem"}
    forgotten = []
    for path in (ROOT / "agent").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in families:
                texts = [part for part in node.args if isinstance(part, ast.Constant) and isinstance(part.value, str) and " " in part.value]
                forgotten += [f"{path.name}:{node.lineno}" for _ in texts]
    assert forgotten == []


# --- choosing -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("environ", "language"),
    [
        ({}, "en"),
        ({"PV_LANG": "de", "LANG": "en_GB.UTF-8"}, "de"),
        ({"PV_LANG": "en", "LC_ALL": "de_AT.UTF-8"}, "en"),
        ({"PV_LANG": "", "LANG": "de_AT.UTF-8"}, "de"),
        ({"LANG": "de_AT.UTF-8"}, "de"),
        ({"LANG": "de"}, "de"),
        ({"LANG": "C.UTF-8"}, "en"),
        ({"LANG": "fr_FR.UTF-8"}, "en"),
        ({"LC_ALL": "C", "LANG": "de_AT.UTF-8"}, "en"),
        ({"LC_MESSAGES": "de_DE", "LANG": "en_US"}, "de"),
    ],
)
def test_the_language_is_that_of_the_setting_else_of_the_locale(environ: dict[str, str], language: str) -> None:
    assert i18n.spoken(environ) == language


def test_a_message_is_looked_up_and_filled_in(german: None) -> None:
    assert i18n.tr("There is no setting {variable}.", variable="PV_X") == "Es gibt keine Einstellung PV_X."
    assert i18n.trn("{count} run deleted.", "{count} runs deleted.", 1) == "1 Lauf gelöscht."
    assert i18n.trn("{count} run deleted.", "{count} runs deleted.", 0) == "0 Läufe gelöscht."
    assert i18n.tr("") == ""
    assert i18n.tr("a text nobody translated {as it is}") == "a text nobody translated {as it is}"


def test_english_needs_no_catalogue(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(i18n, "catalogue", lambda _: pytest.fail("read a catalogue"))
    assert i18n.trn("{count} run deleted.", "{count} runs deleted.", 2) == "2 runs deleted."
    assert i18n.tr("Options") == "Options"


def test_the_settings_file_may_say_it_too(tmp_path: Path) -> None:
    assert settings.language({}, tmp_path) == ""
    (tmp_path / "agent.yaml").write_text("lang: de\n", encoding="utf-8")
    assert settings.language({}, tmp_path) == "de"
    assert settings.language({"PV_LANG": "en"}, tmp_path) == "en"
    with pytest.raises(ConfigError, match=r"PV_LANG cannot be 'fr'\. It is one of de, en\."):
        settings.language({"PV_LANG": "fr"}, tmp_path)
    (tmp_path / "agent.yaml").write_text("nothing: [\n", encoding="utf-8")
    assert settings.language({}, tmp_path) == "", "what is wrong in the file is told by the command that reads it"


def test_no_answer_and_no_figure_depends_on_it() -> None:
    kept = audit.options(settings.Settings(lang="de", token="geheim" * 4))
    assert kept
    assert not {"lang", "token"} & kept.keys()


# --- the command line ---------------------------------------------------------------------------------


def run(*arguments: str, folder: Path | str = ROOT, **environ: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("LC_", "LANG", "PV_"))}
    return subprocess.run(
        [sys.executable, "-m", "agent", *arguments],
        cwd=folder,
        env={**kept, "PYTHONPATH": str(ROOT), "COLUMNS": "120", **environ},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("environ", [{"PV_LANG": "de"}, {"LANG": "de_AT.UTF-8"}, {"LC_ALL": "de_DE.UTF-8", "LANG": "en_US.UTF-8"}])
def test_help_in_german(environ: dict[str, str]) -> None:
    shown = run("ask", "--help", **environ).stdout
    for said in ("Aufruf: ", "Argumente:", "Optionen:", "[erforderlich]", "Eine Frage beantworten", "Diese Hilfe anzeigen."):
        assert said in shown, said
    assert not {"Usage", "Options", "Arguments", "Show", "question"} & set(re.findall(r"\w+", shown)) - {"Options"}


def test_help_in_english_whatever_the_locale() -> None:
    shown = run("--help", PV_LANG="en", LANG="de_AT.UTF-8").stdout
    for said in ("Usage: ", "Options:", "Commands:", "Show this message and exit.", "Look after the knowledge base."):
        assert said in shown, said


@pytest.mark.parametrize("command", [(), ("kb",), ("runs",), ("fit",), ("eval",), ("serve",)])
def test_every_help_is_german_throughout(command: tuple[str, ...]) -> None:
    shown = set(re.findall(r"[A-Za-z]+", run(*command, "--help", PV_LANG="de").stdout))
    assert not shown & {"the", "The", "of", "and", "with", "Show", "this", "message", "Usage", "Commands"}


def test_an_error_in_german_and_in_english(tmp_path: Path) -> None:
    german, english = (run("search", "Urlaub", "--kb", "nirgends", folder=tmp_path, PV_LANG=code) for code in ("de", "en"))
    assert german.returncode == english.returncode == 1
    assert german.stderr.startswith("pv-agent: Unter nirgends gibt es keine Wissensbasis (darin fehlt kb.json). Nennen Sie eine mit")
    assert english.stderr.startswith("pv-agent: There is no knowledge base at nirgends (no kb.json in it). Name one with")


def test_a_language_there_is_not_is_one_sentence() -> None:
    found = run("--help", PV_LANG="fr")
    assert (found.returncode, found.stdout) == (1, "")
    assert found.stderr == "pv-agent: PV_LANG cannot be 'fr'. It is one of de, en.\n"


def test_the_settings_file_decides_for_help_too(tmp_path: Path) -> None:
    (tmp_path / "agent.yaml").write_text("lang: de\n", encoding="utf-8")
    assert "Befehle:" in run("--help", folder=tmp_path).stdout
    assert "Commands:" in run("--help", folder=tmp_path, PV_LANG="en").stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("ask",), "Fehler: Es fehlt das Argument 'FRAGE'."),
        (("search", "x", "--scop", "kv"), "Fehler: Es gibt keine Option --scop (mögliche Optionen: --json, --scope)"),
        (("search", "x", "-k", "viele"), "Fehler: Ungültiger Wert für '-k': 'viele' ist keine ganze Zahl."),
        (("search", "x", "-k", "0"), "Fehler: Ungültiger Wert für '-k': 0 liegt nicht im Bereich 1<=x<=100."),
        (("search", "x", "y"), "Fehler: Unerwartete weitere Argumente (y)"),
        (("search", "x", "--scope"), "Fehler: Die Option '--scope' braucht einen Wert."),
        (("kb", "lind"), "Fehler: Es gibt keinen Befehl 'lind'. Meinten Sie 'lint'?"),
    ],
)
def test_wrong_usage_in_german(arguments: tuple[str, ...], said: str) -> None:
    found = run(*arguments, PV_LANG="de")
    assert found.returncode == 2
    assert said in found.stderr
    assert "Error" not in found.stderr


def test_a_group_alone_tells_its_help_in_german() -> None:
    found = run("runs", PV_LANG="de")
    assert found.returncode == 2
    assert "Befehle:" in found.stdout + found.stderr
    assert "Fehler" not in found.stdout + found.stderr


def test_a_sentence_of_the_library_that_is_not_known_stays(german: None) -> None:
    assert spoken.retold("Something new went wrong.") == "Something new went wrong."


# --- completion ---------------------------------------------------------------------------------------


def completed(line: str, language: str) -> str:
    """What zsh is told it may complete `line` with; its form has the help of each beside it."""
    environ = {"_PV_AGENT_COMPLETE": "complete_zsh", "_TYPER_COMPLETE_ARGS": line, "PV_LANG": language}
    code = "import sys; sys.argv = ['pv-agent']; from agent.cli import main; main()"
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("LC_", "LANG", "PV_"))}
    found = subprocess.run(
        [sys.executable, "-c", code],
        env={**kept, "PYTHONPATH": str(ROOT), **environ},
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert found.stderr == ""
    return found.stdout


@pytest.mark.parametrize(("language", "said"), [("de", "Die Wissensbasis pflegen."), ("en", "Look after the knowledge base.")])
def test_the_shell_completes_a_command(language: str, said: str) -> None:
    shown = completed("pv-agent k", language)
    assert '"kb"' in shown
    assert said in shown


@pytest.mark.parametrize(("language", "said"), [("de", "Der Stichtag"), ("en", "The day the answer is for")])
def test_the_shell_completes_an_option(language: str, said: str) -> None:
    shown = completed("pv-agent ask --sti", language)
    assert '"--stichtag"' in shown
    assert said in shown


@pytest.mark.parametrize("language", i18n.LANGUAGES)
def test_the_shell_is_given_its_script(language: str) -> None:
    environ = {"PV_LANG": language, "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    shown = run("--show-completion", "bash", **environ).stdout
    assert "COMPLETE=complete_bash" in shown


@pytest.mark.parametrize("language", i18n.LANGUAGES)
def test_the_shell_keeps_its_script(tmp_path: Path, language: str) -> None:
    environ = {"PV_LANG": language, "HOME": str(tmp_path), "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    assert run("--install-completion", "bash", **environ).returncode == 0
    assert "source" in (tmp_path / ".bashrc").read_text(encoding="utf-8")
    (script,) = (tmp_path / ".bash_completions").iterdir()
    assert "COMPLETE=complete_bash" in script.read_text(encoding="utf-8")
