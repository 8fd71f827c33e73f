"""YAML with line numbers: plain values whose mappings and lists know where they stand.

Refused, with the line: what is no YAML, a key that stands twice in one mapping, a key that is no
text, an alias inside its own anchor, a tag, a word with two meanings (`plain_scalars`), values
nested deeper or in larger number than any policy needs. Aliases and anchors work otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import yaml

from trackway_analyzer.rules.pattern import one_of
from trackway_analyzer.rules.plain_scalars import Scalar, plain_scalar

DEEPEST: Final = 64
"""Levels of lists and mappings inside each other."""
MOST_VALUES: Final = 100_000
"""Values in a file, those behind aliases as often as they are used."""


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
        self._values = 0

    def error(self, message: str, line: int | None = None) -> PolicyError:
        """An error at a line of the file."""
        return PolicyError(message, line, self.file)

    def read(self, text: str) -> Any:
        """Parse a text. Raises PolicyError."""
        try:
            self._look_over(text)
            node = yaml.compose(text, yaml.SafeLoader)
            return None if node is None else self._value(node)
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            line = None if mark is None else mark.line + 1
            raise self.error(f"no YAML: {error.problem or error.context}", line) from error
        except yaml.reader.ReaderError as error:
            line = text.count("\n", 0, error.position) + 1
            raise self.error(
                f"no YAML: {_sign(error.character)} may not stand here", line
            ) from error

    def _look_over(self, text: str) -> None:
        """Refuse tags and depths before anything is built."""
        depth = 0
        for event in yaml.parse(text, yaml.SafeLoader):
            mark, tag = event.start_mark, getattr(event, "tag", None)
            line = 1 if mark is None else mark.line + 1
            if tag is not None:
                raise self.error(
                    f"expected a value without a tag, found {tag}: leave the tag out,"
                    " and write a text in quotes",
                    line,
                )
            if isinstance(event, yaml.CollectionStartEvent):
                depth += 1
            elif isinstance(event, yaml.CollectionEndEvent):
                depth -= 1
            self._refuse_depth(depth, line)

    def _refuse_depth(self, depth: int, line: int) -> None:
        if depth > DEEPEST:
            raise self.error(
                f"expected at most {DEEPEST} levels of lists and mappings, found more", line
            )

    def _value(self, node: yaml.Node) -> Any:
        self._values += 1
        if self._values > MOST_VALUES:
            raise self.error(f"expected at most {MOST_VALUES:,} values, found more", _line(node))
        self._refuse_depth(len(self._open), _line(node))
        if id(node) in self._open:
            raise self.error(
                "expected values that end, found an alias inside its own anchor:"
                " write the value out instead",
                _line(node),
            )
        self._open.add(id(node))
        found = self._inside(node)
        self._open.discard(id(node))
        return found

    def _inside(self, node: yaml.Node) -> Any:
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node)
        if isinstance(node, yaml.SequenceNode):
            found = List(self._value(item) for item in node.value)
            found.line = _line(node)
            found.lines = [_line(item) for item in node.value]
            return found
        return self._scalar(node)  # type: ignore[arg-type]  # the only kind that is left

    def _scalar(self, node: yaml.ScalarNode) -> Scalar:
        if node.style is not None:  # in quotes, or a block
            return str(node.value)
        try:
            return plain_scalar(node.value)
        except ValueError as error:
            raise self.error(str(error), _line(node)) from error

    def _mapping(self, node: yaml.MappingNode) -> Mapping:
        found = Mapping()
        found.line, found.lines = _line(node), {}
        for key_node, value_node in node.value:
            key = self._value(key_node)
            if not isinstance(key, str):
                raise self.error(f"expected a text as key, found {key!r}", _line(key_node))
            if key in found:
                raise self.error(
                    f"{key!r} stands twice, first on line {found.lines[key]}", _line(key_node)
                )
            found[key] = self._value(value_node)
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


def _sign(character: int) -> str:
    return f"the character U+{character:04X}"


def _line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1
