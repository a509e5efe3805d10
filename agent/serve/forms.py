"""What the API takes in: the fields of a call, checked, with what they can be."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from agent.dates import parsed
from agent.errors import UsageError
from agent.settings import choices

QUESTION = "Wie hoch ist die Geringfügigkeitsgrenze 2026?"


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
            raise ValueError(f"It is one of {', '.join(known)}." if known else "There is nothing to choose from.")
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


class Ask(BaseModel):
    """One question, with the options of `pv-agent ask`."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"question": QUESTION, "stichtag": "2026-01-31"}]})

    question: str = Field(min_length=1, description="The question, in the knowledge base's language.", examples=[QUESTION])
    stichtag: Day | None = None
    strategy: _one_of("strategy") | None = Field(default=None, description="How to look (default: the server's setting).")  # type: ignore[valid-type]
    generator: _one_of("generator") | None = Field(default=None, description="How to say it.")  # type: ignore[valid-type]
    scope: str | None = Field(default=None, description="Which part of the knowledge base; GET /config lists them.", examples=["gesetz"])
    log: bool = Field(default=True, description="Keep a record of this question; false: none.")

    def day(self) -> date | None:
        """The Stichtag as a day; None for today."""
        return parsed(self.stichtag) if self.stichtag else None

    def options(self) -> dict[str, str]:
        """The settings this call sets for itself."""
        given = {"strategy": self.strategy, "generator": self.generator}
        return {name: value for name, value in given.items() if value is not None}


class Reindex(BaseModel):
    """What `pv-agent ingest` would be told."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    register_entries: bool = Field(default=False, alias="register", description="First register new and edited entries in kb.json.")
    skip_bad: bool = Field(default=False, description="Go on without the entries that are refused.")
    licence: str = Field(default="", description="With `register`: the licence note of new entries.")
    full: bool = Field(default=False, description="Build everything anew, also for another embedder.")
