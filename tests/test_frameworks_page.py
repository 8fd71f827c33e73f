"""The page of frameworks shows what the tests of `make frameworks` hold, and nothing else."""

from __future__ import annotations

from pathlib import Path

from frameworks.catalogue import FRAMEWORKS
from frameworks.features import FEATURES
from frameworks.matrix import expected_cells

PAGE = Path(__file__).parents[1] / "docs" / "frameworks.md"


def test_the_table_is_the_one_that_was_written_last() -> None:
    lines = PAGE.read_text().splitlines()
    first = next(n for n, line in enumerate(lines) if line.startswith("| framework | "))
    shown = [line.strip("| ").split(" | ") for line in lines[first + 2 :][: len(FRAMEWORKS)]]
    cells = expected_cells()
    assert shown == [
        [framework.title, *(cells[name, feature] for feature in FEATURES)]
        for name, framework in FRAMEWORKS.items()
    ], "run make frameworks"
