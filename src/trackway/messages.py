"""From the messages of OpenAI and Anthropic to the message JSON of the GenAI conventions.

1. Read by shape, from dicts and objects alike (`fields`), without importing a client.
2. A message has a role and parts; a tool request is a `tool_call` part with its id and parsed
   arguments (the text itself where it is no JSON), a tool's answer a `tool_call_response` part.
3. Pictures, sound and files in a message become their kind, media type, size and hash (beyond the
   budget for hashes, that of both ends), or their address: one image must not blank a record.
4. A part that no row here knows is kept as it is, with its own `type`.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from trackway.capture.parts import Digest, Json, Missing
from trackway.fields import either, get, is_a, is_list, items_of, length_of, text_of, word

_SHORT: Final = 512
"""Characters of a request's arguments that are read at once; longer ones within the budget."""
_END: Final = 4_096
_MOST_ITEMS: Final = 1_000
"""Messages, or parts of one, that are read."""
Part = dict[str, Any]
Message = dict[str, Any]


def each(convert: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
    """Return each item converted; of very many the first ones, and how many were left out."""
    converted = [convert(item) for item in items_of(items, _MOST_ITEMS)]
    left_out = length_of(items) - len(converted)
    return [*converted, Missing(left_out)] if left_out > 0 else converted


def messages(value: Any) -> list[Message]:
    """Return the conversation: a text is one user message, a list is read item by item."""
    if is_a(value, str):
        return [{"role": "user", "parts": [text_part(value)]}]
    if is_list(value):
        return each(message, value)
    return [message(value)]


def message(item: Any) -> Message:
    """Return one message; an item of OpenAI's Responses API counts as one."""
    if is_a(item, str):
        return {"role": "user", "parts": [text_part(item)]}
    if get(item, "parts") is not None:
        return {"role": get(item, "role"), "parts": get(item, "parts")}
    role = get(item, "role")
    if role is None:
        return _response_item(item)
    if word(role) in ("tool", "function"):
        answer = tool_answer(get(item, "tool_call_id"), get(item, "content"))
        return {"role": "tool", "parts": [answer]}
    found = [*parts(get(item, "content")), *_tool_calls(item)]
    named = get(item, "name")
    return {"role": role, "parts": found, **({"name": named} if is_a(named, str) else {})}


def parts(content: Any) -> list[Part]:
    """Return the parts of a message's content: nothing, a text, or a list of blocks."""
    if content is None:
        return []
    if is_a(content, str):
        return [text_part(content)]
    if is_list(content):
        return each(part, content)
    return [part(content)]


def part(block: Any) -> Part:
    """Return one block of content as a part."""
    if is_a(block, str):
        return text_part(block)
    convert = _PARTS.get(word(get(block, "type")) or "")
    if convert is not None:
        return convert(block)
    return block if is_a(block, dict) else {"type": "object", "content": block}


def text_part(text: Any) -> Part:
    """Return a text part."""
    return {"type": "text", "content": text}


def tool_call(call_id: Any, name: Any, arguments: Any) -> Part:
    """Return a tool request, with its arguments parsed where they are JSON."""
    text = text_of(arguments)
    if text is not None and len(text) > _SHORT:
        arguments = Json(text)
    elif text is not None:
        with contextlib.suppress(ValueError):
            arguments = json.loads(text)
    return {"type": "tool_call", "id": call_id, "name": name, "arguments": arguments}


def tool_answer(call_id: Any, content: Any) -> Part:
    """Return what a tool answered."""
    return {"type": "tool_call_response", "id": call_id, "response": content}


def _tool_calls(item: Any) -> Iterable[Part]:
    for call in items_of(get(item, "tool_calls"), _MOST_ITEMS):
        function = either(call, "function", "custom")
        arguments = get(function, "arguments", get(function, "input"))
        yield tool_call(get(call, "id"), get(function, "name"), arguments)
    function = get(item, "function_call")
    if function is not None:
        yield tool_call(None, get(function, "name"), get(function, "arguments"))


def _response_item(item: Any) -> Message:
    if word(get(item, "type")) == "function_call_output":
        return {"role": "tool", "parts": [tool_answer(get(item, "call_id"), get(item, "output"))]}
    return {"role": "assistant", "parts": [part(item)]}


def _reasoning(block: Any) -> Part:
    written = either(block, "thinking", "text")
    if written is None:
        summary = items_of(get(block, "summary"), _MOST_ITEMS)
        written = "\n".join(text_of(get(piece, "text")) or "" for piece in summary)
    return {"type": "reasoning", "content": written}


def _image_url(block: Any) -> Part:
    image = get(block, "image_url")
    address = image if is_a(image, str) else get(image, "url")
    return _media("image", address)


def _anthropic_media(block: Any) -> Part:
    source = get(block, "source")
    modality = get(block, "type")
    kind = word(get(source, "type"))
    if kind == "base64":
        return _blob(modality, get(source, "media_type"), get(source, "data"))
    if kind == "url":
        return _media(modality, get(source, "url"))
    return {"type": "file", "modality": modality, "file_id": get(source, "file_id")}


def _audio(block: Any) -> Part:
    audio = get(block, "input_audio")
    return _blob("audio", f"audio/{word(get(audio, 'format'))}", get(audio, "data"))


def _media(modality: Any, address: Any) -> Part:
    text = text_of(address)
    if text is not None and text.startswith("data:"):
        comma = text.find(",")
        head = text[: max(0, min(comma, _END))]
        return _blob(modality, head[5:].split(";")[0], text, comma + 1)
    return {"type": "uri", "modality": modality, "uri": address}


def _blob(modality: Any, media_type: Any, data: Any, start: int = 0) -> Part:
    text = text_of(data) or ""
    return {
        "type": "blob",
        "modality": modality,
        "mime_type": media_type,
        "characters": len(text) - start,
        "sha256": _digest(text, start),
    }


def _digest(text: str, start: int) -> str | Digest:
    length = len(text) - start
    if length <= _END:
        return _sha256(text[start:])
    return Digest(
        length,
        lambda: _sha256(text[start:]),
        lambda: _sha256(text[start : start + _END] + text[-_END:]),
    )


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


_PARTS: Final[dict[str, Callable[[Any], Part]]] = {
    "text": lambda block: text_part(get(block, "text", get(block, "content"))),
    "input_text": lambda block: text_part(get(block, "text")),
    "output_text": lambda block: text_part(get(block, "text")),
    "refusal": lambda block: text_part(get(block, "refusal")),
    "thinking": _reasoning,
    "reasoning": _reasoning,
    "tool_use": lambda block: tool_call(get(block, "id"), get(block, "name"), get(block, "input")),
    "tool_result": lambda block: tool_answer(get(block, "tool_use_id"), get(block, "content")),
    "function_call": lambda block: tool_call(
        get(block, "call_id"), get(block, "name"), get(block, "arguments")
    ),
    "image_url": _image_url,
    "input_image": _image_url,
    "image": _anthropic_media,
    "document": _anthropic_media,
    "input_audio": _audio,
}


def tool_definition(tool: Any) -> Any:
    """Return a tool definition in its flat form: type, name, description, parameters."""
    nested = get(tool, "function")
    source = tool if nested is None else nested
    name = get(source, "name")
    if name is None:
        return tool
    flat = {
        "type": "function",
        "name": name,
        "description": get(source, "description"),
        "parameters": get(source, "parameters", get(source, "input_schema")),
    }
    return {key: value for key, value in flat.items() if value is not None}
