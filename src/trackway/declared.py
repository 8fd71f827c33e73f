"""What the declaration of a tool adds to a span that another instrumentor wrote.

1. The kind is there when the span starts. Entities and the idempotency key are read from arguments
   and result when it ends: most instrumentors write them last.
2. Arguments and results are looked for under the keys of every dialect that has one. What is not
   recorded there gives no entity, which is not the same as naming none.
3. What the span says already stays.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from trackway.capture import entity_refs
from trackway.declaration import DeclaredTool
from trackway.named_fields import note_missing
from trackway.recording import Recorder
from trackway.schema import GenAI, Trackway

_ARGUMENTS: Final = (
    GenAI.TOOL_CALL_ARGUMENTS,
    "tool_arguments",
    "input.value",
    "gcp.vertex.agent.tool_call_args",
    "traceloop.entity.input",
    "ai.toolCall.args",
)
_RESULTS: Final = (
    GenAI.TOOL_CALL_RESULT,
    "tool_response",
    "output.value",
    "gcp.vertex.agent.tool_response",
    "traceloop.entity.output",
    "ai.toolCall.result",
)


def kind_attributes(
    recorder: Recorder, tool: str | None, present: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the kind of a tool call that starts."""
    declared = _of(recorder, tool)
    if declared is None or declared.kind is None or Trackway.STEP_KIND in present:
        return {}
    return {Trackway.STEP_KIND: declared.kind.value}


def outcome_attributes(
    recorder: Recorder, tool: str | None, present: Mapping[str, Any]
) -> dict[str, Any]:
    """Return kind, entities and idempotency key of a tool call that has ended."""
    declared = _of(recorder, tool)
    if declared is None:
        return {}
    found = kind_attributes(recorder, tool, present)
    arguments = _value(present, _ARGUMENTS)
    refs = _refs(recorder, tool or "", declared, arguments, present)
    if refs and Trackway.ENTITY_REFS not in present:
        found[Trackway.ENTITY_REFS] = refs
    key = declared.operation_id
    if key is not None and isinstance(arguments, dict) and Trackway.OPERATION_ID not in present:
        operation_id = arguments.get(key)
        if operation_id is not None:
            found[Trackway.OPERATION_ID] = recorder.names.id_text(str(operation_id), key)
    return found


def _of(recorder: Recorder, tool: str | None) -> DeclaredTool | None:
    return None if tool is None or recorder.declared is None else recorder.declared.tool(tool)


def _refs(
    recorder: Recorder,
    tool: str,
    declared: DeclaredTool,
    arguments: Any,
    present: Mapping[str, Any],
) -> list[str]:
    sources = [("acts_on", path, arguments) for path in declared.acts_on]
    result = _value(present, _RESULTS)
    sources += [("establishes", path, result) for path in declared.establishes]
    found: list[str] = []
    for option, path, value in sources:
        if value is None:
            continue
        refs = entity_refs(value, path, declared.entity_type, recorder.capture.redactor)
        if not refs:
            note_missing(tool, option, path, value)
        found.extend(refs)
    return list(dict.fromkeys(found))


def _value(present: Mapping[str, Any], keys: tuple[str, ...]) -> Any:
    """Return what stands under the first of the keys, decoded; None where nothing does."""
    for key in keys:
        text = present.get(key)
        if isinstance(text, str):
            try:
                return json.loads(text)
            except ValueError:
                return text
    return None
