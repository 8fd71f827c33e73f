"""What produces the spans: the resource of a provider that Trackway makes."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, Final

from opentelemetry.sdk.resources import SERVICE_NAME, OTELResourceDetector, Resource

_LOGGER: Final = logging.getLogger("trackway")


def resource_of(attributes: Mapping[str, Any]) -> Resource:
    """Return the resource of these attributes, of `OTEL_*`, and of what detectors find.

    OpenTelemetry asks the detectors in threads. Where the system gives none, they are left out.
    """
    try:
        return Resource.create(dict(attributes))
    except RuntimeError as error:
        _LOGGER.warning("trackway: resource detectors are left out: %s", error)
    unnamed = Resource({SERVICE_NAME: "unknown_service"})
    return unnamed.merge(OTELResourceDetector().detect()).merge(Resource(dict(attributes)))
