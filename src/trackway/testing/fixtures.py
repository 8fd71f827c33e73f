"""Fixtures that pytest finds by itself once `trackway` is installed.

Nothing of Trackway is imported before a test asks for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from trackway.testing.memory import MemorySpans


@pytest.fixture
def trackway_spans() -> Iterator[MemorySpans]:
    """Record into memory for the length of a test: `trackway_spans.one("execute_tool lookup")`.

    Whoever calls `configure()` meanwhile, the spans come here; afterwards it counts.
    """
    from trackway.testing.memory import MemorySpans

    with MemorySpans().held() as spans:
        yield spans
