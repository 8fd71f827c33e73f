"""What was the final action of a run, and did it change?

1. It is the recorded one, else the last executed tool; several where the last calls were parallel.
2. Two final actions are the same if their sets of categories are: a declared category, else the
   name up to the first dot.
3. Where only the candidate recorded one, its last tools may stand in for it: a baseline from before
   final actions were recorded stays usable.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from trackway_analyzer.diff.calls import Call
from trackway_analyzer.model import Trajectory

Terminal = str | tuple[str, ...] | None
"""The final action, several where a parallel group was last; None: there was none."""


@dataclass(frozen=True, slots=True)
class End:
    """How one run ended."""

    recorded: str | None
    last_tools: Terminal

    @property
    def action(self) -> Terminal:
        """The final action."""
        return self.last_tools if self.recorded is None else self.recorded


def end_of(run: Trajectory, calls: Sequence[Call]) -> End:
    """The end of a run whose executed calls are `calls`."""
    names = sorted({call.tool for call in calls if call.rank == calls[-1].rank})
    recorded = run.run["final_action"]
    return End(
        None if recorded is None else str(recorded),
        tuple(names) if len(names) > 1 else next(iter(names), None),
    )


def changed(reference: End, candidate: End, declared: Mapping[str, str]) -> bool:
    """Whether the candidate ended in another category of action."""
    wanted = _categories(reference.action, declared)
    if _categories(candidate.action, declared) == wanted:
        return False
    stands_in = reference.recorded is None and candidate.recorded is not None
    return not (stands_in and _categories(candidate.last_tools, declared) == wanted)


def terminal_text(terminal: Terminal) -> str:
    """A final action in a sentence."""
    names = (terminal,) if isinstance(terminal, str) else terminal
    return " and ".join(names) if names else "none"


def _categories(terminal: Terminal, declared: Mapping[str, str]) -> frozenset[str]:
    names = (terminal,) if isinstance(terminal, str) else terminal or ()
    return frozenset(declared.get(name, name.split(".", 1)[0]) for name in names)
