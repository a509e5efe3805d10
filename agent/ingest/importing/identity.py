"""Whether a document is what it is called: a file named EStG whose text says it is another act is not taken in under that name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from agent.i18n import tr
from agent.ingest.importing.draft import Draft
from agent.ingest.problems import EntryProblem, Severity
from agent.language import Language

_HEAD = 1500
_ENOUGH = 500
"""Characters a text needs for its title's words to be missed in it."""
_STEM = 5
_YEAR = re.compile(r"[\s_-]*(?:19|20)\d\d$")
_LETTERS = re.compile(r"[^a-zäöüåß]+")


def doubts(draft: Draft, language: Language) -> list[EntryProblem]:
    """A problem where file name or title contradict the text; a notice where nothing of the title is found in it."""
    called, titled, headed = (_acts(name, language) for name in (draft.name, draft.title, draft.heading))
    folds: Mapping[str, str] = language.figures["folds"]
    mend = tr("Give it the name of what it is, or mend its title.")
    said = f"{draft.heading or ', '.join(draft.short) or draft.title!s:.120}"
    if called and not any(_says(act, draft, folds) for act in called):
        return [
            EntryProblem(
                draft.path,
                draft.line,
                tr("The file is called {called}, and its text is „{said}“.", called=", ".join(called), said=said),
                mend,
            )
        ]
    if titled and headed and not {folded(act, folds) for act in titled} & {folded(act, folds) for act in headed}:
        return [
            EntryProblem(
                draft.path, draft.line, tr("The title says {titled}, and its text is „{said}“.", titled=", ".join(titled), said=said), mend
            )
        ]
    words = [word for word in re.findall(r"[^\W\d_]{5,}", draft.title) if sum(c.isupper() for c in word) < 2]
    text = draft.text().casefold()
    if words and len(text) > _ENOUGH and not any(word.casefold()[:_STEM] in text for word in words):
        said = tr("No word of the title „{title:.80}“ stands in the text.", title=draft.title)
        return [EntryProblem(draft.path, draft.line, said, tr("See whether it is the right document."), Severity.NOTICE)]
    return []


def own_name(draft: Draft, language: Language) -> tuple[str, ...]:
    """The short names of a draft; where it states none, its file's name if that is one act's, as it is known."""
    acts = _acts(draft.name, language)
    bare = _YEAR.sub("", draft.name)
    folds = language.figures["folds"]
    same = len(acts) == 1 and not any(c.isdigit() for c in bare) and folded(acts[0], folds) == folded(bare, folds)
    return draft.short or (acts if same else ())


def _acts(name: str, language: Language) -> tuple[str, ...]:
    """The acts a name names: words that are known as acts, or written as such short names are."""
    known, folds = _known(language), language.figures["folds"]
    found = []
    for word in re.split(r"[\s_.,;:()/–-]+", name):
        if (law := known.get(folded(word, folds))) is not None:
            found.append(law)
        elif language.notation.law_shape.fullmatch(word) is not None and sum(c.isupper() for c in word) >= 2:
            found.append(word)
    return tuple(dict.fromkeys(found))


@lru_cache(maxsize=4)
def _known(language: Language) -> Mapping[str, str]:
    return {folded(law, language.figures["folds"]): law for law in language.figures["laws"]}


def _says(act: str, draft: Draft, folds: Mapping[str, str]) -> bool:
    """Whether the text says it is `act`, or says nothing of the kind.

    Its own short names decide where it states some; else its heading, if the act's letters stand in it in their order, or its first
    lines; a text without a heading is believed.
    """
    wanted = folded(act, folds)
    short = [name for name in (folded(name, folds) for name in draft.short) if name]
    named = [folded(word, folds) for word in draft.heading.split()]
    if wanted in named or any(name.startswith(wanted) or wanted.startswith(name) for name in short):
        return True
    if short or not draft.heading:
        return not short
    return wanted in folded(draft.heading, folds) or _initials(wanted, draft.heading, folds) or _early(act, draft)


def _early(act: str, draft: Draft) -> bool:
    return re.search(rf"(?<!\w){re.escape(act)}(?!\w)", draft.text()[:_HEAD]) is not None


def _initials(wanted: str, heading: str, folds: Mapping[str, str]) -> bool:
    """Whether a short name's letters stand in a heading in order, the first at the beginning of a word: EStG, EinkommenSTeuerGesetz."""
    words = [folded(word, folds) for word in heading.split()]
    return any(word[:1] == wanted[:1] and _within(wanted, "".join(words[at:])) for at, word in enumerate(words))


def _within(wanted: str, text: str) -> bool:
    letters = iter(text)
    return all(letter in letters for letter in wanted)


def folded(name: str, folds: Mapping[str, str]) -> str:
    """A name in small letters without digits, signs and umlauts: `EStG 1988` and `estg_1988` meet."""
    low = name.casefold()
    for letter, plain in folds.items():
        low = low.replace(letter, plain)
    return _LETTERS.sub("", low)
