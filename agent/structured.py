"""Has a model fill in a form: a prompt and its values in, JSON that keeps its schema out, one repair where it does not.

Nothing a model writes raises an error here: what is twice no such JSON comes back as `Malformed`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from string import Template
from typing import Any

from agent.interfaces import ChatRequest, Model, Parts
from agent.values import Reason, Tokens

LONGEST_ERROR = 300
"""Characters of an error that a model is told."""
_NOT_SENT = frozenset({"minLength", "maxLength", "pattern", "description", "$comment"})
_ONLY_FENCED = re.compile(r"```[a-z]*\s*(.*?)\s*```", re.DOTALL | re.IGNORECASE)
_FENCED = re.compile(r"```[a-z]*\s*(\{.*?\})\s*```", re.DOTALL | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Form:
    """What is asked: the prompt `name` (rules) with `name.question` (a template), the JSON Schema of the reply, and its limits."""

    prompt: str
    schema: Mapping[str, Any]
    max_tokens: int = 1024
    timeout: float | None = None
    """Seconds for each of the two replies; None is the model's own limit."""


@dataclass(frozen=True, slots=True)
class Filled:
    """A reply that keeps its schema."""

    value: Mapping[str, Any]
    tokens: Tokens


@dataclass(frozen=True, slots=True)
class Malformed:
    """Two replies that did not; `message` says what was wrong with the second."""

    message: str
    tokens: Tokens
    reason: Reason = Reason.FORM_INVALID


def filled(form: Form, values: Mapping[str, str], parts: Parts, model: Model) -> Filled | Malformed:
    """The model's JSON for a form. Raises ModelError where there is no reply at all."""
    ask = Template(parts.prompt(f"{form.prompt}.question")).substitute(values)
    request = ChatRequest(
        parts.prompt(form.prompt), ask, shape(form.schema), temperature=0.0, max_tokens=form.max_tokens, timeout=form.timeout
    )
    tokens = Tokens()
    for attempt in (1, 2):
        reply = model.chat(request)
        tokens = tokens + reply.tokens
        value, error = read(reply.text, form.schema)
        parts.log.step("formed", prompt=form.prompt, text=reply.text, error=error, attempt=attempt, tokens=reply.tokens)
        if value is not None:
            return Filled(value, tokens)
        request = replace(request, user=f"{ask}\n\n{parts.language.message('complaint_form', error=error)}")
    return Malformed(error, tokens)


def shape(schema: Any) -> Any:
    """A schema as a server is asked to keep it: without the lengths and patterns of its texts, which are checked afterwards.

    llama.cpp makes a repetition of every length and refuses grammars in which these grow too many (from 2000 on); of patterns it takes
    few, and refuses the whole request for any other.
    """
    if isinstance(schema, Mapping):
        return {name: shape(value) for name, value in schema.items() if name not in _NOT_SENT or isinstance(value, Mapping)}
    return [shape(value) for value in schema] if isinstance(schema, list) else schema


def read(text: str, schema: Mapping[str, Any], *, alone: bool = False) -> tuple[dict[str, Any] | None, str]:
    """The JSON object in a model's text, fenced or not, and what is wrong with it: one of the two is empty.

    With `alone` nothing else may stand beside it, and no key twice in it.
    """
    fenced = _FENCED.search(text)
    begun = text.find("{")
    if alone and (beside := _beside(text)):
        return None, beside
    if not fenced and begun < 0:
        return None, "no JSON object"
    try:
        value, _ = json.JSONDecoder(parse_constant=_refused).raw_decode(fenced.group(1) if fenced else text[begun:])
        json.dumps(value, ensure_ascii=False).encode()  # half a surrogate pair can be neither stored nor sent
        wrong = _wrong(value, schema)
    except (ValueError, RecursionError) as error:
        return None, f"no readable JSON: {error}"[:LONGEST_ERROR]
    return (None, wrong) if wrong else (value, "")


def _beside(text: str) -> str:
    """What stands beside a text's one JSON object, or twice in it, as a sentence's end; empty where nothing does."""
    bare = text.strip()
    if fenced := _ONLY_FENCED.fullmatch(bare):
        bare = fenced.group(1)
    try:
        whole = json.loads(bare, object_pairs_hook=_once)
    except _Twice as error:
        return str(error)
    except (ValueError, RecursionError) as error:
        return f"no readable JSON alone: {error}"[:LONGEST_ERROR]
    return "" if isinstance(whole, dict) else "no JSON object alone"


class _Twice(ValueError):
    """A key that an object holds twice: which of its values is meant cannot be known."""


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _Twice("a key stands twice")
    return found


def _refused(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _wrong(value: Any, schema: Mapping[str, Any]) -> str:
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match

    validator = Draft202012Validator(schema, format_checker=Draft202012Validator.FORMAT_CHECKER)
    error = best_match(validator.iter_errors(value))
    return f"{error.json_path}: {error.message}"[:LONGEST_ERROR] if error else ""
