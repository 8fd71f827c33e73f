"""What a person reads about one run."""

from __future__ import annotations

from datetime import UTC, datetime
from io import StringIO
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from trackway_analyzer.batch import RunBatch
from trackway_analyzer.model import NOT_RECORDED, Trajectory
from trackway_analyzer.report.html import trajectory_html
from trackway_analyzer.report.json import line, trajectory_json
from trackway_analyzer.report.shorten import arguments_text, cut, one_line, value_text
from trackway_analyzer.report.terminal import (
    PLAIN_WIDTH,
    console,
    fitting,
    print_sequences,
    print_trajectory,
    trajectory_text,
)
from trackway_analyzer.report.trajectory import trajectory_view
from trackway_analyzer.tables import RUN_SCHEMA, STEP_SCHEMA, table_of

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"


def trajectory(steps: dict[str, list[Any]], **run: Any) -> Trajectory:
    rows = len(steps["operation"])
    columns = {"run": [0] * rows, "position": list(range(rows)), "group": list(range(rows))}
    table = table_of(STEP_SCHEMA, columns | steps, rows)
    runs = {name: [value] for name, value in ({"run_id": TRACE} | run).items()}
    batch = RunBatch.of(table_of(RUN_SCHEMA, runs, 1), table)
    batch.validate()
    return batch.trajectory(0)


@pytest.fixture
def refund() -> Trajectory:
    output = [{"role": "assistant", "parts": [{"type": "text", "content": "Let me look."}]}]
    return trajectory(
        {
            "operation": ["llm", "tool", "tool", "llm", "tool", "tool"],
            "tool": [None, "lookup_order", "check_policy", None, "refund_api.create", "send_email"],
            "kind": [None, "lookup", "lookup", None, "mutate", "notify"],
            "group": [0, 1, 1, 2, 3, 4],
            "turn": [None, 0, 0, None, 3, 3],
            "ok": [None, True, True, None, False, None],
            "executed": [True, True, True, True, True, False],
            "synthesised": [None, None, True, None, None, None],
            "model_answered": ["gpt-4o", None, None, "gpt-4o", None, None],
            "arguments": [
                None,
                '{"order_id":"A-17"}',
                '{"reason":"broken"}',
                None,
                '{"order_id":"A-17","amount":84.0}',
                '{"to":"eve@example.com"}',
            ],
            "result": [None, '{"id":"A-17","total":84.0}', "null", None, None, None],
            "output": [orjson.dumps(output).decode(), None, None, None, None, None],
            "error_type": [None, None, None, None, "RuntimeError", None],
            "error_message": [None, None, None, None, "payment gateway timeout", None],
        },
        task_id="refund",
        trial=3,
        session_id="s-1",
        input="My kettle from order A-17\narrived broken.",
        final_text="Your refund of $84 has been processed.",
        start=datetime(2026, 11, 29, 12, tzinfo=UTC),
        duration_s=1.25,
        tokens_in=1200,
        gaps=[{"name": "missing_steps", "position": 4, "count": 2, "detail": "spans 6, 7"}],
    )


def test_one_run_on_one_screen(refund: Trajectory) -> None:
    assert str(refund).splitlines() == [
        f"run      {TRACE}",
        "         task refund · trial 3 · session s-1 · started 2026-11-29 12:00:00 UTC"
        " · took 1.2 s · tokens 1,200 in, ? out",
        "asked    My kettle from order A-17 arrived broken.",
        "",
        '    1    model gpt-4o  asks for lookup_order, check_policy  → "Let me look."',
        '∥   2    lookup_order [lookup]  order_id="A-17"  → {"id": "A-17", "total": 84.0}',
        '∥   3    check_policy [lookup]  reason="broken"  → null',
        "           · no span, read from the messages",
        "    4    model gpt-4o  asks for refund_api.create, send_email  → not recorded",
        '    5    refund_api.create [mutate]  order_id="A-17", amount=84.0',
        "           ✗ failed: RuntimeError: payment gateway timeout",
        '    6    send_email [notify]  to="eve@example.com"',
        "           ✗ requested, never executed",
        "",
        "said     Your refund of $84 has been processed.",
        "outcome  not judged",
        "gaps     missing_steps ×2 at step 5: spans 6, 7",
    ]


def test_an_answer_without_an_execution_is_shown_as_what_it_is() -> None:
    columns = {"operation": ["tool"], "tool": ["refund"], "executed": [False], "ok": [None]}
    answered = trajectory({**columns, "result": ['"not before Monday"']})
    assert '! no span shows that it ran; the model was told "not before Monday"' in str(answered)
    assert "never executed" not in str(answered)


def test_a_sum_says_what_it_is_short_of() -> None:
    used = {"tokens_in": 1200, "tokens_out": 80, "calls_without_tokens": 1}
    short = trajectory({"operation": []}, **used, cost=0.5, calls_without_cost=2)
    assert str(short).splitlines()[1].strip() == (
        "tokens 1,200 in, 80 out without 1 model call · cost $0.5000 without 2 model calls"
    )


def test_missing_evidence_is_said_and_not_left_out() -> None:
    empty = trajectory({"operation": []})
    assert str(empty).splitlines() == [
        f"run      {TRACE}",
        "asked    not recorded",
        "",
        "         no step was recorded",
        "",
        "said     not recorded",
        "outcome  not judged",
        "gaps     none",
    ]


def test_a_recorded_null_and_a_missing_result_read_differently() -> None:
    run = trajectory({"operation": ["tool"] * 2, "tool": ["a", "b"], "result": ["null", None]})
    lines = str(run).splitlines()
    assert lines[3:5] == [
        "    1    a  not recorded  → null",
        "    2    b  not recorded  → not recorded",
    ]


def test_a_retrieval_shows_its_query_and_documents() -> None:
    found = trajectory(
        {
            "operation": ["retrieval"],
            "input": ['{"query":"damaged on arrival"}'],
            "output": ['[{"id":"kb-17"}]'],
            "executed": [True],
        }
    )
    text = trajectory_text(found)
    assert "damaged on arrival" in text
    assert "kb-17" in text
    assert "retrieval not recorded" not in text


def test_retries_requests_and_cut_values_are_marked() -> None:
    run = trajectory(
        {
            "operation": ["tool"] * 3,
            "tool": ["pay"] * 3,
            "arguments": ["{}"] * 3,
            "result": ["1"] * 3,
            "retry_of": [None, 0, None],
            "attempt": [1, 2, None],
            "requested": [True, True, False],
            "id_inferred": [False, True, False],
            "truncated": [None, None, ["result"]],
        }
    )
    lines = str(run).splitlines()
    assert lines[3:9] == [
        "    1    pay  → 1",
        "    2    pay  → 1",
        "           ! attempt 2 of step 1",
        "    3    pay  → 1",
        "           ! ran without a request",
        "           ! cut when recorded: result",
    ]
    assert lines[-1].strip() == "calls joined to the model's requests by name and arguments: 1"


def test_long_values_stay_on_one_line() -> None:
    run = trajectory({"operation": ["tool"], "tool": ["a"], "result": ['"' + "x" * 5000 + '"']})
    line = str(run).splitlines()[3]
    assert len(line) == PLAIN_WIDTH
    assert line.endswith("…")


def test_a_trace_cannot_paint_the_terminal_or_use_markup() -> None:
    run = trajectory(
        {"operation": ["tool"], "tool": ["[red]a[/red]\x1b[31m"], "result": ['"\x1b[2J"']},
        input="[bold]hello\x1b]0;title\x07",
        final_text="\u202egnp.exe",
    )
    text = str(run)
    assert "\x1b" not in text
    assert "\x07" not in text
    assert "\u202e" not in text
    assert "[red]a[/red]\\x1b[31m" in text
    assert "[bold]hello" in text


def test_the_notebook_says_what_the_terminal_says(refund: Trajectory) -> None:
    html = trajectory_html(refund)
    for words in (
        "<b>refund_api.create</b>",
        "∥ 2",
        "failed: RuntimeError: payment gateway timeout",
        "requested, never executed",
        "missing_steps ×2 at step 5: spans 6, 7",
        "Your refund of $84 has been processed.",
    ):
        assert words in html


def test_the_notebook_escapes_what_a_trace_holds() -> None:
    run = trajectory(
        {"operation": ["tool"], "tool": ["<script>"], "result": ['"<b>"']}, input="<i>"
    )
    html = trajectory_html(run)
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    assert "&lt;i&gt;" in html


def test_one_line_a_run(refund: Trajectory, capsys: pytest.CaptureFixture[str]) -> None:
    print_sequences([refund], console())
    assert capsys.readouterr().out == (
        f"{TRACE}  task refund  trial 3  (check_policy ∥ lookup_order) → refund_api.create ✗ →"
        " send_email ?  gaps: missing_steps\n"
    )


def test_json_leaves_out_what_was_not_recorded_and_keeps_a_recorded_null(
    refund: Trajectory,
) -> None:
    run = orjson.loads(line(trajectory_json(refund)))
    assert run["run_id"] == TRACE
    assert run["task"] == "refund"
    assert run["trial"] == 3
    assert run["tools"] == ["lookup_order", "check_policy", "refund_api.create"]
    assert run["gaps"] == [{"name": "missing_steps", "step": 5, "count": 2, "detail": "spans 6, 7"}]
    lookup, policy, refund_step = run["steps"][1], run["steps"][2], run["steps"][4]
    assert lookup["step"] == 2
    assert lookup["arguments"] == {"order_id": "A-17"}
    assert policy["result"] is None
    assert "result" not in refund_step
    assert "output" not in run["steps"][0]


def test_json_with_content_has_the_messages(refund: Trajectory) -> None:
    run = trajectory_json(refund, content=True)
    assert run["steps"][0]["output"][0]["parts"][0]["content"] == "Let me look."


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(), st.lists))
def test_a_value_is_one_printable_line_of_the_width(value: Any) -> None:
    text = value_text(value, 20)
    assert len(text) <= 20
    assert text.isprintable()


@given(st.dictionaries(st.text(), st.text()), st.integers(1, 50))
def test_arguments_are_one_printable_line_of_the_width(value: Any, width: int) -> None:
    text = arguments_text(value, width)
    assert len(text) <= width
    assert text.isprintable()


def test_shortening() -> None:
    assert value_text(NOT_RECORDED, 40) == "not recorded"
    assert value_text("not recorded", 40) == '"not recorded"'
    assert value_text(None, 40) == "null"
    assert cut("abcdef", 4) == "abc…"
    assert one_line("a\n\t b") == "a b"
    assert arguments_text({"a": 1, "b": [1, {"c": None}]}, 80) == 'a=1, b=[1, {"c": null}]'
    assert arguments_text([1, 2], 80) == "[1, 2]"


def test_text_is_as_wide_as_asked(refund: Trajectory) -> None:
    assert max(len(line) for line in trajectory_text(refund, width=60).splitlines()) <= 60


def test_a_run_longer_than_the_window_is_shown_without_its_plain_model_turns() -> None:
    turns = 30
    run = trajectory(
        {
            "operation": ["llm", "tool"] * turns,
            "tool": [None, "look"] * turns,
            "ok": [None, True] * (turns - 1) + [None, False],
        }
    )
    view = trajectory_view(run)
    assert fitting(view, height=200) == view.steps
    shown = fitting(view, height=40)
    assert [line.number for line in shown] == list(range(2, 2 * turns + 1, 2))
    assert len(str(run).splitlines()) > 2 * turns


def test_colour_on_a_terminal_only(refund: Trajectory) -> None:
    def printed(**options: Any) -> str:
        to = Console(file=StringIO(), width=100, highlight=False, markup=False, **options)
        print_trajectory(refund, to)
        return to.file.getvalue()  # type: ignore[attr-defined]

    assert "\x1b[" in printed(force_terminal=True, color_system="standard")
    assert "\x1b" not in printed()
