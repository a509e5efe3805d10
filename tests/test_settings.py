"""Settings: what overrides what, what is refused, and that the documentation in defaults.yaml is the truth."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
import yaml

from agent import texts
from agent.errors import ConfigError
from agent.settings import Settings, changed, load


def test_defaults_yaml_documents_every_setting_with_its_default() -> None:
    documented = yaml.safe_load(texts.defaults())
    assert documented == dataclasses.asdict(Settings())
    assert list(documented) == [field.name for field in dataclasses.fields(Settings)]


def test_later_layers_win(tmp_path: Path) -> None:
    (tmp_path / "agent.yaml").write_text("rrf_k: 30\ncandidate_pool: 40\ncontext_blocks: 5\n", encoding="utf-8")
    environment = {"PV_RRF_K": "10", "PV_CANDIDATE_POOL": "50"}
    settings = load({"rrf_k": 7, "strategy": None}, environ=environment, folder=tmp_path).settings
    assert (settings.rrf_k, settings.candidate_pool, settings.context_blocks) == (7, 50, 5)


@pytest.mark.parametrize(
    ("environment", "url"),
    [
        ({}, "http://127.0.0.1:11434"),
        ({"OLLAMA_HOST": "h"}, "h"),
        ({"OLLAMA_HOST": "h", "OLLAMA_URL": "u"}, "u"),
        ({"OLLAMA_URL": "u", "PV_OLLAMA_URL": "p"}, "p"),
        ({"OLLAMA_URL": "", "OLLAMA_HOST": "h"}, "h"),
    ],
)
def test_the_address_of_the_server(environment: dict[str, str], url: str, tmp_path: Path) -> None:
    assert load(environ=environment, folder=tmp_path).settings.ollama_url == url


@pytest.mark.parametrize(
    ("environment", "said"),
    [
        ({"PV_RRFK": "3"}, "PV_RRF_K"),
        ({"PV_RRF_K": "viel"}, "whole number"),
        ({"PV_RRF_K": "-1"}, "between 0 and"),
        ({"PV_EMBEDDER": "openai"}, "auto, ollama, embedded, none"),
        ({"PV_THINK": "vielleicht"}, "true or false"),
        ({"PV_TEMPERATURE": "nan"}, "between"),
    ],
)
def test_a_wrong_setting_is_one_sentence_with_what_it_can_be(environment: dict[str, str], said: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as refused:
        load(environ=environment, folder=tmp_path)
    assert said in str(refused.value)
    assert next(iter(environment)) in str(refused.value)


@pytest.mark.parametrize(
    ("text", "said"), [("rrfk: 3", "rrf_k"), ("- a", "name: value"), ("a: [", "agent.yaml:"), ("rrf_k: [1]", "whole number")]
)
def test_a_wrong_file(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "agent.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as refused:
        load(environ={}, folder=tmp_path)
    assert said in str(refused.value)
    assert "agent.yaml" in str(refused.value)


def test_changed_checks_too() -> None:
    assert changed(Settings(), rrf_k=60, strategy=None).rrf_k == 60
    with pytest.raises(ConfigError):
        changed(Settings(), rrf_k=-3)
