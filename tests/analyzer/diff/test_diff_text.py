"""The readable report, whole."""

from __future__ import annotations

import copy
from typing import Any

from trackway_analyzer.diff import diff_trajectories
from trackway_analyzer.records import trajectory_of

Records = list[dict[str, Any]]
KINDS = {"lookup_order": "lookup", "refund_api.create": "mutate", "send_email": "notify"}


def test_a_failed_diff_reads_whole(refund: Records) -> None:
    candidate = copy.deepcopy(refund)
    candidate[2]["arguments"]["amount"] = 42.0
    candidate[0]["result"]["total"] = 42.0
    candidate[0]["result"]["read_at"] = 1767607201
    refund[0]["result"]["read_at"] = 1767693601
    del candidate[1]
    candidate.insert(2, {"tool": "search_kb", "arguments": {"query": "refund"}, "result": []})
    found = diff_trajectories(
        trajectory_of(refund, run_id="run-1"), trajectory_of(candidate, run_id="run-2"), kinds=KINDS
    )

    assert (
        str(found)
        == """\
fail: 2 matched, 1 drifted, 1 missing, 1 unexpected, 0 reordered
  reference run-1, candidate run-2

    reference            candidate
    1 lookup_order       1 lookup_order
  - 2 check_policy
  ~ 3 refund_api.create  2 refund_api.create
  +                      3 search_kb
    4 send_email         4 send_email

failures:
  reference step 2 check_policy(order_id="A9128") is missing in the candidate
  step 2 (reference step 3) refund_api.create: $.amount 42.0, reference 84.0 (from lookup_order \
$.total at step 1)

warnings:
  step 3 search_kb(query="refund") is an extra call (nobody declared what it does)

results that differ:
  step 1 lookup_order: result $.total 42.0, reference 84.0

volatile, not compared:
  step 1 lookup_order: result $.read_at (time)"""
    )


def test_long_stretches_of_equal_steps_fold(refund: Records) -> None:
    ping = {"tool": "ping", "arguments": {}, "result": {}}
    found = diff_trajectories([ping] * 9, [*[ping] * 9, refund[0]])

    assert str(found).splitlines()[3:8] == [
        "    reference  candidate",
        "    1 ping     1 ping",
        "    … 7 equal steps",
        "    9 ping     9 ping",
        "  +            10 lookup_order",
    ]


def test_a_value_that_one_side_lacks_reads_as_such(refund: Records) -> None:
    candidate = copy.deepcopy(refund)
    del candidate[2]["arguments"]["note"]
    forth, back = (
        diff_trajectories(refund, candidate),
        diff_trajectories(candidate, refund),
    )

    assert forth.warnings == (
        'step 3 refund_api.create: $.note is not given, reference "arrived broken"',
    )
    assert back.warnings == (
        'step 3 refund_api.create: $.note "arrived broken", reference does not give it',
    )
    assert forth.to_dict()["argument_drift"][0]["absent"] == "candidate"
    assert back.to_dict()["argument_drift"][0]["absent"] == "reference"


def test_a_trace_cannot_paint_the_terminal(refund: Records) -> None:
    hostile = {**refund[0], "tool": "\x1b[31mred\nline", "arguments": {"\x1b[2J": "\x07"}}
    text = str(diff_trajectories(refund, [hostile]))

    assert all(character.isprintable() or character == "\n" for character in text)
    assert "\\x1b[31mred\\nline" in text
