"""The spans that an ATIF trajectory of ours carries beside its steps, under `extra.trackway`.

They count only while the steps are those that they were written with: a digest of the steps stands
beside them. Where somebody changed the steps (took a secret out, say), the spans are not read. What
could not be read of the source stands there too, and counts whatever became of the steps.
"""

from __future__ import annotations

import hashlib
from typing import Any, Final

import orjson
import pyarrow as pa

from trackway_analyzer.model import JsonValue
from trackway_analyzer.read.carried import UNREAD, adopt
from trackway_analyzer.read.quarantine import Quarantine, Reason
from trackway_analyzer.span_json import spans_as_json, spans_of_json

EXTRA: Final = "trackway"
VERSION: Final = "1"


def evidence_of(spans: pa.Table, steps: list[Any]) -> dict[str, JsonValue]:
    """Return what stands under `extra.trackway` of a trajectory with these steps."""
    return {"version": VERSION, "steps_sha256": _digest(steps), **spans_as_json(spans)}


def evident_spans(document: Any, quarantine: Quarantine, offset: int | None) -> pa.Table | None:
    """Return the spans that a trajectory carries; None where it carries none that count."""
    extra = document.get("extra") if isinstance(document, dict) else None
    evidence = extra.get(EXTRA) if isinstance(extra, dict) else None
    if not isinstance(evidence, dict) or evidence.get("version") != VERSION:
        return None
    adopt(evidence.get(UNREAD, []), quarantine)
    if evidence.get("steps_sha256") != _digest(document.get("steps")):
        return None
    try:
        return spans_of_json(evidence)
    except ValueError as error:
        quarantine.add(Reason.BROKEN_VALUE, f"extra.{EXTRA}: {error}", offset)
        return None


def _digest(steps: Any) -> str | None:
    try:
        return hashlib.sha256(orjson.dumps(steps, option=orjson.OPT_SORT_KEYS)).hexdigest()
    except TypeError:
        return None
