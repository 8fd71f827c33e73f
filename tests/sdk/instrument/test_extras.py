"""Each library of the registry has an extra that installs it and what records it."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from trackway.instrument.library import Library
from trackway.instrument.registry import LIBRARIES

PROJECT = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]


@pytest.mark.parametrize("library", LIBRARIES, ids=lambda library: library.name)
def test_the_extra_is_what_the_registry_says(library: Library) -> None:
    assert tuple(EXTRAS.get(library.name, ())) == library.extra


@pytest.mark.parametrize("library", LIBRARIES, ids=lambda library: library.name)
def test_the_extra_installs_the_way_that_is_preferred(library: Library) -> None:
    assert any(
        requirement.startswith(library.ways[0].distribution) for requirement in library.extra
    )
