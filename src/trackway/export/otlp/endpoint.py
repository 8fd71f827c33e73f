"""Which receiver does a target mean, and over which protocol?

1. "otlp" follows `OTEL_EXPORTER_OTLP_TRACES_PROTOCOL`, else `OTEL_EXPORTER_OTLP_PROTOCOL`, else
   `http/protobuf`; endpoint, headers, certificates, compression and timeout come from `OTEL_*` too.
2. "otlp+http://host:4318" posts to /v1/traces there unless a path is given; "otlp+https" likewise.
3. "otlp+grpc://host:4317" speaks gRPC without TLS, "otlp+grpcs" with TLS.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

_PROTOCOL_VARIABLES: Final = (
    "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL",
    "OTEL_EXPORTER_OTLP_PROTOCOL",
)
_ENDPOINT_VARIABLES: Final = (
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    "OTEL_EXPORTER_OTLP_ENDPOINT",
)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where spans are sent."""

    grpc: bool
    address: str | None = None
    """Null: what the `OTEL_*` variables say."""
    insecure: bool | None = None
    """gRPC without TLS; null: what the `OTEL_*` variables say."""

    @property
    def identity(self) -> str:
        """What tells this receiver from others, for the name of its spool."""
        address = self.address or next(filter(None, map(os.environ.get, _ENDPOINT_VARIABLES)), "")
        return f"{'grpc' if self.grpc else 'http'} {address}"


def endpoint_of(target: str) -> Endpoint:
    """Read an OTLP target. Raises `ValueError` for an unknown scheme or protocol."""
    if target == "otlp":
        protocol = next(filter(None, map(os.environ.get, _PROTOCOL_VARIABLES)), "http/protobuf")
        if protocol not in ("grpc", "http/protobuf"):
            raise ValueError(
                f"OTEL_EXPORTER_OTLP_PROTOCOL is {protocol!r}; expected grpc or http/protobuf"
            )
        return Endpoint(grpc=protocol == "grpc")
    url = target.removeprefix("otlp+").rstrip("/")
    parts = urlsplit(url)
    if parts.scheme in ("http", "https"):
        return Endpoint(grpc=False, address=url if parts.path else f"{url}/v1/traces")
    if parts.scheme in ("grpc", "grpcs"):
        return Endpoint(grpc=True, address=parts.netloc, insecure=parts.scheme == "grpc")
    raise ValueError(
        f"export target {target!r}: unknown scheme {parts.scheme!r}; "
        "expected otlp, otlp+http://…, otlp+https://…, otlp+grpc://… or otlp+grpcs://…"
    )
