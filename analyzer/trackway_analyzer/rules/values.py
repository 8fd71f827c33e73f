"""JSON values: are they the same, what stands at a path, how does a sentence show them?

1. Types are strict: a bool is no number, `1` equals `1.0`, text is never a number, absent no null.
2. A path is a JSONPath (RFC 9535, from `$`) or a plain name. A plain name is looked for at the top
   of the value, or of its elements where it is a list; where nothing there has it, at any depth.
3. A path reads a list of values; none: absent. Of a list of objects, some may lack it (`lacking`).
4. Numbers are shown as recorded, text in JSON quotes, long values cut with an ellipsis.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterator
from difflib import SequenceMatcher
from enum import Enum
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final

from trackway.schema import REDACTION_MARKER
from trackway_analyzer.json_text import compact
from trackway_analyzer.json_text import is_cut as ends_early
from trackway_analyzer.model import JsonValue

if TYPE_CHECKING:
    from jsonpath import CompoundJSONPath, JSONPath, JSONPathEnvironment

SHOWN: Final = 80
"""Most characters of a value in a sentence."""

_NAME: Final = re.compile(r"[^\W\d][\w-]*\Z")
_SIMPLE: Final = re.compile(r"\$(?:\.[^\W\d]\w*|\[\d+\])*\Z")
CUT_MARK: Final = "[truncated"
"""Stands in the text of every value that is cut, unless nothing at all is left of it."""
_CUT: Final = re.compile(
    r"…?\[truncated(?: \d+ (?:chars|items|keys)|: too deep| integer of \d+ bits)?\]\Z|\A…\Z"
)
_SEGMENT: Final = re.compile(r"\.([^\W\d]\w*)|\[(\d+)\]")

Key = str | int
Reader = Callable[[JsonValue], list[JsonValue]]


class Absent(Enum):
    """The type of `ABSENT`: the value was recorded and holds nothing at this path."""

    ABSENT = "absent"

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = Absent.ABSENT


def frozen(value: JsonValue) -> Hashable:
    """Return a hashable key: two values have the same key if and only if they are the same."""
    if isinstance(value, bool):
        return ("bool", value)
    if isinstance(value, dict):
        return ("object", frozenset((key, frozen(item)) for key, item in value.items()))
    if isinstance(value, list):
        return ("list", tuple(frozen(item) for item in value))
    return value  # type: ignore[no-any-return]  # checked above


def same(left: JsonValue, right: JsonValue) -> bool:
    """Whether two JSON values are equal under strict types."""
    return frozen(left) == frozen(right)


def is_number(value: object) -> bool:
    """Whether a value is a JSON number."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def at_path(value: JsonValue, path: str) -> list[JsonValue]:
    """Read the values at a path or plain name. Raises ValueError on a wrong path."""
    return reader(path)(value)


@lru_cache(maxsize=1024)
def reader(path: str) -> Reader:
    """Compile a path or plain name. Raises ValueError that says what is wrong with it."""
    if _NAME.match(path):
        return lambda value: _named(value, path)
    if not path.startswith("$"):
        path = f"$.{path}"
    keys = simple_keys(path)
    if keys is not None:
        return lambda value: _walked(value, keys)
    compiled = _compiled(path)
    return lambda value: [match.obj for match in compiled.finditer(_container(value))]


def lacking(value: JsonValue, path: str) -> int:
    """Count the elements that the last `[*]` of a path goes through and that have nothing there."""
    before, every, behind = path.rpartition("[*]")
    if not every or not behind:
        return 0
    inside = reader(f"${behind}")
    return sum(not inside(element) for element in reader(f"{before}[*]")(value))


@lru_cache(maxsize=1024)
def is_singular(path: str) -> bool:
    """Whether a JSONPath can yield one value at the most."""
    if simple_keys(path) is not None:
        return True
    compiled = _compiled(path)
    return hasattr(compiled, "singular_query") and compiled.singular_query()


def _compiled(path: str) -> JSONPath | CompoundJSONPath:
    """Compile a path that is no simple one. Raises ValueError."""
    import jsonpath  # slow to import, and most paths are simple

    try:
        return _environment().compile(path)
    except jsonpath.JSONPathError as error:
        raise ValueError(f"{path!r} is no JSONPath: {error}") from error


@cache
def _environment() -> JSONPathEnvironment:
    from jsonpath import JSONPathEnvironment

    return JSONPathEnvironment(strict=True)


@lru_cache(maxsize=1024)
def simple_keys(path: str) -> tuple[Key, ...] | None:
    """Return the keys of a path of plain names and indices; None where it is anything else."""
    if not _SIMPLE.match(path):
        return None
    return tuple(name or int(index) for name, index in _SEGMENT.findall(path))


def _walked(value: JsonValue, keys: tuple[Key, ...]) -> list[JsonValue]:
    for key in keys:
        if isinstance(key, str):
            if not isinstance(value, dict) or key not in value:
                return []
        elif not isinstance(value, list) or key >= len(value):
            return []
        value = value[key]
    return [value]


def _container(value: JsonValue) -> JsonValue:
    """A scalar has no members; the library would read a text as JSON."""
    return value if isinstance(value, (dict, list)) else {}


def _named(value: JsonValue, name: str) -> list[JsonValue]:
    items = value if isinstance(value, list) else [value]
    found = [item[name] for item in items if isinstance(item, dict) and name in item]
    return found or [member for _, key, member in members(value) if key == name]


def members(value: JsonValue, path: str = "$") -> Iterator[tuple[str, Key | None, JsonValue]]:
    """Walk a value: (normal path, last key, value) of it and everything inside, outside first."""
    stack: list[tuple[str, Key | None, JsonValue]] = [(path, None, value)]
    while stack:
        where, key, item = stack.pop()
        yield where, key, item
        inner: list[tuple[str, Key | None, JsonValue]] = []
        if isinstance(item, dict):
            inner = [(where + member_path(name), name, child) for name, child in item.items()]
        elif isinstance(item, list):
            inner = [(f"{where}[{index}]", index, child) for index, child in enumerate(item)]
        stack.extend(reversed(inner))


def member_path(name: str) -> str:
    """Return the JSONPath segment of an object member."""
    return f".{name}" if re.fullmatch(r"[^\W\d]\w*", name) else f"[{compact(name)}]"


def shown(value: JsonValue | Absent) -> str:
    """Write a value as a sentence shows it."""
    if isinstance(value, Absent):
        return "absent"
    text = compact(value)
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"


def shown_apart(left: JsonValue | Absent, right: JsonValue | Absent) -> tuple[str, str]:
    """Write two different values so that they look different, with types where texts would not."""
    texts = shown(left), shown(right)
    if type_name(left) == type_name(right) or {type_name(left), type_name(right)} & _TYPELESS:
        return texts
    return f"{texts[0]} ({type_name(left)})", f"{texts[1]} ({type_name(right)})"


def is_cut(value: JsonValue) -> bool:
    """Whether the recorder cut something away inside a value: it leaves a marker there."""
    return _some_text(value, _CUT.search)


def loses_members(value: JsonValue) -> bool:
    """Whether members of an object or list were cut away inside a value, or a value as a whole."""
    return _some_text(value, _CUT.match)


def shows_a_cut(text: str, value: JsonValue) -> bool:
    """Whether a value, read from this text, says itself that somebody cut something away."""
    return (CUT_MARK in text and is_cut(value)) or (isinstance(value, str) and ends_early(value))


def is_redacted(value: JsonValue) -> bool:
    """Whether the recorder took something out of a value: it leaves a marker there."""
    return _some_text(value, REDACTION_MARKER.search)


def _some_text(value: JsonValue, test: Callable[[str], object | None]) -> bool:
    if isinstance(value, str):
        return test(value) is not None
    if isinstance(value, dict):
        return any(_some_text(item, test) for item in value.values())
    return isinstance(value, list) and any(_some_text(item, test) for item in value)


def likeness(left: JsonValue, right: JsonValue) -> float:
    """How much two values look alike, from 0 to 1: for hints only, never for a decision."""
    return SequenceMatcher(None, shown(left), shown(right)).ratio()


def type_name(value: JsonValue | Absent) -> str:
    """The JSON type of a value, in a word."""
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, (int, float)):
        return "number"
    names = {dict: "object", list: "list", str: "text", type(None): "null", Absent: "absent"}
    return names[type(value)]


_TYPELESS: Final = frozenset({"null", "absent", "object", "list", "bool"})
