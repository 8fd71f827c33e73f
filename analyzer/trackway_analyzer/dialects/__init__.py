"""Dialects: what each instrumentor calls things, as tables of keys.

`KNOWN` is the order in which a span is tried. The first dialect that knows a span is primary and
gives the row's `source`; later ones fill what is missing. Adding a dialect is one file with its
table and one line here.

A span that no dialect knows keeps all its attributes, has operation `other` and source `UNKNOWN`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from trackway_analyzer.dialects.adk import ADK
from trackway_analyzer.dialects.claude_code import CLAUDE_CODE
from trackway_analyzer.dialects.common import COMMON
from trackway_analyzer.dialects.dialect import Dialect, Fields, Marks
from trackway_analyzer.dialects.langfuse import LANGFUSE
from trackway_analyzer.dialects.langsmith import LANGSMITH
from trackway_analyzer.dialects.logfire import LOGFIRE
from trackway_analyzer.dialects.mcp import MCP
from trackway_analyzer.dialects.mlflow import MLFLOW
from trackway_analyzer.dialects.native import NATIVE
from trackway_analyzer.dialects.openinference import OPENINFERENCE
from trackway_analyzer.dialects.openllmetry import OPENLLMETRY
from trackway_analyzer.dialects.otel_genai import OTEL_GENAI
from trackway_analyzer.dialects.pydantic_ai import PYDANTIC_AI
from trackway_analyzer.dialects.span_reader import SpanReader
from trackway_analyzer.dialects.strands import STRANDS
from trackway_analyzer.dialects.transcript import TRANSCRIPT
from trackway_analyzer.dialects.vercel import VERCEL

KNOWN: Final[tuple[Dialect, ...]] = (
    NATIVE,
    TRANSCRIPT,
    OPENINFERENCE,
    VERCEL,
    LANGFUSE,
    MLFLOW,
    LANGSMITH,
    ADK,
    OPENLLMETRY,
    PYDANTIC_AI,
    LOGFIRE,
    STRANDS,
    CLAUDE_CODE,
    OTEL_GENAI,
    MCP,
)

UNKNOWN: Final = "unknown"
"""Source of a span that no dialect knows. A run made of such spans alone has the gap
`unknown_dialect`."""


def named(name: str) -> Dialect:
    """Return a dialect by name. Raises ValueError that lists the known names."""
    for dialect in KNOWN:
        if dialect.name == name:
            return dialect
    raise ValueError(f"no dialect {name!r}; known: {', '.join(d.name for d in KNOWN)}")


def span_reader(forced: str | None = None) -> SpanReader:
    """Return what reads spans. A forced dialect comes first and is taken to know every span.

    Raises ValueError for a name that is not known.
    """
    if forced is None:
        return SpanReader(KNOWN, COMMON, UNKNOWN)
    first = named(forced)
    others = (dialect for dialect in KNOWN if dialect is not first)
    if first is not NATIVE:
        first = replace(first, marks=Marks(all=True))
    return SpanReader((first, *others), COMMON, UNKNOWN)


__all__ = [
    "COMMON",
    "KNOWN",
    "UNKNOWN",
    "Dialect",
    "Fields",
    "Marks",
    "SpanReader",
    "named",
    "span_reader",
]
