"""A policy file to a policy: what may stand where.

    version: 1
    tools:
      lookup_order: {kind: lookup, entity: {type: order, result: $.id}}
      refund_api.create:
        kind: mutate
        entity: {type: order, argument: order_id}
        success: $.status == "succeeded"
    rules:
      - before: [check_policy, refund_api.create]
        severity: warning
      - grounded: {tool: refund_api.create, argument: order_id, from: order}

1. A rule's key is its class in snake case; `forbid` is `forbidden`. Its value is a mapping of the
   fields of the class, or the short form that the class allows.
2. `severity` may stand beside the rule's key.
3. Unknown keys, kinds and paths are errors with the line and the nearest valid name. So is a value
   of another kind than its key takes, and a key with nothing after its colon.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import MISSING, dataclass, fields
from typing import Any, Final, TypeVar, get_args

from trackway.schema import StepKind
from trackway_analyzer.rules.catalogue import ALIASES, RULES
from trackway_analyzer.rules.expected import ExpectedCall
from trackway_analyzer.rules.expression import compiled
from trackway_analyzer.rules.field_kinds import hints_of
from trackway_analyzer.rules.finding import Severity
from trackway_analyzer.rules.line_meant import line_meant
from trackway_analyzer.rules.located import List, Reader
from trackway_analyzer.rules.located import Mapping as Located
from trackway_analyzer.rules.pattern import StepSpec, one_of
from trackway_analyzer.rules.rule import Rule
from trackway_analyzer.rules.tools import EntitySpec, ToolSpec
from trackway_analyzer.rules.values import reader

VERSION: Final = 1
_TOP: Final = ("version", "tools", "rules")
_TOOL: Final = ("kind", "entity", "success")
_ENTITY: Final = ("type", "argument", "result")
_BESIDE: Final = ("severity",)
_INNER: Final = ("known",)
"""Fields of a call that only a reference run sets."""
FIELD_NAMES: Final = {"from": "source", "tools": "tool_names"}
"""Keys of a policy file that Python would not allow, or that read better there."""

_Spec = TypeVar("_Spec")


@dataclass(frozen=True)
class PolicyParts:
    """What a policy file says."""

    rules: tuple[Rule, ...]
    lines: tuple[int, ...]
    """Line of each rule."""
    tools: Mapping[str, ToolSpec]
    tool_lines: Mapping[str, int]


def read_policy(text: str, file: str = "policy") -> PolicyParts:
    """Read the text of a policy file. Raises PolicyError."""
    return _File(Reader(file)).policy(text)


class _File:
    def __init__(self, reader: Reader) -> None:
        self.reader = reader

    def policy(self, text: str) -> PolicyParts:
        top = self.reader.read(text)
        if not isinstance(top, Located):
            raise self.reader.error("expected a mapping with version, tools and rules", 1)
        self.reader.known(top, _TOP)
        version = top.get("version")
        if version != VERSION or not isinstance(version, int) or isinstance(version, bool):
            found = f"found {top['version']!r}" if "version" in top else "found none"
            raise self.reader.error(
                f"expected version: {VERSION}, {found}", top.lines.get("version", top.line)
            )
        tools = self._tools(top)
        rules = list(self._rules(top))
        tool_lines = top["tools"].lines if tools else {}
        return PolicyParts(
            tuple(rule for _, rule in rules), tuple(line for line, _ in rules), tools, tool_lines
        )

    def _tools(self, top: Located) -> dict[str, ToolSpec]:
        declared = self._mapping(top, "tools")
        return {name: self._tool(declared, name) for name in declared}

    def _tool(self, declared: Located, name: str) -> ToolSpec:
        line = declared.lines[name]
        if not name.strip() or name != name.strip():
            raise self.reader.error(f"expected a tool's name, found {name!r}", line)
        said = declared[name]
        self._expect(said, Located, name, line)
        self.reader.known(said, _TOOL)
        entity = self._mapping(said, "entity")
        self.reader.known(entity, _ENTITY)
        for mapping in (said, entity):
            self._refuse_empty(mapping, allowed=("entity",))
        try:
            if "kind" in said:
                one_of(said["kind"], [kind.value for kind in StepKind], "kind")
            spec = EntitySpec(entity.get("type"), entity.get("argument"), entity.get("result"))
            for path in (spec.argument, spec.result):
                if path is not None:
                    reader(path)
            success = said.get("success")
            if success is not None and not isinstance(success, str):
                raise ValueError(f"`success` must be a text, found {success!r}")
            return ToolSpec(said.get("kind"), spec, None if success is None else compiled(success))
        except (ValueError, TypeError) as error:
            at = line_meant(said, str(error)) or line
            raise self.reader.error(f"{name}: {error}", at) from error

    def _mapping(self, holder: Located, name: str) -> Located:
        """The mapping under a key; an empty one where nothing stands there."""
        found = holder.get(name)
        if found is None:
            return Located()
        self._expect(found, Located, name, holder.lines[name])
        return found  # type: ignore[no-any-return]  # expected above

    def _refuse_empty(self, mapping: Located, allowed: Iterable[str] = ()) -> None:
        for key, value in mapping.items():
            if value is None and key not in allowed:
                raise self.reader.error(
                    f"{key}: expected a value, found nothing after the colon", mapping.lines[key]
                )

    def _rules(self, top: Located) -> Iterator[tuple[int, Rule]]:
        listed = top.get("rules")
        if listed is None or listed == []:
            line = top.lines.get("rules", top.line)
            raise self.reader.error("a policy needs at least one rule", line)
        self._expect(listed, List, "rules", top.lines["rules"])
        for item, line in zip(listed, listed.lines, strict=True):
            self._expect(item, Located, "a rule", line)
            yield line, self._rule(item)

    def _rule(self, item: Located) -> Rule:
        keys = [key for key in item if key not in _BESIDE]
        known = [*RULES, *ALIASES]
        self.reader.known(item, [*known, *_BESIDE], "rule")
        if len(keys) != 1:
            named = " and ".join(keys) or "none"
            raise self.reader.error(f"expected one rule, found {named}", item.line)
        key, line = keys[0], item.lines[keys[0]]
        cls = RULES[ALIASES.get(key, key)]
        arguments = self._arguments(cls, key, item[key], line)
        try:
            given = [m["severity"] for m in (arguments, item) if "severity" in m]
            for severity in given:
                one_of(severity, [s.value for s in Severity], "severity")
                arguments["severity"] = Severity(severity)
            return cls(**arguments)
        except (ValueError, TypeError) as error:
            at = line_meant(item, str(error)) or line
            raise self.reader.error(f"{key}: {error}", at) from error
        except RecursionError as error:
            raise self.reader.error(
                f"{key}: expected an expression that a person can read, found too many levels"
                " inside each other",
                line,
            ) from error

    def _arguments(self, cls: type[Rule], key: str, value: Any, line: int) -> dict[str, Any]:
        if isinstance(value, Located):
            return self._fields(cls, key, value)
        if value is None and not required_names(cls):
            return {}
        short = cls.short
        if value is None:
            forms = [", ".join(map(_spelt, short)), f"a mapping of {', '.join(field_names(cls))}"]
            names = " or ".join(filter(None, forms))
            raise self.reader.error(f"{key}: expected {names}, found nothing after the colon", line)
        if not short:
            names = ", ".join(field_names(cls))
            raise self.reader.error(f"{key}: expected a mapping of {names}, found {value!r}", line)
        if _lists_of_lists(value) and len(value) <= len(cls.short_of_lists):
            return dict(zip(cls.short_of_lists, map(plain, value), strict=False))
        if len(short) == 1:
            alone = takes_a_text(cls) and isinstance(value, list) and len(value) == 1
            alone = alone and value[0] is not None
            return {short[0]: self._field(short[0], value[0] if alone else value)}
        if not isinstance(value, list) or len(value) != len(short):
            raise self.reader.error(f"{key}: expected [{', '.join(short)}], found {value!r}", line)
        return dict(zip(short, value, strict=True))

    def _fields(self, cls: type[Rule], key: str, value: Located) -> dict[str, Any]:
        self.reader.known(value, field_names(cls))
        missing = [name for name in required_names(cls) if value.get(name) is None]
        if missing:
            raise self.reader.error(f"{key}: expected {' and '.join(missing)}", value.line)
        self._refuse_empty(value, allowed=nullable_names(cls))
        own = {field.name for field in fields(cls)}
        names = {name: name if name in own else FIELD_NAMES[name] for name in value}
        return {names[name]: self._field(name, item) for name, item in value.items()}

    def _field(self, name: str, value: Any) -> Any:
        if isinstance(value, List):
            if name == "steps":
                return tuple(self._each(value, StepSpec, StepSpec.of))
            if name == "calls":
                return [
                    tuple(self._each(item, ExpectedCall, ExpectedCall.of))
                    if isinstance(item, List)
                    else self._spec(item, line, ExpectedCall, ExpectedCall.of)
                    for item, line in zip(value, value.lines, strict=True)
                ]
        return plain(value)

    def _each(self, items: List, cls: type[Any], read: Callable[[Any], _Spec]) -> list[_Spec]:
        return [
            self._spec(item, line, cls, read) for item, line in zip(items, items.lines, strict=True)
        ]

    def _spec(self, item: Any, line: int, cls: type[Any], read: Callable[[Any], _Spec]) -> _Spec:
        """Read one step or call of a list, with its own line."""
        if isinstance(item, Located):
            self.reader.known(item, [f.name for f in fields(cls) if f.name not in _INNER])
            self._refuse_empty(item, allowed=("arguments",))
        try:
            return read(plain(item))
        except (ValueError, TypeError) as error:
            at = line_meant(item, str(error)) or line
            raise self.reader.error(str(error), at) from error

    def _expect(self, value: Any, kind: type, name: str, line: int | None) -> None:
        if not isinstance(value, kind):
            word = "list" if kind is List else "mapping"
            raise self.reader.error(f"{name}: expected a {word}, found {value!r}", line)


def _lists_of_lists(value: Any) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and isinstance(value[0], list)
        and any(isinstance(item, list) for item in value[0])
    )


def field_names(cls: type[Rule]) -> list[str]:
    """Keys that the mapping of a rule may have in a policy file."""
    names = [field.name for field in fields(cls) if field.name not in _BESIDE]
    return [*map(_spelt, names), *_BESIDE]


def _spelt(name: str) -> str:
    return next((key for key, field in FIELD_NAMES.items() if field == name), name)


def takes_a_text(cls: type[Rule]) -> bool:
    """Tell whether the short form of a rule is one text, in brackets or without."""
    return len(cls.short) == 1 and hints_of(cls)[cls.short[0]] in (str, str | None)


def required_names(cls: type[Rule]) -> list[str]:
    """Keys that the mapping of a rule must have."""
    return [
        _spelt(field.name)
        for field in fields(cls)
        if field.default is MISSING and field.default_factory is MISSING
    ]


def nullable_names(cls: type[Rule]) -> list[str]:
    """Keys for which null says something: not what the rule takes without the key."""
    hints = hints_of(cls)
    return [
        _spelt(field.name)
        for field in fields(cls)
        if type(None) in get_args(hints[field.name]) and field.default is not None
    ]


def plain(value: Any) -> Any:
    """The value without its lines."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list) else value
