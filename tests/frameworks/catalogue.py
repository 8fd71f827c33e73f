"""Which frameworks are run, in which environment, by which agent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Environment:
    """What `pip install` is told; frameworks that need other versions of one package are apart."""

    name: str
    extras: tuple[str, ...]
    requires: tuple[str, ...]
    shown: tuple[str, ...]
    """Packages whose versions the matrix names."""


@dataclass(frozen=True, slots=True)
class Framework:
    """One agent, as a person of that framework would write it."""

    name: str
    title: str
    environment: str
    program: str
    arguments: tuple[str, ...] = ()
    own_loop: bool = False
    """The program loops itself and runs the tools itself: `run(...)` says where a run begins."""
    by_count: bool = False
    """The client sends no call ids back, so the endpoint counts requests."""
    final_tool: bool = False
    """The last answer is a call of `final_answer`."""
    error_text: str = "payment gateway timeout"
    """What the model is told when the refund raises."""
    variables: tuple[tuple[str, str], ...] = ()
    """Environment variables of the program."""
    overloaded: int = 500
    """How the provider says that it is overloaded."""
    aborts: bool = False
    """An error of a tool ends the run instead of going to the model."""
    cut_off_by: str = ""
    """What the record says of a program that turned the library's tracing off."""
    refuses_itself: bool = True
    """Whether a refusal says in the framework's own words that nothing was carried out."""
    plays: tuple[str, ...] = ()
    """Variants that not every framework can play: reset, approval, sub-agent, handoff, …"""


ENVIRONMENTS: Final = {
    environment.name: environment
    for environment in (
        Environment("openai", ("openai",), ("openai",), ("openai",)),
        Environment("anthropic", ("anthropic",), ("anthropic",), ("anthropic",)),
        Environment("litellm", ("litellm",), ("litellm",), ("litellm",)),
        Environment(
            "langgraph",
            ("langchain",),
            ("langgraph", "langchain", "langchain-openai", "langgraph-checkpoint-sqlite"),
            ("langgraph", "langchain", "langchain-openai"),
        ),
        Environment("openai-agents", ("openai-agents",), ("openai-agents",), ("openai-agents",)),
        Environment(
            "pydantic-ai", ("pydantic-ai",), ("pydantic-ai-slim[openai]",), ("pydantic-ai-slim",)
        ),
        Environment("mcp", ("mcp", "openai"), ("mcp", "openai"), ("mcp", "openai")),
        Environment(
            "llama-index",
            ("llama-index",),
            ("llama-index-core", "llama-index-llms-openai-like"),
            ("llama-index-core",),
        ),
        Environment("smolagents", ("smolagents",), ("smolagents[openai]",), ("smolagents",)),
        Environment("google-adk", ("google-adk",), ("google-adk",), ("google-adk",)),
        Environment(
            "ms-agent-framework",
            ("agent-framework",),
            ("agent-framework-core", "agent-framework-openai"),
            ("agent-framework-core",),
        ),
    )
}

FRAMEWORKS: Final = {
    framework.name: framework
    for framework in (
        Framework("openai-chat", "OpenAI client, chat", "openai", "openai_chat.py", own_loop=True),
        Framework(
            "openai-azure", "OpenAI client, Azure", "openai", "openai_chat.py", ("azure",), True
        ),
        Framework(
            "openai-base-url",
            "OpenAI client, another `base_url`",
            "openai",
            "openai_chat.py",
            ("base-url",),
            True,
        ),
        Framework(
            "openai-responses",
            "OpenAI client, Responses",
            "openai",
            "openai_responses.py",
            own_loop=True,
        ),
        Framework(
            "anthropic",
            "Anthropic client",
            "anthropic",
            "anthropic_messages.py",
            own_loop=True,
            overloaded=529,
        ),
        Framework(
            "litellm", "LiteLLM", "litellm", "litellm_loop.py", own_loop=True, plays=("reset",)
        ),
        Framework(
            "langgraph",
            "LangGraph",
            "langgraph",
            "langgraph_agent.py",
            aborts=True,
            plays=("reset", "approval", "refusal", "sub-agent", "retriever"),
        ),
        Framework(
            "openai-agents",
            "OpenAI Agents",
            "openai-agents",
            "openai_agents.py",
            error_text="An error occurred while running the tool",
            refuses_itself=False,
            cut_off_by="agents.set_tracing_disabled() switched its tracing off",
            plays=("reset", "cut-off", "approval", "refusal", "sub-agent", "handoff"),
        ),
        Framework(
            "openai-agents-chat",
            "OpenAI Agents, chat",
            "openai-agents",
            "openai_agents.py",
            ("chat",),
            error_text="An error occurred while running the tool",
            plays=("reset", "sub-agent", "handoff"),
        ),
        Framework(
            "pydantic-ai",
            "pydantic-ai",
            "pydantic-ai",
            "pydantic_ai_agent.py",
            aborts=True,
            refuses_itself=False,
            cut_off_by="Agent.instrument_all(False) turned its spans off",
            plays=("cut-off", "approval", "refusal", "sub-agent"),
        ),
        Framework(
            "mcp-stdio",
            "MCP over stdio",
            "mcp",
            "mcp_agent.py",
            ("stdio",),
            True,
            error_text="Error executing tool refund_create",
            variables=(("TRACKWAY_BAGGAGE", "true"),),
        ),
        Framework(
            "mcp-http",
            "MCP over HTTP",
            "mcp",
            "mcp_agent.py",
            ("http",),
            True,
            error_text="Error executing tool refund_create",
            variables=(("TRACKWAY_BAGGAGE", "true"),),
        ),
        Framework(
            "llama-index",
            "LlamaIndex",
            "llama-index",
            "llama_index_agent.py",
            cut_off_by="the span handlers of its dispatcher were replaced",
            plays=("cut-off", "sub-agent", "workflow", "retriever"),
        ),
        Framework(
            "smolagents",
            "smolagents",
            "smolagents",
            "smolagents_agent.py",
            by_count=True,
            final_tool=True,
            plays=("managed",),
        ),
        Framework(
            "google-adk",
            "Google ADK",
            "google-adk",
            "google_adk_agent.py",
            aborts=True,
            plays=("approval", "refusal", "sub-agent", "transfer"),
        ),
        Framework(
            "ms-agent-framework",
            "Microsoft Agent Framework",
            "ms-agent-framework",
            "ms_agent_framework_agent.py",
            plays=("approval", "refusal", "sub-agent"),
        ),
    )
}
