"""Turns an HTML page into the Markdown its text amounts to: headings, paragraphs, lists and tables; what only steers a page is left out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

_SKIPPED = frozenset(("script", "style", "noscript", "template", "svg", "math", "nav", "footer", "aside", "button", "select", "label",
                      "textarea", "iframe", "object", "head"))  # fmt: skip
_BLOCKS = frozenset(("p", "div", "section", "article", "main", "header", "blockquote", "dl", "dt", "dd", "figure", "figcaption", "address",
                     "form", "details", "summary", "fieldset", "center", "hr"))  # fmt: skip
_UNSEEN = re.compile(r"\b(?:sr-only|visually-hidden|screen-reader-text|screenreader)\b", re.IGNORECASE)
_SPACE = re.compile(r"[^\S\n]+")
_DATES = ("meta[name='date']", "meta[name='dcterms.modified']", "meta[property='article:modified_time']", "meta[name='last-modified']")
_NUMBERED = re.compile(r"\d{1,3}[a-z]?\. ")
_LONGEST_CELL = 300
_DEEPEST = 200


@dataclass(frozen=True, slots=True)
class Page:
    """A page as Markdown, with the title and the date its head states (as written; empty where it states none)."""

    text: str
    title: str
    date: str


def read(html: str) -> Page:
    """The page of an HTML text: what stands in its `main` or `article` where that holds most of it, else its body.

    Raises RecursionError where its elements are nested too deeply.
    """
    from selectolax.lexbor import LexborHTMLParser

    tree = LexborHTMLParser(html)
    title, body = tree.css_first("title"), tree.body
    writer = _Writer()
    if body is not None:
        writer.blocks_of(_main(body))
    dates = (node.attributes.get("content") for selector in _DATES if (node := tree.css_first(selector)) is not None)
    return Page(writer.text(), _flat(title.text()) if title is not None else "", next((date for date in dates if date), ""))


def _main(body: LexborNode) -> LexborNode:
    whole = len(body.text())
    found = [node for selector in ("main", "article") for node in body.css(selector)]
    return next((node for node in found if len(node.text()) * 2 > whole), body)


def _flat(text: str) -> str:
    return " ".join(text.split())


@dataclass(slots=True)
class _Writer:
    """Collects blocks of Markdown; `_line` is the paragraph being written."""

    blocks: list[str] = field(default_factory=list)
    _line: list[str] = field(default_factory=list)

    def text(self) -> str:
        """All that was written."""
        self._end()
        return "\n\n".join(self.blocks) + "\n"

    def _end(self) -> None:
        lines = (_SPACE.sub(" ", line).strip() for line in "".join(self._line).split("\n"))
        paragraph = "\n".join(line for line in lines if line)
        if paragraph:
            self.blocks.append(re.sub(r"^(#|\||```|~~~|===|---)", r"\\\1", paragraph, flags=re.MULTILINE))
        self._line.clear()

    def blocks_of(self, node: LexborNode, depth: int = 0) -> None:
        """Writes what stands in a node."""
        for child in node.iter(include_text=True):
            tag = child.tag or ""
            if tag == "-text":
                self._line.append(re.sub(r"\s+", " ", child.text_content or ""))
            elif tag == "br":
                self._line.append("\n")
            elif depth >= _DEEPEST:
                raise RecursionError(f"elements are nested more than {_DEEPEST} deep")
            elif not tag.startswith("-") and tag not in _SKIPPED and not _unseen(child):
                self._element(child, tag, depth + 1)

    def _element(self, node: LexborNode, tag: str, depth: int) -> None:
        if re.fullmatch(r"h[1-6]", tag):
            self._end()
            if heading := _inline(node):
                self.blocks.append(f"{'#' * int(tag[1])} {heading}")
        elif tag == "table":
            self._end()
            self._table(node, depth)
        elif tag in ("ul", "ol"):
            self._end()
            if items := [_item(text, number if tag == "ol" else None) for number, text in enumerate(_items(node), 1)]:
                self.blocks.append("\n".join(items))
        elif tag == "pre":
            self._end()
            fence = "~~~~" if "```" in node.text() else "```"
            self.blocks.append(f"{fence}\n{node.text().strip(chr(10))}\n{fence}")
        elif tag in _BLOCKS or tag == "li":
            self._end()
            self.blocks_of(node, depth)
            self._end()
        else:
            self.blocks_of(node, depth)

    def _table(self, node: LexborNode, depth: int) -> None:
        """A table of data as one of Markdown; one that only lays out the page as the paragraphs in it."""
        rows = list(_rows(node))
        cells = [[_inline(cell) for cell in row] for row in rows]
        width = max((len(row) for row in cells), default=0)
        longest = max((len(cell) for row in cells for cell in row), default=0)
        if width < 2 or longest > _LONGEST_CELL or node.css_first("table table, h1, h2, h3, h4, h5, h6, ul, ol") is not None:
            for row in rows:
                for cell in row:
                    self._end()
                    self.blocks_of(cell, depth)
                    self._end()
            return
        if data := [row for row in cells if any(row)]:
            self.blocks.append(table(data, width))


def table(rows: Sequence[Sequence[str]], width: int) -> str:
    """Rows of cells as a Markdown table, each filled up to `width`; the first is its head."""
    head, *rest = ([cell.replace("|", "\\|") for cell in row] + [""] * (width - len(row)) for row in rows)
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, ["---"] * width, *rest))


def _unseen(node: LexborNode) -> bool:
    attributes = node.attributes
    if node.tag == "header" and node.css_first("h1") is None:
        return True
    return "hidden" in attributes or bool(_UNSEEN.search(attributes.get("class") or ""))


def _inline(node: LexborNode) -> str:
    """All text of a node in one line."""
    writer = _Writer()
    writer.blocks_of(node)
    return _flat(re.sub(r"^(?:#+ |\\(?=[#|`~=-])|```)", "", writer.text(), flags=re.MULTILINE))


def _items(node: LexborNode) -> Iterator[str]:
    yield from (text for child in node.iter() if child.tag == "li" and (text := _inline(child)))


def _item(text: str, number: int | None) -> str:
    """An item with its mark; statutes often write their own into the item (`1. 1. so`), which then is the one."""
    return text if _NUMBERED.match(text) else f"{f'{number}.' if number else '-'} {text}"


def _rows(node: LexborNode) -> Iterator[list[LexborNode]]:
    """The rows of a table, not those of a table inside it."""
    for child in node.iter():
        if child.tag == "tr":
            yield [cell for cell in child.iter() if cell.tag in ("td", "th")]
        elif child.tag in ("thead", "tbody", "tfoot"):
            yield from _rows(child)
