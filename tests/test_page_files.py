"""The page's files, read without a browser: nothing inline, nothing foreign, every word in both languages, nothing parsed as HTML."""

from __future__ import annotations

import json
import re
from functools import cache
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest

from agent.i18n import LANGUAGES
from agent.serve import wording
from agent.settings import choices
from agent.values import Flag, Reason, Validity

STATIC = Path(__file__).parents[1] / "agent" / "serve" / "static"
SCRIPTS = sorted(STATIC.glob("*.js"))
SHEETS = sorted(STATIC.glob("*.css"))
SLIGHT = 250_000
"""Bytes the whole page may weigh."""
FAMILIES = re.compile(r"(reason|flag|validity|step|valid|origin|help|theme|scope|generator|strategy|review|verdict)_")
"""How words begin that are asked for by the code they stand for."""
MADE = {f"static/strings.{language}.js" for language in LANGUAGES}
"""What the server makes of the catalogue."""
TEXT = ("ink", "quiet", "accent", "warn")
GROUNDS = ("paper", "sheet", "tint", "warn-tint")


class Page(HTMLParser):
    """What index.html says, tag by tag, and the text of its scripts and styles."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.inline = ""
        self.feed((STATIC / "index.html").read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.inline += data.strip() if self.tags and self.tags[-1][0] in ("script", "style") else ""


@cache
def page() -> Page:
    return Page()


def words(language: str) -> dict[str, str]:
    made = wording.module(language)
    found: dict[str, str] = json.loads(made.partition("export default ")[2].strip().removesuffix(";"))
    return found


def all_scripts() -> str:
    return "\n".join(path.read_text(encoding="utf-8") for path in SCRIPTS)


def test_no_script_and_no_style_is_inline() -> None:
    assert page().inline == ""
    assert [tag for tag, _ in page().tags if tag == "style"] == []
    assert [name for _, attributes in page().tags for name in attributes if name == "style" or name.startswith("on")] == []


def test_every_file_named_is_there_and_our_own() -> None:
    named = [value for tag, a in page().tags for value in (a.get("src"), a.get("href") if tag == "link" else None) if value]
    assert len(named) >= 7
    assert [value for value in named if value not in MADE and not (STATIC / value.removeprefix("static/")).is_file()] == []
    loaded = {value.removeprefix("static/") for value in named}
    assert [path.name for path in SCRIPTS if path.name not in loaded] == [], "what is imported is fetched at once"
    imported = [(path, name) for path in SCRIPTS for name in re.findall(r'from "(.+?)"', path.read_text(encoding="utf-8"))]
    assert [name for path, name in imported if f"static/{name[2:]}" not in MADE and not (path.parent / name).is_file()] == []
    assert set(named) >= MADE


def test_no_file_names_another_origin() -> None:
    texts = [*SCRIPTS, *SHEETS, STATIC / "index.html"]
    assert [path.name for path in texts if re.search(r"(?:https?:)?//\w+\.\w", path.read_text(encoding="utf-8"))] == []


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_no_text_becomes_html_or_code(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert (
        re.findall(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|DOMParser|setHTML|\.style\b", text) == []
    )
    assert text.startswith("// ")
    assert len(text.splitlines()) < 200


def test_the_page_is_slight() -> None:
    assert sum(path.stat().st_size for path in STATIC.rglob("*") if path.is_file()) < SLIGHT


def test_both_languages_have_the_same_words_with_the_same_places() -> None:
    de, en = words("de"), words("en")
    assert len(de) > 100
    assert list(de) == list(en)
    places = {key: (re.findall(r"\{\w+\}", de[key]), re.findall(r"\{\w+\}", en[key])) for key in de}
    assert {key: both for key, both in places.items() if sorted(both[0]) != sorted(both[1])} == {}
    assert [key for key in de if not de[key].strip() or not en[key].strip()] == []


def test_every_word_asked_for_is_there_and_every_word_is_used() -> None:
    source = all_scripts() + (STATIC / "index.html").read_text(encoding="utf-8")
    asked = set(re.findall(r'\bt\("(\w+)"', source)) | set(re.findall(r'data-t(?:-\w+)?="(\w+)"', source))
    assert asked - set(words("de")) == set()
    loose = {key for key in words("de") if not FAMILIES.match(key)}
    assert [key for key in loose if not re.search(rf'["`]{key.removesuffix("_one")}["`]', source)] == []


def test_every_code_an_answer_can_have_has_its_words() -> None:
    known = set(words("de"))
    reasons = {"reason_agent" if re.match(r"agent\d?_", code.value) else f"reason_{code.value}" for code in Reason}
    assert reasons - known == set()
    assert {f"flag_{flag.value}" for flag in Flag} - known == set()
    assert {f"validity_{validity.value}" for validity in Validity} - known == set()
    choosable = {f"{field.removesuffix('_mode')}_{value}" for field in ("generator", "strategy", "review_mode") for value in choices(field)}
    assert choosable - known == set()
    assert {f"step_{step}" for step in ("waiting", "planning", "searching", "drafting", "checking", "reviewing")} - known == set()


# --- colours -------------------------------------------------------------------------------------------


def palettes() -> list[dict[str, str]]:
    text = (STATIC / "style.css").read_text(encoding="utf-8")
    blocks = [block for block in re.findall(r":root[^{]*\{([^}]*)\}", text) if "--paper" in block]
    return [dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", block)) for block in blocks]


def contrast(one: str, other: str) -> float:
    """The contrast of two colours (WCAG 2.2)."""

    def light(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    dark, bright = sorted((light(one), light(other)))
    return (bright + 0.05) / (dark + 0.05)


def test_every_colour_of_text_stands_out_from_every_ground() -> None:
    found = palettes()
    assert len(found) == 3
    assert found[1] == found[2], "dark by the system is dark by the switch"
    for colours in found:
        pairs = [(text, ground) for text in TEXT for ground in GROUNDS] + [("on-accent", "accent"), ("on-mark", "mark")]
        assert [pair for pair in pairs if contrast(colours[pair[0]], colours[pair[1]]) < 4.5] == []
        lines = [("edge", "paper"), ("edge", "sheet"), ("focus", "paper"), ("focus", "sheet")]
        assert [pair for pair in lines if contrast(colours[pair[0]], colours[pair[1]]) < 3] == []


def test_headings_in_the_page_go_down_in_steps() -> None:
    levels = [int(tag[1]) for tag, _ in page().tags if re.fullmatch(r"h\d", tag)]
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
