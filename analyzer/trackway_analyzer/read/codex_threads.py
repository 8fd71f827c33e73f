"""Threads of a Codex session: which spawned which, and which of them nobody gives.

1. A thread that another spawned says so in its head: its trace is that of the root (`session_id`),
   else of the first thread of the source that spawned those above it. It stands below the call that
   spawned it, which its head names (`spawn_call_id`), or which names it: by its id (`agent_id`) or
   its task (`task_name`).
2. A thread that a call or an event names is a hole of the run until it is there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from trackway_analyzer.dialects.values import json_of, text
from trackway_analyzer.read.foreign_values import made_id
from trackway_analyzer.read.session_spans import Hole

_SPAWN: Final = "spawn_agent"
_IDS: Final = ("agent_id", "thread_id", "new_thread_id")
_TASKS: Final = ("task_name", "agent_path")

Item = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Thread:
    """Where a session stands among others."""

    id: str
    trace: str
    parent_span: str | None
    """Span below which it stands; None for one that nobody spawned."""
    nickname: str | None


def thread_of(meta: Item, own: str, roots: Mapping[str, str]) -> Thread:
    """Return where a session with this head stands; `own` is its id.

    `roots` names the thread that spawned the first of those that spawned each other.
    """
    source = meta.get("source")
    about = source.get("subagent") if isinstance(source, dict) else None
    spawn = about.get("thread_spawn") if isinstance(about, dict) else None
    told = {**meta, **(spawn if isinstance(spawn, dict) else {})}
    parent = text(told.get("parent_thread_id"))
    if not parent or parent == own:
        return Thread(own, own, None, None)
    task, call = text(told.get("agent_path")), text(told.get("spawn_call_id"))
    if call:
        span = made_id(parent, "call", call)
    else:
        span = spawned_span(parent, task=task) if task else spawned_span(parent, thread=own)
    trace = text(meta.get("session_id")) or roots.get(parent, parent)
    return Thread(own, trace, span, text(told.get("agent_nickname")))


def spawned_span(parent: str, *, task: str | None = None, thread: str | None = None) -> str:
    """Return the id of the span between a call and the thread that it spawned."""
    if task:
        return made_id(parent, "task", task.rstrip("/").rpartition("/")[2])
    return made_id(parent, "thread", thread)


def starts_thread(tool: str) -> bool:
    """Tell whether a tool spawns a thread."""
    return tool.rpartition("__")[2] == _SPAWN


def spawned_by(own: str, tool: str, output: Any) -> Iterator[tuple[str | None, Hole]]:
    """Return the spans between a call and the threads that it spawned, each with its hole."""
    if not starts_thread(tool):
        return
    told = json_of(output) if isinstance(output, str) else output
    told = told if isinstance(told, dict) else {}
    thread = next((name for key in _IDS if (name := text(told.get(key)))), None)
    task = next((name for key in _TASKS if (name := text(told.get(key)))), None)
    if thread:
        yield spawned_span(own, thread=thread), thread_hole(thread)
    if task:
        between = spawned_span(own, task=task)
        yield between, {"what": f"the thread of the task {task}", "below": between}
    if not thread and not task:
        yield None, {"what": "the thread that a call spawned"}


def thread_hole(thread: str) -> Hole:
    """Return the hole that there is without a thread."""
    return {"what": f"the thread {thread}", "session": thread}


def named_thread(event: Item) -> str | None:
    """Return the thread that an event says was spawned."""
    return text(event.get("new_thread_id")) or None
