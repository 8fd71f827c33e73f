"""The tables of the page on instrumenting are the registry, row for row."""

from __future__ import annotations

from pathlib import Path

import pytest

from trackway.instrument.table import alternatives_table, registry_table

PAGE = Path(__file__).parents[3] / "docs" / "instrumenting.md"


@pytest.mark.parametrize(
    ("name", "table"), [("registry", registry_table()), ("alternatives", alternatives_table())]
)
def test_the_page_shows_the_registry(name: str, table: str) -> None:
    text = PAGE.read_text()
    shown = text.partition(f"<!-- {name} -->")[2].partition(f"<!-- /{name} -->")[0]
    assert shown.strip() == table, "write it anew: python -m trackway.instrument --known"
