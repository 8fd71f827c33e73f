"""Langfuse exports: observations out of its page, its API and its blob storage, as spans.

1. A document is one observation, a list of them, `{"data": [...]}` of the API, a trace with its
   `observations`, or `{"trace": ..., "observations": [...]}` of the page. Members are camelCase or,
   in exports of the database, snake_case.
2. What OpenTelemetry attributes Langfuse kept (`metadata.attributes`) are the span's attributes
   again; what Langfuse says itself stands under `langfuse.*`, as its SDK writes it. So the dialect
   of the instrumentor reads the span, and `langfuse` fills what Langfuse took out.
3. A type that says no more than "span" is left to the other dialects.
4. Session, user, release and tags of the trace are on each of its spans.
5. What a trace says it was told and what it answered stands on its only agent at the root, where
   that says neither; where no observation says the same, on an agent span around the others, made
   for it (`langfuse.observation.metadata.made_of`).
6. A trace without observations, or with their ids alone, as in the API's list of traces, is put
   aside.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from trackway_analyzer.dialects.values import json_of, text
from trackway_analyzer.read.foreign_values import (
    Origins,
    first,
    kept,
    span_id_of,
    time_of,
    trace_id_of,
)
from trackway_analyzer.read.names_held import names_held
from trackway_analyzer.read.quarantine import Quarantine, Reason
from trackway_analyzer.spans import Attributes, RawSpan

_TYPES: Final = frozenset(
    [
        "SPAN",
        "GENERATION",
        "EVENT",
        "AGENT",
        "TOOL",
        "CHAIN",
        "RETRIEVER",
        "EVALUATOR",
        "EMBEDDING",
        "GUARDRAIL",
    ]
)
_UNKNOWN_TYPE: Final = "observations of a type that nobody knows"
_PREFIX: Final = "langfuse.observation."
_COPIED: Final = {
    "input": "input",
    "output": "output",
    "level": "level",
    "statusMessage": "status_message",
    "version": "version",
    "model": "model.name",
    "providedModelName": "model.name",
    "modelParameters": "model.parameters",
    "completionStartTime": "completion_start_time",
    "promptName": "prompt.name",
    "promptVersion": "prompt.version",
}
"""Member of an observation to the rest of the attribute that the SDK writes for it."""
_OF_TRACE: Final = {
    "sessionId": "session.id",
    "userId": "user.id",
    "name": "langfuse.trace.name",
    "tags": "langfuse.trace.tags",
    "metadata": "langfuse.trace.metadata",
    "release": "langfuse.release",
    "environment": "langfuse.environment",
}
_WORDS: Final = ("input", "output")
_SNAKE: Final = re.compile(r"_([a-z])")

_ONLY_OF_A_TRACE: Final = frozenset(
    ["htmlPath", "projectId", "sessionId", "session_id", "userId", "scores", "totalCost"]
)

Observation = tuple[Any, dict[str, Any]]
"""An observation and its trace, which may be empty; None: the trace has no observations."""


def langfuse_observations(document: Any) -> list[Observation] | None:
    """Return the observations of a document; None where it is none of Langfuse's."""
    if isinstance(document, dict) and isinstance(document.get("data"), list):
        document = document["data"]
    if not isinstance(document, list):
        return _of_object(document)
    parts = [_of_object(item) for item in document]
    if all(part is None for part in parts):
        return None
    # One of a type that nobody knows is told from the others around it by its shape alone.
    return [
        observation
        for item, part in zip(document, parts, strict=True)
        for observation in (
            [(_camel(item) if isinstance(item, dict) else {}, {})] if part is None else part
        )
    ]


def _of_object(item: Any) -> list[Observation] | None:
    if not isinstance(item, dict):
        return None
    if _is_observation(item):
        return [(_camel(item), {})]
    observations = item.get("observations")
    trace = item.get("trace", item)
    trace = _camel(trace) if isinstance(trace, dict) else {}
    if isinstance(observations, list) and any(map(_is_observation, observations)):
        found = [_camel(each) if isinstance(each, dict) else {} for each in observations]
        return [(each, trace) for each in _with_words_of_trace(found, trace)]
    if "observations" not in item:
        return None
    of_langfuse = "id" in trace and not _ONLY_OF_A_TRACE.isdisjoint(item)
    return [(None, trace)] if "trace" in item or of_langfuse else None


def _with_words_of_trace(
    observations: list[dict[str, Any]], trace: dict[str, Any]
) -> list[dict[str, Any]]:
    """Return observations that say what the trace was told and answered (rule 5)."""
    said = {name: json_of(trace.get(name)) for name in _WORDS if trace.get(name) is not None}
    roots = [each for each in observations if each.get("parentObservationId") is None and each]
    if not said or not roots:
        return observations
    if len(roots) == 1 and str(roots[0].get("type")).upper() == "AGENT":
        (head,) = roots
        whole = {**said, **{name: head[name] for name in said if head.get(name) is not None}}
        return [{**each, **whole} if each is head else each for each in observations]
    known = [json_of(each.get(name)) for each in observations for name in _WORDS]
    if all(words in known for words in said.values()):
        return observations
    head = _head(observations, trace, roots[0].get("traceId")) | said
    below = [
        {**each, "parentObservationId": head["id"]}
        if each.get("parentObservationId") is None
        else each
        for each in observations
    ]
    return [head, *below]


def _head(observations: list[dict[str, Any]], trace: dict[str, Any], trace_id: Any) -> Any:
    def known(name: str) -> list[Any]:
        return [each[name] for each in observations if time_of(each.get(name)) is not None]

    return {
        "id": f"{trace_id}:trace",
        "traceId": trace_id,
        "type": "AGENT",
        "name": trace.get("name"),
        "startTime": min(known("startTime"), key=_when, default=None),
        "endTime": max(known("endTime"), key=_when, default=None),
        "metadata": {"made_of": "trace"},
    }


def _when(value: Any) -> int:
    return time_of(value) or 0


def _is_observation(item: Any) -> bool:
    return (
        isinstance(item, dict)
        and _upper(item.get("type")) in _TYPES
        and ("traceId" in item or "trace_id" in item)
        and ("startTime" in item or "start_time" in item)
        and ("parentObservationId" in item or "parent_observation_id" in item or "level" in item)
    )


def _camel(item: dict[str, Any]) -> dict[str, Any]:
    return {
        _SNAKE.sub(lambda found: found[1].upper(), name) if "_" in name else name: value
        for name, value in item.items()
    }


def langfuse_spans(
    items: list[Observation], quarantine: Quarantine, offset: int | None
) -> Iterator[RawSpan]:
    """Return observations as spans."""
    origins = Origins()
    for item, trace in items:
        if item is None:
            quarantine.add_empty(trace.get("id"), offset, parts="observations")
            continue
        span = _span(item, trace, origins, quarantine, offset)
        if span is not None:
            yield span


def _span(
    item: dict[str, Any],
    trace: dict[str, Any],
    origins: Origins,
    quarantine: Quarantine,
    offset: int | None,
) -> RawSpan | None:
    trace_id, span_id = trace_id_of(item.get("traceId")), span_id_of(item.get("id"))
    if trace_id is None or span_id is None:
        quarantine.add(Reason.BROKEN_SPAN, "an observation without a trace id or an id", offset)
        return None
    start, end = time_of(item.get("startTime")), time_of(item.get("endTime"))
    if start is None:
        quarantine.add(Reason.NO_START_TIME, "an observation without a start time", offset)
    metadata = json_of(item.get("metadata"))
    metadata = dict(metadata) if isinstance(metadata, dict) else {"value": metadata}
    attributes = json_of(metadata.pop("attributes", None))
    attributes = dict(attributes) if isinstance(attributes, dict) else {}
    resource = json_of(metadata.pop("resourceAttributes", None))
    scope = json_of(metadata.pop("scope", None))
    scope = scope if isinstance(scope, dict) else {}
    kind = _upper(item.get("type"))
    if kind not in _TYPES:
        names = names_held([item.get("name"), item.get("input"), metadata])
        quarantine.add(Reason.UNREAD_WORDS, _UNKNOWN_TYPE, offset, names=names)
    is_event = kind == "EVENT"
    own = _own_attributes(item, trace, metadata, kind)
    failed = _upper(item.get("level")) == "ERROR"
    return RawSpan(
        trace_id,
        span_id,
        text(item.get("name")) or "",
        start or end or 0,
        origins.of(resource, _text(scope.get("name")), _text(scope.get("version"))),
        {**_plain(attributes), **own},
        span_id_of(item.get("parentObservationId")),
        _text(attributes.get("span.kind")),
        start if is_event and end is None else end,
        "ERROR" if failed else "UNSET",
        _text(item.get("statusMessage")),
    )


def _own_attributes(
    item: dict[str, Any], trace: dict[str, Any], metadata: dict[str, Any], kind: str
) -> Attributes:
    own: Attributes = {}
    if kind != "SPAN":
        own[f"{_PREFIX}type"] = kind.lower()
    for member, key in _OF_TRACE.items():
        kept(own, key, trace.get(member) or (item.get(member) if member != "name" else None))
    own.pop("langfuse.trace.metadata" if not trace else "", None)
    for member, key in _COPIED.items():
        kept(own, f"{_PREFIX}{key}", item.get(member))
    # The mark of the dialect, where nothing else of Langfuse is on the span.
    own.setdefault(f"{_PREFIX}input", None)
    kept(own, f"{_PREFIX}usage_details", _usage(item))
    kept(own, f"{_PREFIX}cost_details", _cost(item))
    kept(own, f"{_PREFIX}id", item.get("id"))
    kept(own, "langfuse.trace.id", item.get("traceId"))
    for name, value in metadata.items():
        kept(own, f"{_PREFIX}metadata.{name}", value)
    return own


def _usage(item: dict[str, Any]) -> Any:
    details = json_of(item.get("usageDetails"))
    if isinstance(details, dict) and details:
        return details
    usage = json_of(item.get("usage"))
    usage = usage if isinstance(usage, dict) else {}
    found = {
        "input": first({**item, **usage}, "input_tokens", "promptTokens", "inputUsage")
        if not isinstance(usage.get("input"), int)
        else usage["input"],
        "output": first({**item, **usage}, "output_tokens", "completionTokens", "outputUsage")
        if not isinstance(usage.get("output"), int)
        else usage["output"],
    }
    return {name: value for name, value in found.items() if value} or None


def _cost(item: dict[str, Any]) -> Any:
    details = json_of(item.get("costDetails"))
    if isinstance(details, dict) and details:
        return details
    total = first(item, "totalCost", "calculatedTotalCost")
    return None if total is None else {"total": total}


def _plain(attributes: dict[str, Any]) -> Attributes:
    found: Attributes = {}
    for key, value in attributes.items():
        kept(found, str(key), value)
    return found


def _upper(value: Any) -> str:
    return (text(value) or "").upper()


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
