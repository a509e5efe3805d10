"""What is taken in from outside, over HTTP or from an assistant: the fields of a call, checked, with what they can be."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from agent.dates import parsed
from agent.errors import UsageError
from agent.i18n import tr
from agent.settings import choices


def _day(text: str) -> str:
    try:
        parsed(text)
    except UsageError as error:
        raise ValueError(str(error)) from None
    return text


def _one_of(name: str) -> Any:
    """A field that can be what the setting `name` can be."""
    known = choices(name)

    def check(text: str) -> str:
        if text not in known:
            raise ValueError(tr("It is one of {choices}.", choices=", ".join(known)))
        return text

    return Annotated[str, AfterValidator(check), Field(json_schema_extra={"enum": list(known)})]


Day = Annotated[
    str,
    AfterValidator(_day),
    Field(
        description="The day the answer is for: 2026-01-31, 31.1.2026 or 2026 (its last day); without it, today. A date in the question "
        "goes before it.",
        examples=["2026-01-31"],
        json_schema_extra={"format": "date"},
    ),
]
Scope = Annotated[str, Field(description="Which part of the knowledge base; GET /config lists them.")]


class Form(BaseModel):
    """Fields that are not known are refused: what is misspelt must not be left out in silence."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True, strict=True)


class Ask(Form):
    """One question, with the options of `pv-agent ask`."""

    question: str = Field(min_length=1, description="The question, in the knowledge base's language.")
    stichtag: Day | None = None
    scope: Scope | None = None
    strategy: _one_of("strategy") | None = Field(default=None, description="How to look (default: the server's setting).")  # type: ignore[valid-type]
    generator: _one_of("generator") | None = Field(default=None, description="How to say it (default: the server's setting).")  # type: ignore[valid-type]
    review: _one_of("review_mode") | None = Field(default=None, description="The reviewed chain (default: the server's setting).")  # type: ignore[valid-type]
    log: bool = Field(default=True, description="Keep a record of this question; false: none.")

    def day(self) -> date | None:
        """The Stichtag as a day; None for today."""
        return parsed(self.stichtag) if self.stichtag else None

    def options(self) -> dict[str, str]:
        """The settings this call sets for itself."""
        given = {"strategy": self.strategy, "generator": self.generator}
        return {name: value for name, value in given.items() if value is not None}


class Search(Form):
    """One search."""

    question: str = Field(min_length=1, description="What to look for, in the knowledge base's language.")
    stichtag: Day | None = None
    scope: Scope | None = None
    k: int = Field(default=8, ge=1, le=100, description="How many entries at most.")


class Show(Form):
    """One entry."""

    id: str = Field(min_length=1, max_length=400, description="The entry's id, as answers cite it.")
    stichtag: Day | None = None


class Reindex(Form):
    """What `pv-agent ingest` would be told."""

    register_entries: bool = Field(default=False, alias="register", description="First register new and edited entries in kb.json.")
    licence: str = Field(default="", description="With `register`: the licence note of new entries.")
    skip_bad: bool = Field(default=False, description="Go on without the entries that are refused.")
    full: bool = Field(default=False, description="Build everything anew, also for another embedder.")
