"""The seeded fault suite: every fault is caught, nothing harmless is stopped, no hole passes."""

from __future__ import annotations

import pytest

from benchmarks.detection.agents import AGENTS
from benchmarks.detection.faults import FAULTS
from benchmarks.detection.faults.change import Change
from benchmarks.detection.harmless import HARMLESS
from benchmarks.detection.judging import Said
from benchmarks.detection.ours import Row, as_should_be, hidden, judged

SEED = 0


def wrongs(rows: list[Row]) -> list[str]:
    return [f"{row.name}: {what}" for row in rows for what in row.wrong]


def judged_for_each_agent(rows: list[Row]) -> bool:
    return all(row.right.total() + len(row.wrong) == len(AGENTS) for row in rows)


def test_the_suite_is_as_large_as_it_says() -> None:
    names = [change.name for change in (*FAULTS, *HARMLESS)]

    assert len(FAULTS) >= 40
    assert len(HARMLESS) >= 20
    assert len(AGENTS) == 3
    assert len(set(names)) == len(names)


def test_every_fault_is_caught_by_the_rules_that_should() -> None:
    rows = judged(FAULTS, [SEED])

    assert judged_for_each_agent(rows)
    assert wrongs(rows) == []


def test_no_harmless_change_is_stopped() -> None:
    rows = judged(HARMLESS, [SEED])

    assert judged_for_each_agent(rows)
    assert wrongs(rows) == []


def test_no_run_whose_evidence_is_missing_passes() -> None:
    rows = hidden([SEED])

    assert judged_for_each_agent(rows)
    assert wrongs(rows) == []


@pytest.mark.parametrize(
    ("rules", "said", "right"),
    [
        ({"claim"}, Said(violated={"claim", "budget"}), True),
        ({"claim"}, Said(violated={"budget"}), False),
        ({"claim"}, Said(insufficient={"claim"}), False),
        (set(), Said(), True),
        (set(), Said(violated={"budget"}), False),
        (set(), Said(insufficient={"budget"}), False),
    ],
)
def test_a_fault_counts_as_caught_only_by_a_rule_that_should_catch_it(
    rules: set[str], said: Said, right: bool
) -> None:
    change = Change("a change", lambda agent, script, chance: script, frozenset(rules))

    assert as_should_be(change, said) is right
