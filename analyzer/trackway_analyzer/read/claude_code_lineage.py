"""Which sessions of Claude Code are one? Lines of one file, or of several that belong together.

1. A line counts once, by its id: in the session that is read first. A session that holds lines of
   another copied its history; one whose first line follows a line of another goes on from there
   (`parentUuid`, after compaction `logicalParentUuid`).
2. A session that goes on where another ends is that session: one conversation, under the id of the
   first. Of several that do, the first is.
3. Where the other went on by itself, too, the session is a fork: a conversation of its own, which
   says where it goes on from, and in which what came before is missing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from trackway_analyzer.read.call_shapes import tells_of_a_call
from trackway_analyzer.read.claude_code_lines import SPOKEN, Line
from trackway_analyzer.read.json_documents import Located
from trackway_analyzer.read.quarantine import Quarantine, Reason


class Conversation(NamedTuple):
    """The lines of sessions that are one."""

    session: str
    """Id of the first of them."""
    sessions: tuple[str, ...]
    lines: list[Line]
    origin: str | None
    """The conversation that this one is a fork of."""


class Joint(NamedTuple):
    """Where a session goes on from: a line of another."""

    session: str
    line: str


class Histories:
    """Lines of sessions, each once."""

    def __init__(self) -> None:
        self.known: dict[str, Line] = {}
        """Lines by their ids."""
        self._own: dict[str, list[Line]] = defaultdict(list)
        self._joints: dict[str, Joint] = {}
        self._files: dict[int, str] = {}
        self.quarantine = Quarantine("")
        """Of the file that was read last."""

    def take(self, lines: Sequence[Located], quarantine: Quarantine) -> None:
        """Take in the lines of a file. Raises QuarantineError in strict mode."""
        self.quarantine = quarantine
        own = len(self._files)
        for offset, line in lines:
            session = line.get("sessionId")
            if not isinstance(session, str) or not session:
                if line.get("type") in SPOKEN or tells_of_a_call(line):
                    quarantine.add(Reason.BROKEN_LINE, "a line without a session id", offset)
                continue
            uuid = line.get("uuid")
            if isinstance(uuid, str):
                known = self.known.setdefault(uuid, line)
                if known is not line:
                    if not _equal(known, line):
                        detail = "a line with the id of another line; the first one counts"
                        quarantine.add(Reason.BROKEN_LINE, detail, offset)
                    if known["sessionId"] != session:
                        self._joints[session] = Joint(known["sessionId"], uuid)
                    continue
            if line.get("type") in SPOKEN and not isinstance(line.get("message"), dict):
                quarantine.add(Reason.BROKEN_LINE, "a line without a message", offset)
            self._own[session].append(line)
            self._files[id(line)] = quarantine.file
        if own == len(self._files) and self._joints:
            detail = f"every line is a copy of one of the session {', '.join(self._originals())}"
            quarantine.add(Reason.EMPTY_FILE, detail)

    def file_of(self, line: Line) -> str:
        """Return the name of the file that holds a line."""
        return self._files.get(id(line), "")

    @property
    def are_copies(self) -> bool:
        """Whether a session copied lines of another."""
        return bool(self._joints)

    def _originals(self) -> list[str]:
        return list(dict.fromkeys(joint.session for joint in self._joints.values()))

    def conversations(self) -> Iterator[Conversation]:
        """Return what is one, in the order of its first lines."""
        first: dict[str, str] = {}
        origins: dict[str, str] = {}
        taken_up: set[str] = set()
        for session in self._own:
            joint = self._joints.get(session) or self._followed(session)
            if joint is None:
                continue
            origins[session] = joint.session
            if joint.session not in taken_up and self._is_end(joint):
                taken_up.add(joint.session)
                first[session] = joint.session
        together: dict[str, list[str]] = defaultdict(list)
        for session in self._own:
            together[_last(first, session)].append(session)
        for session, sessions in together.items():
            ordered = sorted(sessions, key=lambda own: _steps(first, own))
            lines = [line for own in ordered for line in self._own[own]]
            origin = origins.get(session)
            forked = None if origin is None else _last(first, origin)
            yield Conversation(
                session, tuple(ordered), lines, None if forked == session else forked
            )

    def _followed(self, session: str) -> Joint | None:
        """Return the line of another session that the first line of one follows."""
        for line in self._own[session]:
            if isinstance(line.get("uuid"), str) and line.get("isSidechain") is not True:
                parent = line.get("parentUuid") or line.get("logicalParentUuid")
                known = self.known.get(parent) if isinstance(parent, str) else None
                if known is None or known["sessionId"] == session:
                    return None
                return Joint(known["sessionId"], str(parent))
        return None

    def _is_end(self, joint: Joint) -> bool:
        """Tell whether nobody says anything in a session behind a line of it."""
        for line in reversed(self._own[joint.session]):
            if line.get("uuid") == joint.line:
                return True
            if line.get("type") in SPOKEN and line.get("isSidechain") is not True:
                return False
        return True


def _steps(first: dict[str, str], session: str) -> int:
    """Return how many sessions a session goes on from."""
    return len(_chain(first, session))


def _last(first: dict[str, str], session: str) -> str:
    return [session, *_chain(first, session)][-1]


def _chain(first: dict[str, str], session: str) -> list[str]:
    found: list[str] = []
    while (before := first.get(session)) is not None and before not in found:
        found.append(before)
        session = before
    return found


def _equal(one: Line, other: Line) -> bool:
    """Tell whether two lines are one, whichever session they are in."""
    apart = {"sessionId": None, "forkedFrom": None}
    try:
        return {**one, **apart} == {**other, **apart}
    except RecursionError:  # nested deeper than Python compares
        return False
