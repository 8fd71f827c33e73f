"""What is recorded of an error, whatever stands in it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import trackway
from trackway.capture import capture_errors
from trackway.testing.memory import MemorySpans


class Hostile:
    """Counts who asks for its text."""

    asked = 0

    def __repr__(self) -> str:
        Hostile.asked += 1
        raise RuntimeError("no")


def event_of(spans: MemorySpans, raises: Callable[[], Any]) -> dict[str, Any]:
    failing = trackway.tool("failing")(raises)
    # Not `pytest.raises`: it looks at the error too.
    with contextlib.suppress(BaseException):
        failing()
    (event,) = spans.tool("failing").events
    return dict(event.attributes or {})


def test_the_message_and_the_stack_are_those_of_python(trackway_spans: MemorySpans) -> None:
    def raises() -> None:
        try:
            raise KeyError("order")
        except KeyError as error:
            raise ValueError("no such order", 7) from error

    event = event_of(trackway_spans, raises)
    assert event["exception.type"] == "ValueError"
    assert event["exception.message"] == "('no such order', 7)"
    stack = event["exception.stacktrace"]
    assert (
        stack.index("KeyError: 'order'") < stack.index("direct cause") < stack.index("ValueError")
    )


def test_a_huge_argument_of_an_error_is_cut(trackway_spans: MemorySpans) -> None:
    def raises() -> None:
        try:
            raise OSError("x" * 10_000_000)
        except OSError as error:
            raise ValueError("broken " * 2_000_000) from error

    event = event_of(trackway_spans, raises)
    assert event["exception.message"].startswith("broken broken")
    assert "…[truncated" in event["exception.message"]
    stack = event["exception.stacktrace"]
    assert len(stack) < 20_000
    assert (
        stack.index("OSError: xxx") < stack.index("direct cause") < stack.index("ValueError: bro")
    )
    assert stack.count("in raises") == 2


def test_an_error_that_holds_objects_is_read_without_running_their_code(
    trackway_spans: MemorySpans,
) -> None:
    def raises() -> None:
        raise ValueError("password=hunter2", [Hostile()] * 3, list(range(1_000)))

    Hostile.asked = 0
    event = event_of(trackway_spans, raises)
    assert Hostile.asked == 0
    assert event["exception.message"].startswith('["password=[redacted:assignment]",["<')
    assert "in raises" in event["exception.stacktrace"]
    assert "hunter2" not in str(event)


def test_a_class_with_a_message_of_its_own_is_asked(trackway_spans: MemorySpans) -> None:
    class Refused(Exception):
        def __str__(self) -> str:
            return "refused by the gateway"

    def raises() -> None:
        raise Refused([0] * 1_000_000)

    event = event_of(trackway_spans, raises)
    assert event["exception.message"] == "refused by the gateway"


class Slow(Exception):
    """An error that is asked for its text, by whoever records it."""

    asked = 0

    def __str__(self) -> str:
        Slow.asked += 1
        return "slow to tell"


def test_an_error_is_asked_for_its_text_once(trackway_spans: MemorySpans) -> None:
    def raises() -> None:
        raise ValueError("the outer one") from Slow()

    Slow.asked = 0
    event = event_of(trackway_spans, raises)
    assert "Slow: slow to tell\n" in event["exception.stacktrace"]
    assert Slow.asked == 1


class Fighting(Exception):
    """An error that runs code wherever it is looked at."""

    def __getattribute__(self, name: str) -> Any:
        Hostile.asked += 1
        raise RuntimeError(name)


class Named:
    """An object that is asked for names that are alike by whoever prints an AttributeError."""

    def __dir__(self) -> list[str]:
        Hostile.asked += 1
        return []


def test_no_code_of_an_error_or_of_what_it_holds_runs(trackway_spans: MemorySpans) -> None:
    def raises() -> None:
        try:
            Named().misspelt  # type: ignore[attr-defined]  # noqa: B018
        except AttributeError:
            try:
                raise OSError(2, "no such file", Hostile())
            except OSError:
                raise Fighting("the last") from None

    Hostile.asked = 0
    event = event_of(trackway_spans, raises)
    assert Hostile.asked == 0
    assert event["exception.message"] == "the last"

    def raises_within() -> None:
        try:
            Named().misspelt  # type: ignore[attr-defined]  # noqa: B018
        except AttributeError:
            raise OSError(2, "no such file", Hostile())  # noqa: B904 - the context is looked at

    trackway_spans.clear()
    stack = event_of(trackway_spans, raises_within)
    assert Hostile.asked == 0
    assert "During handling of the above exception" in stack["exception.stacktrace"]


def test_notes_and_the_errors_of_a_group_are_told(trackway_spans: MemorySpans) -> None:
    def raises() -> None:
        error = ExceptionGroup("two tools failed", [ValueError("one"), KeyError("two")])
        error.add_note("while refunding")
        raise error

    event = event_of(trackway_spans, raises)
    assert event["exception.message"] == "two tools failed (2 errors)"
    assert event["exception.stacktrace"].endswith(
        "ExceptionGroup: two tools failed (2 errors)\n"
        "while refunding\n  + ValueError: one\n  + KeyError: 'two'\n"
    )


def test_with_content_off_a_stack_has_no_line_of_code_and_no_message() -> None:
    spans = MemorySpans()
    spans.configure(capture_content=False)

    def raises() -> None:
        raise ValueError("order SENSITIVE")

    event = event_of(spans, raises)
    trackway.shutdown()
    assert "exception.message" not in event
    frames = event["exception.stacktrace"].splitlines()
    assert frames[-1].endswith(", in raises")
    assert all(line.startswith('  File "') for line in frames)
    assert "SENSITIVE" not in str(event)


def test_a_deep_stack_keeps_the_frames_next_to_the_error(trackway_spans: MemorySpans) -> None:
    def down(levels: int) -> None:
        if levels == 0:
            raise ValueError("at the bottom")
        other(levels - 1)

    def other(levels: int) -> None:
        down(levels)

    event = event_of(trackway_spans, lambda: down(300))
    stack = event["exception.stacktrace"]
    assert stack.count("  File ") == 64
    assert stack.rstrip().endswith("ValueError: at the bottom")
    assert 'raise ValueError("at the bottom")' in stack


def test_errors_that_cause_each_other_end(trackway_spans: MemorySpans) -> None:
    def raises() -> None:
        one, two = ValueError("x" * 100_000), ValueError("two")
        one.__cause__, two.__cause__ = two, one
        raise one

    before = capture_errors()
    event = event_of(trackway_spans, raises)
    assert "ValueError: two" in event["exception.stacktrace"]
    assert capture_errors() == before
