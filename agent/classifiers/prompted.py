"""Has the language model classify a question, by labelled examples of all three labels in its prompt."""

from __future__ import annotations

from agent import structured, texts
from agent.interfaces import Classified, Parts
from agent.values import Question

PROMPT, SCHEMA = "complexity", "complexity.internal"
SECONDS, TOKENS = 60.0, 64
"""What a label may take at most: it stands before the answer."""


def classify(question: Question, parts: Parts, /) -> Classified:
    """The model's label; none where it twice wrote none, or where there is no model. Raises ModelError."""
    if parts.model is None:
        return Classified("")
    form = structured.Form(PROMPT, texts.schema(SCHEMA), max_tokens=TOKENS, timeout=min(SECONDS, parts.settings.model_timeout))
    said = structured.filled(form, {"question": question.text}, parts, parts.model)
    return Classified("" if isinstance(said, structured.Malformed) else str(said.value["label"]), said.tokens)
