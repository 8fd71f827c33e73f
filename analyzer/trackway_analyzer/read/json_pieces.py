"""Which values does a text hold that is no JSON document by itself?

1. Objects and lists that stand one after the other are documents, with or without something that
   parts them: blanks, line ends, commas, record separators (RFC 7464), NUL. So are several indented
   documents in one file.
2. What begins like neither is passed over to the end of its line.
3. A list that is cut, or that holds what is no JSON, keeps the items that are whole. Any other
   value that is cut or broken is lost.
4. Bytes that are no UTF-8 cost the values they stand in, no more.
5. The text is gone through once; each piece is decoded at most three times.
"""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple

from trackway_analyzer.read.decoded_json import NotJson, decoded_with_replacement
from trackway_analyzer.read.quarantine import Reason

_BETWEEN: Final = re.compile(rb"[\s,\x1e\x00]*(?:\xef\xbb\xbf)?[\s,\x1e\x00]*")
_TOKEN: Final = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)|[{}\[\]]', re.DOTALL)
_MAX_DEPTH: Final = 1024
_LIST: Final = 0x5B
_OPENING: Final = b"{["
_CLOSING: Final = b"}]"
_NO_TEXT: Final = "bytes that are no UTF-8, replaced"
_NO_JSON: Final = "a line that is no JSON"
_CUT: Final = "a document that ends in the middle"

SEPARATORS: Final = b" \t\r\n,\x1e\x00"

Located = tuple[int, Any]
"""A document with the byte offset at which it begins."""
Loss = tuple[Reason, str, int]
_Span = tuple[int, int]


class Pieces(NamedTuple):
    """What was found in a text, what was not, and how many bytes are in what was."""

    documents: list[Located]
    losses: list[Loss]
    taken: int


def pieces(text: bytes, base: int) -> Pieces:
    """Return the values in a text that begins at the offset `base`."""
    documents: list[Located] = []
    losses: list[Loss] = []
    place = taken = 0
    while True:
        place = _end_of_gap(text, place)
        if place >= len(text):
            return Pieces(documents, losses, taken)
        if text[place] not in _OPENING:
            losses.append((Reason.BROKEN_LINE, _NO_JSON, base + place))
            place = text.find(b"\n", place) + 1 or len(text)
            continue
        end, items = _outline(text, place)
        found = _value(text, place, end, items, base, losses)
        if found is not None:
            documents.append((base + place, found))
            taken += (len(text) if end is None else end) - place
        if end is None:
            losses.append((Reason.TRUNCATED_FILE, _CUT, base + place))
            return Pieces(documents, losses, taken)
        place = end


def _end_of_gap(text: bytes, place: int) -> int:
    gap = _BETWEEN.match(text, place)
    return place if gap is None else gap.end()


def _outline(text: bytes, start: int) -> tuple[int | None, list[_Span]]:
    """Return where the value that begins here ends, None if it does not; of a list, its items."""
    depth, began = 0, start
    items: list[_Span] = []
    is_list = text[start] == _LIST
    for token in _TOKEN.finditer(text, start):
        mark = text[token.start()]
        if mark in _OPENING:
            depth += 1
            if depth == 2:
                began = token.start()
            elif depth > _MAX_DEPTH:
                return None, items
        elif mark in _CLOSING:
            depth -= 1
            if depth == 1 and is_list:
                items.append((began, token.end()))
            elif not depth:
                return token.end(), items
    return None, items


def _value(
    text: bytes, start: int, end: int | None, items: list[_Span], base: int, losses: list[Loss]
) -> Any:
    """Return the value at a place, of a broken list the items that are whole; None: nothing is."""
    if end is not None:
        document, replaced = decoded_with_replacement(text[start:end])
        if not isinstance(document, NotJson):
            if replaced:
                losses.append((Reason.BROKEN_VALUE, _NO_TEXT, base + start))
            return document
        if not items:
            reason = Reason.TOO_DEEP if document.too_deep else Reason.BROKEN_LINE
            losses.append((reason, f"no JSON: {document.why}", base + start))
            return None
    whole = []
    for began, ended in items:
        item, replaced = decoded_with_replacement(text[began:ended], usual=False)
        if isinstance(item, NotJson):
            reason = Reason.TOO_DEEP if item.too_deep else Reason.BROKEN_LINE
            losses.append((reason, f"an item that is no JSON: {item.why}", base + began))
            continue
        if replaced:
            losses.append((Reason.BROKEN_VALUE, _NO_TEXT, base + began))
        whole.append(item)
    return whole or None
