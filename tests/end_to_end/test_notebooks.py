"""Every notebook runs from its first cell to its last, and was committed with its outputs."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))


def test_there_are_notebooks() -> None:
    assert NOTEBOOKS


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_prints_what_its_outputs_show(path: Path, tmp_path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    committed = [_kinds_of_output(cell) for cell in notebook.cells]

    options = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(notebook, timeout=120, kernel_name="python3", resources=options).execute()

    assert [_kinds_of_output(cell) for cell in notebook.cells] == committed


def _kinds_of_output(cell: nbformat.NotebookNode) -> list[str]:
    kinds = [
        output.get("name") or "+".join(sorted(output["data"]))
        for output in cell.get("outputs", [])
        if output.get("name") != "stderr"
    ]
    # A slow kernel sends what is printed in several pieces.
    return [kind for kind, _ in groupby(kinds)]
