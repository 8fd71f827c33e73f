"""What did the agent tell its user before its final text?

1. Of a transcript, every message of the assistant that asks for no call. Words beside a call are
   about what is to be done; they are no message.
2. Of spans, what a model said without asking for a call, if the user answered it: a later model of
   that agent was given it as the assistant's, with a text of the user behind it. What a planner,
   a router or an agent below another says goes to no user.
3. Of a run of several traces, what its heads answered in those before the last.
4. The messages come in their order, each once; the final text itself is none of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Final

import numpy as np
import pyarrow.compute as pc

from trackway.schema import Operation
from trackway_analyzer.dialects.transcript import SCOPE
from trackway_analyzer.reconstruct.messages import ASSISTANT, CALL_MARK, Item, Messages, Text
from trackway_analyzer.rules.columns import listed
from trackway_analyzer.rules.evidence import Evidence
from trackway_analyzer.rules.told import USER

_ROLES: Final = tuple(f'"{role}"' for role in sorted(filter(None, ASSISTANT)))
"""One of them stands in every input that repeats what the assistant said."""


def said_earlier(evidence: Evidence) -> dict[int, tuple[str, ...]]:
    """Return the messages before the final text, by run; a run without any is left out."""
    return evidence.memo("said_earlier", lambda: _said_earlier(evidence))


def texts_said(evidence: Evidence, run: int) -> tuple[str, ...]:
    """Return all that the agent told its user, the final text last if it was recorded."""
    final = evidence.text(run, "final_text")
    return (*said_earlier(evidence).get(run, ()), *(() if final is None else (final,)))


def _said_earlier(evidence: Evidence) -> dict[int, tuple[str, ...]]:
    found: dict[int, list[str]] = defaultdict(list)
    for run, texts in enumerate(evidence.batch.runs.column("said").to_pylist()):
        if texts:
            found[run] += texts
    written = _transcripts(evidence)
    for run, rows in _speaking(evidence, written).items():
        messages = evidence.memo("messages", Messages)
        found[run] += _of_models(evidence, messages, rows, written=run in written)
    final = evidence.texts("final_text")
    kept = (
        (run, [t for t in dict.fromkeys(said) if t != final[run]]) for run, said in found.items()
    )
    return {run: tuple(said) for run, said in kept if said}


def _transcripts(evidence: Evidence) -> frozenset[int]:
    sources = evidence.batch.runs.column("sources").to_pylist()
    return frozenset(run for run, names in enumerate(sources) if SCOPE in (names or ()))


def _speaking(evidence: Evidence, written: frozenset[int]) -> dict[int, list[int]]:
    """Model steps of the outermost agent, in runs in which several may have said something."""
    models = evidence.is_operation(Operation.LLM)
    if not models.any():
        return {}
    told = evidence.batch.steps.column("input")
    repeats = np.zeros(len(models), dtype=bool)
    for role in _ROLES:
        found = pc.fill_null(pc.match_substring(told, role), False)
        repeats |= np.asarray(found)
    rows: dict[int, list[int]] = defaultdict(list)
    for row in np.flatnonzero(models).tolist():
        rows[evidence.run[row]].append(row)
    return {
        run: _outermost(evidence, own)
        for run, own in rows.items()
        if len(own) > 1 and (run in written or repeats[own].any())
    }


def _outermost(evidence: Evidence, rows: list[int]) -> list[int]:
    paths = evidence.memo("agent_path", lambda: listed(evidence.batch.steps, "agent_path"))
    depths = [(paths[row] or "").count("/") for row in rows]
    return [row for row, depth in zip(rows, depths, strict=True) if depth == min(depths)]


def _of_models(
    evidence: Evidence, messages: Messages, rows: list[int], *, written: bool
) -> Iterator[str]:
    outputs = [evidence.outputs[row] or "" for row in rows]
    for place, output in enumerate(outputs):
        text = None if CALL_MARK in output else _spoken(messages.read(output))
        if text is None:
            continue
        later = rows[place + 1 :]
        if written or any(
            _answered(messages.read(evidence.inputs[row] or ""), text) for row in later
        ):
            yield text


def _spoken(items: list[Item]) -> str | None:
    """What an output says to somebody: the assistant's texts."""
    texts = [item.text for item in items if isinstance(item, Text) and item.role in ASSISTANT]
    return "\n".join(texts) or None


def _answered(items: list[Item], text: str) -> bool:
    """Whether a dialogue holds a text of the assistant with one of the user behind it."""
    said = False
    spoken: list[str] = []
    for item in items:
        if isinstance(item, Text) and item.role in USER:
            said = said or "\n".join(spoken) == text
            if said:
                return True
            spoken = []
        elif isinstance(item, Text) and item.role in ASSISTANT - {None}:
            spoken.append(item.text)
        else:
            spoken = []
    return False
