"""Whole registries of tools, recorded in one call: `TOOLS = trackway.tools(TOOLS)`.

1. A dict of callables (by name), a list of callables, a list of OpenAI-style entries (a dict with a
   callable beside its definition), a class or an object (its public methods, and functions that it
   holds) and a module (its public functions) are understood.
2. A dict or list comes back as a new one of the same kind; the one given stays as it was. An object
   or module comes back as a view of it whose public functions are recorded; the rest is its own. A
   class comes back as a subclass of it.
3. A session of the Model Context Protocol (an object with `call_tool`) comes back as a view whose
   `call_tool(name, arguments)` is recorded as the tool `name`.
4. `kinds` says what tools do: name to `lookup`, `mutate`, `notify`, `other`. A name in `kinds` that
   no tool has is an error: it would be a rule that never applies.
5. What is recorded already is not recorded twice.
"""

from __future__ import annotations

import functools
import inspect
import json
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import Any, Final, TypeVar, cast

from trackway.decorators import checked_kind, function_name, tool
from trackway.driving import Opened
from trackway.fields import get
from trackway.lifecycle import is_recorded, wrap
from trackway.plans import ToolPlan
from trackway.run import current_place
from trackway.schema import StepKind, Trackway
from trackway.spans import Live

Registry = TypeVar("Registry")
_MOST_PLANS: Final = 1024
_METHODS: Final = (types.FunctionType, staticmethod, classmethod, functools.partialmethod)
_CALLABLE_KEYS: Final = ("callable", "func", "handler", "implementation", "fn")


def tools(registry: Registry, *, kinds: Mapping[str, str] | None = None) -> Registry:
    """Return the registry with its tools recorded.

    Raises TypeError where nothing in it is a tool, ValueError for an unknown kind, or a name in
    `kinds` that no tool has.
    """
    declared = dict(kinds or {})
    for kind in declared.values():
        checked_kind(kind)
    names: set[str] = set()

    def record(name: str, function: Callable[..., Any]) -> Any:
        names.add(name)
        if is_recorded(function):
            return function
        return tool(name, kind=declared.get(name))(function)

    recorded = _recorded(registry, record, declared)
    if not isinstance(recorded, _Session):
        _check_names(declared, names)
        if not names:
            raise TypeError(
                "tools(): expected a dict or list of callables, OpenAI-style entries, a class, an "
                "object or a module with functions, or an MCP session; found no callable in "
                f"{type(registry).__name__}"
            )
    return cast("Registry", recorded)


Record = Callable[[str, Callable[..., Any]], Any]


def _recorded(registry: Any, record: Record, kinds: Mapping[str, str]) -> Any:
    if isinstance(registry, dict):
        if _entry_callable(registry) is not None:
            return _entry(registry, record)
        return {name: _item(str(name), value, record) for name, value in registry.items()}
    if isinstance(registry, (list, tuple)):
        made = [_item(None, value, record) for value in registry]
        return made if isinstance(registry, list) else tuple(made)
    if inspect.isclass(registry):
        return _subclass(registry, record)
    if callable(getattr(registry, "call_tool", None)):
        return _Session(registry, kinds)
    return _View(registry, dict(_methods(registry, record)))


def _item(name: str | None, value: Any, record: Record) -> Any:
    if isinstance(value, dict):
        return _entry(value, record)
    return record(name or function_name(value), value) if callable(value) else value


def _entry_callable(entry: Mapping[str, Any]) -> str | None:
    return next((key for key in _CALLABLE_KEYS if callable(entry.get(key))), None)


def _entry(entry: dict[str, Any], record: Record) -> dict[str, Any]:
    key = _entry_callable(entry)
    if key is None:
        return entry
    name = get(entry.get("function"), "name") if "function" in entry else entry.get("name")
    return {**entry, key: record(str(name or function_name(entry[key])), entry[key])}


def _subclass(registry: type, record: Record) -> type:
    members: dict[str, Any] = {
        "__doc__": registry.__doc__,
        "__module__": registry.__module__,
        "__qualname__": registry.__qualname__,
    }
    for name in dir(registry):
        member = inspect.getattr_static(registry, name)
        if not name.startswith("_") and isinstance(member, _METHODS):
            members[name] = record(name, cast("Callable[..., Any]", member))
    return types.new_class(
        registry.__name__, (registry,), exec_body=lambda all_: all_.update(members)
    )


def _methods(registry: Any, record: Record) -> Iterator[tuple[str, Any]]:
    for name, held in getattr(registry, "__dict__", {}).items():
        if name.startswith("_") or not isinstance(held, types.FunctionType):
            continue
        # A module's own functions, not those that it imported.
        if not isinstance(registry, types.ModuleType) or held.__module__ == registry.__name__:
            yield name, record(name, held)
    for name in dir(type(registry)):
        if name.startswith("_") or isinstance(
            inspect.getattr_static(registry, name, None), property
        ):
            continue
        method = getattr(registry, name)
        if inspect.isroutine(method):
            yield name, record(name, method)


def _check_names(kinds: Iterable[str], names: Iterable[str]) -> None:
    for name in kinds:
        if name not in names:
            near = get_close_matches(name, list(names), n=1)
            known = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(sorted(names))}"
            raise ValueError(f"kinds names {name!r}, which is no tool of the registry; {known}")


class _View:
    """An object whose public methods are recorded."""

    def __init__(self, viewed: Any, methods: Mapping[str, Any]) -> None:
        self.__dict__.update(methods)
        self._viewed = viewed

    # mypy knows `__class__` as no property; isinstance must see the object's class.
    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return type(self._viewed)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._viewed, name)


class _Session(_View):
    """An MCP session whose tool calls are recorded under the tools' names."""

    def __init__(self, session: Any, kinds: Mapping[str, str]) -> None:
        super().__init__(session, {})
        self._kinds = kinds
        self._callers: dict[str, Callable[..., Any]] = {}

    async def call_tool(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """Call the tool, recorded; takes what the session's own `call_tool` takes."""
        if name not in self._callers:
            self._callers[name] = self._recorded_call(name)
        return await self._callers[name](name, *args, **kwargs)

    def _recorded_call(self, name: str) -> Callable[..., Any]:
        declared = self._kinds.get(name)
        kind = None if declared is None else checked_kind(declared)
        return wrap(self._viewed.call_tool, McpPlan(name, kind).open)


def recorded_call_tool(call_tool: Callable[..., Any]) -> Callable[..., Any]:
    """Return the method `call_tool(session, name, arguments)` of a session class, recorded."""
    plans: dict[str, McpPlan] = {}

    def open_span(args: Any, kwargs: Any) -> Opened | None:
        name = str(kwargs["name"] if "name" in kwargs else args[1])
        plan = plans.get(name)
        if plan is None:
            plan = McpPlan(name)
            if len(plans) < _MOST_PLANS:
                plans[name] = plan
        return plan.open(args[1:], kwargs)

    return wrap(call_tool, open_span)


class McpPlan(ToolPlan):
    """A call of a tool over the Model Context Protocol; one that a layer above records is left."""

    def __init__(self, name: str, kind: StepKind | None = None) -> None:
        super().__init__(name, _mcp_arguments, kind=kind)

    def open(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Opened | None:
        """Start the span, unless the same call has one: a session wrapped by hand in a client."""
        above = getattr(current_place(), "plan", None)
        if isinstance(above, McpPlan) and above.name == self.name:
            return None
        return super().open(args, kwargs)

    def result_attributes(self, live: Live, result: Any) -> dict[str, Any]:
        """Return what the tool answered, out of the protocol's envelope, and its word for it."""
        attributes = super().result_attributes(live, _mcp_answer(result))
        attributes[Trackway.STEP_OK] = ok = not _mcp_field(result, "is_error", "isError")
        if not ok:
            self.failed(live)
        return attributes


def _mcp_arguments(
    name: str,
    arguments: Mapping[str, Any] | None = None,
    *_: Any,
    **__: Any,
) -> dict[str, Any]:
    return dict(arguments or {})


def _mcp_answer(result: Any) -> Any:
    """The structured content, else the only text (servers send values as JSON), else all blocks."""
    structured = _mcp_field(result, "structured_content", "structuredContent")
    if structured is not None:
        return structured
    content = get(result, "content", result)
    if type(content) is list and len(content) == 1:
        return _decoded(get(content[0], "text", content))
    return content


def _decoded(text: Any) -> Any:
    if type(text) is str and text[:1] in ("{", "["):
        try:
            return json.loads(text)
        except ValueError:
            return text
    return text


def _mcp_field(result: Any, *spellings: str) -> Any:
    """A field of a result; the protocol's camel case became snake case in the SDK's version 2."""
    return next((found for name in spellings if (found := get(result, name)) is not None), None)
