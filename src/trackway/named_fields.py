"""Fields that an option names: `entity`, `returns`, `operation_id`.

1. A path begins with a parameter of the function. One that names none is an error where the
   function is decorated: it would be a declaration that never applies. A function that takes any
   keyword may have the name among them.
2. What a value holds is known when it comes. Where nothing stands at a path, and a field of the
   value has nearly its name, the log says so, once for each tool and path.
3. A text that is no path is an error at once.
"""

from __future__ import annotations

import functools
import inspect
import logging
from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from typing import Any, Final

from trackway.binding import takes_receiver
from trackway.capture import record_capture_error
from trackway.capture.refs import missing_step, parse_path
from trackway.faults import goes_on

_LOGGER: Final = logging.getLogger("trackway")
_LOOKS: Final = 4
"""Times that a path without a find is looked into: most results that lack an id are errors."""
_MOST_LOOKED_AT: Final = 1024
_NEAR: Final = 0.75
_looks: dict[tuple[str, str], int] = {}


def check_paths(paths: Iterable[str]) -> None:
    """Raise ValueError for a text that is no path."""
    for path in paths:
        parse_path(path)


def check_parameters(
    function: Callable[..., Any], entity: Iterable[str], operation_id: object
) -> None:
    """Raise ValueError for an entity path or an operation id that begins with no parameter."""
    firsts = [("entity", steps[0]) for _, steps in map(parse_path, entity) if steps]
    if isinstance(operation_id, str):
        firsts.append(("operation_id", operation_id))
    names = parameter_names(function) if firsts else None
    if names is None:
        return
    for option, first in firsts:
        if not isinstance(first, str) or first in names:
            continue
        near = get_close_matches(first, names, n=1)
        meant = f"; did you mean {near[0]!r}? The" if near else "; the"
        called = getattr(function, "__qualname__", None) or repr(function)
        have = ", ".join(names) or "none"
        raise ValueError(
            f"{option} names {first!r}, which is no parameter of {called}{meant} parameters: {have}"
        )


def parameter_names(function: Callable[..., Any]) -> Sequence[str] | None:
    """Return the names under which arguments are recorded; None where it may be any."""
    while isinstance(function, functools.partial):
        function = function.func
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return None
    parameters = signature.parameters.values()
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return None
    return [parameter.name for parameter in parameters][takes_receiver(function, signature) :]


def note_missing(tool: str, option: str, path: str, value: object) -> None:
    """Say that nothing stands at a path, where a field has nearly the name that it names."""
    key = (tool, path)
    looks = _looks.get(key, 0)
    if looks >= _LOOKS or len(_looks) >= _MOST_LOOKED_AT:
        return
    _looks[key] = looks + 1
    try:
        step, names = missing_step(value, path) or ("", [])
    except Exception as error:  # user objects run in here
        if goes_on(error):
            raise
        record_capture_error(f"{tool}: {option}", error)
        return
    near = get_close_matches(step, names, n=1, cutoff=_NEAR)
    if near:
        _looks[key] = _LOOKS
        _LOGGER.warning(
            "trackway: %s: %s=%r finds nothing, since there is no %r; did you mean %r?",
            *(tool, option, path, step, near[0]),
        )
