"""AWS Strands: GenAI names, with the messages in span events, one event a message or one a list."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from trackway_analyzer.dialects.dialect import Marks
from trackway_analyzer.dialects.otel_genai import OTEL_GENAI

STRANDS: Final = replace(
    OTEL_GENAI, name="strands", marks=Marks(scopes=("strands.telemetry.tracer",))
)
