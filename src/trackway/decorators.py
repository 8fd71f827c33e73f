"""The decorators `agent`, `tool`, `llm`, `retriever`, and the blocks `run` and `step`.

Each decorator works bare (`@tool`) and called (`@tool("refund_api.create", kind="mutate")`), on
functions, coroutine functions, generators, async generators, methods, class and static methods
(above or below the built-in decorators), `functools.partial` objects and callables. What the span
looks like is decided once, here; a call only fills it in.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, Literal, Protocol, TypeVar, overload

from trackway.agents import AgentPlan
from trackway.binding import compile_binder
from trackway.driving import Opener
from trackway.lifecycle import wrap
from trackway.llm import LlmPlan
from trackway.named_fields import check_parameters, check_paths
from trackway.plans import ToolPlan
from trackway.questions import check_question
from trackway.retrieval import RetrieverPlan
from trackway.schema import StepKind
from trackway.spans import Plan

Kind = StepKind | Literal["lookup", "mutate", "notify", "other"]
"""What a tool does to the world, as a type checker sees it."""

Decorated = TypeVar(
    "Decorated",
    bound="Callable[..., Any] | classmethod[Any, Any, Any] | staticmethod[Any, Any]",
)


class Decorator(Protocol):
    """Takes a function and returns it with the same type."""

    def __call__(self, function: Decorated, /) -> Decorated:
        """Return the function, recorded."""


def decorate(function: Any, make_opener: Callable[[Callable[..., Any]], Opener]) -> Any:
    """Wrap a function, or what a class or static method or a partial method holds.

    Raises TypeError for a class or a value that can't be called.
    """
    if isinstance(function, (classmethod, staticmethod)):
        return type(function)(decorate(function.__func__, make_opener))
    if isinstance(function, functools.partialmethod):
        inner = decorate(function.func, make_opener)
        return functools.partialmethod(inner, *function.args, **function.keywords)
    if inspect.isclass(function) or not callable(function):
        raise TypeError(
            f"a recorded function is needed, found {function!r}; "
            "decorate a function or a method, not a class or a value"
        )
    return wrap(function, make_opener(function))


def function_name(function: Callable[..., Any]) -> str:
    """Return the name of a function, or of what a partial or an instance calls."""
    while isinstance(function, functools.partial):
        function = function.func
    return str(getattr(function, "__name__", None) or type(function).__name__)


def _dispatch(name: Any, make_plan: Callable[[Callable[..., Any], str], Plan]) -> Any:
    """Serve `@decorator`, `@decorator()` and `@decorator("name")` alike."""
    if name is None or isinstance(name, str):
        return lambda function: decorate(
            function, lambda target: make_plan(target, name or function_name(target)).open
        )
    return decorate(name, lambda target: make_plan(target, function_name(target)).open)


@overload
def agent(name: str | None = None, /, *, version: str | None = None) -> Decorator: ...
@overload
def agent(function: Decorated, /) -> Decorated: ...
def agent(name: Any = None, /, *, version: str | None = None) -> Any:
    """Record an agent. Outside any run each call is a run of its own; inside one, a sub-agent.

    `version` is the release under test (a git SHA or tag) of the runs that it opens.
    """
    return _dispatch(
        name, lambda function, named: AgentPlan(named, compile_binder(function), version=version)
    )


@overload
def tool(
    name: str | None = None,
    /,
    *,
    kind: Kind | None = None,
    alias: str | None = None,
    entity: str | Sequence[str] = (),
    entity_type: str | None = None,
    returns: str | Sequence[str] = (),
    success: Callable[[Any], object] | None = None,
    operation_id: str | Callable[[dict[str, Any]], object] | None = None,
    description: str | None = None,
) -> Decorator: ...
@overload
def tool(function: Decorated, /) -> Decorated: ...
def tool(
    name: Any = None,
    /,
    *,
    kind: Kind | None = None,
    alias: str | None = None,
    entity: str | Sequence[str] = (),
    entity_type: str | None = None,
    returns: str | Sequence[str] = (),
    success: Callable[[Any], object] | None = None,
    operation_id: str | Callable[[dict[str, Any]], object] | None = None,
    description: str | None = None,
) -> Any:
    """Record a tool call: arguments by name, result, error, and what it did to the world.

    kind: `lookup` (reads), `mutate` (changes the world), `notify` (tells somebody) or `other`.
    alias: the name that the model sees, where the record's name is another one.
    entity: argument (or path into one) that names the entity acted on; `entity_type` its type.
    returns: path into the result where a lookup returns the entity's id.
    success: predicate over the result; where given, `trackway.step.ok` is written.
    operation_id: argument name, or a function of the arguments, giving the idempotency key.
    Raises ValueError for an unknown kind, a path that is none, and an `entity` or `operation_id`
    that names no parameter; TypeError for an argument of another kind, an `async` function too.
    """
    step_kind = None if kind is None else checked_kind(kind)
    texts = {"alias": alias, "entity_type": entity_type, "description": description}
    for option, text in texts.items():
        if text is not None and not isinstance(text, str):
            raise TypeError(f"{option} must be a text; found {text!r}")
    entities, returned = _paths("entity", entity), _paths("returns", returns)
    check_paths(returned)
    if success is not None:
        if not callable(success):
            raise TypeError(f"success must be a function of the result; found {success!r}")
        check_question("success", success)
    if operation_id is not None and not isinstance(operation_id, str):
        if not callable(operation_id):
            raise TypeError(
                "operation_id must be the name of an argument or a function of the arguments; "
                f"found {operation_id!r}"
            )
        check_question("operation_id", operation_id)

    def make_plan(function: Callable[..., Any], named: str) -> Plan:
        check_parameters(function, entities, operation_id)
        return ToolPlan(
            named,
            compile_binder(function),
            kind=step_kind,
            alias=alias,
            entity=entities,
            entity_type=entity_type,
            returns=returned,
            success=success,
            operation_id=operation_id,
            description=description,
            function_name=function_name(function),
        )

    return _dispatch(name, make_plan)


@overload
def llm(
    name: str | None = None, /, *, model: str | None = None, provider: str | None = None
) -> Decorator: ...
@overload
def llm(function: Decorated, /) -> Decorated: ...
def llm(name: Any = None, /, *, model: str | None = None, provider: str | None = None) -> Any:
    """Record a model call: request, answer, tokens and finish reasons, streams included.

    Requests and answers of OpenAI (chat, Responses) and Anthropic are read by shape. `model` and
    `provider` say what the arguments and the answer do not.
    """
    return _dispatch(
        name,
        lambda function, named: LlmPlan(
            named, compile_binder(function), model=model, provider=provider
        ),
    )


@overload
def retriever(name: str | None = None, /) -> Decorator: ...
@overload
def retriever(function: Decorated, /) -> Decorated: ...
def retriever(name: Any = None, /) -> Any:
    """Record a retrieval: the query, and the documents with ids, scores, ranks and hashes."""
    return _dispatch(name, lambda function, named: RetrieverPlan(named, compile_binder(function)))


def checked_kind(kind: str, *others: str) -> StepKind:
    """Return the step kind, or raise ValueError naming the known ones and `others`."""
    try:
        return StepKind(kind)
    except ValueError:
        known = ", ".join([*StepKind, *others])
        raise ValueError(f"kind must be one of {known}; found {kind!r}") from None


def _paths(option: str, paths: str | Sequence[str]) -> tuple[str, ...]:
    given: Any = (paths,) if isinstance(paths, str) else paths
    if not isinstance(given, Sequence) or not all(isinstance(path, str) for path in given):
        raise TypeError(f"{option} must be a path, or a list of paths; found {paths!r}")
    return tuple(given)
