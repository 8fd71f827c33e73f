"""What a final text leaves out, it may have said: no rule takes its silence for an answer."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import trackway
from trackway_analyzer.rules.admits_failure import AdmitsFailure
from trackway_analyzer.rules.answers import Answer
from trackway_analyzer.rules.claims import Claim
from trackway_analyzer.rules.result_used import ResultUsed
from trackway_analyzer.rules.rule import Rule
from trackway_analyzer.rules.terminal import Terminal
from trackway_analyzer.rules.unread import left_out, may_leave_out

UNREAD = [
    '"<list_iterator>"',
    '"<starlette.responses.JSONResponse>"',
    '"<app.answer.<locals>.Reply>"',
    '"<function app.<lambda>>"',
    '{"reply":"<app.Reply>","usage":3}',
    '{"length":36,"sha256":"' + "f" * 64 + '","type":"bytes"}',
    '[{"length":9,"sha256_ends":"' + "0" * 64 + '","type":"bytes"}]',
    "<generator object answer at 0x7f3a>",
    "<app.Reply object at 0x7f3a>",
    "Reply: <bound method Reply.text of <app.Reply object at 0x7f3a>>",
]
CUT = [
    "All is well …[truncated 9 chars]",
    '{"reply":"All is well …[truncated 9 chars]"}',
    '["All is well","…[truncated 3 items]"]',
    "…",
]
WHOLE = [
    "All is well.",
    "",
    "If a < b and b > c, <b>all</b> is well.",
    '{"html":"<a href=x>well</a>"}',
    "Write to <ann@example.com> at 0x7f.",
    '{"sha256":"short"}',
    "[redacted: 3]",
]
REDACTED = [
    "[redacted:key_name]",
    "Done. [redacted:email]",
    '{"reply":"[redacted:card] bye"}',
]


@pytest.mark.parametrize("text", UNREAD)
def test_what_the_recorder_cannot_read_is_left_out(text: str) -> None:
    assert left_out(text) == "not_recorded"


@pytest.mark.parametrize("text", CUT)
def test_what_the_recorder_cut_is_left_out(text: str) -> None:
    assert left_out(text) == "truncated_value"


@pytest.mark.parametrize("text", REDACTED)
def test_what_was_taken_out_as_a_secret_is_left_out(text: str) -> None:
    assert left_out(text) == "redacted"


@pytest.mark.parametrize("text", WHOLE)
def test_nothing_else_is(text: str) -> None:
    assert left_out(text) is None


def test_the_quick_look_misses_nothing() -> None:
    texts = pa.chunked_array([[*UNREAD, *CUT, *REDACTED]])
    assert all(may_leave_out(texts).to_pylist())
    assert not any(may_leave_out(pa.chunked_array([["All is well.", ""]])).to_pylist())


CALL = {"tool": "refund", "result": '{"id":"R-77231"}'}
FAILED = {"tool": "refund", "ok": False, "result": '{"error":"no"}'}
RULES: list[tuple[Rule, dict[str, Any]]] = [
    (Claim(says="refund was sent", needs="refund"), {"tool": "lookup"}),
    (Claim(says="refund of (?P<amount>84)", needs="refund"), CALL),
    (Answer(contains="R-77231"), CALL),
    (Answer(matches="R-77231"), CALL),
    (Answer(agrees={r"refund (R-\d+)": "refund.id"}), CALL),
    (AdmitsFailure(), FAILED),
    (ResultUsed("refund"), CALL),
    (Terminal("refund", claimed=True), CALL),
    (Terminal("refund", claimed=False), CALL),
]


@pytest.mark.parametrize("text", [UNREAD[0], UNREAD[4], UNREAD[5], CUT[1], *REDACTED])
@pytest.mark.parametrize(("rule", "call"), RULES)
def test_no_rule_takes_silence_for_an_answer(
    run_of: Any, rule: Rule, call: dict[str, Any], text: str
) -> None:
    (result,) = rule.check(run_of([call], final_text=text))
    assert result.state == "insufficient"


class Reply:
    """Says something only when asked."""

    __slots__ = ()

    @property
    def text(self) -> str:
        return "Your refund was sent."


@pytest.mark.parametrize(
    "value",
    [Reply(), iter(["sent"]), b"sent", bytearray(b"sent"), len],
    ids=lambda value: type(value).__name__,
)
def test_what_capture_writes_of_such_a_value_is_known(value: object, trackway_spans: Any) -> None:
    trackway.agent("support")(lambda: value)()
    (span,) = trackway_spans.all
    assert left_out(span.attributes["trackway.output"]) == "not_recorded"


REFUND = {"tool": "refund", "arguments": '{"order_id":"A1","amount":84.0}', "result": '"done"'}
NO_REFUND = {"tool": "lookup"}
PLAIN = Claim(says="refund", needs="refund")
WITH_ORDER = Claim(says=r"refund for order (?P<order_id>\S+)", needs="refund")


@pytest.mark.parametrize(
    ("rule", "call", "text", "state"),
    [
        (PLAIN, REFUND, "Done. [redacted:email]", None),
        (PLAIN, REFUND, "I have refunded …[truncated 9 chars]", None),
        (PLAIN, NO_REFUND, "Done. [redacted:email]", "insufficient"),
        (PLAIN, NO_REFUND, "I have refunded [redacted:email]", "violated"),
        (PLAIN, NO_REFUND, "Your number is [redacted:refund_id]", "insufficient"),
        (PLAIN, {**REFUND, "ok": False}, "Done. [redacted:email]", "insufficient"),
        (WITH_ORDER, REFUND, "I made your refund for order [redacted:card].", "insufficient"),
        (WITH_ORDER, REFUND, "I made your refund for order A…[truncated 9 chars]", "insufficient"),
        (WITH_ORDER, NO_REFUND, "I made your refund for order [redacted:card].", "violated"),
        (WITH_ORDER, REFUND, "I made your refund for order A1 to [redacted:card].", None),
        (WITH_ORDER, REFUND, "I made your refund for order A2 to [redacted:card].", "violated"),
        (WITH_ORDER, REFUND, "Done. [redacted:email]", "insufficient"),
    ],
)
def test_a_claim_is_open_only_where_what_was_left_out_could_break_it(
    run_of: Any, rule: Claim, call: dict[str, Any], text: str, state: str | None
) -> None:
    found = [str(result.state) for result in rule.check(run_of([call], final_text=text))]
    assert found == ([] if state is None else [state])


@pytest.mark.parametrize(
    "rule",
    [Answer(contains="9"), Answer(contains="card"), Answer(matches="card"), Answer(contains="84")],
)
def test_a_mark_says_nothing_itself(run_of: Any, rule: Answer) -> None:
    text = "Paid by [redacted:card], 84…[truncated 9 chars]"
    (result,) = rule.check(run_of([REFUND], final_text=text))
    assert result.state == "insufficient"


def test_a_redacted_value_of_the_final_text_contradicts_nothing(run_of: Any) -> None:
    rule = Answer(agrees={r"order (\S+)": "refund.id"})
    call = {"tool": "refund", "result": '{"id":"A1"}'}

    (result,) = rule.check(run_of([call], final_text="It is order [redacted:card]"))
    assert result.state == "insufficient"
    assert rule.check(run_of([call], final_text="It is order A1")) == []
