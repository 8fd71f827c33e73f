"""Which spans take the whole reconstruction to read, and what a run span says of its run, in SQL.

A plain span ends after it started, has an object for arguments, and has none of the marks by
which the recorder says that something was cut, streamed, lost or told elsewhere.

The recorder's marks are keys of `attributes`; they stand bare only at the top of the object, for
inside a text their quotes are escaped. Most spans have none at all: that is asked first (`marked`).
"""

from __future__ import annotations

from typing import Final

from trackway.schema import Trackway
from trackway_analyzer.engine.looks import Looks
from trackway_analyzer.engine.native_files import NativeFiles
from trackway_analyzer.engine.roles import ROOT, STEP, TOOL_STEP
from trackway_analyzer.engine.sql_text import quoted
from trackway_analyzer.reconstruct.messages import ASSISTANT
from trackway_analyzer.reconstruct.spoken import IN_PIECES, STREAMED

_MERGED: Final = ("(merged tools)", "(merged)")
_CALL_MARKS: Final = (
    Trackway.CAPTURE_ERROR,
    Trackway.STREAM_ABANDONED,
    Trackway.STREAM_RETURNED,
    Trackway.STEP_CLOCK,
)
_COUNTS_APART: Final = f"contains(attributes, '\"{Trackway.STEP_CLOCK}\"')"
_BY_ARGUMENTS: Final = ("'[redacted:'", "'\"operation_id\"'", "'\"idempotency_key\"'")
"""What arguments may hold by which an effect is the same as another, or cannot be told from it."""
_SAID_BEFORE: Final = f"""'"({"|".join(sorted(filter(None, ASSISTANT)))})"'"""
_LAST_STEP: Final = f"""TRY(json_extract(attributes, '$."{Trackway.RUN_LAST_STEP}"'))"""


def odd_spans(files: NativeFiles, looks: Looks) -> str:
    """Whether a row is of a span that is not plain; null counts as true."""
    # In a projection AND looks at both sides of every row, CASE only at those that are left.
    by_role = {TOOL_STEP: _call(files), STEP: _step(looks), ROOT: _root()}
    whens = " ".join(f"WHEN {role} THEN {text}" for role, text in by_role.items())
    found = ['"end" IS NULL', '"end" < start', f"CASE what {whens} ELSE marked END"]
    for name, text in (
        ("truncated", "coalesce(len(truncated), 0) > 0"),
        ("links", "coalesce(len(links), 0) > 0"),
        ("dropped_attributes", "coalesce(dropped_attributes, 0) > 0"),
        (
            "events",
            "CASE WHEN coalesce(len(events), 0) > 0 THEN"
            " len(list_filter(events, lambda e: starts_with(e.name, 'trackway.'))) > 0"
            " ELSE false END",
        ),
    ):
        if name not in files.empty:
            found.append(text)
    return " OR ".join(found)


def root_says() -> str:
    """What the attributes of a run span tell of its clock, its being one and what watched it."""
    return (
        f"CASE WHEN what = {ROOT} THEN hash({_LAST_STEP},"
        f""" contains(attributes, '"{Trackway.SCHEMA_VERSION}":'),"""
        f""" contains(attributes, '"{Trackway.INSTRUMENTATION_ON}":')) END"""
    )


def _call(files: NativeFiles) -> str:
    merged = ", ".join(f"hash({quoted(name)})" for name in _MERGED)
    marks = " OR ".join(f"contains(attributes, '\"{mark}\"')" for mark in _CALL_MARKS)
    text = (
        "(arguments IS NOT NULL AND NOT starts_with(arguments, '{'))"
        f" OR named_tool IN ({merged}) OR CASE WHEN marked THEN {marks} ELSE false END"
    )
    found = " OR ".join(f"contains(arguments, {text})" for text in _BY_ARGUMENTS)
    changes = "tool_kind IS NULL OR named_tool_kind = hash('mutate')"
    if "operation_id" not in files.empty:
        changes = f"operation_id IS NULL AND ({changes})"
    text += f" OR CASE WHEN {changes} THEN coalesce({found}, false) ELSE false END"
    if "entity_refs" not in files.empty:
        text += " OR ((arguments IS NULL OR result IS NULL) AND coalesce(len(entity_refs), 0) > 0)"
    return text


def _step(looks: Looks) -> str:
    text = " OR ".join(
        f"coalesce(contains({name}, '\"tool_call'), false)" for name in ("input", "output")
    )
    text += f" OR CASE WHEN marked THEN {_COUNTS_APART} ELSE false END"
    if looks.texts:
        # What the assistant said before the final text: a later model was told of it.
        text += f" OR coalesce(regexp_matches(input, {_SAID_BEFORE}), false)"
    return text


def _root() -> str:
    return (
        "parent_span_id IS NOT NULL OR tool IS NOT NULL OR coalesce(output = 'null', false)"
        f" OR coalesce(contains(attributes, '\"{Trackway.INSTRUMENTATION_LOST}\"'), false)"
        f" OR coalesce(contains(attributes, '\"{Trackway.STEP_CLOCK}\"'), false)"
        f" OR coalesce(contains(attributes, '\"{Trackway.HANDED_OVER}'), false)"
        f" OR CASE WHEN coalesce(contains(attributes, {quoted(STREAMED)}), false)"
        f" THEN coalesce(regexp_matches(output, {quoted(IN_PIECES)}), false) ELSE false END"
    )
