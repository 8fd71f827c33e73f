"""How a program cuts off what was turned on, and how that is seen.

1. An instrumentor that somebody else turns off no longer records.
2. So does one whose patch is gone: of each library the functions that its calls go through are
   remembered as they were when it was turned on, and have to be there still, bare or wrapped.
3. So does one that hangs on a list of the library (processors, handlers) that was replaced, and a
   library of which tracing was switched off.
4. So does one that writes to a tracer provider which is not the one that records by now.
5. `agents.set_trace_processors([...])` is what people call to keep the framework's traces from
   OpenAI: our processor is put back into the new list.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from inspect import getattr_static
from typing import Any, Final

from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider

from trackway.configure import provider_in_use
from trackway.instrument.library import Undo
from trackway.watching import WhyLost

CALLS_GO_THROUGH: Final[Mapping[str, tuple[str, ...]]] = {
    "openai": (
        "openai.resources.chat.completions:Completions.create",
        "openai.resources.chat.completions:AsyncCompletions.create",
        "openai.resources.responses.responses:Responses.create",
        "openai.resources.responses.responses:AsyncResponses.create",
    ),
    "litellm": ("litellm:completion", "litellm:acompletion"),
    "langchain": ("langchain_core.callbacks.base:BaseCallbackManager.__init__",),
    "smolagents": ("smolagents:MultiStepAgent.run", "smolagents:Tool.__call__"),
    "mcp": ("mcp.client.session:ClientSession.call_tool",),
}
"""`module:path` of what is patched, by library; those that exist are looked at."""

ELSEWHERE: Final = "it writes to a tracer provider that is not the one that records now"
TURNED_OFF: Final = "another uninstrument() turned its instrumentor off"


def losses(library: str, instrumentor: Any, provider: TracerProvider | None) -> WhyLost:
    """Return what tells why a library that has just been turned on no longer records.

    instrumentor: None where the library writes its spans itself. provider: the one that it was
    given; None where it takes the global one.
    """
    checks = [] if library in _FOLLOWS_THE_RECORDER else [_of_provider(provider)]
    if instrumentor is not None:
        checks.append(_of_instrumentor(instrumentor))
    checks += [_of_patch(place) for place in CALLS_GO_THROUGH.get(library, ())]
    special = _SPECIAL.get(library)
    if special is not None:
        checks.append(special(instrumentor))
    return lambda: next((why for check in checks if (why := check()) is not None), None)


def kept(library: str, instrumentor: Any) -> Undo | None:
    """Keep an instrumentor where the program would cut it off unawares; return what stops that."""
    return _processor_kept(instrumentor) if library == "openai-agents" else None


def _of_provider(given: TracerProvider | None) -> WhyLost:
    def why() -> str | None:
        records = provider_in_use()
        writes_to = given or trace.get_tracer_provider()
        return None if records is None or writes_to is records else ELSEWHERE

    return why


def _of_instrumentor(instrumentor: Any) -> WhyLost:
    def why() -> str | None:
        is_on = getattr(instrumentor, "is_instrumented_by_opentelemetry", True)
        return None if is_on else TURNED_OFF

    return why


def _of_patch(place: str) -> WhyLost:
    remembered = _standing(place)
    if remembered is None:
        return lambda: None

    def why() -> str | None:
        if any(layer is remembered for layer in _layers(_standing(place))):
            return None
        return f"{place.replace(':', '.')} was replaced"

    return why


def _standing(place: str) -> Any:
    """Return what stands at `module:path` now, unbound; None where nothing does."""
    module, _, path = place.partition(":")
    found: Any = sys.modules.get(module)
    for name in path.split("."):
        found = getattr_static(found, name, None)
    return found


def _layers(function: Any) -> Iterator[Any]:
    """Give a function and everything that it may wrap, from outside to inside."""
    waiting = [function]
    for _ in range(_MOST_LAYERS):
        if not waiting:
            return
        layer = waiting.pop(0)
        yield layer
        yield getattr(layer, "_self_parent", None)  # wrapt: what a bound wrapper was bound from
        inner = [getattr(layer, "__wrapped__", None), *_closed_over(layer)]
        waiting += [each for each in inner if callable(each)]


def _closed_over(function: Any) -> Iterator[Any]:
    """Give what a wrapper without a trace of `functools.wraps` holds on to."""
    for cell in getattr(function, "__closure__", None) or ():
        try:
            yield cell.cell_contents
        except ValueError:  # not bound yet
            continue


def _of_trace_provider(instrumentor: Any) -> WhyLost:
    """OpenAI Agents: our processor in the framework's own provider, and its tracing on."""
    tracing = import_module("agents.tracing")
    provider = tracing.get_trace_provider()
    processor = getattr(instrumentor, "_processor", None)

    def why() -> str | None:
        now = tracing.get_trace_provider()
        if getattr(now, "_disabled", False):
            return "agents.set_tracing_disabled() switched its tracing off"
        held = getattr(getattr(now, "_multi_processor", None), "_processors", None)
        if held is None:
            return None if now is provider else "agents.set_trace_provider() replaced its provider"
        if processor is None or processor in held:
            return None
        return "its trace processors were replaced"

    return why


def _processor_kept(instrumentor: Any) -> Undo:
    owner = import_module("agents.tracing.provider").DefaultTraceProvider
    current: Callable[[], Any] = import_module("agents.tracing").get_trace_provider
    before = owner.set_processors

    @functools.wraps(before)
    def set_processors(self: Any, processors: list[Any]) -> None:
        before(self, processors)
        ours = getattr(instrumentor, "_processor", None)
        if ours is not None and ours not in processors and self is current():
            self.register_processor(ours)

    owner.set_processors = set_processors

    def undo() -> None:
        owner.set_processors = before

    return undo


def _of_dispatcher(instrumentor: Any) -> WhyLost:
    """LlamaIndex: our span handler on the root dispatcher."""
    dispatcher = import_module("llama_index.core.instrumentation").get_dispatcher()
    handler = getattr(instrumentor, "_span_handler", None)

    def why() -> str | None:
        if handler is None or handler in dispatcher.span_handlers:
            return None
        return "the span handlers of its dispatcher were replaced"

    return why


def _of_agent_default(_instrumentor: Any) -> WhyLost:
    """Pydantic AI: the instrumentation of agents that have none of their own."""
    agent: Any = import_module("pydantic_ai").Agent

    def why() -> str | None:
        is_on = getattr(agent, "_instrument_default", True)
        return None if is_on else "Agent.instrument_all(False) turned its spans off"

    return why


_MOST_LAYERS: Final = 32
_FOLLOWS_THE_RECORDER: Final = frozenset({"mcp"})
_SPECIAL: Final[Mapping[str, Callable[[Any], WhyLost]]] = {
    "llama-index": _of_dispatcher,
    "openai-agents": _of_trace_provider,
    "pydantic-ai": _of_agent_default,
}
