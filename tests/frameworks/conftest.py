"""Writes the matrix of what held: `pytest tests/frameworks --matrix docs/frameworks.md`."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from frameworks.matrix import FAILED, expected_cells, page

_failed: set[tuple[str, str]] = set()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--matrix", type=Path, default=None, help="write the matrix to this file")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: Any) -> Any:
    report: pytest.TestReport = yield
    marker = item.get_closest_marker("feature")
    if report.failed and marker is not None:
        _failed.add((item.callspec.params["framework"], marker.args[0]))  # type: ignore[attr-defined]
    return report


def pytest_sessionfinish(session: pytest.Session) -> None:
    path = session.config.getoption("--matrix")
    if path is not None:
        cells = expected_cells() | dict.fromkeys(_failed, FAILED)
        path.write_text(page(cells, datetime.now(UTC).date()))
