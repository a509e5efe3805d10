"""Tells what holds digits but no figure: numbers of a list, ids, addresses, telephone numbers, IBANs, digits of a word, labels."""

from __future__ import annotations

import re

from agent.language.days import day, stamp
from agent.language.digits import roman
from agent.language.measures import after_gap, measure
from agent.language.norms import norms
from agent.language.notation import GAP, SPACE, Notation
from agent.language.ordinals import ordinals

_RUN = re.compile(r"[\w-]+")
_BRACKETED = re.compile(r"[\[【]([^\[\]【】\n]{1,300})[\]】]")
_IDENTIFIER = re.compile(r"(?=[^A-Za-z]*[A-Za-z])(?=[\w.]*[-:/])[\w:./@+%#?=&~-]+\Z")
_URL = re.compile(r"(?:https?://|www\.)\S+")
_PHONE = re.compile(
    rf"(?!\d{{4}}-\d\d-\d\d)(?:(?:\+|00)[1-9]\d{{0,2}}(?:[{SPACE}/()-]{{1,2}}\d{{1,9}}){{2,8}}(?!\d)"
    rf"|\(?0\d{{1,4}}\)?(?:[{SPACE}/-]{{1,3}}\d{{2,9}}){{1,6}}(?:-\d{{1,4}})?(?!\d|[.,]\d))"
)
_AFTER_PHONE = re.compile(rf"[.:]?{GAP}[(+\d](?:[{SPACE}/()-]{{0,2}}\d{{1,9}}){{1,9}}")
_IBAN = re.compile(r"[A-Z]{2}\d{2}(?: ?\d{4}){3,7}(?: ?\d{1,4})?(?!\w)")
_LINE = re.compile(r"(?:\A|\n)[ \t#>*+-]{0,11}\Z")
_PARAGRAPH = re.compile(r"(?:\A|\n[ \t]*\n|#)[ \t#>*+-]{0,11}\Z")
_INLINE = re.compile(r"[:;,(]\s?\Z")
_INLINE_FIRST = re.compile(r"[:(]\s?\Z")
_LISTED = re.compile(r"(\d{1,2})(?:\.\d{1,2}){0,3}[.)](?=\s|\Z)")
_HEADED = re.compile(r"\d{1,2}(?:\.\d{1,2}){0,3}(?=[ \t])")
_PARENTHESISED = re.compile(r"\d{1,2}[a-z]?\)")


def list_number(text: str, pos: int, listed: int, notation: Notation) -> tuple[int, int] | None:
    """(number, end) of a list number: at a paragraph's start, or one further than the last one; never where a date or an ordinal stands."""
    low = max(0, pos - 14)
    at_line = _LINE.search(text, low, pos)
    if not at_line and not _INLINE.search(text, low, pos):
        return None
    heading = _HEADED.match(text, pos) if at_line and "#" in at_line.group() else None
    found = _LISTED.match(text, pos)
    if found is None:
        return (0, heading.end()) if heading and int(heading.group().split(".")[0]) < 40 and _bare_here(text, pos, notation) else None
    if found.group().count(".") > 1 and heading is None:
        return None
    number = int(found[1])
    first = number == 1 and (at_line or _INLINE_FIRST.search(text, low, pos))
    begins = first or number == listed + 1 > 1 or (at_line and _PARAGRAPH.search(text, low, pos))
    dated = day(text, pos, notation)
    if notation.ranges.match(text, after_gap(text, found.end())):
        return None
    if not begins or ordinals(text, pos, notation) or (dated and (stamp(dated)[0] or heading is None)):
        return None
    return number, found.end()


def _bare_here(text: str, pos: int, notation: Notation) -> bool:
    figure = measure(text, pos, notation)
    return (figure is None or figure.unit is None) and day(text, pos, notation) is None


def passed(text: str, pos: int, word: str, notation: Notation) -> int | None:
    """Where something ends that holds digits but no figure; None where nothing of the kind begins."""
    if word in "[【":
        found = _BRACKETED.match(text, pos)
        return found.end() if found and all(_IDENTIFIER.match(part.strip()) for part in re.split("[,;]", found[1])) else None
    if word.isdigit():
        return _passed_digits(text, pos, notation)
    if word.isalpha() and word.casefold() not in notation.triggers and notation.number_word(word) is None and roman(word) is None:
        numbered = word.isupper() and text[pos + len(word) : pos + len(word) + 1].isdigit()
        return _end(_IBAN, text, pos) if numbered else pos + len(word)
    if text[pos - 1 : pos].isdigit() or (pos and text[pos - 1] == "_"):
        return pos + len(word)
    url = _URL.match(text, pos)
    phrase = None if url else notation.phrases.match(text, pos)
    phone = notation.phone_words.match(text, pos)
    digits = _AFTER_PHONE.match(text, phone[1]) if phone else None
    law = notation.laws.match(text, pos)
    if law and text[law[1] - 1].isdigit() and not norms(text, pos, notation):
        return law[1]
    return url.end() if url else phrase[1] if phrase else digits.end() if digits else None


def _passed_digits(text: str, pos: int, notation: Notation) -> int | None:
    before = text[pos - 1 : pos]
    if before == "(" and _PARENTHESISED.match(text, pos):
        return _end(_PARENTHESISED, text, pos)
    if (before.isalpha() and not (before in "xX" and pos > 1 and text[pos - 2].isdigit())) or before == "_":
        return _end(_RUN, text, pos)
    if before == "-" and pos > 1 and text[pos - 2].isalpha():
        return _end(_RUN, text, pos)
    if before in "+(" or text[pos] == "0":
        phone = _PHONE.match(text, pos - 1 if before in ("+", "(") and before else pos)
        if phone and sum(letter.isdigit() for letter in phone.group()) >= 7:
            return phone.end()
    label = notation.labels.before(text, 0, pos)
    end = _end(_RUN, text, pos) if label and _bare_here(text, pos, notation) else None
    return end if end is not None and text[end : end + 1] != "/" else None


def _end(pattern: re.Pattern[str], text: str, pos: int) -> int | None:
    found = pattern.match(text, pos)
    return found.end() if found else None
