"""The text of a declaration file as members, with the lines at which they stand.

1. TOML that can't be parsed as a whole is parsed table by table: a table that is wrong is a problem
   with its line, the others hold. What a table says again is a problem, and the first holds.
2. YAML has no such seams: what is no YAML is `Unreadable` as a whole.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from itertools import pairwise
from typing import Any, TypeAlias

Line: TypeAlias = Callable[[str, str | None], int]
"""Finds the line of a tool, and of a key in it."""
Problem: TypeAlias = tuple[int, str]
"""A line, and what is wrong there."""
Read: TypeAlias = tuple[Mapping[str, Any], Line, list[Problem]]


class Unreadable(ValueError):
    """Nothing in the text can be understood; reads as `LINE: what is wrong`."""


def read_toml(text: str) -> Read:
    """Return the members of a TOML text, where they stand, and what could not be parsed."""
    problems: list[Problem] = []
    try:
        members = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        members, problems = _table_by_table(text)
        problems = problems or [_problem(error, text)]
    lines = text.splitlines()

    def line_of(name: str, key: str | None) -> int:
        """The parser keeps no places: look for the tool's header, and the key below it."""
        header = re.compile(
            rf"\s*\[\s*(?:tools\s*\.\s*)?(['\"]?){re.escape(name)}\1[\s.\]]|"
            rf"\s*(['\"]?){re.escape(name)}\2\s*="
        )
        start = next((n for n, line in enumerate(lines, 1) if header.match(line)), 1)
        if key is None:
            return start
        word = re.compile(rf"(?<![\w-])(['\"]?){re.escape(key)}\1\s*=")
        return next(
            (n for n, line in enumerate(lines[start - 1 :], start) if word.search(line)), start
        )

    return members, line_of, problems


def read_yaml(text: str) -> Read:
    """Return the members of a policy file and where they stand.

    Raises Unreadable without PyYAML, and on what is no mapping in YAML.
    """
    try:
        yaml: Any = import_module("yaml")
    except ImportError:
        raise Unreadable(
            "1: a policy file needs PyYAML: pip install pyyaml, or declare the tools in a "
            "trackway.toml"
        ) from None
    try:
        members = yaml.safe_load(text)
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = 1 if mark is None else mark.line + 1
        raise Unreadable(f"{line}: no YAML: {error}") from None
    if not isinstance(members, dict):
        raise Unreadable(f"1: expected a mapping with tools, found {members!r}")

    def line_of(name: str, key: str | None) -> int:
        place = root
        for word in ("tools", name, key):
            below = _child(place, word)
            if below is None and word == key:
                below = _child(_child(place, "entity"), word)
            place = below or place
        return int(place.start_mark.line) + 1

    return members, line_of, []


def _child(node: Any, word: str | None) -> Any:
    members = getattr(node, "value", None)
    if word is None or not isinstance(members, list):
        return None
    return next((v for pair in members for k, v in [pair] if k.value == word), None)


def _table_by_table(text: str) -> tuple[dict[str, Any], list[Problem]]:
    members: dict[str, Any] = {}
    problems: list[Problem] = []
    for first, table in _tables(text):
        placed = "\n" * (first - 1) + table
        try:
            _merge(members, tomllib.loads(placed), (), first, problems)
        except tomllib.TOMLDecodeError as error:
            problems.append(_problem(error, placed))
    return members, problems


def _tables(text: str) -> Iterator[tuple[int, str]]:
    """Cut a text before each header; give the line of the first line of each part."""
    lines = text.splitlines(keepends=True)
    heads = [n for n, line in enumerate(lines) if line.lstrip().startswith("[")]
    edges = [0, *heads, len(lines)]
    for start, end in pairwise(edges):
        if end > start:
            yield start + 1, "".join(lines[start:end])


def _merge(
    into: dict[str, Any],
    more: Mapping[str, Any],
    path: tuple[str, ...],
    line: int,
    problems: list[Problem],
) -> None:
    for key, value in more.items():
        here = (*path, key)
        if key not in into:
            into[key] = value
        elif isinstance(into[key], dict) and isinstance(value, dict):
            _merge(into[key], value, here, line, problems)
        else:
            problems.append((line, f"{'.'.join(here)} is declared twice: the first one holds"))


def _problem(error: tomllib.TOMLDecodeError, text: str) -> Problem:
    place = re.search(r"line (\d+)", str(error))
    return int(place[1]) if place else text.count("\n") + 1, f"no TOML: {error}"
