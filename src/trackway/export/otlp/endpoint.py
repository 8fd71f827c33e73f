"""Which receiver does a target mean, and over which protocol?

1. "otlp" follows `OTEL_EXPORTER_OTLP_TRACES_PROTOCOL`, else `OTEL_EXPORTER_OTLP_PROTOCOL`, else
   `http/protobuf`, also where that is none of the two; endpoint, headers, certificates, compression
   and timeout come from `OTEL_*` too.
2. "otlp+http://host:4318" posts to /v1/traces there unless a path is given; "otlp+https" likewise.
3. "otlp+grpc://host:4317" speaks gRPC without TLS, "otlp+grpcs" with TLS.
"""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass
from typing import Final
from urllib.parse import SplitResult, urlsplit

from trackway.export.shown import shown

_LOG: Final = logging.getLogger(__name__)
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
    """Read an OTLP target. Raises `ValueError` for an unknown scheme, or where no server can be."""
    if target == "otlp":
        protocol = next(filter(None, map(os.environ.get, _PROTOCOL_VARIABLES)), "http/protobuf")
        if protocol not in ("grpc", "http/protobuf"):
            _LOG.warning(
                "trackway: OTEL_EXPORTER_OTLP_PROTOCOL: expected grpc or http/protobuf, found %r; "
                "ignored, spans go over http/protobuf",
                protocol,
            )
        return Endpoint(grpc=protocol == "grpc")
    url = target.removeprefix("otlp+").rstrip("/")
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https", "grpc", "grpcs"):
        raise ValueError(
            f"export target {shown(target)!r}: unknown scheme {parts.scheme!r}; "
            "expected otlp, otlp+http://…, otlp+https://…, otlp+grpc://… or otlp+grpcs://…"
        )
    if not parts.hostname or not _has_port_in_range(parts):
        usual = 4317 if parts.scheme.startswith("grpc") else 4318
        raise ValueError(
            f"export target {shown(target)!r}: expected a host and a port from 1 to 65535, found "
            f"{parts.netloc.rpartition('@')[2]!r}; write it as in otlp+{parts.scheme}://localhost:{usual}"
        )
    if parts.scheme.startswith("http"):
        return Endpoint(grpc=False, address=url if parts.path else f"{url}/v1/traces")
    # gRPC knows no user, and would look the whole up as the name of a host.
    address = parts.netloc.rpartition("@")[2]
    return Endpoint(grpc=True, address=address, insecure=parts.scheme == "grpc")


def _has_port_in_range(parts: SplitResult) -> bool:
    try:
        return parts.port != 0
    except ValueError:
        return False
