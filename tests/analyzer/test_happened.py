"""Did a call take effect, by its result alone?"""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.span_builder import Recording
from trackway_analyzer.happened import happened
from trackway_analyzer.model import NOT_RECORDED
from trackway_analyzer.records import trajectory_of
from trackway_analyzer.said_no import SAYING, refusing


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
        ({"message": "Payment failed"}, None),
        *(({name: True}, False) for name in ("isError", "is_error", "IsError", "failed", "Failed")),
        *(({name: False}, True) for name in ("isError", "is_error", "failed", "error", "errors")),
        *(({name: "no funds"}, False) for name in ("error", "Error", "ERROR", "errors", "Errors")),
        ({"errors": ["declined"]}, False),
        ({"errors": []}, True),
        ({"errors": 0, "failed": 0, "succeeded": 3}, True),
        *(({name: 0}, False) for name in ("success", "ok", "OK", "Success", "succeeded")),
        *(({"success": word}, False) for word in ("0", "no", "False ")),
        *(({"success": value}, True) for value in (1, True, "yes", None)),
        *(({name: "FAILED"}, False) for name in ("status", "Status", "STATUS", "state", "State")),
        ({"status": "paid", "State": "failed"}, False),
        *(
            ({"status": word}, False)
            for word in (
                *("timeout", "Timed out", "timed-out", "aborted", "unauthorized", "not found"),
                *(
                    "card_declined",
                    "payment failed",
                    "INTERNAL_ERROR",
                    "refund-rejected",
                    "failed.",
                ),
            )
        ),
        *(
            ({"status": word}, None)
            for word in ("in_progress", "In progress", "pending_review", "requires action")
        ),
        *(({"status": word}, True) for word in ("no_error", "failsafe", "declination", "CA", "ok")),
        ({"status": 402}, False),
        ({"statusCode": 500}, False),
        ({"status_code": 404}, False),
        ({"status": 201, "state": "CA"}, True),
        ({"status": 600}, True),
        ("Refund failed", False),
        ("The refund has failed: no funds", False),
        ("Payment timed out.", False),
        ("Tool execution failed: card declined", False),
        ("[ERROR] declined", False),
        ("Timeout", False),
        ("timed out", False),
        ("status: not found", False),
        ("Unable to refund A1", False),
        ("Couldn’t refund A1", False),
        ("Card was declined by the bank", False),
        ("Access denied", False),
        ("First attempt failed, the second went through", True),
        ("Marked the payment as failed", True),
        ("Payments failed: 0", True),
        ("None failed", True),
        ("2 of 3 payments failed before", True),
        ("Could not find an older ticket, opened T-1", True),
        ("Timeout set to 30 s", True),
        ("Sent: your card was declined", True),
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
        ("abort_job", {"State": "aborted"}, True),
        ("abort_job", {"status": "cancelled", "state": "failed"}, False),
        ("cancel_order", {"status": "cancelled", "errors": ["too late"]}, False),
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


@pytest.mark.parametrize(
    "found",
    [
        {"errors": ["line 3"]},
        {"status": 404},
        {"state": "FAILED"},
        {"status": "timeout"},
        {"failed": True},
        "Payment failed",
        "Unable to walk",
        "Card declined",
    ],
)
def test_what_a_lookup_found_says_nothing_of_the_lookup(found: Any) -> None:
    assert happened(found, raised=False, lookup=True) is True
    assert happened(found, raised=False) is False


@pytest.mark.parametrize("found", [{"is_error": True}, {"Error": "x"}, "[ERROR] x", {"ok": 0}])
def test_a_lookup_may_fail_too(found: Any) -> None:
    assert happened(found, raised=False, lookup=True) is False


WORDS = (
    *("refund", "Refund", "failed", "Failed:", "timed out", "timed-out", "[ERROR]", "could not"),
    *("can’t", "unable", "to", "Card", "declined.", "not", "found", "status:", "no", "An", "error"),
    *("occurred", "execution", "request", "user rejected the tool call", "…", "FATAL", "\n", '"'),
)


@given(st.lists(st.sampled_from(WORDS), max_size=5).map(" ".join), st.booleans())
def test_the_check_of_files_takes_every_text_whole_that_may_say_no(text: str, lookup: bool) -> None:
    kept_whole = re.compile(rf"{SAYING}|…|\\\\|^\"\s*[\[{{<]", re.IGNORECASE)
    if happened(text, raised=False, lookup=lookup) is not True:
        assert kept_whole.search(json.dumps(text, ensure_ascii=False))


def test_a_word_that_a_lookup_answers_is_of_what_it_found() -> None:
    assert happened("cancelled", raised=False, lookup=True) is True
    assert happened("cancelled", raised=False) is False
    assert happened("cancelled", raised=False, cancels=True) is True
    assert happened("rejected", raised=False, cancels=True) is False


def test_a_lookup_that_a_person_did_not_let_run_found_nothing() -> None:
    text = "Permission to use search has been denied"
    assert happened(text, raised=False, lookup=True) is False
