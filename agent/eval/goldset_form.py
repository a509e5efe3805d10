"""The form `goldset.yaml` must have; imported only when one is read, since pydantic costs more than a search."""

from __future__ import annotations

from datetime import date
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from agent.i18n import tr

Tag = Literal["single", "temporal", "comparison", "multi_hop", "survey", "context_dependent", "false_premise", "out_of_scope", "typo"]


class Strict(BaseModel):
    """Nothing is converted, and no field is let through that nobody knows."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class Sources(Strict):
    """Entry ids of which any is enough, or all are needed."""

    any: list[str] = Field(default_factory=list)
    all: list[str] = Field(default_factory=list)

    @model_validator(mode="after")
    def _one_kind(self) -> Sources:
        if self.any and self.all:
            raise ValueError(tr("sources are given as any or as all, not as both"))
        return self


class Goldquestion(Strict):
    """One question."""

    id: str = Field(min_length=1)
    frage: str = Field(min_length=1)
    stichtag: date
    erwartete_quellen: Sources = Sources()
    erwartete_werte: list[str] = Field(default_factory=list)
    verweigern: bool = False
    tags: list[Tag] = Field(min_length=1)
    halten: bool = False
    note: str = ""

    @field_validator("erwartete_quellen", mode="before")
    @classmethod
    def _plain_list_is_any(cls, given: Any) -> Any:
        return {"any": given} if isinstance(given, list) else given

    @model_validator(mode="after")
    def _expects_what_it_can(self) -> Goldquestion:
        sources = self.erwartete_quellen.any or self.erwartete_quellen.all
        if self.verweigern and (sources or self.erwartete_werte):
            raise ValueError(tr("a question to be refused expects neither sources nor figures"))
        if not self.verweigern and not sources:
            raise ValueError(tr("an answerable question names the sources it expects"))
        return self


class Goldfile(Strict):
    """The whole file."""

    version: Literal[1]
    boden: dict[str, float] = Field(default_factory=dict)
    fragen: list[Goldquestion] = Field(min_length=1)
