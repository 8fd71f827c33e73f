"""What a person reads of a check."""

from __future__ import annotations

from io import StringIO
from typing import Any

import pyarrow as pa

from trackway_analyzer.batch import RunBatch
from trackway_analyzer.check import check
from trackway_analyzer.records import batch_of
from trackway_analyzer.report.check import print_report
from trackway_analyzer.report.terminal import console
from trackway_analyzer.rules import Forbidden, Policy, Sequence

CALLS: list[dict[str, Any]] = [
    {"tool": "look", "arguments": {}, "result": {"id": 1}, "kind": "lookup"}
]


def printed(policy: Policy, task: str | None = None) -> list[str]:
    batch = batch_of(CALLS, run_id="r1")
    runs = batch.runs
    tasks = pa.array([task], runs.schema.field("task_id").type)
    runs = runs.set_column(runs.schema.get_field_index("task_id"), "task_id", tasks)
    out = StringIO()
    print_report(check(RunBatch.of(runs, batch.steps), policy), console(out))
    return out.getvalue().splitlines()


def test_a_rule_that_nobody_wrote_is_not_named_among_those_that_held() -> None:
    policy = Policy(Sequence(("look",)), Forbidden("delete"))

    assert [rule.title for rule in policy.rules] == ["sequence", "unknown_kind", "forbidden"]
    assert printed(policy)[0] == "held in every run: sequence, forbidden"


def test_the_task_stands_beside_the_run_where_one_is_recorded() -> None:
    policy = Policy(Forbidden("look"))

    with_task = printed(policy, "refund-1")[2]
    assert with_task == "      r1  task refund-1  step 1 look is forbidden"
    assert printed(policy)[2] == "      r1  step 1 look is forbidden"
