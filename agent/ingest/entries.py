"""Reads an entry: a Markdown file with front matter, cut into sections at its headings of level two."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from agent.i18n import tr
from agent.ingest.problems import EntryProblem
from agent.ingest.yamlfile import Fields, Node, parsed
from agent.values import Entry, Section

_HEADING = re.compile(r" {0,3}##[ \t]+(.*?)[ \t]*#*[ \t]*$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)$")


def file_text(path: Path) -> str | EntryProblem:
    """A file's text as every platform sees it: UTF-8, line feeds, no byte order mark."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        return EntryProblem(path, 1, tr("The file cannot be read ({reason}).", reason=error.strerror), tr("Check its permissions."))
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        return EntryProblem(path, line, tr("The file is not UTF-8 (byte {start}).", start=error.start), tr("Save it as UTF-8."))
    return text.replace("\r\n", "\n").replace("\r", "\n")


def beside(path: Path) -> Node | EntryProblem | None:
    """What a YAML file beside the entries says, or why it cannot be read; None where there is no such file."""
    if not path.exists():
        return None
    text = file_text(path)
    return parsed(text, path) if isinstance(text, str) else text


def fingerprint(text: str) -> str:
    """The hash the register keeps, over the text and not over the bytes of a platform."""
    return sha256(text.encode()).hexdigest()


def parse(text: str, path: Path, *, relative: str = "") -> Entry | list[EntryProblem]:
    """The entry in `text`, or everything that is wrong with it. `relative` is its path as it is registered."""
    head = front_end(text)
    if head is None:
        return [EntryProblem(path, 1, tr("The file does not begin with front matter."), tr("Begin it with `---`, fields, `---`."))]
    node = parsed(text[text.index("\n") + 1 : head], path, first_line=2)
    if isinstance(node, EntryProblem):
        return [node]
    if not isinstance(node, Fields):
        return [EntryProblem(path, 2, tr("The front matter holds no fields."), tr("Write them as `name: value`."))]
    from agent.ingest.frontmatter import FrontMatter, checked

    front = checked(node, path)
    body = text.index("\n", head + 1) + 1 if "\n" in text[head + 1 :] else len(text)
    sections, problems = _sections(text, body, path)
    if not isinstance(front, FrontMatter):
        return sorted(front + problems)
    return problems or Entry(front.info(relative, fingerprint(text)), tuple(sections))


def front_end(text: str) -> int | None:
    """Where the `---` that closes the front matter begins; None where there is none."""
    opening = re.match(r"---[ \t]*\n", text)
    closing = re.compile(r"^---[ \t]*$", re.MULTILINE).search(text, opening.end()) if opening else None
    return closing.start() if closing else None


def lines(text: str, start: int = 0) -> Iterator[tuple[int, str, bool]]:
    """Each line from `start` on: its offset, its text, and whether it belongs to a code fence."""
    fence = ""
    at = start
    for line in text[start:].split("\n"):
        match = _FENCE.match(line)
        inside = bool(fence)
        if match and not fence:
            fence, inside = match.group(1), True
        elif match and match.group(1).startswith(fence) and not match.group(2).strip():
            fence = ""
        yield at, line, inside
        at += len(line) + 1


def line_at(text: str, offset: int) -> int:
    """The number, from 1, of the line that holds `offset`."""
    return text.count("\n", 0, offset) + 1


def _sections(text: str, body: int, path: Path) -> tuple[list[Section], list[EntryProblem]]:
    heads = [("", body, body)]
    for at, line, fenced in lines(text, body):
        match = None if fenced else _HEADING.match(line)
        if match:
            heads.append((match.group(1), at, min(at + len(line) + 1, len(text))))
    sections: list[Section] = []
    problems: list[EntryProblem] = []
    seen: dict[str, int] = {}
    ends = [at for _, at, _ in heads[1:]] + [len(text)]
    for (name, at, start), end in zip(heads, ends, strict=True):
        section = _trimmed(Section(name, text[start:end], start))
        number = line_at(text, at)
        if name in seen:
            problems.append(
                EntryProblem(
                    path,
                    number,
                    tr("The section `{name}` stands there twice (line {seen}).", name=name, seen=seen[name]),
                    tr("Join the two."),
                )
            )
        elif not section.text and (name or at > body or len(heads) == 1):
            what = tr("The section `{name}` is empty.", name=name) if name or at > body else tr("The entry has no text.")
            problems.append(EntryProblem(path, number, what, tr("Write it, or take the heading out.")))
        elif section.text:
            sections.append(section)
        seen.setdefault(name, number)
    return sections, problems


def _trimmed(section: Section) -> Section:
    text = section.text.rstrip()
    # Whole blank lines only: the indent of a first line may be what makes it code or a list.
    skipped = len(text) - len(re.sub(r"\A(?:[ \t]*\n)+", "", text))
    return replace(section, text=text[skipped:], start=section.start + skipped)
