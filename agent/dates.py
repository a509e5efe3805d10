"""Reads a date as people write it on a command line or in a file."""

from __future__ import annotations

import re
from datetime import date

from agent.errors import UsageError
from agent.i18n import tr


def parsed(text: str) -> date:
    """`2026-01-31`, `31.1.2026` or `2026` (the last day of that year). Raises UsageError for anything else."""
    text = text.strip()
    try:
        if re.fullmatch(r"\d{4}-\d{1,2}-\d{1,2}", text):
            year, month, day = map(int, text.split("-"))
            return date(year, month, day)
        if re.fullmatch(r"\d{1,2}\.\s?\d{1,2}\.\s?\d{4}", text):
            day, month, year = (int(part) for part in text.split("."))
            return date(year, month, day)
        if re.fullmatch(r"\d{4}", text):
            return date(int(text), 12, 31)
    except ValueError:
        pass
    raise UsageError(tr("{text!r} is no date.", text=text), tr("Write 2026-01-31, 31.1.2026 or 2026."))
