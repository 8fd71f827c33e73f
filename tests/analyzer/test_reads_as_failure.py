"""A result that no member speaks against and that reads like a failure: was the call done?"""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trackway_analyzer.happened import happened
from trackway_analyzer.reads_as_failure import DOUBTED, DOUBTED_LIST
from trackway_analyzer.said_no import SAYING

OPEN = [
    {"message": "Payment failed"},
    {"error": None, "message": "Your card was declined"},
    {"isError": False, "content": [{"type": "text", "text": "Error: no funds"}]},
    {"msg": "Sorry! The refund could not be processed."},
    {"detail": "Not authorized"},
    {"message": "This order can't be refunded"},
    {"message": "Refund for A1 failed because the card expired", "id": "R-1"},
    {"status": "active", "message": "Payment failed"},
    {"result": "error"},
    {"outcome": "declined"},
    {"error_message": "no funds"},
    {"errorCode": "E12"},
    {"failure_reason": "no funds", "id": "re_1"},
    {"declineCode": "05"},
    {"code": 402},
    {"code": "card_declined"},
    {"http_status": "503"},
    {"exit_code": 1, "output": ""},
    {"refunded": False},
    {"refunded": False, "message": "later"},
    {"Sent": False, "to": "ann@example.com"},
    {"data": {"status": "failed"}},
    {"response": {"body": {"ok": False}}},
    {"result": {"status": "pending"}},
    {"content": [{"type": "text", "text": "Your card was declined."}]},
    [{"status": "failed"}],
    [{"success": 0}, {"message": "Payment failed"}],
    ["failed"],
    "Sorry, your payment failed.",
    "Sorry, the refund could not be processed.",
    "Payment not found",
    "We are sorry. Insufficient funds.",
    "The order wasn’t refunded",
    "{'error': 'card declined'}",
    "{'status': 'failed'}",
    "{'ok': False}",
    '{"error": "declined"}',
    {"result": "{'ok': False}"},
    {"content": "Error: no funds"},
    {"isError": False, "content": [{"type": "text", "text": '{"error": "declined"}'}]},
    {"isError": False, "content": [], "structuredContent": {"error": "declined"}},
    "[TextContent(type='text', text='Error: card declined')]",
    "HTTP 500 Internal Server Error",
    "HTTP/1.1 404 Not Found",
    "502 Bad Gateway",
    "status code: 503",
    "Internal Server Error",
    "Connection refused",
    {"message": "Service Unavailable"},
    {"state": "voided"},
    {"status": "reversed"},
    {"status": "rolled back"},
]
DONE = [
    {"message": "Refund issued"},
    "{'id': 're_1', 'ok': True}",
    "HTTP 200 OK",
    "Order 500 refunded",
    "[A1] refunded",
    {"content": "Refunded 500"},
    {"message": "Refund issued. Shipping cannot be refunded."},
    {"message": "No refund was declined"},
    {"message": "3 failed to be sent before"},
    {"message": "If a card was declined, try another"},
    {"message": "Ticket created: 'Payment failed'"},
    {"success": True, "message": "The first card was declined"},
    {"status": "completed", "message": "A mail was not sent"},
    {"exit_code": 0, "message": "Error: in the log"},
    {"title": "Payment failed", "description": "The card was declined", "id": 7},
    {"reason": "Item was not delivered", "id": "re_1"},
    {"error_message": None, "errorCode": 0, "failure_reason": "none"},
    {"errors_code": "ok", "id": 1},
    {"code": "SAVE10"},
    {"code": 200},
    {"code": True},
    {"exit_code": 0},
    {"completed": False, "id": 3},
    {"eligible": False, "message": "too late"},
    {"sent": True, "read": False},
    {"data": {"status": "paid"}},
    {"data": []},
    {"content": [{"type": "text", "text": "Refund issued."}]},
    [{"status": "failed"}, {"status": "paid"}],
    [],
    "Refund issued. Shipping cannot be refunded.",
    "The refund comes if the card is not declined.",
    "Your order was cancelled",
    "The nickname is not set",
    "x" * 500 + " The payment was declined.",
]


@pytest.mark.parametrize("result", OPEN, ids=repr)
def test_what_reads_like_a_failure_is_left_open(result: Any) -> None:
    assert happened(result, raised=False) is None


@pytest.mark.parametrize("result", DONE, ids=lambda result: repr(result)[:60])
def test_what_only_speaks_of_failures_is_done(result: Any) -> None:
    assert happened(result, raised=False) is True


@pytest.mark.parametrize(
    "found",
    [
        {"message": "Payment failed"},
        {"error_message": "no funds"},
        {"code": 402},
        {"exit_code": 1},
        {"refunded": False},
        {"data": {"status": "failed"}},
        [{"status": "failed"}],
        {"message": "Not found"},
    ],
)
def test_a_lookup_may_find_that(found: Any) -> None:
    assert happened(found, raised=False, lookup=True) is True


@pytest.mark.parametrize(
    "found",
    [
        {"message": "Error: no such table"},
        {"content": [{"type": "text", "text": "Error: no such table"}]},
        {"result": {"error": "no such table"}},
    ],
)
def test_a_lookup_that_answers_with_an_error_message_may_have_failed(found: Any) -> None:
    assert happened(found, raised=False, lookup=True) is None


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        ({"data": {"status": "cancelled"}}, True),
        ({"result": "cancelled"}, True),
        ({"data": {"status": "failed"}}, None),
        ({"result": "rejected"}, None),
    ],
)
def test_what_a_tool_cancelled_is_cancelled_inside_too(result: Any, expected: bool | None) -> None:
    assert happened(result, raised=False, tool="cancel_order") is expected


WORDS = (
    *(
        "refund",
        "failed",
        "declined.",
        "was",
        "not",
        "could",
        "be",
        "processed",
        "Error:",
        "denied",
    ),
    *(
        "no such",
        "insufficient",
        "cannot",
        "wasn’t",
        "unable to",
        "card",
        ". ",
        "sent",
        "if",
        "blocked",
    ),
    *("HTTP 500", "Bad Gateway", "502 Bad Gateway", "Connection refused", "status code: 503"),
    *("{'error': 'x'}", "{'ok': False}", "['failed']", '{"status": "void"}'),
    *("aborted", "rejected", "forbidden", "invalid", "timed out", "unsuccessful", '"', "\n"),
)
TEXTS = st.lists(st.sampled_from(WORDS), max_size=5).map(" ".join)
NAMES = st.sampled_from(
    [
        *("message", "msg", "detail", "outcome", "result", "response", "output", "code", "data"),
        *("structuredContent", "statusText"),
        *("body", "payload", "content", "exit_code", "error_message", "failureReason", "type"),
        *("refunded", "Sent", "status", "ok", "text", "id"),
    ]
)
LEAVES = st.one_of(
    TEXTS,
    st.sampled_from(
        [None, True, False, 0, 1, 200, 402, 503, "404", "text", "pending", "failed", "voided"]
    ),
)
RESULTS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(st.dictionaries(NAMES, inner, max_size=3), st.lists(inner, max_size=2)),
    max_leaves=5,
)


def taken_whole(result: Any) -> bool:
    """Whether the check of files takes a result whole, and not as one like any other."""
    whole: dict[type, str] = {
        str: rf"(?i){SAYING}|…|\\|^\"\s*[\[{{<]",
        dict: DOUBTED,
        list: DOUBTED_LIST,
    }
    text = json.dumps(result, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    return re.search(whole[type(result)], text) is not None


USUAL = ("error", "errors", "isError", "ok", "state", "status", "success")


@given(RESULTS, st.booleans())
def test_the_check_of_files_takes_every_result_whole_that_may_read_so(
    result: Any, lookup: bool
) -> None:
    if isinstance(result, dict):
        result = {name: value for name, value in result.items() if name not in USUAL}
    if happened(result, raised=False, lookup=lookup) is True or result is False:
        return
    assert taken_whole(result)


@pytest.mark.parametrize("result", [*OPEN, {"result": "\n {'ok': False}"}], ids=str)
def test_the_check_of_files_takes_whole_what_is_left_open(result: Any) -> None:
    assert taken_whole(result) or not set(result).isdisjoint(USUAL)
