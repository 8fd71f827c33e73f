"""Which OTLP exporter does a target mean?

1. "otlp" follows `OTEL_EXPORTER_OTLP_TRACES_PROTOCOL`, else `OTEL_EXPORTER_OTLP_PROTOCOL`, else
   `http/protobuf`; endpoint, headers, certificates, compression and timeout come from `OTEL_*` too.
2. "otlp+http://host:4318" posts to /v1/traces there unless a path is given; "otlp+https" likewise.
3. "otlp+grpc://host:4317" speaks gRPC without TLS, "otlp+grpcs" with TLS.
"""

from __future__ import annotations

import os
from urllib.parse import urlsplit

from opentelemetry.sdk.trace.export import SpanExporter

_PROTOCOL_VARIABLES = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")


def otlp_exporter(target: str) -> SpanExporter:
    """Return the upstream exporter for a target. Raises `ValueError` for an unknown scheme."""
    if target == "otlp":
        protocol = next(filter(None, map(os.environ.get, _PROTOCOL_VARIABLES)), "http/protobuf")
        return _grpc() if protocol == "grpc" else _http()
    url = target.removeprefix("otlp+")
    scheme, address = urlsplit(url).scheme, urlsplit(url)
    if scheme in ("http", "https"):
        return _http(url if address.path.strip("/") else f"{url.rstrip('/')}/v1/traces")
    if scheme in ("grpc", "grpcs"):
        return _grpc(address.netloc, insecure=scheme == "grpc")
    raise ValueError(
        f"export target {target!r}: unknown scheme {scheme!r}; "
        "expected otlp, otlp+http://…, otlp+https://…, otlp+grpc://… or otlp+grpcs://…"
    )


def _http(endpoint: str | None = None) -> SpanExporter:
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    return OTLPSpanExporter(endpoint=endpoint)


def _grpc(endpoint: str | None = None, insecure: bool | None = None) -> SpanExporter:
    from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter

    return OTLPSpanExporter(endpoint=endpoint, insecure=insecure)
