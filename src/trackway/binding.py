"""From a call's arguments to a dict under parameter names.

1. A function with the decorated function's own signature is compiled once; calling it binds the
   arguments, defaults included, at a tenth of the cost of `inspect.Signature.bind`.
2. A first parameter called `self` is dropped, and so is a `cls` of a function in a class.
3. `*args` becomes a list under its name, left out when empty; keyword extras stand beside the named
   parameters (below their own name where a positional-only parameter could clash with one).
4. A `functools.partial` is bound with the arguments it holds.
5. A call that does not fit the signature, and a callable without one, is recorded as
   `{"args": [...], "kwargs": {...}}`: the call will fail on its own, and that is worth a record.
6. A decorated function is bound as the one inside, as decorators pass on what they get. Where one
   adds arguments of its own, a call by keywords alone keeps its names, whether it fits or not.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

Binder = Callable[..., dict[str, Any]]


def unfitting(*args: Any, **kwargs: Any) -> dict[str, Any]:
    """Bind by position: for calls and callables that no signature describes."""
    return {"args": args, "kwargs": kwargs}


def compile_binder(function: Callable[..., Any]) -> Binder:
    """Return a function from call arguments to named arguments; it never raises."""
    if isinstance(function, functools.partial):
        inner, args, kwargs = compile_binder(function.func), function.args, function.keywords
        return lambda *more, **named: inner(*args, *more, **{**kwargs, **named})
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return unfitting
    receivers = int(takes_receiver(function, signature))
    exact = _compile(list(signature.parameters.values()), receivers)
    is_decorated = hasattr(function, "__wrapped__")

    def bind(*args: Any, **kwargs: Any) -> dict[str, Any]:
        try:
            return exact(*args, **kwargs)
        except TypeError:
            given = args[receivers:]
            return kwargs if is_decorated and not given else unfitting(*given, **kwargs)

    return bind


def takes_receiver(function: Callable[..., Any], signature: inspect.Signature) -> bool:
    """Whether the first parameter is the object, or the class, that a method is called on."""
    first = next(iter(signature.parameters), "")
    name = str(getattr(function, "__qualname__", "")).rpartition("<locals>.")[2]
    return first == "self" or (first == "cls" and "." in name)


def _compile(parameters: list[inspect.Parameter], receivers: int) -> Binder:
    defaults: dict[str, Any] = {}
    heads: list[str] = []
    named: list[str] = []
    positional_only = [p for p in parameters if p.kind is p.POSITIONAL_ONLY]
    spread = sweep = ""
    for index, parameter in enumerate(parameters):
        local = parameter.name
        if parameter.kind is parameter.VAR_POSITIONAL:
            heads.append(f"*{local}")
            spread = local
        elif parameter.kind is parameter.VAR_KEYWORD:
            heads.append(f"**{local}")
            sweep = local
        else:
            if parameter.kind is parameter.KEYWORD_ONLY and not any(
                head.startswith("*") for head in heads
            ):
                heads.append("*")
            default = "" if parameter.default is parameter.empty else f"=_d{index}"
            if default:
                defaults[f"_d{index}"] = parameter.default
            heads.append(local + default)
            if index >= receivers:
                named.append(f"{parameter.name!r}: {local}")
        if positional_only and parameter is positional_only[-1]:
            heads.append("/")
    taken = {parameter.name for parameter in parameters}
    bound = next(
        name for name in (f"_bound{n}" for n in range(len(taken) + 1)) if name not in taken
    )
    body = ", ".join(named)
    if sweep:
        body += f", {sweep!r}: {sweep}" if positional_only else f", **{sweep}"
    lines = [f"def bind({', '.join(heads)}):", f"    {bound} = {{{body.removeprefix(', ')}}}"]
    if spread:
        lines.append(f"    if {spread}: {bound}[{spread!r}] = [*{spread}]")
    lines.append(f"    return {bound}")
    exec("\n".join(lines), defaults)
    binder: Binder = defaults["bind"]
    return binder
