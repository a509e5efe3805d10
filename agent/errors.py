"""Every error a user may meet, drawn once, with the exit code of each family.

    AgentError (1)
    ├── UsageError (2)          the call itself is wrong: an empty question, a date that is none
    ├── ConfigError             a setting is unknown or has a value it cannot have
    ├── KnowledgeBaseError      the knowledge base is missing, or entries were refused
    ├── IndexProblem            the index is missing, foreign, older, locked or damaged
    ├── ModelError              the language model gave nothing usable
    │   ├── ModelUnavailable    no answer, 503, an error before output, no such server
    │   ├── ModelMissing        the server has not got the model
    │   └── ModelTimeout        it took longer than the time limit
    ├── EmbedderError           the embedder cannot be reached or gave no usable vector
    └── SourceError             one source failed; others may still answer

Each message is one sentence; `mend` is the command or the step that puts it right.
"""

from __future__ import annotations

EXIT_ANSWERED = 0
EXIT_EXPECTED = 1
EXIT_USAGE = 2
EXIT_REFUSED = 3
EXIT_DIFFERENT = 3
EXIT_BUG = 70
EXIT_INTERRUPTED = 130


class AgentError(Exception):
    """An expected error: `message` is one clear sentence, `mend` says what to do (or is empty)."""

    exit_code = EXIT_EXPECTED

    def __init__(self, message: str, mend: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.mend = mend

    def __str__(self) -> str:
        return f"{self.message} {self.mend}".strip()


class UsageError(AgentError):
    """The call itself is wrong."""

    exit_code = EXIT_USAGE


class ConfigError(AgentError):
    """A setting is unknown or has a value it cannot have."""


class KnowledgeBaseError(AgentError):
    """The knowledge base is missing, or some of its entries were refused."""


class IndexProblem(AgentError):
    """The index is missing, of another schema, made with another embedder, locked or damaged."""


class EmptyIndex(IndexProblem):
    """An index whose first ingest did not finish: there is nothing in it to lose."""


class ModelError(AgentError):
    """The language model gave nothing usable."""


class ModelUnavailable(ModelError):
    """No answer, 503, an error before any output, or no Ollama at that address."""


class ModelMissing(ModelError):
    """The server answers but has not got the model."""


class ModelTimeout(ModelError):
    """The model took longer than the time limit."""


class EmbedderError(AgentError):
    """The embedder cannot be reached, or gave a vector that cannot be used."""


class SourceError(AgentError):
    """One source failed; the others may still answer."""
