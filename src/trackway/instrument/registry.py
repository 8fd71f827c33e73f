"""Which libraries are recorded, and by what?

1. One row a library. Of its ways the first is the best one that exists today; the others serve who
   has them installed already.
2. Official OpenTelemetry instrumentors come first: they follow the conventions, suppress each
   other's doubles and write what a span is at its start, so that steps take their place in time.
   Then a library's own spans, then OpenInference.
3. Where a library's own spans are complete, no instrumentor is put on top of them.
4. OpenLLMetry's instrumentors are never turned on: they write tool arguments as the text of a
   Python object, lose tool spans, and the one for MCP breaks imports. They are known, so that one
   that is active already is noticed.
"""

from __future__ import annotations

from typing import Final

from trackway.instrument.library import Library, Origin, Way

_GENAI: Final = "opentelemetry-instrumentation-genai-"
_OI: Final = "openinference-instrumentation-"


def _official(suffix: str, cls: str, why: str, **versions: str) -> Way:
    return Way(
        Origin.OFFICIAL,
        _GENAI + suffix,
        f"opentelemetry.instrumentation.genai.{suffix.replace('-', '_')}:{cls}",
        why,
        **versions,
    )


def _openinference(suffix: str, cls: str, why: str, **versions: str) -> Way:
    return Way(
        Origin.OPENINFERENCE,
        _OI + suffix,
        f"openinference.instrumentation.{suffix.replace('-', '_')}:{cls}",
        why,
        **versions,
    )


def _native(distribution: str, switch: str, why: str, **versions: str) -> Way:
    return Way(Origin.NATIVE, distribution, switch, why, **versions)


def _traceloop(module: str, cls: str) -> str:
    return f"opentelemetry.instrumentation.{module}:{cls}"


LIBRARIES: Final[tuple[Library, ...]] = (
    Library(
        name="openai",
        module="openai",
        distribution="openai",
        records="model calls",
        ways=(
            _official(
                "openai",
                "OpenAIInstrumentor",
                "Follows the conventions, records chat, Responses, streams and the time to the "
                "first chunk, and steps back where a framework's span covers the call.",
            ),
            _openinference(
                "openai",
                "OpenAIInstrumentor",
                "Records the same calls under keys of its own; a framework's span is doubled.",
            ),
        ),
        rivals=(
            _traceloop("openai", "OpenAIInstrumentor"),
            _traceloop("openai_v2", "OpenAIInstrumentor"),
        ),
        extra=("openai>=1.26", f"{_GENAI}openai>=1.2b0"),
        note="Tool calls of a loop of your own are seen where `trackway.tools` or `@tool` wrap "
        "them; else the analyzer reads them out of the messages.",
    ),
    Library(
        name="anthropic",
        module="anthropic",
        distribution="anthropic",
        records="model calls",
        ways=(
            _native(
                "anthropic",
                "anthropic",
                "Since its version 2 the client writes a span a call by itself; an instrumentor "
                "on top would double each.",
                since="2",
            ),
            _official(
                "anthropic",
                "AnthropicInstrumentor",
                "For clients before version 2, which write no spans.",
                before="2",
            ),
            _openinference(
                "anthropic",
                "AnthropicInstrumentor",
                "Records the same calls under keys of its own.",
                before="2",
            ),
        ),
        rivals=(_traceloop("anthropic", "AnthropicInstrumentor"),),
        scopes=("com.anthropic.sdk.python",),
        extra=("anthropic>=2",),
        note="The content switch is read when a client is built: call `instrument()` before.",
    ),
    Library(
        name="langchain",
        module="langchain_core",
        distribution="langchain-core",
        records="agents, tools, retrievers and model calls",
        ways=(
            _official(
                "langchain",
                "LangChainInstrumentor",
                "One span a model call, tool call and agent, with call ids, conversation id and "
                "nothing in between; covers LangGraph.",
            ),
            _openinference(
                "langchain",
                "LangChainInstrumentor",
                "Three times the spans, no call ids, kinds known only at the end.",
            ),
        ),
        rivals=(_traceloop("langchain", "LangchainInstrumentor"),),
        extra=("langchain>=1", f"{_GENAI}langchain>=1.2b0"),
        note="The official instrumentor asks for `langchain` itself; `langchain-core` alone is "
        "not enough for it.",
    ),
    Library(
        name="openai-agents",
        module="agents",
        distribution="openai-agents",
        records="agents, tools and handoffs",
        ways=(
            _official(
                "openai-agents",
                "OpenAIAgentsInstrumentor",
                "A clean tree of agents and tools; the model calls come from the client's "
                "instrumentor, each once.",
            ),
            _openinference(
                "openai-agents",
                "OpenAIAgentsInstrumentor",
                "Agents, tools and model calls in one, with the root span twice; doubles the "
                "client's instrumentor.",
            ),
        ),
        rivals=(
            _traceloop("openai_agents", "OpenAIAgentsInstrumentor"),
            "logfire._internal.integrations.openai_agents:LogfireTraceProviderWrapper",
        ),
        needs=("openai",),
        extra=(
            "openai-agents>=0.3.3",
            f"{_GENAI}openai-agents>=1.2b0",
            f"{_GENAI}openai>=1.2b0",
        ),
        note="The framework's own exporter stays on and sends traces to OpenAI where a key is "
        "set; `OPENAI_AGENTS_DISABLE_TRACING` would turn off both.",
    ),
    Library(
        name="pydantic-ai",
        module="pydantic_ai",
        distribution="pydantic-ai-slim",
        records="agents, tools and model calls",
        ways=(
            _native(
                "pydantic-ai-slim",
                "pydantic_ai",
                "Complete spans of its own, behind `Agent.instrument_all`.",
            ),
        ),
        scopes=("pydantic-ai",),
        extra=("pydantic-ai-slim[openai]>=1",),
        note="An agent with an instrumentation of its own keeps that.",
    ),
)

BY_NAME: Final = {library.name: library for library in LIBRARIES}
