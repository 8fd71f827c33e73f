"""A streamed model answer, put together into the object that an unstreamed call would give.

Three streams are known by the shape of their pieces: OpenAI chat chunks (`choices[].delta`), events
of OpenAI's Responses API (the closing event carries the whole response; without it the answer is
put together from the deltas), Anthropic events (`content_block_delta`, …). Texts are joined; other
pieces are kept as a list. An answer cut short keeps what came. Texts are kept up to the bound of
`streams`.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any, Final

from trackway.completions import provider_of
from trackway.fields import get, is_a, items_of, text_of, word
from trackway.streams import MAX_CHARACTERS, Collector

_MOST: Final = 1_000
"""Choices, or tool calls, of one piece that are read."""


class CompletionCollector(Collector):
    """Pieces of one answer, merged as they come: nothing but the merged answer is kept."""

    __slots__ = ("_chat", "_events", "_response", "provider")

    def __init__(self) -> None:
        super().__init__()
        self._chat: _ChatAnswer | None = None
        self._events: _AnthropicAnswer | None = None
        self._response: _ResponsesAnswer | None = None
        self.provider: str | None = None
        """Whose client made the pieces, where their class tells."""

    def add(self, item: Any) -> None:
        """Merge one piece."""
        if is_a(item, str):
            super().add(item)
            return
        self.provider = self.provider or provider_of(item)
        kind = word(get(item, "type"))
        if get(item, "choices") is not None:
            self.count += 1
            self._chat = self._chat or _ChatAnswer()
            self._chat.add(item)
        elif kind is not None and kind.startswith("response."):
            self.count += 1
            self._response = self._response or _ResponsesAnswer()
            self._response.add(kind, item)
        elif kind is not None and kind in _ANTHROPIC_EVENTS:
            self.count += 1
            self._events = self._events or _AnthropicAnswer()
            self._events.add(kind, item)
        else:
            super().add(item)

    @property
    def cut(self) -> bool:
        """Whether a text of the answer went on after the bound."""
        answer = self._chat or self._events or self._response
        return super().cut or (answer is not None and any(text.cut for text in answer.written()))

    def result(self) -> Any:
        """Return the whole answer, in the provider's own unstreamed shape."""
        if self._chat is not None:
            return self._chat.result()
        if self._events is not None:
            return self._events.result()
        if self._response is not None:
            return self._response.result()
        return super().result()


def _position(piece: Any, default: int = 0) -> int:
    position = get(piece, "index")
    return position if type(position) is int else default


class _Text:
    """A text that grows up to the bound."""

    __slots__ = ("_length", "_pieces", "cut")

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._length = 0
        self.cut = False

    def add(self, piece: Any) -> None:
        text = text_of(piece)
        if not text:
            return
        if self._length < MAX_CHARACTERS:
            self._pieces.append(text)
            self._length += len(text)
        else:
            self.cut = True

    def __str__(self) -> str:
        return "".join(self._pieces)

    def __bool__(self) -> bool:
        return bool(self._pieces)


class _ChatChoice:
    def __init__(self) -> None:
        self.role = "assistant"
        self.content = _Text()
        self.calls: dict[int, dict[str, Any]] = {}
        self.finish_reason: str | None = None

    def add(self, choice: Any) -> None:
        delta = get(choice, "delta")
        self.role = word(get(delta, "role")) or self.role
        self.content.add(get(delta, "content"))
        for piece in items_of(get(delta, "tool_calls"), _MOST):
            call = self.calls.setdefault(
                _position(piece, len(self.calls)),
                {"id": None, "name": _Text(), "arguments": _Text()},
            )
            call["id"] = word(get(piece, "id")) or call["id"]
            call["name"].add(get(get(piece, "function"), "name"))
            call["arguments"].add(get(get(piece, "function"), "arguments"))
        self.finish_reason = word(get(choice, "finish_reason")) or self.finish_reason

    def written(self) -> Iterator[_Text]:
        yield self.content
        for call in self.calls.values():
            yield from (call["name"], call["arguments"])

    def result(self) -> dict[str, Any]:
        calls = [
            {
                "id": call["id"],
                "function": {"name": str(call["name"]), "arguments": str(call["arguments"])},
            }
            for _, call in sorted(self.calls.items())
        ]
        said = {
            "role": self.role,
            "content": str(self.content) if self.content else None,
            "tool_calls": calls,
        }
        return {"message": said, "finish_reason": self.finish_reason}


class _ChatAnswer:
    def __init__(self) -> None:
        self.head: dict[str, Any] = {}
        self.choices: dict[int, _ChatChoice] = {}

    def add(self, chunk: Any) -> None:
        for name in ("id", "model", "system_fingerprint", "usage"):
            value = get(chunk, name)
            if value is not None:
                self.head[name] = value
        for choice in items_of(get(chunk, "choices"), _MOST):
            self.choices.setdefault(_position(choice), _ChatChoice()).add(choice)

    def written(self) -> Iterator[_Text]:
        return chain.from_iterable(choice.written() for choice in self.choices.values())

    def result(self) -> dict[str, Any]:
        choices = [choice.result() for _, choice in sorted(self.choices.items())]
        return {**self.head, "choices": choices}


_ENDINGS = frozenset({"response.completed", "response.incomplete", "response.failed"})
_SPOKEN = {
    "response.output_text.delta": "output_text",
    "response.refusal.delta": "refusal",
}
_WRITTEN = frozenset(
    {
        *("response.function_call_arguments.delta", "response.reasoning_text.delta"),
        "response.reasoning_summary_text.delta",
    }
)


class _ResponsesAnswer:
    def __init__(self) -> None:
        self.head: Any = None
        self.whole: Any = None
        self.items: dict[int, Any] = {}
        self.done: set[int] = set()
        self.texts: dict[int, _Text] = {}
        self.kinds: dict[int, str] = {}

    def add(self, kind: str, event: Any) -> None:
        position = get(event, "output_index")
        if kind in _ENDINGS:
            self.whole = get(event, "response")
        elif kind in ("response.created", "response.in_progress"):
            self.head = get(event, "response")
        elif type(position) is not int:
            return
        elif kind in ("response.output_item.added", "response.output_item.done"):
            self.items[position] = get(event, "item")
            if kind.endswith("done"):
                self.done.add(position)
        elif kind in _SPOKEN or kind in _WRITTEN:
            self.kinds[position] = _SPOKEN.get(kind, "")
            self.texts.setdefault(position, _Text()).add(get(event, "delta"))

    def written(self) -> Iterator[_Text]:
        """Return what is put together here; a response that came whole has no need of it."""
        return iter(() if self.whole is not None else self.texts.values())

    def result(self) -> Any:
        if self.whole is not None:
            return self.whole
        head = {name: get(self.head, name) for name in ("id", "model")}
        positions = sorted({*self.items, *self.texts})
        return {**head, "output": [self._item(position) for position in positions]}

    def _item(self, position: int) -> Any:
        item = self.items.get(position)
        if position in self.done:
            return item
        text, spoken = str(self.texts.get(position, "")), self.kinds.get(position)
        if spoken:
            field = "refusal" if spoken == "refusal" else "text"
            return {"type": "message", "content": [{"type": spoken, field: text}]}
        if word(get(item, "type")) == "function_call":
            asked = {name: get(item, name) for name in ("type", "call_id", "name")}
            return {**asked, "arguments": text}
        return {"type": word(get(item, "type")) or "reasoning", "text": text}


_ANTHROPIC_EVENTS = frozenset(
    {
        "message_start",
        "message_delta",
        "message_stop",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "ping",
    }
)
_USAGE = (
    "input_tokens",
    "output_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
)


class _AnthropicAnswer:
    def __init__(self) -> None:
        self.head: dict[str, Any] = {"role": "assistant"}
        self.usage: dict[str, int] = {}
        self.blocks: dict[int, tuple[Any, _Text]] = {}

    def add(self, kind: str, event: Any) -> None:
        if kind == "message_start":
            started = get(event, "message")
            self.head.update({name: get(started, name) for name in ("id", "model", "role")})
            self._count(get(started, "usage"))
        elif kind == "message_delta":
            reason = get(get(event, "delta"), "stop_reason")
            if reason is not None:
                self.head["stop_reason"] = reason
            self._count(get(event, "usage"))
        elif kind == "content_block_start":
            self.blocks[_position(event)] = (get(event, "content_block"), _Text())
        elif kind == "content_block_delta":
            delta = get(event, "delta")
            _, text = self.blocks.setdefault(_position(event), ({"type": "text"}, _Text()))
            for name in ("text", "thinking", "partial_json"):
                text.add(get(delta, name))

    def _count(self, usage: Any) -> None:
        if usage is None:
            return
        for name in _USAGE:
            value = get(usage, name)
            if type(value) is int:
                self.usage[name] = value

    def written(self) -> Iterator[_Text]:
        return (text for _, text in self.blocks.values())

    def result(self) -> dict[str, Any]:
        content = [_block(block, str(text)) for _, (block, text) in sorted(self.blocks.items())]
        return {**self.head, "content": content, "usage": self.usage or None}


def _block(block: Any, text: str) -> dict[str, Any]:
    kind = word(get(block, "type"))
    if kind == "tool_use":
        # `tool_call` parses the text; a block that came whole has its input already.
        asked = text or get(block, "input")
        return {"type": kind, "id": get(block, "id"), "name": get(block, "name"), "input": asked}
    return {"type": kind, ("thinking" if kind == "thinking" else "text"): text}
