"""Session lines of Claude Code (`~/.claude/projects/*/*.jsonl`) as spans.

1. A file is told by its lines. Files that belong together (`claude_code_files`) are read as one.
2. What is one session is a trace (`claude_code_lineage`); how it is put down, `claude_code_session`
   says.
3. A file, or files, in which nobody says anything are no trace.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from trackway_analyzer.read.claude_code_lineage import Histories
from trackway_analyzer.read.claude_code_lines import OTHERS, SPOKEN, parts_in
from trackway_analyzer.read.claude_code_session import Session
from trackway_analyzer.read.json_documents import Located
from trackway_analyzer.read.quarantine import Quarantine, Reason
from trackway_analyzer.read.session_copies import Copies
from trackway_analyzer.read.unread_lines import names_called, tell_of_unread_lines
from trackway_analyzer.spans import RawSpan


def begins_claude_code(document: Any) -> bool:
    """Tell whether a document is a line of a session."""
    if not isinstance(document, dict):
        return False
    kind = document.get("type")
    if not isinstance(kind, str):
        return False
    if kind in SPOKEN:
        told = isinstance(document.get("message"), dict)
        return told and "uuid" in document and "sessionId" in document
    if kind == "summary":
        return "leafUuid" in document
    return kind in OTHERS and ("sessionId" in document or "messageId" in document)


def claude_code_spans(
    lines: Sequence[Located], quarantine: Quarantine, copies: Copies
) -> Iterator[RawSpan]:
    """Return the lines of a file as the spans of its sessions; none where it waits for others."""
    together = copies.histories(quarantine.file)
    histories = together or Histories()
    histories.take(lines, quarantine)
    objects = [line for _, line in lines if isinstance(line, dict)]
    unknown = [line for line in objects if line.get("type") not in (*SPOKEN, *OTHERS)]
    if unknown:
        called = names_called([parts_in(line) for line in objects])
        tell_of_unread_lines(unknown, called, quarantine)
    if together is None:
        yield from session_spans(histories)


def session_spans(histories: Histories) -> Iterator[RawSpan]:
    """Return what was taken in as the spans of its sessions."""
    silent = True
    for conversation in histories.conversations():
        for span in Session(conversation, histories).spans():
            silent = False
            yield span
    if silent and not histories.are_copies:
        detail = "session lines of Claude Code, and nobody says anything"
        histories.quarantine.add(Reason.NOT_A_TRACE, detail)
