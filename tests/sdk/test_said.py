"""What may not be meant as it is said: recorded in full, and told once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import trackway
from trackway import said
from trackway.schema import Trackway


@pytest.fixture(autouse=True)
def _nothing_told() -> Iterator[None]:
    said._told.clear()
    yield
    said._told.clear()


def test_a_second_final_text_does_not_take_the_first_back(
    recorded: Any, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(2):
        with trackway.run("refund") as run:
            run.final(text="Your refund was issued.", action="refund")
            run.final(text="Bye.", action="close")
    for span in recorded.named("run refund"):
        assert span.attributes[Trackway.OUTPUT] == "Your refund was issued.\n\nBye."
        assert span.attributes[Trackway.FINAL_ACTION] == "close"
    assert caplog.messages == [
        "trackway: final() gave a run of 'refund' a second text; both are its final text: call it "
        "once, at the end"
    ]


def test_the_same_final_text_again_and_an_action_after_it_are_no_second_text(
    recorded: Any, caplog: pytest.LogCaptureFixture
) -> None:
    with trackway.run("refund") as run:
        run.final(text="Done.")
        run.final(text="Done.")
        run.final(action="refund")
    assert recorded.one("run refund").attributes[Trackway.OUTPUT] == "Done."
    assert caplog.messages == []


@pytest.mark.parametrize(
    ("verdict", "kind"), [("failed", "str"), ({"ok": False}, "dict"), ([0], "list")]
)
def test_a_verdict_that_is_true_whatever_it_says_is_told_once(
    recorded: Any, caplog: pytest.LogCaptureFixture, verdict: Any, kind: str
) -> None:
    pay = trackway.tool("pay", success=lambda _: verdict)(lambda: 1)
    pay()
    pay()
    assert [span.attributes[Trackway.STEP_OK] for span in recorded.all] == [True, True]
    assert caplog.messages == [
        f"trackway: pay: success gave a {kind}, which counts as True whatever it says; return "
        "True or False"
    ]


@pytest.mark.parametrize("verdict", [True, False, 1, 0, None, ""])
def test_flags_numbers_and_nothing_are_verdicts(
    recorded: Any, caplog: pytest.LogCaptureFixture, verdict: Any
) -> None:
    trackway.tool("pay", success=lambda _: verdict)(lambda: 1)()
    assert recorded.tool("pay").attributes[Trackway.STEP_OK] is bool(verdict)
    assert caplog.messages == []
