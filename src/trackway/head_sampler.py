"""The sampler of a provider that we make: as the parent was, and every root.

It decides as OpenTelemetry's default does, in one look at the parent where that takes four: a span
of ours spends a twentieth of its time there. `OTEL_TRACES_SAMPLER` chooses another one as ever.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from opentelemetry.context import Context
from opentelemetry.sdk.environment_variables import OTEL_TRACES_SAMPLER
from opentelemetry.sdk.trace.sampling import ALWAYS_ON, Decision, ParentBased, SamplingResult
from opentelemetry.trace import Link, SpanKind, TraceState, get_current_span
from opentelemetry.util.types import Attributes


class AsParent(ParentBased):
    """`ParentBased(ALWAYS_ON)`, quicker."""

    def __init__(self) -> None:
        super().__init__(ALWAYS_ON)

    def should_sample(
        self,
        parent_context: Context | None,
        trace_id: int,
        name: str,
        kind: SpanKind | None = None,
        attributes: Attributes = None,
        links: Sequence[Link] | None = None,
        trace_state: TraceState | None = None,
    ) -> SamplingResult:
        """Take what has no parent or a sampled one; drop the rest."""
        parent = get_current_span(parent_context).get_span_context()
        if not parent.is_valid:
            return SamplingResult(Decision.RECORD_AND_SAMPLE, attributes)
        if parent.trace_flags.sampled:
            return SamplingResult(Decision.RECORD_AND_SAMPLE, attributes, parent.trace_state)
        return SamplingResult(Decision.DROP, None, parent.trace_state)


def as_parent_or_env() -> AsParent | None:
    """Return the sampler; None where the environment names one, for the SDK to read."""
    return None if os.environ.get(OTEL_TRACES_SAMPLER) else AsParent()
