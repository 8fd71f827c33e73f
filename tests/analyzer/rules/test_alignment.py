"""The search over placements agrees with a checker that tries everything."""

from __future__ import annotations

from itertools import combinations, permutations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trackway_analyzer.rules.alignment import Placement, Problem, place


def every_way(problem: Problem) -> list[tuple[int, int]]:
    """(violations, unknowns) of every way to lay the whole pattern, the slow obvious way."""
    steps = [step for group in problem.groups for step in group]
    group_of = {step: number for number, group in enumerate(problem.groups) for step in group}
    specs = range(len(problem.optional))
    costs = []
    required = [spec for spec in specs if not problem.optional[spec]]
    free = [spec for spec in specs if problem.optional[spec]]
    for extra in (c for n in range(len(free) + 1) for c in combinations(free, n)):
        wanted = sorted([*required, *extra])
        for hidden in (c for n in range(problem.hidden + 1) for c in combinations(required, n)):
            taking = [spec for spec in wanted if spec not in hidden]
            for taken in permutations(steps, len(taking)):
                assigned = dict(zip(taking, taken, strict=True))
                for slots in product(range(len(problem.groups) + 1), repeat=len(hidden)):
                    places = dict(zip(hidden, slots, strict=True))
                    if all(problem.gap_before[slot] for slot in slots) and in_order(
                        problem, wanted, assigned, places, group_of
                    ):
                        costs.append(cost(problem, assigned, hidden))
    return costs


def in_order(
    problem: Problem,
    wanted: list[int],
    assigned: dict[int, int],
    places: dict[int, int],
    group_of: dict[int, int],
) -> bool:
    if any(problem.fits.get(pair, False) is False for pair in assigned.items()):
        return False
    for group in range(len(problem.groups)):
        inside = [spec for spec, step in assigned.items() if group_of[step] == group]
        if len(inside) > 1 and not all(problem.reads[spec] for spec in inside):
            return False
    # A taken step stands at its group, a hidden one in the gap before a group.
    where = [
        places[spec] - 0.5 if spec in places else float(group_of[assigned[spec]]) for spec in wanted
    ]
    return where == sorted(where)


def cost(problem: Problem, assigned: dict[int, int], hidden: tuple[int, ...]) -> tuple[int, int]:
    left = [step for group in problem.groups for step in group if step not in assigned.values()]
    extras = [problem.extras.get(step, 0) for step in left]
    unsure = sum(problem.fits[pair] is None for pair in assigned.items())
    return extras.count(2), extras.count(1) + unsure + len(hidden)


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    specs = draw(st.integers(1, 3))
    sizes = draw(st.lists(st.integers(1, 3), max_size=3))
    steps = iter(range(sum(sizes)))
    groups = [[next(steps) for _ in range(size)] for size in sizes]
    count = sum(sizes)
    pairs = st.tuples(st.integers(0, specs - 1), st.integers(0, max(count - 1, 0)))
    return Problem(
        optional=draw(st.lists(st.booleans(), min_size=specs, max_size=specs)),
        reads=draw(st.lists(st.booleans(), min_size=specs, max_size=specs)),
        groups=groups,
        fits=draw(st.dictionaries(pairs, st.sampled_from([True, None]))) if count else {},
        extras=draw(st.dictionaries(st.integers(0, max(count - 1, 0)), st.sampled_from([1, 2])))
        if count
        else {},
        gap_before=draw(
            st.lists(st.booleans(), min_size=len(groups) + 1, max_size=len(groups) + 1)
        ),
        hidden=draw(st.integers(0, 1)),
    )


@settings(max_examples=150, deadline=None)
@given(problems())
def test_the_best_way_is_the_best_of_all_ways(problem: Problem) -> None:
    found, ways = place(problem), every_way(problem)

    assert found.complete(problem) == bool(ways)
    if ways:
        spent = (len(found.violating), len(found.unknown) + len(found.hidden))
        assert spent == min(ways)


@settings(max_examples=50, deadline=None)
@given(problems())
def test_a_placement_takes_each_step_once_and_in_order(problem: Problem) -> None:
    found = place(problem)
    specs, steps = zip(*found.taken, strict=True) if found.taken else ((), ())

    assert list(specs) == sorted(set(specs))
    assert len(set(steps)) == len(steps)
    assert all(problem.fits[pair] is not False for pair in found.taken)


def simple(specs: str, steps: str, **more: object) -> Placement:
    """Specs and steps are letters; equal letters fit."""
    fits = {(i, j): True for i, a in enumerate(specs) for j, b in enumerate(steps) if a == b}
    facts: dict[str, object] = {
        "optional": [False] * len(specs),
        "reads": [True] * len(specs),
        "groups": [[j] for j in range(len(steps))],
        "fits": fits,
        "extras": {},
        "gap_before": [False] * (len(steps) + 1),
    }
    return place(Problem(**(facts | more)))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("specs", "steps", "reached"),
    [("abc", "abc", 3), ("abc", "axbxc", 3), ("abc", "acb", 2), ("aa", "a", 1), ("a", "", 0)],
)
def test_an_incomplete_pattern_tells_how_far_it_got(specs: str, steps: str, reached: int) -> None:
    assert simple(specs, steps).reached == reached


def test_what_a_first_fit_would_waste_is_saved_for_later() -> None:
    # Spec 0 fits both steps, spec 1 only the first: in one group of reads both find theirs.
    found = simple("ab", "xx", groups=[[0, 1]], fits={(0, 0): True, (0, 1): True, (1, 0): True})

    assert found.taken == ((0, 1), (1, 0))


def test_of_two_equal_calls_the_later_one_is_the_extra() -> None:
    assert simple("ab", "aab", extras={0: 2, 1: 2}).violating == (1,)


def test_a_large_group_is_searched_quickly() -> None:
    steps = "a" * 12
    found = simple("a" * 6, steps, groups=[list(range(12))])

    assert found.reached == 6
