"""From the messages of OpenAI and Anthropic to the message JSON of the GenAI conventions.

1. Read by shape, from dicts and objects alike, without importing a client.
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

_SHORT: Final = 512
"""Characters of a request's arguments that are read at once; longer ones within the budget."""
_END: Final = 4_096
_MOST_ITEMS: Final = 1_000
"""Messages, or parts of one, that are read."""
Part = dict[str, Any]
Message = dict[str, Any]


def get(holder: Any, name: str, default: Any = None) -> Any:
    """Return a dict's item or an object's attribute."""
    if isinstance(holder, dict):
        return holder.get(name, default)
    return getattr(holder, name, default)


def each(convert: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
    """Return each item converted; of very many the first ones, and how many were left out."""
    converted = [convert(item) for item in items[:_MOST_ITEMS]]
    left_out = len(items) - len(converted)
    return [*converted, Missing(left_out)] if left_out > 0 else converted


def messages(value: Any) -> list[Message]:
    """Return the conversation: a text is one user message, a list is read item by item."""
    if isinstance(value, str):
        return [{"role": "user", "parts": [text_part(value)]}]
    if isinstance(value, (list, tuple)):
        return each(message, value)
    return [message(value)]


def message(item: Any) -> Message:
    """Return one message; an item of OpenAI's Responses API counts as one."""
    if isinstance(item, str):
        return {"role": "user", "parts": [text_part(item)]}
    if get(item, "parts") is not None:
        return {"role": get(item, "role"), "parts": get(item, "parts")}
    role = get(item, "role")
    if role is None:
        return _response_item(item)
    if role in ("tool", "function"):
        answer = tool_answer(get(item, "tool_call_id"), get(item, "content"))
        return {"role": "tool", "parts": [answer]}
    found = [*parts(get(item, "content")), *_tool_calls(item)]
    named = get(item, "name")
    return {"role": role, "parts": found, **({"name": named} if isinstance(named, str) else {})}


def parts(content: Any) -> list[Part]:
    """Return the parts of a message's content: nothing, a text, or a list of blocks."""
    if content is None:
        return []
    if isinstance(content, str):
        return [text_part(content)]
    if isinstance(content, (list, tuple)):
        return each(part, content)
    return [part(content)]


def part(block: Any) -> Part:
    """Return one block of content as a part."""
    if isinstance(block, str):
        return text_part(block)
    convert = _PARTS.get(get(block, "type", ""))
    if convert is not None:
        return convert(block)
    return block if isinstance(block, dict) else {"type": "object", "content": block}


def text_part(text: Any) -> Part:
    """Return a text part."""
    return {"type": "text", "content": text}


def tool_call(call_id: Any, name: Any, arguments: Any) -> Part:
    """Return a tool request, with its arguments parsed where they are JSON."""
    if isinstance(arguments, str) and len(arguments) > _SHORT:
        arguments = Json(arguments)
    elif isinstance(arguments, str):
        with contextlib.suppress(ValueError):
            arguments = json.loads(arguments)
    return {"type": "tool_call", "id": call_id, "name": name, "arguments": arguments}


def tool_answer(call_id: Any, content: Any) -> Part:
    """Return what a tool answered."""
    return {"type": "tool_call_response", "id": call_id, "response": content}


def _tool_calls(item: Any) -> Iterable[Part]:
    for call in get(item, "tool_calls") or ():
        function = get(call, "function") or get(call, "custom")
        arguments = get(function, "arguments", get(function, "input"))
        yield tool_call(get(call, "id"), get(function, "name"), arguments)
    function = get(item, "function_call")
    if function is not None:
        yield tool_call(None, get(function, "name"), get(function, "arguments"))


def _response_item(item: Any) -> Message:
    kind = get(item, "type")
    if kind == "function_call_output":
        return {"role": "tool", "parts": [tool_answer(get(item, "call_id"), get(item, "output"))]}
    return {"role": "assistant", "parts": [part(item)]}


def _reasoning(block: Any) -> Part:
    written = get(block, "thinking") or get(block, "text")
    if written is None:
        written = "\n".join(str(get(piece, "text", "")) for piece in get(block, "summary") or ())
    return {"type": "reasoning", "content": written}


def _image_url(block: Any) -> Part:
    image = get(block, "image_url")
    address = image if isinstance(image, str) else get(image, "url")
    return _media("image", address)


def _anthropic_media(block: Any) -> Part:
    source = get(block, "source")
    modality = get(block, "type")
    if get(source, "type") == "base64":
        return _blob(modality, get(source, "media_type"), get(source, "data"))
    if get(source, "type") == "url":
        return _media(modality, get(source, "url"))
    return {"type": "file", "modality": modality, "file_id": get(source, "file_id")}


def _audio(block: Any) -> Part:
    audio = get(block, "input_audio")
    return _blob("audio", f"audio/{get(audio, 'format')}", get(audio, "data"))


def _media(modality: Any, address: Any) -> Part:
    if isinstance(address, str) and address.startswith("data:"):
        comma = address.find(",")
        head = address[: max(0, min(comma, _END))]
        return _blob(modality, head[5:].split(";")[0], address, comma + 1)
    return {"type": "uri", "modality": modality, "uri": address}


def _blob(modality: Any, media_type: Any, data: Any, start: int = 0) -> Part:
    text = data if isinstance(data, str) else ""
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
