"""Each row of the page on complaints names tests that exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "complaints.md"
LINK = re.compile(r"\[`(\w+)`\]\(\.\./(tests/[\w/]+\.py)\)")
FEWEST_ROWS = 50
"""Rows are not lost; a complaint that is solved stays on the page."""


def rows() -> list[list[str]]:
    """Return the cells of every row below a table's head."""
    lines = [line for line in PAGE.read_text().splitlines() if line.startswith("| ")]
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
    return [row for row in cells if row[0] != "reported"]


def functions_of(path: Path) -> set[str]:
    """Return the names of the functions that stand at the top of a module."""
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    return {node.name for node in ast.parse(path.read_text()).body if isinstance(node, functions)}


def test_every_row_names_tests() -> None:
    found = rows()
    assert len(found) >= FEWEST_ROWS
    assert not [row for row in found if len(row) != 3 or not LINK.search(row[2])]


def test_every_cell_of_tests_holds_links_alone() -> None:
    left = [LINK.sub("", row[2]).replace(",", "").strip() for row in rows()]
    assert not any(left), [text for text in left if text]


def test_every_named_test_exists() -> None:
    missing = [
        f"{path}::test_{name}"
        for name, path in LINK.findall(PAGE.read_text())
        if not (ROOT / path).is_file() or f"test_{name}" not in functions_of(ROOT / path)
    ]
    assert missing == []
