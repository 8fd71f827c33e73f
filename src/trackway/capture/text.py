"""The one way to write JSON text: canonical, by the standard library, the same on every machine.

1. Keys sorted, no spaces, non-ASCII characters as they are, numbers as Python's `json` writes them.
2. NaN, infinities and types that JSON lacks are refused here: who calls turns them into text first.
3. Lone surrogates have no UTF-8 form; `encodable` writes them as `\\udxxx`, spelled out.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from json import encoder as _json
from typing import Any, Final, TypeAlias

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"

_ENCODER: Final = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False, check_circular=False
)


def _cached_encoder() -> Callable[[Any], str]:
    """Build the C encoder once: `JSONEncoder.encode` builds a new one on every call (1 µs)."""
    make: Any = getattr(_json, "c_make_encoder", None)
    quote: Any = getattr(_json, "c_encode_basestring", None)
    if make is None or quote is None:  # no C accelerator in this interpreter
        return _ENCODER.encode
    chunks = make(None, _ENCODER.default, quote, None, ":", ",", True, False, False)

    def encode(value: Any) -> str:
        return "".join(chunks(value, 0))

    return encode


json_text: Final[Callable[[Any], str]] = _cached_encoder()
"""Write a tree of plain values (str keys) as canonical JSON.

Raises ValueError on NaN and infinities, TypeError on other types, RecursionError when too deep.
"""


_WRITTEN_AS_IT_IS: Final = bytes(code for code in range(32, 256) if code != 0xED)
_UNESCAPED: Final = bytes(code for code in range(32, 256) if code not in b'\\"')


def quoted(text: str) -> str:
    """Write a text as JSON: what `json_text` writes, quicker where nothing has to be escaped."""
    if "\n" in text or '"' in text or text.encode().translate(None, _UNESCAPED):
        return json_text(text)
    return f'"{text}"'


def json_length(text: str) -> int:
    """Return about how many bytes a text takes as JSON: control characters and surrogates, six."""
    raw = text.encode("utf-8", "surrogatepass")
    return len(raw) + 5 * len(raw.translate(None, _WRITTEN_AS_IT_IS))


def json_size(value: Json) -> int:
    """Return the UTF-8 bytes of the JSON of a value."""
    text = json_text(value)
    return len(text) if text.isascii() else len(text.encode())


def encodable(text: str) -> str:
    """Return the text with lone surrogates spelled out, so that it has a UTF-8 form."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace").decode()
    return text
