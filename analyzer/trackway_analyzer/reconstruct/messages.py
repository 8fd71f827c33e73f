"""What a model was told and what it asked for, read out of its recorded messages.

Messages are in the form of the GenAI conventions: `[{role, parts: [{type, …}]}]`. Three things
matter: calls that the assistant asked for, answers to calls, and texts.

1. What a model's output asks for, that model asked for, whatever role its message names.
2. In a history a call in a message of the user (a simulated one) or of the system (an example) is
   not the agent's, and neither is its answer. Under any other role, an agent's name say, it is.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, NamedTuple, TypeAlias

import orjson

from trackway_analyzer.json_text import MAX_PARSED, canonical, parsed
from trackway_analyzer.model import NOT_RECORDED, JsonValue, NotRecorded

CALL_MARK: Final = '"tool_call'
"""A text without it holds neither call nor answer."""
ASSISTANT: Final = frozenset(["assistant", "model", "ai", None])
OTHERS: Final = frozenset(["user", "human", "system", "developer"])
"""Roles of those whose calls are not the agent's."""
_PROVIDER_RUNS: Final = "server_tool_call"
"""A call as it stood in files that earlier versions wrote: its arguments are lost there."""
_SHORT: Final = 8192


class Request(NamedTuple):
    """A call that a model asked for."""

    id: str | None
    name: str | None
    arguments: JsonValue | NotRecorded
    by_provider: bool = False
    """The provider carries it out."""


class Answer(NamedTuple):
    """What a call gave back, as the model was told."""

    id: str | None
    name: str | None
    response: JsonValue | NotRecorded
    failed: bool
    refused: bool = False
    """Somebody did not let the call be carried out."""


class Text(NamedTuple):
    """Something that somebody said."""

    role: str | None
    text: str


Item: TypeAlias = Request | Answer | Text


class Messages:
    """Reads messages: each distinct short text once, of a history that goes on what is new."""

    def __init__(self, short: int = _SHORT) -> None:
        """`short` is the most characters of a text that is kept by itself."""
        self._short = short
        self._read: dict[tuple[str, bool], list[Item]] = {}
        self._before = "", _Reading()

    def said(self, text: str) -> list[Item]:
        """As `read`, for the output of a model step."""
        return self.read(text, by_model=True)

    def read(self, text: str, *, by_model: bool = False) -> list[Item]:
        """Return the items of a text in order; a text that is no messages has none."""
        if len(text) > self._short:
            return _Reading().after(parsed(text), by_model=by_model).items
        items = self._read.get((text, by_model))
        if items is None:
            items = _Reading().after(parsed(text), by_model=by_model).items
            self._read[text, by_model] = items
        return items

    def history(self, text: str) -> list[Item]:
        """As `read`, for the input of a model step, which as a rule repeats the one before it."""
        if len(text) <= self._short:
            return self.read(text)
        body, reading = self._before
        more = None
        if body and text.startswith(f"{body},") and len(text) <= MAX_PARSED:
            more = parsed(f"[{text[len(body) + 1 :]}")
        if not isinstance(more, list):
            more, reading = parsed(text), _Reading()
        reading = reading.after(more)
        if text.endswith("}]"):
            self._before = text[:-1], reading
        return reading.items


class _Reading:
    """Messages that were read, so that others can be read after them."""

    def __init__(
        self,
        items: Iterable[Item] = (),
        of_others: Iterable[str | None] = (),
        asked: Iterable[str | None] = (),
    ) -> None:
        self.items = list(items)
        self._of_others = set(of_others)
        """Ids of calls that are not the agent's."""
        self._asked = set(asked)

    def after(self, messages: JsonValue, *, by_model: bool = False) -> _Reading:
        """Return a reading of these messages behind the ones that were read."""
        grown = _Reading(self.items, self._of_others, self._asked)
        for message in messages if isinstance(messages, list) else ():
            if isinstance(message, dict):
                grown._take(message, by_model=by_model)
        return grown

    def _take(self, message: dict[str, JsonValue], *, by_model: bool) -> None:
        items, asked = self.items, self._asked
        role = message.get("role")
        parts = message.get("parts")
        if not isinstance(parts, list):
            parts = [{"type": "text", "content": message.get("content")}]
        for part in parts:
            item = _item(role, part) if isinstance(part, dict) else None
            if isinstance(item, Request) and role in OTHERS and not by_model:
                self._of_others.add(item.id)
            elif isinstance(item, Request):
                # What the provider was allowed to run is the call for which it asked leave.
                if not (item.by_provider and item.id in asked):
                    items.append(item)
                asked.update([item.id] if item.id and not item.by_provider else [])
            elif isinstance(item, Answer):
                if item.id is None or item.id not in self._of_others:
                    items.append(item)
            elif item is not None:
                items.append(item)


def _item(role: Any, part: dict[str, JsonValue]) -> Item | None:
    kind = part.get("type")
    if kind == "tool_call":
        return Request(
            _text(part.get("id")),
            _text(part.get("name")),
            _given(part, "arguments"),
            part.get("by_provider") is True,
        )
    if kind == _PROVIDER_RUNS:
        return Request(_text(part.get("id")), _text(part.get("name")), NOT_RECORDED, True)
    if kind == "tool_call_response":
        response = _given(part, "response", "result")
        failed = part.get("is_error") is True
        refused = part.get("refused") is True
        return Answer(_text(part.get("id")), _text(part.get("name")), response, failed, refused)
    content = part.get("content")
    if kind == "text" and isinstance(content, str):
        return Text(role, content)
    return None


def _given(part: dict[str, JsonValue], *keys: str) -> JsonValue | NotRecorded:
    """Return the first of these that is there; a text that is JSON becomes its value."""
    for key in keys:
        value = part.get(key)
        if value is not None:
            return parsed(value) if isinstance(value, str) else value
    return NOT_RECORDED


def _text(value: JsonValue) -> str | None:
    return value if isinstance(value, str) and value else None


def quickly_parsed(text: str) -> JsonValue:
    """As `parsed`, but integers beyond 64 bits may be rounded: for looking, not for keeping."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return parsed(text)


def as_json(value: JsonValue | NotRecorded) -> str | None:
    """Write a value as the span table would; None where there is none."""
    return None if isinstance(value, NotRecorded) else canonical(value)


def comparable(value: JsonValue | NotRecorded) -> bytes | None:
    """Return a key under which equal arguments meet; None: not recorded or not writable."""
    if isinstance(value, NotRecorded):
        return None
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except TypeError:
        return canonical(value).encode()
