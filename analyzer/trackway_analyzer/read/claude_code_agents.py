"""Sub-agents of a Claude Code session: which lines are theirs, and which of them nobody gives.

1. A line of a sub-agent says `isSidechain` and its agent's id; of older ones, the first says whose
   the lines are that follow it.
2. A `progress` line may carry a line of a sub-agent (`data.message`): it is read as that, unless
   the file holds that line itself.
3. The result of a call names the agent that it started (`agentId`), or the workflow, whose agents
   lie in a folder of its name (`runId`). One that counts the uses of tools, and one of `Task` or
   `Agent`, started an agent without a name.
4. An agent that is named is a hole of the run until its lines are there. One that used no tool, by
   the count beside its name, is none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from trackway_analyzer.dialects.provider_calls import Told
from trackway_analyzer.dialects.values import text
from trackway_analyzer.read.claude_code_lines import SPOKEN, Line, parts_in
from trackway_analyzer.read.session_spans import Hole

STARTERS: Final = ("Task", "Agent", "Workflow")
"""Tools that start sub-agents."""
_WORKFLOWS: Final = "/workflows/"


class Started(NamedTuple):
    """A sub-agent, or several, that a call started."""

    agent: str | None = None
    workflow: str | None = None

    def hole(self, call: str) -> Hole:
        """Return the hole that there is without it; `call` is the span of the call."""
        if self.agent is not None:
            return {"what": f"the sub-agent {self.agent}", "agent": self.agent}
        what = f"the agents of {self.workflow}" if self.workflow else "the sub-agent of a call"
        return {"what": what, "below": call}


def started_by(tool: str | None, told: Told, line: Line) -> Started | None:
    """Return what a call started, by the line with its result; None: nothing that used a tool."""
    about = line.get("toolUseResult")
    about = about if isinstance(about, dict) else {}
    agent, workflow = about.get("agentId"), about.get("runId")
    uses = about.get("totalToolUseCount")
    if uses == 0 and isinstance(uses, int):
        return None
    if isinstance(agent, str) and agent:
        return Started(agent=agent)
    if isinstance(workflow, str) and workflow:
        return Started(workflow=workflow)
    counted = isinstance(uses, int)
    return Started() if counted or (tool in STARTERS and not told.failed) else None


def named_agent(line: Line) -> str | None:
    """Return the agent or workflow that the result in a line names."""
    about = line.get("toolUseResult")
    about = about if isinstance(about, dict) else {}
    named = about.get("agentId") or about.get("runId")
    return named if isinstance(named, str) and named else None


def agent_of(call_id: str | None) -> str:
    """Return what to call an agent of which only the call that started it is known."""
    return f"agent of {call_id}"


def workflow_of(file: str) -> str | None:
    """Return the workflow whose agents' files lie in the folder of a file."""
    before, _, behind = file.replace("\\", "/").rpartition(_WORKFLOWS)
    name, slash, _ = behind.partition("/")
    return name if before and slash and name else None


def unfolded(lines: Sequence[Line]) -> list[Line]:
    """Return the lines with those that `progress` lines carry in their place."""
    if not any(line.get("type") == "progress" for line in lines):
        return list(lines)
    known = {uuid for line in lines if isinstance(uuid := line.get("uuid"), str)}
    agents = {
        text(part.get("tool_use_id")): agent
        for line in lines
        if (agent := named_agent(line)) is not None
        for part in parts_in(line)
        if part.get("type") == "tool_result"
    }
    found: list[Line] = []
    for line in lines:
        found.append(line)
        for inner in _carried(line):
            uuid = inner.get("uuid")
            if isinstance(uuid, str):
                if uuid in known:
                    continue
                known.add(uuid)
            data, call = line["data"], text(line.get("parentToolUseID"))
            name = text(data.get("agentId")) or agents.get(call) or agent_of(call)
            own = {"sessionId": line.get("sessionId"), "isSidechain": True, "agentId": name}
            found.append({"timestamp": line.get("timestamp"), **inner, **own, "parentUuid": None})
    return found


def _carried(line: Line) -> Iterator[Line]:
    """Return the lines of a sub-agent that a `progress` line carries."""
    data = line.get("data") if line.get("type") == "progress" else None
    if not isinstance(data, dict):
        return
    items: list[Any] = [data.get("message")]
    if not isinstance(items[0], dict):
        listed = data.get("normalizedMessages")
        items = listed if isinstance(listed, list) else []
    for item in items:
        if not isinstance(item, dict):
            continue
        if item.get("type") in SPOKEN and isinstance(item.get("message"), dict):
            yield item
        elif item.get("role") in SPOKEN and "content" in item:
            yield {"type": item["role"], "message": item}
