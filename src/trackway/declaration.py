"""What do tools that nobody decorated do, and to what? Read from `trackway.toml`.

1. `[tools.NAME]` says of a tool its `kind` (lookup, mutate, notify, other), its `entity` (`type`,
   and the path of its ids: `argument` of a mutation, `result` of a lookup, by default `id`) and
   the argument that is its idempotency key, `operation_id`. The shape is that of `tools` in a
   policy file, and a policy file is read too, where PyYAML is installed; its rules are the
   analyzer's.
2. A name may be a pattern (`refund_*`, `*.create`). A tool's own name wins over patterns, the
   longer pattern over the shorter one, and of two as long the first.
3. A wrong file is a `DeclarationError` that names file and line, what was expected, what was found
   and the nearest word.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from trackway.capture.refs import parse_path
from trackway.schema import StepKind

DEFAULT_FILE: Final = "trackway.toml"
_TOP: Final = ("tools", "version", "rules")
_TOOL: Final = ("kind", "entity", "operation_id")
_ENTITY: Final = ("type", "argument", "result")
_POLICY_ONLY: Final = ("success",)
"""Keys of a tool in a policy file that the analyzer alone reads."""
_MOST_KNOWN: Final = 1024

Line = Callable[[str, str | None], int]
"""Finds the line of a tool, and of a key in it."""


class DeclarationError(ValueError):
    """A declaration file says something that can't be understood."""


@dataclass(frozen=True, slots=True)
class DeclaredTool:
    """What is said of one tool."""

    kind: StepKind | None = None
    entity_type: str | None = None
    argument: str | None = None
    """Path of the argument that names the entity acted on."""
    result: str | None = None
    """Path of the ids that a lookup returns; None: `id`, where an entity type is declared."""
    operation_id: str | None = None
    """The argument that is the idempotency key."""

    @property
    def acts_on(self) -> tuple[str, ...]:
        """Paths of the arguments that name entities."""
        return () if self.argument is None else (self.argument,)

    @property
    def establishes(self) -> tuple[str, ...]:
        """Paths of the ids in a result."""
        if self.result is not None:
            return (self.result,)
        is_default = self.entity_type is not None and self.kind is StepKind.LOOKUP
        return ("id",) if is_default else ()


class Declaration:
    """Tools by name or pattern."""

    def __init__(self, tools: Mapping[str, DeclaredTool]) -> None:
        self.tools: Final = dict(tools)
        self._patterns = sorted((name for name in tools if _is_pattern(name)), key=len)[::-1]
        self._found: dict[str, DeclaredTool | None] = {}

    def tool(self, name: str) -> DeclaredTool | None:
        """Return what is said of the tool, by its name or the longest pattern; None: nothing."""
        try:
            return self._found[name]
        except KeyError:
            pass
        found = self.tools.get(name)
        if found is None:
            pattern = next((p for p in self._patterns if fnmatchcase(name, p)), None)
            found = None if pattern is None else self.tools[pattern]
        if len(self._found) < _MOST_KNOWN:
            self._found[name] = found
        return found


def read_declaration(path: str | Path) -> Declaration:
    """Read a `.toml` file, or the tools of a policy file (`.yaml`, `.yml`).

    Raises DeclarationError on a wrong file, OSError on one that can't be read.
    """
    path = Path(path)
    text = path.read_text(encoding="utf-8")
    if path.suffix in (".yaml", ".yml"):
        members, line = _yaml(path, text)
    else:
        members, line = _toml(path, text)
    return Declaration(_Reader(path, line).tools(members))


class _Reader:
    """Turns decoded members into tools; knows where to point in an error."""

    def __init__(self, path: Path, line: Line) -> None:
        self._path = path
        self._line = line

    def tools(self, members: Mapping[str, Any]) -> dict[str, DeclaredTool]:
        for key in members:
            if key not in _TOP:
                known = list(_TOP[:1])
                raise self._error(
                    str(key), None, f"expected {known[0]}, found {key!r}{_near(key, known)}"
                )
        declared = members.get("tools", {})
        if not isinstance(declared, dict):
            raise self._error("", None, f"tools: expected a table of tools, found {declared!r}")
        return {str(name): self._tool(str(name), said) for name, said in declared.items()}

    def _tool(self, name: str, said: Any) -> DeclaredTool:
        if not isinstance(said, dict):
            raise self._error(
                name, None, f"{name}: expected a table such as kind = 'lookup', found {said!r}"
            )
        self._known(name, said, (*_TOOL, *_POLICY_ONLY), name)
        entity = said.get("entity", {})
        if isinstance(entity, str):
            entity = {"type": entity}
        if not isinstance(entity, dict):
            raise self._error(
                name,
                "entity",
                f"{name}.entity: expected a type, or a table of {', '.join(_ENTITY)}; "
                f"found {entity!r}",
            )
        self._known(name, entity, _ENTITY, f"{name}.entity")
        kind = self._kind(name, said)
        return DeclaredTool(
            kind,
            self._text(name, entity, "type"),
            self._path_in(name, entity, "argument"),
            self._path_in(name, entity, "result"),
            self._text(name, said, "operation_id"),
        )

    def _kind(self, name: str, said: Mapping[str, Any]) -> StepKind | None:
        kind = said.get("kind")
        if kind is None:
            return None
        try:
            return StepKind(kind)
        except ValueError:
            known = [member.value for member in StepKind]
            raise self._error(
                name,
                "kind",
                f"{name}.kind: expected {', '.join(known)}; found {kind!r}{_near(kind, known)}",
            ) from None

    def _known(self, name: str, said: Mapping[str, Any], keys: tuple[str, ...], where: str) -> None:
        for key in said:
            if key not in keys:
                shown = [known for known in keys if known not in _POLICY_ONLY]
                raise self._error(
                    name,
                    str(key),
                    f"{where}: expected {', '.join(shown)}; found {key!r}{_near(key, shown)}",
                )

    def _text(self, name: str, said: Mapping[str, Any], key: str) -> str | None:
        value = said.get(key)
        if value is not None and not isinstance(value, str):
            raise self._error(name, key, f"{name}.{key}: expected a text, found {value!r}")
        return value

    def _path_in(self, name: str, said: Mapping[str, Any], key: str) -> str | None:
        path = self._text(name, said, key)
        try:
            if path is not None:
                parse_path(path)
        except ValueError as error:
            raise self._error(name, key, f"{name}.entity.{key}: {error}") from None
        return path

    def _error(self, name: str, key: str | None, problem: str) -> DeclarationError:
        return DeclarationError(f"{self._path}:{self._line(name, key)}: {problem}")


def _near(word: object, known: list[str]) -> str:
    near = get_close_matches(str(word), known, n=1)
    return f"; did you mean {near[0]!r}?" if near else ""


def _is_pattern(name: str) -> bool:
    return any(sign in name for sign in "*?[")


def _toml(path: Path, text: str) -> tuple[Mapping[str, Any], Line]:
    try:
        members = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = re.search(r"line (\d+)", str(error))
        line = place[1] if place else str(text.count("\n") + 1)
        raise DeclarationError(f"{path}:{line}: no TOML: {error}") from None
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

    return members, line_of


def _yaml(path: Path, text: str) -> tuple[Mapping[str, Any], Line]:
    try:
        yaml: Any = import_module("yaml")
    except ImportError:
        raise DeclarationError(
            f"{path}:1: a policy file needs PyYAML: pip install pyyaml, or declare the tools in a "
            f"{DEFAULT_FILE}"
        ) from None
    try:
        members = yaml.safe_load(text)
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = 1 if mark is None else mark.line + 1
        raise DeclarationError(f"{path}:{line}: no YAML: {error}") from None
    if not isinstance(members, dict):
        raise DeclarationError(f"{path}:1: expected a mapping with tools, found {members!r}")

    def line_of(name: str, key: str | None) -> int:
        place = root
        for word in ("tools", name, key):
            below = _child(place, word)
            if below is None and word == key:
                below = _child(_child(place, "entity"), word)
            place = below or place
        return int(place.start_mark.line) + 1

    return members, line_of


def _child(node: Any, word: str | None) -> Any:
    members = getattr(node, "value", None)
    if word is None or not isinstance(members, list):
        return None
    return next((v for pair in members for k, v in [pair] if k.value == word), None)
