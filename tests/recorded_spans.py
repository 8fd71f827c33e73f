"""Recorded OTLP JSON as ended spans, ready for an exporter."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

from google.protobuf.json_format import ParseDict
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import ReadableSpan

from trackway.export.otlp.wire import decode


def recorded_spans(path: Path) -> list[ReadableSpan]:
    """Read the spans of one OTLP JSON document."""
    document = json.loads(path.read_text("utf-8"))
    for resource in document["resourceSpans"]:
        for scope in resource["scopeSpans"]:
            for span in scope["spans"]:
                for holder in (span, *span.get("links", [])):
                    _ids_for_protobuf(holder)
    request = ParseDict(document, ExportTraceServiceRequest(), ignore_unknown_fields=True)
    return decode(request.SerializeToString())


def _ids_for_protobuf(holder: dict[str, Any]) -> None:
    for key in ("traceId", "spanId", "parentSpanId"):
        if key in holder:
            holder[key] = base64.b64encode(bytes.fromhex(holder[key])).decode()
