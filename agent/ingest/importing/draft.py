"""What a document says of itself, before it is an entry; and how documents become drafts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date
from itertools import takewhile
from pathlib import Path
from typing import Any

from agent import texts
from agent.i18n import tr
from agent.ingest.entries import front_end
from agent.ingest.importing import files, html
from agent.ingest.importing.files import Source
from agent.ingest.importing.outline import outline
from agent.ingest.importing.parts import Marks, plain, short_line
from agent.ingest.problems import EntryProblem, Severity
from agent.ingest.yamlfile import Fields, Items, Node, Scalar, parsed
from agent.language import Language
from agent.language.days import stamp
from agent.language.figures import parse

_RIGHT_AWAY = 3
_NEAR = 80
"""Characters behind a mark such as `Stand` within which its date stands."""
_HEAD, _TAIL = 4000, 1500
"""Characters at the beginning and the end of a text where it says which state of things it gives."""
_IN_PARENTHESES = re.compile(r"\(([^()]{2,80})\)")


@dataclass(frozen=True, slots=True)
class Draft:
    """A document about to be an entry. `name` is what its id is made of; `heading` is the title its text bears, `short` its short names.

    `stand` is None where it states none; `sections` are names with texts; `pages` where the document says them.
    """

    path: Path
    line: int
    origin: str
    name: str
    title: str
    stand: date | None
    sections: tuple[tuple[str, str], ...]
    short: tuple[str, ...] = ()
    heading: str = ""
    topic: str = ""
    tags: tuple[str, ...] = ()
    norms: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    pages: tuple[int | str, ...] = ()
    notices: tuple[EntryProblem, ...] = field(default=(), compare=False)

    def text(self) -> str:
        """Names and texts of all sections."""
        return "\n\n".join(f"{name}\n{text}" for name, text in self.sections)


class Reader:
    """Reads documents of one language into drafts, by what its table says (tables/import.*.json)."""

    def __init__(self, language: Language) -> None:
        self.table: Mapping[str, Any] = texts.table(f"import.{language.code}")
        self._notation = language.notation
        self._marks = Marks(*(re.compile(self.table[name]) for name in ("mark_opens", "mark_alone", "structure")))
        self._frames = [re.compile(frame) for frame in self.table["title_frames"]]
        words = "|".join(re.escape(mark).replace(r"\ ", r"\s+") for mark in self.table["stand_marks"])
        self._stand = re.compile(rf"(?:^[\s*_>|#(-]*|[,;(|·–]\s*)(?:{words})(?!\w)", re.IGNORECASE | re.MULTILINE)

    def read(self, source: Source) -> Draft | EntryProblem:
        """The draft of a document, or why it cannot be one."""
        read = files.text_of(source)
        if isinstance(read, EntryProblem):
            return read
        text, guessed = read
        try:
            page = html.read(text) if source.kind == "html" else None
        except RecursionError:
            return EntryProblem(source.path, 1, tr("The page is nested too deeply."), tr("Save its text as Markdown."))
        front, body = ({}, page.text) if page else self._front(text, source.path)
        body = titled(body) if source.kind == "text" else body
        draft = self._draft(source, front, body, page)
        if not any(part.strip() for _, part in draft.sections):
            return EntryProblem(source.path, 1, tr("The document has no text."), tr("Write it, or take it out."))
        if guessed:
            notice = EntryProblem(
                source.path, 1, tr("The file was read as {guessed}.", guessed=guessed), tr("Save it as UTF-8 to be sure."), Severity.NOTICE
            )
            return replace(draft, notices=(*draft.notices, notice))
        return draft

    def outlined(self, text: str) -> tuple[tuple[str, str], ...]:
        """The sections of a text that is given with a title of its own: a heading that would be its title stays a heading of the text."""
        found = outline(text, self._marks)
        if not found.title:
            return found.sections
        (name, first), *rest = found.sections or (("", ""),)
        return ((name, f"### {found.title}\n\n{first}".rstrip()), *rest)

    def _draft(self, source: Source, front: Mapping[str, tuple[str, ...]], body: str, page: html.Page | None) -> Draft:
        found = outline(body, self._marks)
        declared = self._unframed(next(iter(front.get("title", ())), "") or (page.title if page else ""))
        first = self._unframed(found.title) or ("" if found.title else self._first_line(body))
        title = (first or declared if page else declared or first) or source.path.stem
        short = (*front.get("short", ()), *(self._law(piece) for piece in _IN_PARENTHESES.findall(first or declared)))
        return Draft(
            path=source.path,
            line=1,
            origin=source.origin,
            name=source.path.stem,
            title=" ".join(title.split()),
            stand=self.day(" ".join(front.get("stand", ()))) or self._stated(body) or self.day(page.date if page else ""),
            sections=found.sections,
            short=tuple(dict.fromkeys(name for name in short if name)),
            heading=first,
            topic=" ".join(front.get("topic", ())),
            tags=front.get("tags", ()),
            norms=front.get("norms", ()),
            sources=front.get("sources", ()),
        )

    def _law(self, piece: str) -> str:
        """The act in the parentheses of a title, such as `Umsatzsteuergesetz 1994 – UStG 1994` or `BahnG`; empty where it holds none."""
        last = re.split(r"\s[–-]\s|[,;]", piece)[-1].strip()
        word, _, year = last.partition(" ")
        known = self._notation.law_shape.fullmatch(word) is not None or self._notation.laws.match(word, 0) is not None
        return last if known and sum(c.isupper() for c in word) >= 2 and (not year or year.isdecimal()) else ""

    def _unframed(self, title: str) -> str:
        """A title without what a publisher writes round every title; empty where nothing else is left."""
        for frame in self._frames:
            if (found := frame.fullmatch(title)) is not None:
                return found.groupdict().get("title") or ""
        return title

    def _first_line(self, body: str) -> str:
        """The first line where it stands alone and is short, as the title of a plain text does."""
        line, _, rest = body.lstrip().partition("\n")
        line = line.strip()
        whole = not rest.split("\n", 1)[0].strip() and short_line(line)
        marked = any(pattern.match(line) for pattern in (self._marks.opens, self._marks.alone, self._stand)) or line.startswith(
            tuple("#|>-*`(")
        )
        return plain(line) if whole and not marked else ""

    def _front(self, text: str, path: Path) -> tuple[Mapping[str, tuple[str, ...]], str]:
        """What the front matter says under the names the table knows, and the text below it; what is no front matter is text."""
        end = front_end(text)
        node = parsed(text[text.index("\n") + 1 : end], path, first_line=2) if end else None
        if end is None or not isinstance(node, Fields):
            return {}, text
        given = {name.casefold(): _words(value) for name, value in node.fields.items()}
        fields = {ours: next((given[name] for name in names if given.get(name)), ()) for ours, names in self.table["fields"].items()}
        return fields, text[text.index("\n", end) + 1 :] if "\n" in text[end:] else ""

    def day(self, written: str) -> date | None:
        """The first date of a text; a month or a year at its beginning counts as its first day, so that no Stand is newer than stated."""
        for figure in parse(written, self._notation) if any(c.isdigit() for c in written) else ():
            year, month, day = stamp(figure) if figure.kind in ("date", "year") else (None, None, None)
            # further on a month or a year may be part of anything
            if year is None or (day is None and figure.span[0] > _RIGHT_AWAY):
                continue
            with suppress(ValueError):
                return date(year, month or 1, day or 1)
        return None

    def _stated(self, text: str) -> date | None:
        """The newest date behind the words that say which state of things a text gives, at its beginning or at its end."""
        pieces = (text[:_HEAD], text[-_TAIL:] if len(text) > _HEAD else "")
        days = (self.day(piece[mark.end() : mark.end() + _NEAR]) for piece in pieces for mark in self._stand.finditer(piece))
        return max((day for day in days if day is not None), default=None)


def titled(text: str) -> str:
    """A plain text with a blank line below its title, where that lacks one.

    The first line is a title if it was ended on purpose: the next one begins anew, and its first word would have fitted into the width
    of the paragraph's longest line.
    """
    first, _, rest = text.lstrip().partition("\n")
    following = list(takewhile(str.strip, rest.split("\n")))
    if not following or not short_line(first.rstrip()) or not (word := following[0].split()[0])[0].isupper():
        return text
    fitted = len(first.rstrip()) + 1 + len(word) <= max(map(len, following))
    return f"{first.rstrip()}\n\n{rest}" if fitted else text


def _words(node: Node) -> tuple[str, ...]:
    if isinstance(node, Scalar):
        return (" ".join(node.value.split()),) if node.value else ()
    if isinstance(node, Items):
        return tuple(word for item in node.items for word in _words(item))
    return ()
