from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import trackway
from trackway.testing import MemorySpans


class Recorded(MemorySpans):
    """Spans in memory, with what these tests look at most."""

    def arguments(self, name: str) -> Any:
        return self.value(self.tool(name), "gen_ai.tool.call.arguments")

    def result(self, name: str) -> Any:
        return self.value(self.tool(name), "gen_ai.tool.call.result")


@pytest.fixture
def recorded() -> Iterator[Recorded]:
    recorded = Recorded()
    recorded.configure()
    yield recorded
    trackway.shutdown()
