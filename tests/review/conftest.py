"""One small world for all tests of the reviewed chain: building it takes longer than asking it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.ollama_server import OllamaServer
from tests.review.script import Chain, bench


@pytest.fixture(scope="session")
def chain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chain]:
    """The chain over the small world, in mode `reviewed_answer`, with time enough unless a test takes it away."""
    with OllamaServer() as server:
        yield Chain(bench(tmp_path_factory.mktemp("review"), server), server)
