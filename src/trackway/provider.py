"""A tracer provider of ours, and what holds on one that the program has set.

1. Ours draws ids from the system's randomness, and keeps enough attributes of a span; so do our
   tracers on the program's.
2. Its length limit cuts inside our JSON (`bounds_on`).
3. What it is told of the service counts for what Trackway writes (`told_on`): its own resource
   stays, and its other exporters write that.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from opentelemetry import trace
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import SpanLimits, TracerProvider
from opentelemetry.trace import Tracer

from trackway.capture import Limits
from trackway.capture.limits import LEAST_VALUE_BYTES
from trackway.head_sampler import as_parent_or_env
from trackway.ids import EntropyIdGenerator
from trackway.processors import MAX_ATTRIBUTES
from trackway.recording import VERSION
from trackway.resources import resource_of
from trackway.schema import SCOPE_NAME


def named_resource(
    service_name: str | None, resource: Mapping[str, Any] | None
) -> Mapping[str, Any]:
    """Return what is said of the producer of the spans; the name of the service wins."""
    return {**(resource or {}), **({SERVICE_NAME: service_name} if service_name else {})}


def told_on(provider: TracerProvider, told: Mapping[str, Any]) -> Resource | None:
    """Return what is told of the producer and the provider does not say by itself, if anything."""
    if not told:
        return None
    # As the provider would hold it: texts for paths, tuples for lists.
    wanted, theirs = Resource(dict(told)), provider.resource.attributes
    if all(theirs.get(key) == value for key, value in wanted.attributes.items()):
        return None
    return wanted


def bounds_on(limits: Limits, given: TracerProvider | None) -> Limits:
    """Cut inside the JSON what OpenTelemetry's own length limit would cut through."""
    theirs = getattr(given or trace.get_tracer_provider(), "_span_limits", None)
    longest = SpanLimits().max_span_attribute_length  # what the environment says
    if isinstance(theirs, SpanLimits):
        longest = theirs.max_span_attribute_length or longest
    if longest is None or longest >= limits.value_bytes:
        return limits
    return replace(limits, value_bytes=max(longest, LEAST_VALUE_BYTES))


def new_provider(attributes: Mapping[str, Any]) -> TracerProvider:
    """Return a provider whose resource has these attributes."""
    limits = SpanLimits(
        max_span_attributes=MAX_ATTRIBUTES,
        max_span_attribute_length=SpanLimits.UNSET,  # `bounds_on` keeps to it, inside the JSON
    )
    return TracerProvider(
        sampler=as_parent_or_env(),
        resource=resource_of(attributes),
        id_generator=EntropyIdGenerator(),
        span_limits=limits,
        shutdown_on_exit=False,  # `exits` closes the pipeline, within its timeout
    )


def our_tracer(provider: TracerProvider) -> Tracer:
    """Return the tracer of our own spans."""
    tracer = provider.get_tracer(SCOPE_NAME, VERSION)
    if hasattr(tracer, "id_generator"):
        # A joined provider may draw its ids from the seeded `random`; our spans must not.
        tracer.id_generator = EntropyIdGenerator()
    limits = getattr(tracer, "_span_limits", None)  # the SDK has no public way to them
    if isinstance(limits, SpanLimits) and (
        limits.max_span_attributes is not None and limits.max_span_attributes < MAX_ATTRIBUTES
    ):
        # Nor may its limit push identity out of them; the other limits stay.
        wider = copy.copy(limits)
        wider.max_span_attributes = MAX_ATTRIBUTES
        vars(tracer)["_span_limits"] = wider
    return tracer
