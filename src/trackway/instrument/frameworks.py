"""Agent frameworks: what they record is agents, tools and, most of them, model calls."""

from __future__ import annotations

from typing import Final

from trackway.instrument.library import Library
from trackway.instrument.ways import (
    GENAI,
    OPENINFERENCE,
    native,
    official,
    openinference,
    openllmetry,
)

FRAMEWORKS: Final[tuple[Library, ...]] = (
    Library(
        name="langchain",
        module="langchain_core",
        distribution="langchain-core",
        records="agents, tools, retrievers and model calls",
        ways=(
            official(
                "langchain",
                "LangChainInstrumentor",
                "One span a model call, tool call and agent, with call ids, conversation id and "
                "nothing in between; covers LangGraph.",
            ),
            openinference(
                "langchain",
                "LangChainInstrumentor",
                "Three times the spans, no call ids, kinds known only at the end.",
            ),
        ),
        rivals=(openllmetry("langchain", "LangchainInstrumentor"),),
        extra=("langchain>=1", f"{GENAI}langchain>=1.2b0"),
        note="It asks for `langchain` itself; `langchain-core` alone is not enough for it.",
    ),
    Library(
        name="llama-index",
        module="llama_index.core",
        distribution="llama-index-core",
        records="agents, tools and retrievers",
        ways=(
            official(
                "llama-index",
                "LlamaIndexInstrumentor",
                "A clean tree of agents and tools with call ids; the model calls come from the "
                "client's instrumentor, each once.",
            ),
            openinference(
                "llama-index",
                "LlamaIndexInstrumentor",
                "Three spans a model call, and a tool's name in an attribute only.",
            ),
        ),
        rivals=(openllmetry("llamaindex", "LlamaIndexInstrumentor"),),
        needs=("openai",),
        extra=(
            "llama-index-core>=0.14.19",
            "llama-index-llms-openai>=0.6",
            f"{GENAI}llama-index>=1.3b0",
            f"{GENAI}openai>=1.2b0",
        ),
    ),
    Library(
        name="openai-agents",
        module="agents",
        distribution="openai-agents",
        records="agents and tools",
        ways=(
            official(
                "openai-agents",
                "OpenAIAgentsInstrumentor",
                "A clean tree of agents and tools; the model calls come from the client's "
                "instrumentor, each once.",
            ),
            openinference(
                "openai-agents",
                "OpenAIAgentsInstrumentor",
                "Agents, tools and model calls in one, with the root span twice; doubles the "
                "client's instrumentor.",
            ),
        ),
        rivals=(openllmetry("openai_agents", "OpenAIAgentsInstrumentor"),),
        needs=("openai",),
        extra=(
            "openai-agents>=0.3.3",
            f"{GENAI}openai-agents>=1.2b0",
            f"{GENAI}openai>=1.2b0",
        ),
        note="The framework's own exporter stays on and sends traces to OpenAI where a key is "
        "set: `agents.set_trace_processors([])` takes it off.",
    ),
    Library(
        name="pydantic-ai",
        module="pydantic_ai",
        distribution="pydantic-ai-slim",
        records="agents, tools and model calls",
        ways=(
            native(
                "pydantic-ai-slim",
                "pydantic_ai",
                "Complete spans of its own, behind `Agent.instrument_all`.",
            ),
        ),
        scopes=("pydantic-ai",),
        extra=("pydantic-ai-slim[openai]>=1",),
        note="An agent with an instrumentation of its own keeps that.",
    ),
    Library(
        name="google-adk",
        module="google.adk",
        distribution="google-adk",
        records="agents, tools and model calls",
        ways=(
            native(
                "google-adk",
                "variables",
                "Complete spans of its own, always on; the content variable is all it needs.",
            ),
        ),
        rivals=("openinference.instrumentation.google_adk:GoogleADKInstrumentor",),
        scopes=("gcp.vertex.agent",),
        extra=("google-adk>=2",),
        note="It holds OpenTelemetry at 1.44.",
    ),
    Library(
        name="agent-framework",
        module="agent_framework",
        distribution="agent-framework-core",
        records="agents, tools and model calls",
        ways=(
            native(
                "agent-framework-core",
                "agent_framework",
                "Complete spans of its own, always on; the switch adds arguments and messages.",
            ),
        ),
        scopes=("agent_framework",),
        extra=("agent-framework-core>=1", "agent-framework-openai>=1"),
    ),
    Library(
        name="strands",
        module="strands",
        distribution="strands-agents",
        records="agents, tools and model calls",
        ways=(
            native(
                "strands-agents",
                "strands",
                "Complete spans of its own, always on; a variable puts messages on the spans.",
            ),
        ),
        scopes=("strands.telemetry.tracer",),
        extra=("strands-agents[openai]>=1",),
        note="Its `threading` instrumentation holds OpenTelemetry at 1.45.1.",
    ),
    Library(
        name="smolagents",
        module="smolagents",
        distribution="smolagents",
        records="agents, tools and model calls",
        ways=(
            openinference(
                "smolagents",
                "SmolagentsInstrumentor",
                "Records every step; the official one gives the root span alone.",
            ),
            official(
                "smolagents",
                "SmolagentsInstrumentor",
                "The root span alone: no tools.",
                tools=False,
            ),
        ),
        extra=("smolagents[openai]>=1.20", f"{OPENINFERENCE}smolagents>=0.1.20"),
    ),
    Library(
        name="crewai",
        module="crewai",
        distribution="crewai",
        records="agents and tools",
        ways=(
            openinference(
                "crewai",
                "CrewAIInstrumentor",
                "Records tools, which OpenLLMetry's does not; the official one is a skeleton.",
            ),
        ),
        rivals=(openllmetry("crewai", "CrewAIInstrumentor"),),
        needs=("openai",),
        extra=(
            "crewai>=1.10.1",
            f"{OPENINFERENCE}crewai>=1.1",
            f"{GENAI}openai>=1.2b0",
        ),
    ),
    Library(
        name="agno",
        module="agno",
        distribution="agno",
        records="agents and tools",
        ways=(
            official(
                "agno",
                "AgnoInstrumentor",
                "Agents and tools with call ids; the model calls come from the client's "
                "instrumentor, each once.",
            ),
            openinference("agno", "AgnoInstrumentor", "The same calls, keys of its own."),
        ),
        rivals=(openllmetry("agno", "AgnoInstrumentor"),),
        needs=("openai",),
        extra=("agno>=2.7.2", f"{GENAI}agno>=1.3b0", f"{GENAI}openai>=1.2b0"),
    ),
    Library(
        name="dspy",
        module="dspy",
        distribution="dspy",
        records="modules, tools and model calls",
        ways=(
            official("dspy", "DSPyInstrumentor", "Follows the conventions."),
            openinference("dspy", "DSPyInstrumentor", "The same calls, keys of its own."),
        ),
        extra=("dspy>=3.3", f"{GENAI}dspy>=1.3b0"),
    ),
    Library(
        name="claude-agent-sdk",
        module="claude_agent_sdk",
        distribution="claude-agent-sdk",
        records="agents, tools and model calls",
        ways=(
            openinference(
                "claude-agent-sdk",
                "ClaudeAgentSDKInstrumentor",
                "The only one that is kept; the official one is a skeleton.",
            ),
        ),
        extra=("claude-agent-sdk>=0.1.45", f"{OPENINFERENCE}claude-agent-sdk>=0.1.20"),
    ),
    Library(
        name="mcp",
        module="mcp",
        distribution="mcp",
        records="tool calls over the Model Context Protocol",
        ways=(
            native(
                "mcp",
                "mcp",
                "Since its version 2 the SDK writes spans on both sides, without arguments; calls "
                "of a session are recorded around them, with arguments, result and success.",
            ),
        ),
        rivals=(
            openllmetry("mcp", "McpInstrumentor"),
            "openinference.instrumentation.mcp:MCPInstrumentor",
        ),
        scopes=("mcp-python-sdk",),
        extra=("mcp>=1.20",),
        note="OpenLLMetry's instrumentor breaks the import of version 2.",
    ),
)
