"""The web as a source: what a search the user runs (SearXNG's JSON interface) finds; its excerpts are the text, no page is fetched.

It is off unless the settings name it, since the words of a question then leave the machine. A hit's id is its URL and the day it was found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import date
from typing import Any

from agent.errors import SourceError
from agent.i18n import tr
from agent.language import Language
from agent.transport import ErrorStatus, TransportError, Web, as_id, may_be_shown
from agent.values import WEB, Chunk, EntryInfo, Evidence, Hit, Searched, SubQuery

LONGEST_EXCERPT, LONGEST_TITLE, LONGEST_URL = 1500, 200, 300


class WebSearch:
    """The search engine behind `web`, for questions in `language`; `today` is the day its hits are found."""

    name = WEB

    def __init__(self, web: Web, language: Language, *, seconds: float, today: Callable[[], date] = date.today) -> None:
        self.about: str = language.table["sources"][self.name]
        self._web = web
        self._language = language
        self._seconds = seconds
        self._today = today

    def search(self, subquery: SubQuery, /, k: int) -> Evidence:
        query = {"q": subquery.query, "format": "json", "language": self._language.code, "safesearch": "1"}
        try:
            found = self._web.get_json("/search", query, timeout=self._seconds)
        except ErrorStatus as error:
            mend = tr('Allow "json" among its search.formats.') if error.status == 403 else tr("See its log.")
            raise SourceError(error.message, mend) from error
        except TransportError as error:
            raise SourceError(error.message, tr("Start the search engine there, or set PV_WEB_URL.")) from error
        results = found.get("results") if isinstance(found, dict) else None
        if not isinstance(results, list):
            raise SourceError(tr("There is no SearXNG at {url}.", url=self._web.url), tr("Set PV_WEB_URL to one."))
        hits: dict[str, Hit] = {}
        for hit in self._hits(results):
            hits.setdefault(hit.entry.id, hit)
        return Evidence(tuple(hits.values())[:k], Searched((subquery.query,), subquery.scope, subquery.period.end))

    def _hits(self, results: list[Any]) -> Iterator[Hit]:
        """What of the results can be shown and cited: a public page with an excerpt."""
        day = self._today()
        for place, result in enumerate((result for result in results if isinstance(result, dict)), start=1):
            url, text = str(result.get("url") or "").strip(), _line(result, "content", LONGEST_EXCERPT)
            if text and len(url) <= LONGEST_URL and may_be_shown(url):
                title = _line(result, "title", LONGEST_TITLE) or url
                entry = EntryInfo(f"{as_id(url)}@{day.isoformat()}", title, day)
                yield Hit(Chunk(entry.id, 0, "", text, (0, len(text))), entry, 1 / place, source=self.name, why="web search", url=url)


def _line(result: Mapping[str, Any], name: str, longest: int) -> str:
    """A text of a result on one line: it is quoted as running text, whatever signs of a table or a heading it holds."""
    return " ".join(str(result.get(name) or "").replace("|", " ").split()).lstrip("#-*+> ")[:longest].strip()
