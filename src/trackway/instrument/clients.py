"""Clients of models: what they record is model calls."""

from __future__ import annotations

from typing import Final

from trackway.instrument.library import Library, Origin, Way
from trackway.instrument.ways import GENAI, native, official, openinference, openllmetry

CLIENTS: Final[tuple[Library, ...]] = (
    Library(
        name="openai",
        module="openai",
        distribution="openai",
        records="model calls",
        ways=(
            official(
                "openai",
                "OpenAIInstrumentor",
                "Follows the conventions, records chat, Responses, streams and the time to the "
                "first chunk, and steps back where a framework's span covers the call.",
            ),
            openinference(
                "openai",
                "OpenAIInstrumentor",
                "Records the same calls under keys of its own; a framework's span is doubled.",
            ),
        ),
        rivals=(
            openllmetry("openai", "OpenAIInstrumentor"),
            openllmetry("openai_v2", "OpenAIInstrumentor"),
        ),
        extra=("openai>=1.26", f"{GENAI}openai>=1.2b0"),
        note="Azure and other base URLs too. The tools of a loop of your own are seen where "
        "`trackway.tools` or `@tool` wrap them; else the analyzer reads them out of the messages.",
    ),
    Library(
        name="anthropic",
        module="anthropic",
        distribution="anthropic",
        records="model calls",
        ways=(
            native(
                "anthropic",
                "anthropic",
                "Since its version 2 the client writes a span a call by itself; an instrumentor "
                "on top would double each.",
                since="2",
            ),
            official(
                "anthropic",
                "AnthropicInstrumentor",
                "For clients before version 2, which write no spans.",
                before="2",
            ),
            openinference(
                "anthropic",
                "AnthropicInstrumentor",
                "Records the same calls under keys of its own.",
                before="2",
            ),
        ),
        rivals=(openllmetry("anthropic", "AnthropicInstrumentor"),),
        scopes=("com.anthropic.sdk.python",),
        extra=("anthropic>=2",),
        note="The content switch is read when a client is built: call `instrument()` before.",
    ),
    Library(
        name="google-genai",
        module="google.genai",
        distribution="google-genai",
        records="model calls",
        ways=(
            openinference(
                "google-genai",
                "GoogleGenAIInstrumentor",
                "The official one declines version 3 of the client.",
                since="3",
            ),
            Way(
                Origin.OFFICIAL,
                "opentelemetry-instrumentation-google-genai",
                "opentelemetry.instrumentation.google_genai:GoogleGenAiSdkInstrumentor",
                "Follows the conventions, for the versions that it knows.",
                before="3",
            ),
            openinference(
                "google-genai",
                "GoogleGenAIInstrumentor",
                "The same calls, keys of its own.",
                since="2",
                before="3",
            ),
        ),
        rivals=(openllmetry("google_generativeai", "GoogleGenerativeAiInstrumentor"),),
        extra=("google-genai>=2", "openinference-instrumentation-google-genai>=1.4"),
    ),
    Library(
        name="bedrock",
        module="botocore",
        distribution="botocore",
        records="model calls",
        ways=(
            official("bedrock", "BedrockInstrumentor", "Follows the conventions."),
            openinference("bedrock", "BedrockInstrumentor", "The same calls, keys of its own."),
        ),
        rivals=(openllmetry("bedrock", "BedrockInstrumentor"),),
        extra=("boto3>=1.40.46", f"{GENAI}bedrock>=1.3b0"),
    ),
    Library(
        name="litellm",
        module="litellm",
        distribution="litellm",
        records="model calls",
        ways=(
            openinference(
                "litellm",
                "LiteLLMInstrumentor",
                "The only one that is kept; the official list has none.",
            ),
        ),
        rivals=(openllmetry("litellm", "LiteLLMInstrumentor"),),
        extra=("litellm>=1.60", "openinference-instrumentation-litellm>=0.1.25"),
        import_is_costly=True,  # it downloads a table of prices
        note="LiteLLM's own `otel` callback writes a second span a call: leave it off. It is "
        "turned on when the program imports it.",
    ),
)
