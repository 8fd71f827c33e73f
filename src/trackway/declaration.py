"""What do tools that nobody decorated do, and to what? Read from `trackway.toml`.

1. `[tools.NAME]` says of a tool its `kind` (lookup, mutate, notify, other), its `entity` (`type`,
   and the path of its ids: `argument` of a mutation, `result` of a lookup, by default `id`) and
   the argument that is its idempotency key, `operation_id`. The shape is that of `tools` in a
   policy file, and a policy file is read too, where PyYAML is installed; its rules are the
   analyzer's.
2. A name may be a pattern (`refund_*`, `*.create`). A tool's own name wins over patterns, the
   longer pattern over the shorter one, and of two as long the first.
3. What is wrong is a problem that names file and line, what was expected, what was found and the
   nearest word. It costs the key or the tool that it stands at, and nothing else.
4. Whoever reads strictly gets a `DeclarationError` with all problems instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final

from trackway.capture.refs import parse_path
from trackway.declaration_text import Line, Unreadable, read_toml, read_yaml
from trackway.schema import StepKind

DEFAULT_FILE: Final = "trackway.toml"
_TOP: Final = ("tools", "version", "rules")
_TOOL: Final = ("kind", "entity", "operation_id")
_ENTITY: Final = ("type", "argument", "result")
_POLICY_ONLY: Final = ("success",)
"""Keys of a tool in a policy file that the analyzer alone reads."""
_MOST_KNOWN: Final = 1024


class DeclarationError(ValueError):
    """A declaration file says something that can't be understood; one line a problem."""


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

    def __init__(self, tools: Mapping[str, DeclaredTool], problems: Sequence[str] = ()) -> None:
        self.tools: Final = dict(tools)
        self.problems: Final = tuple(problems)
        """What could not be understood and was left out, with file and line."""
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


def read_declaration(path: str | Path, *, strict: bool = True) -> Declaration:
    """Read a `.toml` file, or the tools of a policy file (`.yaml`, `.yml`).

    Raises OSError on a file that can't be read, DeclarationError on one of another format, and on
    any problem in it if `strict`; else what is wrong is left out and listed in `problems`.
    """
    path = Path(path)
    read = read_yaml if path.suffix in (".yaml", ".yml") else read_toml
    try:
        members, line, unread = read(path.read_text(encoding="utf-8"))
    except Unreadable as error:
        raise DeclarationError(f"{path}:{error}") from None
    except UnicodeDecodeError as error:
        raise DeclarationError(f"{path}:1: no UTF-8: {error.reason}") from None
    reader = _Reader(line)
    tools = reader.tools(members)
    problems = [f"{path}:{number}: {said}" for number, said in sorted(unread + reader.problems)]
    if problems and strict:
        raise DeclarationError("\n".join(problems))
    return Declaration(tools, problems)


class _Reader:
    """Turns decoded members into tools, and notes what it can't understand and where."""

    def __init__(self, line: Line) -> None:
        self._line = line
        self.problems: list[tuple[int, str]] = []

    def tools(self, members: Mapping[str, Any]) -> dict[str, DeclaredTool]:
        for key in members:
            if key not in _TOP:
                known = list(_TOP[:1])
                self._note(str(key), None, f"expected {known[0]}, found {key!r}{_near(key, known)}")
        declared = members.get("tools")
        if declared is None:
            return {}
        if not isinstance(declared, dict):
            self._note("", None, f"tools: expected a table of tools, found {declared!r}")
            return {}
        found = {str(name): self._tool(str(name), said) for name, said in declared.items()}
        return {name: tool for name, tool in found.items() if tool is not None}

    def _tool(self, name: str, said: Any) -> DeclaredTool | None:
        if not isinstance(said, dict):
            self._note(
                name, None, f"{name}: expected a table such as kind = 'lookup', found {said!r}"
            )
            return None
        self._known(name, said, (*_TOOL, *_POLICY_ONLY), name)
        entity = said.get("entity", {})
        if isinstance(entity, str):
            entity = {"type": entity}
        if not isinstance(entity, dict):
            self._note(
                name,
                "entity",
                f"{name}.entity: expected a type, or a table of {', '.join(_ENTITY)}; "
                f"found {entity!r}",
            )
            entity = {}
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
            self._note(
                name,
                "kind",
                f"{name}.kind: expected {', '.join(known)}; found {kind!r}{_near(kind, known)}",
            )
            return None

    def _known(self, name: str, said: Mapping[str, Any], keys: tuple[str, ...], where: str) -> None:
        for key in said:
            if key not in keys:
                shown = [known for known in keys if known not in _POLICY_ONLY]
                self._note(
                    name,
                    str(key),
                    f"{where}: expected {', '.join(shown)}; found {key!r}{_near(key, shown)}",
                )

    def _text(self, name: str, said: Mapping[str, Any], key: str) -> str | None:
        value = said.get(key)
        if value is None or isinstance(value, str):
            return value
        self._note(name, key, f"{name}.{key}: expected a text, found {value!r}")
        return None

    def _path_in(self, name: str, said: Mapping[str, Any], key: str) -> str | None:
        path = self._text(name, said, key)
        try:
            if path is not None:
                parse_path(path)
        except ValueError as error:
            self._note(name, key, f"{name}.entity.{key}: {error}")
            return None
        return path

    def _note(self, name: str, key: str | None, problem: str) -> None:
        self.problems.append((self._line(name, key), problem))


def _near(word: object, known: list[str]) -> str:
    near = get_close_matches(str(word), known, n=1)
    return f"; did you mean {near[0]!r}?" if near else ""


def _is_pattern(name: str) -> bool:
    return any(sign in name for sign in "*?[")
