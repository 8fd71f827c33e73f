"""What a final text leaves out, it may have said: no rule takes its silence for an answer."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import trackway
from trackway_analyzer.rules.answers import Answer
from trackway_analyzer.rules.claims import Claim
from trackway_analyzer.rules.rule import Rule
from trackway_analyzer.rules.status import AdmitsFailure, ResultUsed
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
]


@pytest.mark.parametrize("text", UNREAD)
def test_what_the_recorder_cannot_read_is_left_out(text: str) -> None:
    assert left_out(text) == "not_recorded"


@pytest.mark.parametrize("text", CUT)
def test_what_the_recorder_cut_is_left_out(text: str) -> None:
    assert left_out(text) == "truncated_value"


@pytest.mark.parametrize("text", WHOLE)
def test_nothing_else_is(text: str) -> None:
    assert left_out(text) is None


def test_the_quick_look_misses_nothing() -> None:
    texts = pa.chunked_array([[*UNREAD, *CUT]])
    assert all(may_leave_out(texts).to_pylist())
    assert not any(may_leave_out(pa.chunked_array([["All is well.", ""]])).to_pylist())


CALL = {"tool": "refund", "result": '{"id":"R-77231"}'}
FAILED = {"tool": "refund", "ok": False, "result": '{"error":"no"}'}
RULES: list[tuple[Rule, dict[str, Any]]] = [
    (Claim(says="refund was sent", needs="refund"), {"tool": "lookup"}),
    (Answer(contains="R-77231"), CALL),
    (AdmitsFailure(), FAILED),
    (ResultUsed("refund"), CALL),
    (Terminal("refund", claimed=True), CALL),
    (Terminal("refund", claimed=False), CALL),
]


@pytest.mark.parametrize("text", [UNREAD[0], UNREAD[4], UNREAD[5], CUT[1]])
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
