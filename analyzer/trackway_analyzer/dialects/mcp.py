"""Model Context Protocol: `mcp.*`, as the protocol's SDK and its instrumentors write it."""

from __future__ import annotations

from typing import Final

from trackway.schema import GenAI, Operation
from trackway_analyzer.dialects.dialect import Dialect, Marks
from trackway_analyzer.dialects.otel_genai import TOOL
from trackway_analyzer.dialects.sources import name_after

METHOD: Final = "mcp.method.name"

MCP: Final = Dialect(
    name="mcp",
    marks=Marks(keys=(METHOD,), scopes=("mcp-python-sdk",)),
    operations=(
        (METHOD, {"tools/call": Operation.TOOL}),
        (METHOD, Operation.OTHER),
    ),
    of={
        Operation.TOOL: {
            **TOOL,
            # The conventions name the span "{method} {tool}"; the client's span has nothing else.
            "tool": (GenAI.TOOL_NAME, name_after(METHOD)),
        }
    },
)
