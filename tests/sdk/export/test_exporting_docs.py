"""The table of columns in the docs is the schema."""

from __future__ import annotations

from pathlib import Path

from trackway.schema import SPAN_COLUMNS, Column

PAGE = Path(__file__).parents[3] / "docs" / "exporting.md"


def row(column: Column) -> str:
    attribute = f"`{column.attribute}`" if column.attribute else ""
    return f"| `{column.name}` | {column.type} | {attribute} | {column.doc} |"


def test_the_docs_show_every_column() -> None:
    lines = PAGE.read_text("utf-8").splitlines()
    start = lines.index("| column | type | attribute | what |") + 2
    shown = lines[start : lines.index("", start)]
    assert shown == [row(column) for column in SPAN_COLUMNS]
