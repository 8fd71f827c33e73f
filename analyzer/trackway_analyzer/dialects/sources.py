"""Places where a value stands that is no single attribute: numbered keys, events, several keys.

Each function returns a function of the span, to be named in a dialect's table of fields.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final

from trackway_analyzer.dialects.values import is_placeholder, json_of
from trackway_analyzer.json_text import parsed
from trackway_analyzer.model import JsonValue
from trackway_analyzer.spans import RawSpan

Look = Callable[[RawSpan], JsonValue]


def span_name(span: RawSpan) -> JsonValue:
    """The span's name: says what a span is called where no attribute does, never what it is."""
    return span.name


def agent_of_method(span: RawSpan) -> JsonValue:
    """The agent in a span that is named after its method: `refund_agent.run` (smolagents)."""
    return span.name.removesuffix(".run")


def numbered(prefix: str) -> Look:
    """A list flattened into keys: `llm.input_messages.0.message.role`.

    Indices may be sparse and start anywhere; only their order counts.
    """
    start = prefix + "."
    skip = len(start)

    def look(span: RawSpan) -> JsonValue:
        groups: dict[str, list[tuple[str, JsonValue]]] = {}
        for key, value in span.attributes.items():
            if key.startswith(start):
                index, _, rest = key[skip:].partition(".")
                groups.setdefault(index, []).append((rest, value))
        return _listed({index: _item(tuple(group)) for index, group in groups.items()}) or None

    return look


def _item(pairs: tuple[tuple[str, JsonValue], ...]) -> JsonValue:
    """Return one item of a flattened list; most come again with the next turn."""
    # Texts alone: 1 and True are one key of a cache, and lists are none.
    texts = all(value.__class__ is str for _, value in pairs)
    return _known_item(pairs) if texts else _unflattened(pairs)


def _unflattened(pairs: tuple[tuple[str, JsonValue], ...]) -> JsonValue:
    tree: dict[str, Any] = {}
    for path, value in pairs:
        if not path:
            return value
        _insert(tree, path.split("."), value)
    return _nested(tree)


_known_item = lru_cache(maxsize=2048)(_unflattened)


_MAX_PATH: Final = 16


def _insert(tree: dict[str, Any], path: list[str], value: JsonValue) -> None:
    for name in path[: min(len(path), _MAX_PATH) - 1]:
        inner = tree.get(name)
        if not isinstance(inner, dict):
            inner = tree[name] = {}
        tree = inner
    if not isinstance(tree.get(path[-1]), dict):
        tree[path[-1]] = value


def _nested(tree: dict[str, Any]) -> JsonValue:
    return _listed({name: _nested(v) if isinstance(v, dict) else v for name, v in tree.items()})


def _listed(values: dict[str, JsonValue]) -> JsonValue:
    """Return a list where every name is a number, in the order of the numbers."""
    if values and all(name.isdecimal() and len(name) < 10 for name in values):
        return [values[name] for name in sorted(values, key=int)]
    return values


def event(names: str | frozenset[str], key: str) -> Look:
    """An attribute of the first span event of this name."""
    known = frozenset([names]) if isinstance(names, str) else names

    def look(span: RawSpan) -> JsonValue:
        for item in span.events:
            if item.name in known and key in item.attributes:
                return item.attributes[key]
        return None

    return look


def message_events(roles: Mapping[str, str]) -> Look:
    """Messages that stand in span events, one event a message: event name to role."""

    def look(span: RawSpan) -> JsonValue:
        found = [
            _event_message(item.attributes, roles[item.name])
            for item in span.events
            if item.name in roles
        ]
        # With content off there are events that name a role and nothing else.
        return found if any(message.keys() != {"role"} for message in found) else None

    return look


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
    fields["tool_calls"] = json_of(fields.get("tool_calls"))
    if role == "tool" and "id" in fields:
        fields.setdefault("tool_call_id", fields["id"])
    return {"role": role} | {
        k: v for k, v in fields.items() if k in _MESSAGE_KEYS and v is not None
    }


_MESSAGE_KEYS = frozenset(["role", "content", "tool_calls", "tool_call_id", "name"])


def recorded_events(key: str, *, choices: bool | None) -> Look:
    """Messages in a JSON list of events, `[{"event.name": "gen_ai.user.message", ...}]`.

    `choices` takes the model's choices alone (True), all the others (False) or both (None).
    """

    def look(span: RawSpan) -> JsonValue:
        events = json_of(span.attributes.get(key))
        if not isinstance(events, list):
            return None
        found = [
            _event_message(event, _ROLES.get(event["event.name"], "user"))
            for event in events
            if isinstance(event, dict)
            and isinstance(event.get("event.name"), str)
            and choices in (None, event["event.name"] == "gen_ai.choice")
        ]
        return found or None

    return look


_ROLES = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
    "gen_ai.choice": "assistant",
}


def assistant(texts: tuple[str, ...], calls: tuple[str, ...]) -> Look:
    """One assistant message of the first text and the first list of calls that are there."""

    def look(span: RawSpan) -> JsonValue:
        attributes = span.attributes
        text = next((attributes[key] for key in texts if key in attributes), None)
        asked = next((attributes[key] for key in calls if key in attributes), None)
        if text is None and asked is None:
            return None
        return [{"role": "assistant", "content": text, "tool_calls": json_of(asked)}]

    return look


def name_after(key: str) -> Look:
    """The rest of the span's name after the value of an attribute: `tools/call get_weather`."""

    def look(span: RawSpan) -> JsonValue:
        value = span.attributes.get(key)
        if not isinstance(value, str):
            return None
        return span.name.partition(f"{value} ")[2].strip() or None

    return look


def after_system(system: tuple[str | Look, ...], *look_for: str | Look) -> Look:
    """Messages with the separately recorded system instructions before them."""

    def look(span: RawSpan) -> JsonValue:
        messages = next((v for item in look_for if (v := _value(span, item)) is not None), None)
        if messages is None:
            return None
        found = next((v for item in system if (v := _value(span, item)) is not None), None)
        system_parts = json_of(found)
        if system_parts is None:
            return messages
        if not isinstance(system_parts, list):
            system_parts = [{"type": "text", "content": system_parts}]
        following = json_of(messages)
        following = following if isinstance(following, list) else [following]
        return [{"role": "system", "parts": system_parts}, *following]

    return look


def _value(span: RawSpan, source: str | Look) -> JsonValue:
    return span.attributes.get(source) if isinstance(source, str) else source(span)


def text_or_json(key: str, mime_key: str) -> Look:
    """A value that is JSON if its MIME type says so or it looks like an object; else bare text."""

    def look(span: RawSpan) -> JsonValue:
        value = span.attributes.get(key)
        if not isinstance(value, str) or span.attributes.get(mime_key) == "application/json":
            return value
        return value if value.lstrip()[:1] in ("{", "[") else {"input": value}

    return look


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
