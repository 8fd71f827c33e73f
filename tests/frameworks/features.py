"""What is asked of every framework, and where a framework cannot give it.

A gap is a cell that fails, with the reason; the tests hold it to still failing, so that a gap that
was closed is noticed. What does not apply to a framework says why.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import pytest

from frameworks.catalogue import FRAMEWORKS, Framework


@dataclass(frozen=True, slots=True)
class Feature:
    """A column of the matrix."""

    title: str
    means: str


FEATURES: Final = {
    "order": Feature("order", "the four tools, executed, in order, by name"),
    "arguments": Feature("arguments", "every argument as the model gave it"),
    "results": Feature("results", "every result as the tool gave it"),
    "ids": Feature("call ids", "every call under the id that the model gave it"),
    "models": Feature("model calls", "one span a model call, none twice"),
    "parents": Feature(
        "parents", "every call below its agent and its turn; no hole and no second root"
    ),
    "tokens": Feature("tokens", "input and output tokens of every call and their totals"),
    "identity": Feature("one run id", "every span of the run carries its id"),
    "said": Feature("texts", "the request and the final answer"),
    "fail": Feature("failing tool", "the refund raises: it did not happen, no mail is sent"),
    "parallel": Feature("parallel", "two and two calls, each pair asked for by one turn"),
    "streaming": Feature("streaming", "the same trajectory and tokens as without streaming"),
    "retry": Feature("retries", "429 and a server's error, retried by the client: no call twice"),
    "attempts": Feature("refused", "the requests that were refused before are in the record"),
    "decorated": Feature("by hand", "the same agent decorated by hand: equal trajectories"),
    "two-lines": Feature("two lines", "without `run(...)`: `configure()` and `instrument()` only"),
    "zero-code": Feature(
        "zero code", "`OTEL_PYTHON_DISTRO=trackway opentelemetry-instrument`, the program unchanged"
    ),
    "reset": Feature(
        "reset", "the program takes off the library's own tracing afterwards: nothing is lost"
    ),
    "cut-off": Feature(
        "cut off", "the program turns the library's tracing off: the run says that it is missing"
    ),
    "approval": Feature("approval", "interrupted, resumed in a new process: one trajectory"),
    "refusal": Feature(
        "denied",
        "the approval is denied, in somebody's own words where the framework passes them on: the "
        "call does not read as executed",
    ),
    "sub-agent": Feature(
        "sub-agent", "an agent as a tool: its steps inside the call, below both agents' names"
    ),
    "handoff": Feature("handoff", "another agent goes on: the call, who does what, one run"),
    "retriever": Feature("retriever", "one step inside its tool, with query and documents"),
}

OWN_LOOP: Final = "a loop of the program's own: only the program knows where a run begins"
HANDOFFS: Final = ("handoff", "transfer", "workflow")
"""Variants in which another agent goes on."""

_VARIANTS: Final = {"handoff": HANDOFFS, "sub-agent": ("sub-agent", "managed")}
"""Variants, one of which stands for a feature."""

NO_APPROVAL: Final = (
    "the library has no approvals of tools (`trackway.wait` and `trackway.carrier` serve any), or "
    "they are played above on the other API (OpenAI Agents), or the workflow waits for an event "
    "that the program's own tool asks for (LlamaIndex)"
)
NOT_PLAYED: Final = {
    "reset": "no tracing of the library's own that people take off (litellm: `litellm.callbacks = "
    "[]`; LangGraph: `callbacks=[]`; OpenAI Agents: `set_trace_processors([])`)",
    "cut-off": "no switch of the library's own that turns it all off (a method of a client class "
    "that is put back is tested without a framework), or the same library one row above",
    "approval": NO_APPROVAL,
    "refusal": NO_APPROVAL,
    "sub-agent": "no sub-agents of the library's own",
    "handoff": "no handoffs (pydantic-ai and smolagents delegate: that is a sub-agent), or in a "
    "package of its own that its environment does not hold (LangGraph: `langgraph-supervisor`, "
    "`langgraph-swarm`; Microsoft Agent Framework: `agent-framework-orchestrations`)",
    "retriever": "no retrievers, or not played (Microsoft Agent Framework, Google ADK); "
    "`@trackway.retriever` records any",
}

GAPS: Final[dict[tuple[str, str], str]] = {
    ("google-adk", "attempts"): "the Gemini client puts no number on a request that it repeats, "
    "and no instrumentor tells of it: the record has one model call, right in all but its length",
}
"""(framework, feature) → why it is not to be had."""

_BAGGAGE: Final = (
    "with `configure(baggage=True)` on both sides, which carries the run in the request's `_meta`; "
    "without it the server's spans join the run by their trace"
)
_FROM_MESSAGES: Final = (
    "plain functions of a loop have no spans: the calls are read out of the model's messages; "
    "`trackway.tools` or `@trackway.tool` give them spans"
)
_BY_NAME: Final = (
    "the tool's span has no call id: it is joined to the model's request by name, arguments and "
    "order, and marked `id_inferred`"
)
_NO_SPAN: Final = (
    "the instrumentor writes no span for a handoff: the call is read out of the model's messages, "
    "who goes on out of the agents' spans"
)
_MANAGED: Final = (
    "the instrumentor writes no span for the call of a managed agent: the call is read out of the "
    "model's messages, its steps out of that agent's spans; what was told back is not recorded"
)
_OWN_WORDS: Final = (
    "the answer is the supervisor's own words, which could be a tool's as well: whether it was "
    "carried out is not known (`tools_not_observable`), rules on it are undecided"
)
_FIXED_WORDS: Final = (
    "the framework says in a text of its own that somebody refused: the call was not carried out"
)
_NO_TEXT: Final = (
    "documents by id (LlamaIndex: and score): the instrumentor leaves their texts out; they are in "
    "the tool's result"
)
_READ: Final = ("openai-chat", "openai-azure", "openai-base-url", "openai-responses")
_INFERRED: Final = ("openai-agents", "openai-agents-chat", "mcp-stdio", "mcp-http", "smolagents")
_RUN: Final = "with `TRACKWAY_RUN=refund`, which makes the process one run"
NOTES: Final[dict[tuple[str, str], str]] = {
    **{(name, "order"): _FROM_MESSAGES for name in (*_READ, "anthropic", "litellm")},
    **{(name, "ids"): _BY_NAME for name in _INFERRED},
    **{(f.name, "zero-code"): _RUN for f in FRAMEWORKS.values() if f.own_loop},
    ("smolagents", "decorated"): "`final_answer` is the framework's own tool, which nobody can "
    "decorate; all other calls are equal",
    ("openai-agents", "fail"): "the framework keeps the exception's text from the model and from "
    "its own spans; that the call failed is recorded",
    ("openai-agents-chat", "fail"): "the framework keeps the exception's text from the model and "
    "from its own spans; that the call failed is recorded",
    ("mcp-stdio", "fail"): "the server keeps the exception's text to itself; that the call failed "
    "is recorded",
    ("mcp-http", "fail"): "the server keeps the exception's text to itself; that the call failed "
    "is recorded",
    ("mcp-stdio", "identity"): _BAGGAGE,
    ("mcp-http", "identity"): _BAGGAGE,
    ("google-adk", "handoff"): "the agent that goes on runs inside the one that handed over",
    ("openai-agents", "handoff"): _NO_SPAN,
    ("openai-agents-chat", "handoff"): _NO_SPAN,
    ("openai-agents", "refusal"): _OWN_WORDS,
    ("pydantic-ai", "refusal"): _OWN_WORDS,
    ("langgraph", "refusal"): _FIXED_WORDS,
    ("google-adk", "refusal"): _FIXED_WORDS,
    ("ms-agent-framework", "refusal"): _FIXED_WORDS,
    ("smolagents", "sub-agent"): _MANAGED,
    ("langgraph", "retriever"): _NO_TEXT,
    ("llama-index", "retriever"): _NO_TEXT,
    ("openai-agents-chat", "streaming"): "with `ModelSettings(include_usage=True)`; without it "
    "the endpoint sends no token counts",
}
"""(framework, feature) → what to know of a cell that holds."""


def not_applicable(framework: Framework, feature: str) -> str | None:
    """Why a feature has no meaning for a framework; None where it has."""
    if feature == "two-lines" and framework.own_loop:
        return OWN_LOOP
    variants = _VARIANTS.get(feature, (feature,))
    if feature in NOT_PLAYED and not set(variants) & set(framework.plays):
        return NOT_PLAYED[feature]
    return None


def asked_of_all(feature: str) -> Any:
    """Parametrize a test with every framework."""
    assert feature in FEATURES
    cases = []
    for framework in FRAMEWORKS.values():
        reason = not_applicable(framework, feature)
        gap = GAPS.get((framework.name, feature))
        marks = [pytest.mark.skip(reason=reason)] if reason else []
        if gap:
            marks.append(pytest.mark.xfail(reason=gap, strict=True, raises=AssertionError))
        cases.append(pytest.param(framework.name, id=f"{feature}-{framework.name}", marks=marks))
    every = pytest.mark.parametrize("framework", cases)
    return lambda test: pytest.mark.feature(feature)(every(test))
