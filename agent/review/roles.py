"""The four roles: which prompt and contract each has, and one call to its model within its time and its tokens."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from string import Template
from time import monotonic, perf_counter
from typing import Any

from agent import structured, texts
from agent.errors import ModelError, ModelTimeout
from agent.i18n import tr
from agent.interfaces import ChatReply, ChatRequest, Model, Parts
from agent.review.contracts import Contract, Fault, Status, normalised
from agent.settings import Settings
from agent.values import Finish, Tokens


@dataclass(frozen=True, slots=True)
class Role:
    """A role: its number's name, and the name of its prompt and contract."""

    name: str
    contract: str

    @property
    def prompt(self) -> str:
        return f"review.{self.contract}"

    def model(self, settings: Settings) -> str:
        """The model it is set to."""
        return str(getattr(settings, f"{self.name}_model"))

    def seconds(self, settings: Settings) -> float:
        return float(getattr(settings, f"{self.name}_timeout"))

    @property
    def more_time(self) -> str:
        """The settings that give it more time."""
        return tr("{setting} and {whole}", setting="PV_" + self.name.upper() + "_TIMEOUT", whole="PV_REVIEW_TIMEOUT")

    def tokens(self, settings: Settings) -> int:
        return int(getattr(settings, f"{self.name}_tokens"))


REWRITE, ANSWER, REVIEW, CORRECT = (
    Role("agent1", "rewrite"),
    Role("agent2", "answer"),
    Role("agent3", "verdict"),
    Role("agent4", "correction"),
)
ROLES = (REWRITE, ANSWER, REVIEW, CORRECT)


@dataclass(frozen=True, slots=True)
class Call:
    """One role's call as it is logged. Counts the server did not tell are None; `cut` suspects that the output limit broke the JSON."""

    role: str
    model: str
    status: Status
    tokens: Tokens = Tokens()
    ms: float = 0.0
    cut: bool = False
    message: str = ""

    def document(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "role": self.role,
            "model": self.model,
            "status": self.status.value,
            "tokens": {"prompt": self.tokens.prompt, "completion": self.tokens.completion},
            "ms": round(self.ms, 1),
            "suspected_cut": self.cut,
        }


@dataclass(frozen=True, slots=True)
class Bench:
    """What a role works with: the bench of the question, each role's model, and when (monotonic) all must have ended."""

    parts: Parts
    models: Mapping[str, Model]
    ends: float

    def system(self, role: Role) -> str:
        return self.parts.prompt(role.prompt)

    def template(self, role: Role) -> Template:
        return Template(self.parts.prompt(f"{role.prompt}.question"))


Check = Callable[[Any], Fault | None]
"""A rule a contract must keep besides its schema."""


def asked(role: Role, values: Mapping[str, str], question: str, bench: Bench, check: Check | None = None) -> tuple[Any, Call]:
    """One call of a role, and its contract where the reply keeps it and `check` too, else None.

    Never raises for a model: what failed stands in the call.
    """
    settings, model = bench.parts.settings, bench.models[role.name]
    left = min(role.seconds(settings), bench.ends - monotonic())
    if left <= 0:
        none_left = tr("No time was left for {role}. Allow more with PV_REVIEW_TIMEOUT; pv-agent doctor measures.", role=role.name)
        return None, _logged(Call(role.name, model.name, Status.TIMEOUT, message=none_left), bench)
    limit, start = role.tokens(settings), perf_counter()
    request = ChatRequest(
        bench.system(role),
        bench.template(role).substitute(values),
        structured.shape(texts.schema(role.prompt)),
        temperature=0.0,
        max_tokens=limit,
        timeout=left,
    )
    try:
        reply = model.chat(request)
    except ModelError as error:
        late = isinstance(error, ModelTimeout)
        message = (
            tr("{message} Allow more with {more_time}; pv-agent doctor measures.", message=error.message, more_time=role.more_time)
            if late
            else str(error)
        )
        status = Status.TIMEOUT if late else Status.UNAVAILABLE
        return None, _logged(Call(role.name, model.name, status, ms=_since(start), message=message), bench)
    found = normalised(role.contract, reply.text, question)
    fault = found if isinstance(found, Fault) else check(found) if check else None
    call = Call(role.name, reply.model, Status.VALID, reply.tokens, _since(start))
    if fault:
        cut = fault.status is Status.INVALID_JSON and _at_the_limit(reply, limit)
        call = replace(call, status=fault.status, cut=cut, message=fault.message)
    return None if fault else found, _logged(call, bench, contract=found)


def _at_the_limit(reply: ChatReply, limit: int) -> bool:
    return reply.finish is Finish.LENGTH or (reply.tokens.completion or 0) >= limit


def _since(start: float) -> float:
    return (perf_counter() - start) * 1000


def _logged(call: Call, bench: Bench, *, contract: Contract | Fault | None = None) -> Call:
    """The call as a step; the whole contract only where the settings keep contracts."""
    kept = {"contract": contract} if bench.parts.settings.review_log_contracts else {}
    bench.parts.log.step("reviewed", **call.document(), message=call.message, **kept)
    return call
