"""What a model was told since its turn before: the user and system steps of a trajectory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from trackway_analyzer.json_text import UnencodableError, compact
from trackway_analyzer.model import JsonValue, Step

Message = dict[str, Any]
TOLD: Final = ("system", "user")


class Dialogues:
    """What each agent of a run has heard and said so far."""

    def __init__(self) -> None:
        self._known: dict[str, list[str]] = {}

    def new_of(self, step: Step) -> Iterator[tuple[str, Message]]:
        """Return what a model step was told and nobody told its agent before, each with its role.

        A dialogue that comes whole again is new from where it differs. What an assistant said and
        did is new only where the record of the agent begins.
        """
        messages = messages_of(step.input)
        keys = [_key(message) for message in messages]
        agent = step.agent_path or step.agent or ""
        known = self._known.get(agent, [])
        shared = next(
            (n for n, pair in enumerate(zip(keys, known, strict=False)) if pair[0] != pair[1]),
            min(len(keys), len(known)),
        )
        opening = not known
        for message, key in zip(messages[shared:], keys[shared:], strict=True):
            role = str(message.get("role"))
            if role in TOLD:
                if not (role == "system" and key in known):
                    yield role, message
            elif opening:
                yield role, message
        spoken = [_key(message) for message in messages_of(step.output)]
        self._known[agent] = keys + spoken if shared or opening else known + keys + spoken


def messages_of(value: Any) -> list[Message]:
    """Return the messages of a step's input or output."""
    if not isinstance(value, list):
        return []
    return [item for item in value if isinstance(item, dict) and "parts" in item]


def parts_of(message: Message, kind: str) -> list[Message]:
    """Return the parts of one kind of a message."""
    parts = message.get("parts")
    items = parts if isinstance(parts, list) else []
    return [part for part in items if isinstance(part, dict) and part.get("type") == kind]


def text_of(message: Message) -> str:
    """Return what a message says in words; a part that is no text stands as its kind."""
    words = []
    parts = message.get("parts")
    for part in parts if isinstance(parts, list) else ():
        if not isinstance(part, dict):
            continue
        if part.get("type") == "text":
            words.append(as_text(part.get("content")))
        elif part.get("type") not in ("tool_call", "tool_call_response", "reasoning"):
            words.append(f"[{part.get('type') or 'part'}]")
    return "\n".join(words)


def as_text(value: JsonValue) -> str:
    """Return a value as ATIF holds it: a text as it is, anything else as JSON."""
    return value if isinstance(value, str) else compact(value)


def _key(message: Message) -> str:
    try:
        return compact(message)
    except UnencodableError:
        return repr(message)
