"""Messages in the user's language: English stands in the source, every other language in a gettext catalogue under `locale/`.

What an answer or a refusal says is no message: that follows the knowledge base's language (`agent/tables`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gettext import NullTranslations

SOURCE = "en"
LANGUAGES = ("de", SOURCE)
VARIABLE = "PV_LANG"
DOMAIN = "pv_agent"
FOLDER = f"{os.path.dirname(__file__)}/locale"  # noqa: PTH120 - pathlib costs what every call would pay

_chosen = ""
_asked: ContextVar[str] = ContextVar("language", default="")


def speak(language: str) -> None:
    """Have this process say everything in a language; "" leaves it to the environment again."""
    global _chosen  # noqa: PLW0603 - one language a process, as with any locale
    _chosen = language


def spoken(environ: Mapping[str, str] | None = None) -> str:
    """The language of messages: what was asked for or chosen, else PV_LANG, else that of the locale, else English."""
    if environ is None and (known := _asked.get() or _chosen):
        return known
    given = os.environ if environ is None else environ
    if given.get(VARIABLE) in LANGUAGES:
        return given[VARIABLE]
    locale = next((value for name in ("LC_ALL", "LC_MESSAGES", "LANG") if (value := given.get(name))), "")
    code = locale.replace("-", "_").partition("_")[0].partition(".")[0].lower()
    return code if code in LANGUAGES else SOURCE


@contextmanager
def answering(accepted: str) -> Iterator[None]:
    """Inside, messages are in the language a request prefers (the header Accept-Language of RFC 9110), where it is one of ours."""
    token = _asked.set(preferred(accepted))
    try:
        yield
    finally:
        _asked.reset(token)


def preferred(accepted: str) -> str:
    """The language of ours that weighs most, the first of equals; empty where none is named."""
    best, most = "", 0.0
    for each in accepted.split(","):
        name, _, weight = each.partition(";")
        code = name.strip().lower().partition("-")[0]
        try:
            weighs = float(weight.strip().removeprefix("q=") or 1)
        except ValueError:
            continue
        if code in LANGUAGES and weighs > most:
            best, most = code, weighs
    return best


def tr(message: str, /, **values: Any) -> str:
    """A message in the user's language, its `{names}` filled in from `values` as by str.format."""
    language = spoken()
    found = message if language == SOURCE or not message else catalogue(language).gettext(message)
    return found.format(**values) if values else found


def trn(one: str, many: str, count: int, /, **values: Any) -> str:
    """A message whose words depend on a number, which stands in it as `{count}`."""
    language = spoken()
    found = (one if count == 1 else many) if language == SOURCE else catalogue(language).ngettext(one, many, count)
    return found.format(count=count, **values)


def noted(message: str) -> str:
    """A message that is translated where it is used (`tr`); here it is only marked for the catalogues."""
    return message


def lent() -> None:
    """Let libraries that ask gettext for their words find them in our catalogue; it is the environment gettext asks for the language."""
    import gettext

    os.environ["LANGUAGE"] = spoken()
    gettext.bindtextdomain(DOMAIN, FOLDER)
    gettext.textdomain(DOMAIN)


@cache
def catalogue(language: str) -> NullTranslations:
    """The messages of a language; as they stand in the source where it has no catalogue."""
    from gettext import translation

    return translation(DOMAIN, FOLDER, [language], fallback=True)
