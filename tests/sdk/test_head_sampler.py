"""The sampler of a provider of ours decides as OpenTelemetry's default does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.context import Context
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.sampling import DEFAULT_ON
from opentelemetry.trace import (
    INVALID_SPAN_CONTEXT,
    NonRecordingSpan,
    SpanContext,
    TraceFlags,
    TraceState,
    set_span_in_context,
)

from trackway.head_sampler import AsParent, as_parent_or_env

PARENTS = st.one_of(
    st.none(),
    st.just(INVALID_SPAN_CONTEXT),
    st.builds(
        SpanContext,
        st.integers(1, 2**128 - 1),
        st.integers(1, 2**64 - 1),
        st.booleans(),
        st.sampled_from([TraceFlags(flags) for flags in range(4)]),
        st.sampled_from([None, TraceState([("vendor", "1")])]),
    ),
)


@given(parent=PARENTS)
def test_it_decides_as_the_default_of_the_sdk(parent: SpanContext | None) -> None:
    context = Context()
    if parent is not None:
        context = set_span_in_context(NonRecordingSpan(parent), context)
    attributes = {"gen_ai.tool.name": "lookup"}
    ours = AsParent().should_sample(context, 7, "span", attributes=attributes)
    theirs = DEFAULT_ON.should_sample(context, 7, "span", attributes=attributes)
    assert (ours.decision, ours.attributes, ours.trace_state) == (
        theirs.decision,
        theirs.attributes,
        theirs.trace_state,
    )


def test_it_is_described_as_the_default_of_the_sdk() -> None:
    assert AsParent().get_description() == DEFAULT_ON.get_description()


def test_the_environment_still_chooses_the_sampler(monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(as_parent_or_env(), AsParent)
    monkeypatch.setenv("OTEL_TRACES_SAMPLER", "always_off")
    chosen = TracerProvider(sampler=as_parent_or_env()).sampler
    assert chosen.get_description() == "AlwaysOffSampler"
