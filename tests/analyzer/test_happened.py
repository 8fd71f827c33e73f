"""Did a call take effect, by its result alone?"""

from __future__ import annotations

import json
from typing import Any

import pytest

from analyzer.span_builder import Recording
from trackway_analyzer.happened import happened, refusing
from trackway_analyzer.model import NOT_RECORDED
from trackway_analyzer.records import trajectory_of


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (NOT_RECORDED, None),
        (None, True),
        (True, True),
        (False, None),
        (0, True),
        ("sent", True),
        ("Failed: card declined", False),
        ("FAILED", False),
        (" failed. ", False),
        ("refused", False),
        ("status: failed", False),
        ('Status = "Rejected"', False),
        ("failed orders: none", True),
        ("Not refused", True),
        ("status: paid", True),
        ("The user doesn't want to proceed with this tool use. The tool use was rejected", False),
        ("User rejected the tool call", False),
        ("The tool use was denied.", False),
        ("Permission to use Bash has been denied.", False),
        ("The user doesn't want to proceed with the other order.", True),
        ("The user rejected the offer.", True),
        ({"success": "false"}, False),
        ({"ok": "False"}, False),
        ({"success": "falsehoods"}, True),
        ({"status": "refused"}, False),
        ({"status": "Unsuccessful"}, False),
        ({"message": "Payment failed"}, True),
        ("Failed - card declined", False),
        ("failure: no funds", False),
        ("Error - no funds", False),
        ("Failed to connect", False),
        ("failed-payments report: 3 rows", True),
        ("Failed payments: 3", True),
        ("no card failed: all paid", True),
        ({"status": "failed"}, False),
        ({"ok": True, "status": "failed"}, False),
        ({"status": "pending"}, None),
        ({"status": "[redacted:key_name]"}, None),
        ({"error": "[redacted:key_name]"}, False),
        ("[redacted:hook_failed]", None),
        ("paid with [redacted:card]", True),
        ([{"status": "failed"}, 400], True),
        ("…", None),
        ({"status": "…"}, None),
        ({"amount": 1, "…": "[truncated 3 keys]"}, None),
        ({"…": "[truncated 3 keys]"}, None),
        ({"amount": 1, "ok": True, "…": "[truncated 3 keys]"}, True),
        ({"ok": False, "…": "[truncated 3 keys]"}, False),
        ({"amount": 1, "status": "paid", "…": "[truncated 3 keys]"}, True),
        ({"amount": 1, "ticket": 2, "…": "[truncated 3 keys]"}, True),
        ({"amount": 1, "…": "and more"}, True),
        ('{"log":"xx…[truncated 9 chars]', None),
        ("[1, 2 …[truncated 9 chars]", None),
        ("The refund is on its way …[truncated 9 chars]", True),
        ("Failed: no funds …[truncated 9 chars]", False),
        ("<app.Reply>", None),
        ("<function pay.<locals>.later>", None),
        ("<app.Reply object at 0x7f3a>", None),
        ("<b>paid</b>", True),
        ({"type": "bytes", "length": 20, "sha256": "f" * 64}, None),
        ({"type": "ndarray", "length": 9**9, "sha256_ends": "f" * 64}, None),
        ({"type": "refund", "id": "R-1"}, True),
    ],
)
def test_a_result_says_whether_the_call_took_effect(result: Any, expected: bool | None) -> None:
    assert happened(result, raised=False) is expected
    assert happened(result, raised=True) is False


@pytest.mark.parametrize(
    ("tool", "result", "ok"),
    [
        ("cancel_reservation", {"id": 1, "status": "cancelled"}, True),
        ("Order.Cancel", {"status": "Canceled"}, True),
        ("cancel_reservation", {"status": "failed"}, False),
        ("cancel_reservation", {"status": "cancelled", "error": "too late"}, False),
        ("cancel_reservation", {"status": "cancelled", "ok": False}, False),
        ("refund", {"status": "cancelled"}, False),
    ],
)
def test_what_a_tool_cancelled_is_cancelled(tool: str, result: Any, ok: bool) -> None:
    record = Recording()
    record.tool(tool, {}, result, record.agent("support"))
    (step,) = record.run().tool_steps
    assert step.ok is ok
    assert trajectory_of([{"tool": tool, "result": result}]).tool_steps[0].ok is ok


@pytest.mark.parametrize(("last", "expected"), [("data", None), ("zip", True)])
def test_a_lookup_may_have_failed_where_a_key_that_says_so_may_be_cut(
    last: str, expected: bool | None
) -> None:
    result = {last: "x", "…": "[truncated 3 keys]"}
    assert happened(result, raised=False, lookup=True) is expected


def test_false_is_the_answer_of_a_lookup() -> None:
    assert happened(False, raised=False, lookup=True) is True


@pytest.mark.parametrize(
    ("result", "member"),
    [
        ({"ok": True, "status": "failed"}, "status"),
        ({"ok": True, "success": False}, "success"),
        ({"error": "", "isError": True}, "isError"),
        ({"error": "no funds", "ok": False}, "error"),
        ({"ok": True, "status": "done"}, None),
    ],
)
def test_the_member_that_says_no_is_named(result: Any, member: str | None) -> None:
    assert refusing(result) == member


@pytest.mark.parametrize(
    ("recorded", "result", "ok"),
    [
        (json.dumps({"status": "failed"}), {"status": "failed"}, False),
        (' \n{"id": 1}', {"id": 1}, True),
        ('[{"id": 1}]', [{"id": 1}], True),
        (json.dumps(json.dumps({"status": "failed"})), '"{\\"status\\": \\"failed\\"}"', True),
        ("{not json", "{not json", True),
        ("84", "84", True),
        ("Order A1 costs 5", "Order A1 costs 5", True),
    ],
)
def test_json_in_a_recorded_string_is_read_as_that_once(
    recorded: str, result: Any, ok: bool
) -> None:
    record = Recording()
    agent = record.agent("support")
    record.tool("pay", {}, recorded, agent)

    (step,) = record.run().tool_steps
    assert (step.result, step.ok) == (result, ok)


def test_a_word_that_a_lookup_answers_is_of_what_it_found() -> None:
    assert happened("cancelled", raised=False, lookup=True) is True
    assert happened("cancelled", raised=False) is False
    assert happened("cancelled", raised=False, cancels=True) is True
    assert happened("rejected", raised=False, cancels=True) is False


def test_a_lookup_that_a_person_did_not_let_run_found_nothing() -> None:
    text = "Permission to use search has been denied"
    assert happened(text, raised=False, lookup=True) is False
