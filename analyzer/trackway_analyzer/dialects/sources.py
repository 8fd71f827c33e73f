"""Places where a value stands that is no single attribute: numbered keys, events, several keys.

Each function returns a `Place`, to be named in a dialect's table of fields.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from trackway_analyzer.dialects.cut_messages import Cut, cut_calls, json_or_cut
from trackway_analyzer.dialects.dialect import Look, Place, Shape, Source
from trackway_analyzer.dialects.flat_list import flat_list
from trackway_analyzer.dialects.messages import AfterSystem, Holed, value_of
from trackway_analyzer.dialects.values import is_placeholder, json_of
from trackway_analyzer.json_text import parsed
from trackway_analyzer.model import JsonValue
from trackway_analyzer.spans import RawSpan
from trackway_analyzer.written import WrittenAttributes


def span_name(span: RawSpan) -> JsonValue:
    """The span's name: says what a span is called where no attribute does, never what it is."""
    return span.name


def agent_of_method(span: RawSpan) -> JsonValue:
    """The agent in a span that is named after its method: `refund_agent.run` (smolagents)."""
    return span.name.removesuffix(".run")


def numbered(prefix: str) -> Place:
    """A list flattened into keys: `llm.input_messages.0.message.role`.

    Indices may be sparse and start anywhere; only their order counts.
    """
    start = prefix + "."

    def look(span: RawSpan) -> Any:
        flat = flat_list(start, span.attributes)
        return flat if flat.paths.in_order else flat.value() or None

    return Place(lambda shape: look if any(k.startswith(start) for k in shape.names) else None)


def numbered_messages(prefix: str, *, asked: bool = False) -> Place:
    """As `numbered`, for messages: one that is missing may have held a call.

    Not the first of those that a model was asked with (`asked`): instructions stand there, and
    OpenInference leaves that place free where there are none.
    """
    place = numbered(prefix)

    def within(shape: Shape) -> Look | None:
        there = place.within(shape)

        def look(span: RawSpan) -> Any:
            found = None if there is None else there(span)
            if found is None:
                return None
            paths = flat_list(f"{prefix}.", span.attributes).paths
            whole = paths.whole or (asked and paths.whole_but_first)
            return found if whole else Holed(found)

        return None if there is None else look

    return Place(within)


def event(names: str | frozenset[str], key: str) -> Place:
    """An attribute of the first span event of this name."""
    known = frozenset([names]) if isinstance(names, str) else names

    def look(span: RawSpan) -> JsonValue:
        for item in span.events:
            if item.name in known and key in item.attributes:
                return item.attributes[key]
        return None

    return _in_events(known, look)


def message_events(roles: Mapping[str, str]) -> Place:
    """Messages that stand in span events, one event a message: event name to role."""

    def look(span: RawSpan) -> JsonValue:
        found = [
            _event_message(item.attributes, roles[item.name])
            for item in span.events
            if item.name in roles
        ]
        # With content off there are events that name a role and nothing else.
        return found if any(message.keys() != {"role"} for message in found) else None

    return _in_events(frozenset(roles), look)


def _in_events(names: frozenset[str], look: Look) -> Place:
    return Place(lambda shape: None if names.isdisjoint(shape.events) else look)


def _in_attributes(names: frozenset[str], look: Look) -> Place:
    return Place(lambda shape: None if names.isdisjoint(shape.names) else look)


def _event_message(attributes: Mapping[str, JsonValue], role: str) -> dict[str, JsonValue]:
    body = json_of(attributes.get("body"))
    fields = {**attributes, **body} if isinstance(body, dict) else dict(attributes)
    inner = json_of(fields.get("message"))
    if isinstance(inner, dict):
        fields |= inner
    elif inner is not None:
        fields["content"] = inner
    content = json_of(fields.get("content"))
    if isinstance(content, dict) and isinstance(content.get("parts"), list):
        # Gemini: the event says user, its content who it was.
        return {"role": content.get("role") or role, "parts": content["parts"]}
    fields["content"] = None if is_placeholder(content) else content
    fields["tool_calls"] = cut_calls(fields.get("tool_calls"))
    if role == "tool" and "id" in fields:
        fields.setdefault("tool_call_id", fields["id"])
    return {"role": role} | {
        k: v for k, v in fields.items() if k in _MESSAGE_KEYS and v is not None
    }


_MESSAGE_KEYS = frozenset(
    ["role", "content", "tool_calls", "function_call", "refusal", "tool_call_id", "name"]
)


def recorded_events(key: str, *, choices: bool | None) -> Place:
    """Messages in a JSON list of events, `[{"event.name": "gen_ai.user.message", ...}]`.

    `choices` takes the model's choices alone (True), all the others (False) or both (None).
    """

    def look(span: RawSpan) -> Any:
        recorded = json_or_cut(span.attributes.get(key))
        cut = isinstance(recorded, Cut)
        events = recorded.value or [] if isinstance(recorded, Cut) else recorded
        if not isinstance(events, list):
            return None
        found = [
            _event_message(event, _ROLES.get(event["event.name"], "user"))
            for event in events
            if isinstance(event, dict)
            and isinstance(event.get("event.name"), str)
            and choices in (None, event["event.name"] == "gen_ai.choice")
        ]
        return Cut(found or None) if cut else found or None

    return _in_attributes(frozenset([key]), look)


_ROLES = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
    "gen_ai.choice": "assistant",
}


def assistant(texts: tuple[str, ...], calls: tuple[str, ...]) -> Place:
    """One assistant message of the first text and the first list of calls that are there."""

    def look(span: RawSpan) -> JsonValue:
        attributes = span.attributes
        text = next((attributes[key] for key in texts if key in attributes), None)
        asked = next((attributes[key] for key in calls if key in attributes), None)
        if text is None and asked is None:
            return None
        return [{"role": "assistant", "content": text, "tool_calls": cut_calls(asked)}]

    return _in_attributes(frozenset([*texts, *calls]), look)


def with_calls(key: str, messages: Place) -> Place:
    """Messages with the calls behind them that stand in an attribute of their own."""

    def within(shape: Shape) -> Look | None:
        if key not in shape.names:
            return None
        there = messages.within(shape)

        def look(span: RawSpan) -> Any:
            found = None if there is None else there(span)
            before = value_of(found)
            calls = cut_calls(span.attributes.get(key))
            asked = calls if isinstance(calls, list) else [calls]
            said = before if isinstance(before, list) else []
            if not any(asked):
                return found
            whole = [*said, {"role": "assistant", "tool_calls": asked}]
            return Holed(whole) if found.__class__ is Holed else whole

        return look

    return Place(within)


def name_after(key: str) -> Place:
    """The rest of the span's name after the value of an attribute: `tools/call get_weather`."""

    def look(span: RawSpan) -> JsonValue:
        value = span.attributes.get(key)
        if not isinstance(value, str):
            return None
        return span.name.partition(f"{value} ")[2].strip() or None

    return _in_attributes(frozenset([key]), look)


def after_system(system: tuple[str | Place, ...], *look_for: str | Place) -> Place:
    """Messages with the separately recorded system instructions before them."""

    def within(shape: Shape) -> Look | None:
        messages, instructions = _first(look_for, shape), _first(system, shape)
        if messages is None or instructions is None:
            return messages

        def look(span: RawSpan) -> Any:
            following = messages(span)
            before = instructions(span) if following is not None else None
            return following if before is None else AfterSystem(before, following)

        return look

    return Place(within)


def _first(sources: tuple[str | Place, ...], shape: Shape) -> Look | None:
    """Return what gives the first value that any of the sources has."""
    looks = [look for source in sources if (look := content_look(source, shape)) is not None]
    if len(looks) < 2:
        return looks[0] if looks else None
    return lambda span: next((v for look in looks if (v := look(span)) is not None), None)


def content_look(source: Source, shape: Shape) -> Look | None:
    """Return what gives a source's value in spans of a shape: a text as a literal, if it is one."""
    if isinstance(source, str) and source in shape.names:
        return partial(_content, source)
    return look_of(source, shape)


def _content(name: str, span: RawSpan) -> Any:
    attributes = span.attributes
    if isinstance(attributes, WrittenAttributes):
        return attributes.literal(name)
    return attributes.get(name)


def look_of(source: Source, shape: Shape) -> Look | None:
    """Return what gives a source's value in spans of a shape; None where they cannot have it."""
    if isinstance(source, Place):
        return source.within(shape)
    if isinstance(source, str):
        return (lambda span: span.attributes.get(source)) if source in shape.names else None
    if not isinstance(source, tuple):
        return source
    key, transform = source
    if key not in shape.names:
        return None

    def look(span: RawSpan) -> Any:
        value = span.attributes.get(key)
        return None if value is None else transform(value)

    return look


def text_or_json(key: str, mime_key: str) -> Place:
    """A value that is JSON if its MIME type says so or it looks like an object; else bare text."""

    def look(span: RawSpan) -> JsonValue:
        value = span.attributes.get(key)
        if not isinstance(value, str) or is_placeholder(value):
            return value
        if span.attributes.get(mime_key) == "application/json":
            return value
        return value if value.lstrip()[:1] in ("{", "[") else {"input": value}

    return _in_attributes(frozenset([key]), look)


def no_schema(value: JsonValue) -> JsonValue:
    """Return a value that holds arguments; None where it is the description of a tool's parameters.

    `tool.parameters` holds the one or the other, depending on who wrote it.
    """
    decoded = parsed(value) if isinstance(value, str) else value
    if not isinstance(decoded, dict):
        return value
    if isinstance(decoded.get("properties"), dict) or decoded.get("type") == "object":
        return None
    described = [isinstance(item, dict) and "type" in item for item in decoded.values()]
    return None if described and all(described) else value
