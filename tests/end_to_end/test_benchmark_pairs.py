"""The pairs of the benchmark: the same every time, and every fault is seen for what it is."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa
import pytest

from benchmarks.generate import FAULTS, Pair, pairs
from trackway_analyzer.batch import RunBatch
from trackway_analyzer.diff import diff_trajectories
from trackway_analyzer.records import batch_of_runs
from trackway_analyzer.rules import (
    AnyOrder,
    AtLeast,
    Exact,
    Forbidden,
    Grounded,
    InOrder,
    References,
    Rule,
)

PAIRS = list(pairs(700, seed=3))
EXTRA_CALLS = {"twice", "extra read", "deleted"}


def test_the_same_seed_gives_the_same_pairs_whatever_their_number() -> None:
    assert list(pairs(20, seed=3)) == PAIRS[:20]
    assert list(pairs(20, seed=4)) != PAIRS[:20]
    assert {pair.fault for pair in PAIRS} == {None, *FAULTS}


def _batch(side: str) -> RunBatch:
    batch = batch_of_runs([getattr(pair, side) for pair in PAIRS])
    index = batch.runs.schema.get_field_index("task_id")
    field = batch.runs.schema.field(index)
    tasks = pa.array([pair.task for pair in PAIRS]).dictionary_encode().cast(field.type)
    return RunBatch.of(batch.runs.set_column(index, field, tasks), batch.steps)


REFERENCES = References(_batch("reference"))
CANDIDATES = _batch("candidate")


@pytest.mark.parametrize(
    ("rule", "breaks"),
    [
        (Exact(references=REFERENCES), {*FAULTS}),
        (AnyOrder(references=REFERENCES), {*FAULTS} - {"reordered"}),
        (AtLeast(references=REFERENCES), {"skipped", "halved", "wrong order"}),
        (InOrder(references=REFERENCES), {"skipped", "halved", "wrong order", "reordered"}),
        (Forbidden("delete_account"), {"deleted"}),
        (Grounded("refund_api.create", "order_id", source="lookup_order.id"), {"wrong order"}),
        (Grounded("refund_api.create", "amount", source="lookup_order.total"), {"halved"}),
    ],
    ids=lambda value: value.title if isinstance(value, Rule) else "",
)
def test_each_rule_finds_its_faults_and_no_others(rule: Rule, breaks: set[str]) -> None:
    expected = {number for number, pair in enumerate(PAIRS) if pair.fault in breaks}

    assert {result.run for result in rule.check(CANDIDATES)} == expected


def test_a_diff_fails_on_every_fault_that_harms() -> None:
    kinds = {"refund_api.create": "mutate", "update_ticket": "mutate", "delete_account": "mutate"}
    some = [pair for pair in PAIRS if pair.fault][:40] + [p for p in PAIRS if not p.fault][:20]

    def status(pair: Pair) -> str:
        return diff_trajectories(pair.reference, pair.candidate, kinds=kinds).status

    found = Counter((pair.fault, status(pair)) for pair in some)
    assert {(fault, kind) for fault, kind in found} == {
        (None, "ok"),
        ("skipped", "fail"),
        ("halved", "fail"),
        ("wrong order", "fail"),
        ("reordered", "warning"),
        ("twice", "fail"),
        ("extra read", "warning"),
        ("deleted", "fail"),
    }
