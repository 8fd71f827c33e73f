"""JSON documents out of a stream: one document, or one a line, whatever the file is called.

1. If the first line is JSON by itself, or the second is and what follows it can be no part of a
   document that goes on, every line is a document; else the whole file is one; else
   the lines that are JSON are documents, or the values that stand one after the other, whichever is
   more of the file (`json_pieces`).
2. A line that is no JSON costs what in it is none. A last line without its end is a file whose
   writer died.
3. A line longer than `MAX_DOCUMENT`, or nested deeper than the parser follows (1,024), is put
   aside.
4. What a document is, `decoded_json` says.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from trackway_analyzer.read.byte_stream import ByteStream, UnreadableStreamError, Window
from trackway_analyzer.read.decoded_json import NotJson, decoded
from trackway_analyzer.read.detect import looks_like
from trackway_analyzer.read.json_pieces import SEPARATORS, Loss, Pieces, pieces
from trackway_analyzer.read.json_pieces import Located as Located
from trackway_analyzer.read.names_held import names_in_file
from trackway_analyzer.read.otlp_usual import UsualDocument
from trackway_analyzer.read.quarantine import Quarantine, Reason
from trackway_analyzer.read.unread_forms import unread_text

MAX_DOCUMENT: Final = 512 * 1024 * 1024
_KEYS: Final = (
    *(b'"resourceSpans"', b'"resource_spans"', b'"traceId"', b'"traceID"'),
    *(b'"trace_id"', b'"span_id"'),
)
"""What a document of spans holds, however damaged it is."""
_HEAD: Final = 65_536
"""Bytes of what is no JSON that are looked through for names."""
_NO_JSON: Final = "a line that is no JSON"
_BLANK: Final = b" \t\r\n,\x1e"
_GOING_ON: Final = (b"]", b"}", b",", b":")
"""What a line begins with that cannot be a document by itself."""
_BOM = b"\xef\xbb\xbf"

_Line = tuple[int, bytes]


def documents(stream: ByteStream, quarantine: Quarantine) -> Iterator[Located]:
    """Return the documents of a stream; what is none goes to the quarantine."""
    lines = Lines(stream, quarantine)
    first = lines.next()
    while first is not None and not first[1].strip():
        first = lines.next()
    if first is None:
        if not lines.broken:
            quarantine.add(Reason.EMPTY_FILE, "the file is empty")
        return
    line = first[0], first[1].removeprefix(_BOM)
    document, following = decoded(line[1]), lines.next()
    if isinstance(document, NotJson) and _goes_on(line[1], document, following, lines):
        yield from _whole(line, following, lines, quarantine)
        return
    while True:
        last = following is None and not line[1].endswith(b"\n")
        yield from _one(line, document, quarantine, last=last)
        if following is None:
            return
        line, following = following, lines.next()
        document = decoded(line[1])


def _goes_on(text: bytes, document: NotJson, following: _Line | None, lines: Lines) -> bool:
    """Tell whether a first line that is no JSON is only the beginning of a document."""
    if document.too_deep:
        return False
    if following is None or text.strip() == b"[":
        return True
    if not isinstance(decoded(following[1]), NotJson):
        # The last item of a list, say: then what closes the list stands behind it.
        third = lines.ahead()
        return third is not None and third[1].strip()[:1] in _GOING_ON
    both = (decoded(line.strip(SEPARATORS)) for line in (text, following[1]))
    return any(isinstance(each, NotJson) for each in both)


def _whole(
    first: _Line, second: _Line | None, lines: Lines, quarantine: Quarantine
) -> Iterator[Located]:
    """Read the rest as one document; where that fails, as lines or as pieces."""
    offset = first[0]
    text = first[1] + (b"" if second is None else second[1]) + lines.rest()
    document = decoded(text)
    if not isinstance(document, NotJson):
        yield offset, document
        return
    found = _lines_of(text, offset)
    if not document.too_deep:
        parts = pieces(text, offset)
        found = parts if parts.taken > found.taken else found
    if found.documents:
        for reason, detail, place in found.losses:
            quarantine.add(reason, detail, place)
        yield from found.documents
    elif not lines.broken:
        reason = _reason(document, text)
        unread = unread_text(text) if reason is Reason.NOT_A_TRACE else None
        if unread is not None:
            quarantine.add(Reason.UNREAD_FORM, unread, offset)
            return
        if reason is Reason.NOT_A_TRACE:
            names = names_in_file(quarantine.file, text[:_HEAD])
            quarantine.add(reason, looks_like(text), offset, names=names)
        else:
            quarantine.add(reason, f"no JSON: {document.why}", offset)


def _lines_of(text: bytes, offset: int) -> Pieces:
    """Return the lines of a text that are documents."""
    found: list[Located] = []
    losses: list[Loss] = []
    position, taken = offset, 0
    for line in text.splitlines(keepends=True):
        part = decoded(line) if line.lstrip()[:1] == b"{" else NotJson("")
        if isinstance(part, dict | UsualDocument):
            found.append((position, part))
            taken += len(line)
        elif line.strip():
            losses.append((Reason.BROKEN_LINE, _NO_JSON, offset))
        position += len(line)
    return Pieces(found, losses, taken)


def _reason(document: NotJson, text: bytes) -> Reason:
    """Tell a trace that is cut or damaged from what never was one."""
    if document.ends_early:
        return Reason.TRUNCATED_FILE
    return Reason.BROKEN_LINE if any(key in text for key in _KEYS) else Reason.NOT_A_TRACE


def _one(line: _Line, document: Any, quarantine: Quarantine, *, last: bool) -> Iterator[Located]:
    offset, text = line
    if not isinstance(document, NotJson):
        yield offset, document
    elif document.too_deep:
        quarantine.add(Reason.TOO_DEEP, "a line nested deeper than 1024", offset)
    elif text.strip(_BLANK):
        bare = decoded(text.strip(SEPARATORS))
        if not isinstance(bare, NotJson):
            yield offset, bare
            return
        found = pieces(text, offset)
        if found.documents:
            for reason, detail, place in found.losses:
                cut = reason is Reason.TRUNCATED_FILE and not last
                quarantine.add(Reason.BROKEN_LINE if cut else reason, detail, place)
            yield from found.documents
        elif last and document.ends_early:
            quarantine.add(Reason.TRUNCATED_FILE, "the last line ends in the middle", offset)
        else:
            quarantine.add(Reason.BROKEN_LINE, _NO_JSON, offset)


def document_of(text: bytes, quarantine: Quarantine, offset: int) -> Iterator[Located]:
    """Return a text that should be one document, if it is."""
    yield from _one((offset, text), decoded(text), quarantine, last=False)


class Lines:
    """Lines of a stream with their offsets, in bounded memory."""

    def __init__(self, stream: ByteStream | Window, quarantine: Quarantine) -> None:
        self._stream = stream
        self._quarantine = quarantine
        self._buffer = b""
        self._at = 0
        self._position = 0
        self._waiting: list[_Line] = []
        self.ended = False
        self.broken = False

    def ahead(self) -> _Line | None:
        """Return the next line that is not blank, and leave it there."""
        for line in self._waiting:
            if line[1].strip():
                return line
        passed: list[_Line] = []
        while (line_ahead := self._read()) is not None:
            passed.append(line_ahead)
            if line_ahead[1].strip():
                break
        self._waiting += passed
        return line_ahead

    def next(self) -> _Line | None:
        """Return the next line with its end mark; None at the end of the stream."""
        return self._waiting.pop(0) if self._waiting else self._read()

    def _read(self) -> _Line | None:
        offset = self._position
        parts: list[bytes] = []
        length = 0
        while True:
            end = self._buffer.find(b"\n", self._at) + 1
            part = self._buffer[self._at : end or None]
            length += len(part)
            if length <= MAX_DOCUMENT:
                parts.append(part)
            else:
                parts.clear()
            self._at += len(part)
            if end or not self._more():
                break
        self._position += length
        if length > MAX_DOCUMENT:
            detail = f"a line of more than {MAX_DOCUMENT} bytes"
            self._quarantine.add(Reason.TOO_LARGE, detail, offset)
            return offset, b"\n"
        return (offset, b"".join(parts)) if length else None

    def all(self) -> Iterator[_Line]:
        """Return the lines that are left."""
        while (line := self.next()) is not None:
            yield line

    def rest(self) -> bytes:
        """Return everything that is left, up to the bound."""
        parts = [*(text for _, text in self._waiting), self._buffer[self._at :]]
        self._waiting.clear()
        length = sum(map(len, parts))
        while self._more():
            parts.append(self._buffer)
            length += len(self._buffer)
            if length > MAX_DOCUMENT:
                self._stop(Reason.TOO_LARGE, f"a document of more than {MAX_DOCUMENT} bytes")
                return b""
        self._buffer, self._at = b"", 0
        return b"".join(parts)

    def _more(self) -> bool:
        """Replace the buffer by the next bytes of the stream; False at its end."""
        self._buffer, self._at = b"", 0
        if self.ended:
            return False
        try:
            self._buffer = self._stream.read()
        except UnreadableStreamError as error:
            self._stop(error.reason, str(error))
        else:
            self.ended = not self._buffer
        return bool(self._buffer)

    def _stop(self, reason: Reason, detail: str) -> None:
        self.ended = self.broken = True
        self._quarantine.add(reason, detail, self._position)
