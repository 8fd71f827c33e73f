"""YAML with line numbers: plain values whose mappings and lists know where they stand.

Refused, with the line: what is no YAML, a key that stands twice in one mapping, a key that is no
text, an alias inside its own anchor. Aliases and anchors work otherwise; tags do not.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import yaml

from trackway_analyzer.rules.pattern import one_of


class PolicyError(ValueError):
    """A policy that cannot be used: says file, line, what is wrong and what to write."""

    def __init__(self, message: str, line: int | None = None, file: str = "policy") -> None:
        place = file if line is None else f"{file}:{line}"
        super().__init__(f"{place}: {message}")
        self.message = message
        self.line = line


class Mapping(dict[str, Any]):
    """A mapping with the line on which it begins, and that of each key."""

    line: int = 0
    lines: dict[str, int]


class List(list[Any]):
    """A list with the line on which it begins, and that of each item."""

    line: int = 0
    lines: list[int]


class Reader:
    """Reads one file, and makes its errors."""

    def __init__(self, file: str) -> None:
        self.file = file
        self._open: set[int] = set()

    def error(self, message: str, line: int | None = None) -> PolicyError:
        """An error at a line of the file."""
        return PolicyError(message, line, self.file)

    def read(self, text: str) -> Any:
        """Parse a text. Raises PolicyError."""
        try:
            loader = yaml.SafeLoader(text)
            try:
                node = loader.get_single_node()
                return None if node is None else self._value(node, loader)
            finally:
                loader.dispose()
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            line = None if mark is None else mark.line + 1
            raise self.error(f"no YAML: {error.problem or error.context}", line) from error
        except yaml.YAMLError as error:
            raise self.error(f"no YAML: {error}") from error

    def _value(self, node: yaml.Node, loader: yaml.SafeLoader) -> Any:
        if id(node) in self._open:
            raise self.error(
                "expected values that end, found an alias inside its own anchor:"
                " write the value out instead",
                _line(node),
            )
        self._open.add(id(node))
        found = self._inside(node, loader)
        self._open.discard(id(node))
        return found

    def _inside(self, node: yaml.Node, loader: yaml.SafeLoader) -> Any:
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, loader)
        if isinstance(node, yaml.SequenceNode):
            found = List(self._value(item, loader) for item in node.value)
            found.line = _line(node)
            found.lines = [_line(item) for item in node.value]
            return found
        return loader.construct_object(node)

    def _mapping(self, node: yaml.MappingNode, loader: yaml.SafeLoader) -> Mapping:
        found = Mapping()
        found.line, found.lines = _line(node), {}
        for key_node, value_node in node.value:
            key = self._value(key_node, loader)
            if not isinstance(key, str):
                raise self.error(f"expected a text as key, found {key!r}", _line(key_node))
            if key in found:
                raise self.error(
                    f"{key!r} stands twice, first on line {found.lines[key]}", _line(key_node)
                )
            found[key] = self._value(value_node, loader)
            found.lines[key] = _line(key_node)
        return found

    def known(self, mapping: Mapping, keys: Iterable[str], what: str = "key") -> None:
        """Raise PolicyError at the first key that is not one of `keys`."""
        names = list(keys)
        for key in mapping:
            try:
                one_of(key, names, what)
            except ValueError as error:
                raise self.error(str(error), mapping.lines[key]) from error


def _line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1
