"""Which places of a task's calls differ from run to run and mean nothing by it?

Learned from at least three runs of one task that passed; each is aligned with the first.

1. Looked at are calls that all runs made with the same arguments, but for values of one volatile
   shape.
2. A place of a result is volatile if no two of the runs have the same value there.
3. A place of the arguments is volatile if besides the tool is no mutation: what identifies a
   mutation is never learned away. A tool that nobody declared may be one.
4. A place that is volatile in one call of a tool and not in another is not volatile.

The answer is a value for `masks`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from trackway.schema import StepKind
from trackway_analyzer.diff.align import align
from trackway_analyzer.diff.calls import Call, Masked, calls_of, settled_tools
from trackway_analyzer.diff.values import Change, Leaf, leaves, path_text
from trackway_analyzer.diff.volatile import shape
from trackway_analyzer.model import JsonValue, NotRecorded, Trajectory
from trackway_analyzer.records import Records, as_trajectory
from trackway_analyzer.rules.tools import Tools

LEAST_RUNS = 3

_Place = tuple[str, str, str]
"""Tool, side and path."""


def learn_masks(
    runs: Iterable[Trajectory | Records],
    *,
    kinds: Mapping[str, str] | None = None,
    tools: Tools | None = None,
) -> dict[str, dict[str, list[str]]]:
    """Return the places that differ in every run, as `masks` for `diff_trajectories`.

    Raises ValueError for fewer than three runs.
    """
    given = [as_trajectory(run) for run in runs]
    if len(given) < LEAST_RUNS:
        raise ValueError(f"expected at least {LEAST_RUNS} runs of one task, found {len(given)}")
    specs, unmasked = settled_tools(given, tools, kinds), Masked(None)
    first, *others = (calls_of(run, specs, unmasked) for run in given)
    volatile: dict[_Place, bool] = {}
    for same in _made_by_all(first, others):
        for place, differs in _places(same):
            volatile[place] = volatile.get(place, True) and differs
    learned: dict[str, dict[str, list[str]]] = {}
    for tool, side, path in sorted(place for place, differs in volatile.items() if differs):
        learned.setdefault(tool, {}).setdefault(side, []).append(path)
    return learned


def _made_by_all(first: Sequence[Call], others: Sequence[Sequence[Call]]) -> Iterator[list[Call]]:
    """The calls of the first run that every other run made too, each with its partners."""
    partners: dict[int, list[Call]] = {call.number: [call] for call in first}
    for other in others:
        for pair in align(first, other).pairs:
            partners[pair.reference.number].append(pair.candidate)
    for same in partners.values():
        if len(same) == len(others) + 1:
            yield same


def _places(same: Sequence[Call]) -> Iterator[tuple[_Place, bool]]:
    """Places of one call made by all runs, and whether no two runs agree there."""
    tool, mutates = same[0].tool, same[0].kind in (None, StepKind.MUTATE)
    given = _by_place([call.step.arguments for call in same])
    varying = {path: values for path, values in given.items() if len(set(values)) > 1}
    if any(not _of_one_shape(path, values) for path, values in varying.items()):
        return
    for path, values in given.items():
        if not mutates:
            yield (tool, "arguments", path), len(set(values)) == len(same)
    for path, values in _by_place([call.step.result for call in same]).items():
        yield (tool, "result", path), len(set(values)) == len(same)


def _by_place(sides: Sequence[JsonValue | NotRecorded]) -> dict[str, list[Leaf]]:
    """The scalar at each place that every side has, by path."""
    found = [leaves(side) for side in sides if not isinstance(side, NotRecorded)]
    if len(found) < len(sides):
        return {}
    common = [at for at in found[0] if all(at in side for side in found)]
    return {path_text(at): [side[at] for side in found] for at in common}


def _of_one_shape(path: str, values: Sequence[Leaf]) -> bool:
    first, *others = (value for _, value in values)
    at = (path.rpartition(".")[2],)
    return all(shape(Change(at, first, other)) for other in others)
