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


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        *(({name: False}, False) for name in ("isSuccess", "is_success", "isOk")),
        *(({name: True}, False) for name in ("hasError", "has_errors")),
        ({"is_error": "true"}, False),
        ({"isError": "false"}, True),
        *(({"error": text}, True) for text in ("None", "none", "no error", "False")),
        ({"error": {"code": 0, "message": "OK"}}, True),
        ({"error": {"code": 7, "message": "OK"}}, False),
        ({"errors": [{"code": 0}]}, True),
        ({"results": [{"success": False}]}, None),
        ([{"success": True}, {"success": False}], None),
        ({"booking": {"id": 1, "isError": True}}, None),
        ([False, "declined"], None),
        ([None, "card declined"], None),
        ([None, "A1"], True),
        ([True, "declined before"], True),
        ({"args": ["declined"], "type": "ValueError"}, None),
        ({"type": "error_report", "id": 1}, True),
        ({"deleted": 0}, None),
        ({"rows_affected": 0}, None),
        ({"rows_affected": 2}, True),
        ({"modifiedCount": 0, "matchedCount": 0}, None),
        ({"sent": 0, "failed": 1}, None),
        ({"sent": 3, "failed": 1}, True),
        ({"accepted": [], "rejected": ["bob@example.com"]}, None),
        ({"accepted": ["bob@example.com"], "rejected": []}, True),
        *(({"status": word}, None) for word in ("rate_limited", "Blocked", "dry run", "no-op")),
        ({"dry_run": True, "status": "ok"}, None),
        ({"dry_run": False, "status": "ok"}, True),
        ("false", None),
        ("fail", False),
        ("<tool_use_error>No such file</tool_use_error>", False),
        ("<error>no funds</error>", False),
        ("refnd is not a valid tool, try one of [refund].", False),
        ("User cancelled the action", False),
        ("Operation cancelled by user", False),
        ("Tool execution was cancelled by the user", False),
        ("Claude requested permissions to use Bash, but you haven't granted it yet.", False),
        ("ERR_CONNECTION_REFUSED", None),
        ("Rate limit exceeded", None),
        ("Refund NOT issued", None),
        ("Seat is no longer available", None),
        ("Sorry, that slot is taken.", None),
        ("This action requires confirmation", None),
        ("Missing required parameter: date", None),
        ("Error handling page updated", True),
        ("Error handling request: no route", False),
        ("Error log cleared", True),
        ("Order placed. Note: this item cannot be returned.", True),
        ("Cannot be undone. Account deleted.", True),
    ],
    ids=repr,
)
def test_what_went_wrong_is_told_in_many_forms(result: Any, expected: bool | None) -> None:
    assert happened(result, raised=False, tool="book") is expected


@pytest.mark.parametrize(
    ("tool", "result", "expected"),
    [
        ("reject_application", {"status": "rejected"}, True),
        ("decline_invitation", {"status": "declined"}, True),
        ("deny_claim", {"status": "denied", "success": True}, True),
        ("expireCoupon", {"state": "Expired"}, True),
        ("block_card", {"status": "blocked"}, True),
        ("queue_message", {"status": "queued"}, True),
        ("reject_application", {"status": "rejected", "error": "no rights"}, False),
        ("mark_failed", {"status": "failed"}, None),
        ("cancel_pending_order", {"status": "pending"}, None),
        ("process_refund", {"status": "processing"}, None),
        ("refund", {"status": "declined"}, False),
        ("refund_api.create", {"id": 1, "refund": {"id": 2, "status": "failed"}}, None),
        ("refund_api.create", {"id": 1, "order": {"id": 2, "status": "cancelled"}}, True),
    ],
)
def test_a_word_that_the_tool_is_named_for_says_that_it_did_it(
    tool: str, result: Any, expected: bool | None
) -> None:
    assert happened(result, raised=False, tool=tool) is expected


@pytest.mark.parametrize(
    ("arguments", "result", "expected"),
    [
        ({"status": "cancelled"}, {"id": 1, "status": "cancelled"}, True),
        ({"status": "Cancelled"}, {"id": 1, "status": "cancelled"}, True),
        ({"status": "paid"}, {"id": 1, "status": "cancelled"}, False),
        ({"status": "cancelled"}, {"status": "cancelled", "error": "too late"}, False),
        ({"status": "[redacted:email]"}, {"status": "[redacted:email]"}, None),
        ({"answer": "Refund failed: no route"}, "Refund failed: no route", True),
        ({"answer": "Refund failed: [redacted:x]"}, "Refund failed: [redacted:x]", False),
    ],
)
def test_what_the_calls_own_arguments_asked_for_says_nothing_against_it(
    arguments: Any, result: Any, expected: bool | None
) -> None:
    assert happened(result, raised=False, arguments=arguments) is expected
    record = Recording()
    record.tool("set_it", arguments, result, record.agent("support"))
    (step,) = record.run().tool_steps
    assert step.ok is expected
    (plain,) = trajectory_of([{"tool": "set_it", "arguments": arguments, "result": result}]).steps
    assert plain.ok is expected


@pytest.mark.parametrize(
    ("tool", "status", "expected"),
    [
        ("refund", "zurückgestellt", None),
        ("refund", "on the way", None),
        ("refund", "Refunded", True),
        ("modify_order", "order modified", True),
        ("exchange_items", "exchange requested", True),
        ("close_account", "closed", True),
        ("stop_vm", "stopped", True),
        ("post", "201 Created", True),
    ],
)
def test_a_status_that_nobody_knows_leaves_a_mutation_open(
    tool: str, status: str, expected: bool | None
) -> None:
    assert happened({"status": status}, raised=False, mutation=True, tool=tool) is expected
    assert happened({"status": status}, raised=False, tool=tool) is True
    record = Recording()
    record.tool(tool, {}, {"status": status}, record.agent("support"), tool_kind="mutate")
    assert record.run().tool_steps[0].ok is expected


@pytest.mark.parametrize(("last", "expected"), [("data", None), ("zip", True)])
def test_a_lookup_may_have_failed_where_a_key_that_says_so_may_be_cut(
    last: str, expected: bool | None
) -> None:
    result = {last: "x", "…": "[truncated 3 keys]"}
    assert happened(result, raised=False, lookup=True) is expected


@pytest.mark.parametrize(
    "cut", ['{"trace": "zzz', '{"id": 7, "lines": [{"a": 1}, {"b"', '[{"id": 7, "n']
)
def test_json_that_was_cut_leaves_it_open_whoever_cut_it(cut: str) -> None:
    assert happened(cut, raised=False) is None
    assert happened(cut, raised=False, mutation=True) is None
    assert happened(cut, raised=False, lookup=True) is True
    record = Recording()
    record.tool("refund", {}, cut, record.agent("support"))
    assert record.run().tool_steps[0].ok is None


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
    assert happened("cancelled", raised=False, tool="cancel_order") is True
    assert happened("rejected", raised=False, tool="cancel_order") is False


def test_a_lookup_that_a_person_did_not_let_run_found_nothing() -> None:
    text = "Permission to use search has been denied"
    assert happened(text, raised=False, lookup=True) is False
