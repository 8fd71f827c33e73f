"""Whole registries of tools, recorded in one call: `TOOLS = trackway.tools(TOOLS)`.

1. A mapping of callables (by name), a list of callables, a list of OpenAI-style entries (a dict
   with a callable beside its definition), a class or an object (its public methods, and functions
   that it holds) and a module (its public functions, written in Python or not) are understood. An
   empty mapping or list is one; a set, a text and an iterator are none, for order and names are
   missing or used up.
2. A mapping or list of Python's own comes back as a new one of the same kind, other mappings as
   dicts and other sequences as lists; the one given stays as it was. An object or module comes back
   as a view of it whose public functions are recorded; the rest is its own. A class comes back as a
   subclass of it.
3. A session of the Model Context Protocol (an object with `call_tool`) comes back as a view whose
   `call_tool(name, arguments)` is recorded as the tool `name`.
4. `kinds` says what tools do: name to `lookup`, `mutate`, `notify`, `other`. A name in `kinds` that
   no tool has is an error: it would be a rule that never applies. Of a session it is said in the
   log, once the program has listed the tools.
5. What is recorded already is not recorded twice.
"""

from __future__ import annotations

import copy
import functools
import inspect
import types
from collections import ChainMap, UserDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from typing import Any, Final, TypeVar, cast

from trackway.decorators import checked_kind, function_name, tool
from trackway.fields import get
from trackway.lifecycle import is_recorded
from trackway.mcp_sessions import Session, unknown_kind
from trackway.schema import StepKind
from trackway.views import view

Registry = TypeVar("Registry")
_EXPECTED: Final = (
    "tools(): expected a mapping or list of callables, OpenAI-style entries, a class, an object or "
    "a module with functions, or an MCP session"
)
_METHODS: Final = (types.FunctionType, staticmethod, classmethod, functools.partialmethod)
_COPIED: Final = (dict, UserDict, ChainMap)
"""Mappings whose shallow copy shares no storage with the one given."""
_VALUES: Final = (str, bytes, bytearray, int, float, complex)
_USED_UP: Final = (Set, Iterator)
_CALLABLE_KEYS: Final = ("callable", "func", "handler", "implementation", "fn")


def tools(registry: Registry, *, kinds: Mapping[str, str] | None = None) -> Registry:
    """Return the registry with its tools recorded.

    Raises TypeError where nothing in it is a tool, ValueError for an unknown kind, or a name in
    `kinds` that no tool has.
    """
    declared = {name: checked_kind(kind) for name, kind in (kinds or {}).items()}
    names: set[str] = set()

    def record(name: str, function: Callable[..., Any]) -> Any:
        names.add(name)
        if is_recorded(function):
            return function
        return tool(name, kind=declared.get(name))(function)

    recorded = _recorded(registry, record, declared)
    if not isinstance(recorded, Session):
        _check_names(declared, names)
        if not names and not _is_empty(registry):
            raise TypeError(f"{_EXPECTED}; found no callable in {type(registry).__name__}")
    return cast("Registry", recorded)


Record = Callable[[str, Callable[..., Any]], Any]


def _recorded(registry: Any, record: Record, kinds: Mapping[str, StepKind]) -> Any:
    if isinstance(registry, (*_VALUES, *_USED_UP)):
        hint = "" if isinstance(registry, _VALUES) else "; give list(…) of it"
        raise TypeError(f"{_EXPECTED}; found {type(registry).__name__}{hint}")
    if isinstance(registry, dict) and _entry_callable(registry) is not None:
        return _entry(registry, record)
    if isinstance(registry, Mapping):
        return _mapping(registry, record)
    if isinstance(registry, Sequence):
        made = [_item(None, value, record) for value in registry]
        if not isinstance(registry, tuple):
            return made
        return getattr(type(registry), "_make", tuple)(made)
    if inspect.isclass(registry):
        return _subclass(registry, record)
    if callable(getattr(registry, "call_tool", None)):
        return Session(registry, kinds)
    return view(registry, dict(_methods(registry, record)))


def _mapping(registry: Mapping[Any, Any], record: Record) -> Any:
    made = {name: _item(str(name), value, record) for name, value in registry.items()}
    if isinstance(registry, types.MappingProxyType):
        return types.MappingProxyType(made)
    if type(registry) is dict or not isinstance(registry, _COPIED):
        return made
    copied: Any = copy.copy(registry)
    for name, value in made.items():
        copied[name] = value
    return copied


def _is_empty(registry: Any) -> bool:
    return isinstance(registry, (Mapping, Sequence)) and not len(registry)


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
        if name.startswith("_") or not inspect.isroutine(held):
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
            raise ValueError(unknown_kind(name, names))
