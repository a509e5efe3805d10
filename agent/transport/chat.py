"""What the chat servers have in common: replies with thoughts in them, and sentences about what went wrong; pure."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from agent.i18n import tr

CHARS_A_TOKEN = 6
"""More than any tokenizer gets out of real text, so that chars / 6 is a count no whole prompt falls short of."""
TOO_LONG = re.compile(
    r"exceed_context_size|longer than the context length|exceeds? (the )?(available |maximum )?context|maximum context length",
    re.IGNORECASE,
)
_THOUGHT = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL)


def without_thoughts(text: str) -> str:
    """The reply without its thinking. Some templates open the block in the prompt, so that only its end is in the reply."""
    return _THOUGHT.sub("", text).rpartition("</think>")[2].strip()


def sentence(said: Any) -> str:
    """A server's words, shortened to what fits a line, with a full stop."""
    line = " ".join(str(said).split())[:200].rstrip(".")
    return f"{line}." if line else tr("no reason given.")


def counted(told: Mapping[str, Any], name: str) -> int | None:
    """A count of tokens as a server tells it; None where it tells none."""
    value = told.get(name)
    return value if isinstance(value, int) else None


def messages(system: str, user: str) -> list[dict[str, str]]:
    """A request's two messages; an empty one is left out."""
    both = [{"role": "system", "content": system}, {"role": "user", "content": user}]
    return [message for message in both if message["content"]]


def cut(prompt_tokens: int | None, characters: int) -> bool:
    """Whether a server read far fewer tokens than were sent."""
    return prompt_tokens is not None and prompt_tokens < characters // CHARS_A_TOKEN / 2


def overflow(said: str) -> str:
    """One clear sentence from the error of llama.cpp's server, which Ollama hands on as JSON within its own."""
    try:
        inner = json.loads(said)["error"]
        tokens, window = int(inner["n_prompt_tokens"]), int(inner["n_ctx"])
        return tr("The prompt has {tokens} tokens, but the model's window holds {window}.", tokens=tokens, window=window)
    except (ValueError, LookupError, TypeError):
        return tr("The prompt is longer than the model's window.")
