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

from trackway.instrument.clients import CLIENTS
from trackway.instrument.frameworks import FRAMEWORKS
from trackway.instrument.library import Library


def _unsupported(name: str, module: str, distribution: str) -> Library:
    return Library(name, module, distribution, ways=(), records="nothing")


LIBRARIES: Final[tuple[Library, ...]] = (*CLIENTS, *FRAMEWORKS)
UNSUPPORTED: Final[tuple[Library, ...]] = (
    _unsupported("autogen", "autogen_agentchat", "autogen-agentchat"),
    _unsupported("cohere", "cohere", "cohere"),
    _unsupported("groq", "groq", "groq"),
    _unsupported("haystack", "haystack", "haystack-ai"),
    _unsupported("mistralai", "mistralai", "mistralai"),
    _unsupported("ollama", "ollama", "ollama"),
    _unsupported("semantic-kernel", "semantic_kernel", "semantic-kernel"),
    _unsupported("together", "together", "together"),
)
"""Libraries that are known and that nothing is turned on for: none of their ways was tried yet."""
KNOWN: Final = (*LIBRARIES, *UNSUPPORTED)
BY_NAME: Final = {library.name: library for library in KNOWN}

SHOW_TOOLS: Final = frozenset(
    scope
    for library in FRAMEWORKS
    for scope in (*library.scopes, *(way.scope for way in library.ways if way.tools))
    if scope is not None
)
"""Instrumentation scopes of frameworks' spans among which each executed tool call has one."""
