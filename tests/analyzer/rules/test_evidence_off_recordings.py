"""Evidence that is taken off a recording opens an answer and never turns it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import trackway_analyzer as ta
from trackway_analyzer.rules import Policy
from trackway_analyzer.rules.evidence import Evidence
from trackway_analyzer.rules.finding import results_of

RECORDINGS = Path(__file__).parents[2] / "data" / "frameworks"
FILES = [
    "langgraph-otel-genai/fail.json",
    "langgraph-openinference/fail.json",
    "google-adk-native-litellm/parallel.json",
    "pydantic-ai-native-v2/fail.json",
    "strands-agents-native/fail.json",
    "raw-openai-chat-traceloop/fail.json",
    "raw-anthropic-openinference/fail.json",
]
RULES = """
never: [refund_create]
never: [delete_account]
executed: {tool: refund_create}
called: [refund_create]
called: [send_email]
before: [check_policy, refund_create]
before: [refund_create, send_email]
first: lookup_order
step_regex: 'lookup_order check_policy refund_create send_email'
immediately: [lookup_order, check_policy]
responds: [refund_create, send_email]
until: [[lookup_order, check_policy], refund_create]
terminal: {action: send_email}
count: {tool: refund_create, exactly: 1}
grounded: {tool: refund_create, argument: order_id, from: lookup_order.order_id}
""".strip().splitlines()
POLICIES = [Policy.from_yaml(f"version: 1\nrules:\n  - {line}\n") for line in RULES]
CONTENT = ("messages", "output", "input", "prompt", "completion", "llm_request", "llm_response")

Span = dict[str, Any]
Document = dict[str, Any]


def states(document: Document) -> list[str]:
    """What each rule says of the recording."""
    evidence = Evidence.of(ta.load(document).batch)
    found = []
    for policy in POLICIES:
        said = [result.state.value for result in results_of(policy.rules[0].found(0, evidence))]
        found.append("violated" if "violated" in said else said[0] if said else "holds")
    return found


def spans(document: Document) -> list[Span]:
    return [
        span
        for resource in document["resourceSpans"]
        for scope in resource["scopeSpans"]
        for span in scope["spans"]
    ]


def changed(document: Document, change: Callable[[Span], Span | None]) -> Document:
    """A copy with each span changed, or left out."""
    copy: Document = json.loads(json.dumps(document))
    for resource in copy["resourceSpans"]:
        for scope in resource["scopeSpans"]:
            scope["spans"] = [new for span in scope["spans"] if (new := change(span)) is not None]
    return copy


def prefixes(document: Document) -> Iterator[Document]:
    """What had been exported when the process died, span by span."""
    ended = sorted(spans(document), key=lambda span: int(span["endTimeUnixNano"]))
    for count in range(1, len(ended)):
        ids = {span["spanId"] for span in ended[:count]}
        yield changed(document, lambda span, ids=ids: span if span["spanId"] in ids else None)


def cut_values(document: Document) -> Iterator[Document]:
    """Attributes that the limit of an SDK cut."""
    for limit in (64, 256, 1000):

        def cut(span: Span, limit: int = limit) -> Span:
            for attribute in span.get("attributes", ()):
                text = attribute["value"].get("stringValue")
                if text is not None:
                    attribute["value"] = {"stringValue": text[:limit]}
            return span

        yield changed(document, cut)


def content_off(document: Document) -> Iterator[Document]:
    """Messages that were never recorded."""

    def off(span: Span) -> Span:
        names = [attribute["key"] for attribute in span.get("attributes", ())]
        model = any("model" in name for name in names)
        kept = [a for a in span.get("attributes", ()) if not any(w in a["key"] for w in CONTENT)]
        return {**span, "attributes": kept, "events": []} if model else span

    yield changed(document, off)


def failed_calls_lost(document: Document) -> Iterator[Document]:
    """Spans of calls that failed and have nothing below them."""
    parents = {span.get("parentSpanId") for span in spans(document)}
    for lost in spans(document):
        failed = lost.get("status", {}).get("code") in (2, "STATUS_CODE_ERROR")
        if failed and lost["spanId"] not in parents:
            own = lost["spanId"]
            yield changed(document, lambda span, own=own: span if span["spanId"] != own else None)


@pytest.mark.parametrize("ways", [prefixes, cut_values, content_off, failed_calls_lost])
@pytest.mark.parametrize("name", FILES)
def test_evidence_taken_off_a_recording_never_turns_an_answer(
    name: str, ways: Callable[[Document], Iterator[Document]]
) -> None:
    document = json.loads((RECORDINGS / name).read_text())
    whole = states(document)
    for number, less in enumerate(ways(document)):
        pairs = zip(RULES, whole, states(less), strict=True)
        turned = [p for p in pairs if "insufficient" not in p[1:] and p[1] != p[2]]
        assert not turned, number
