"""Where a flag or a number belongs, a text is content: with content off only its hash remains."""

from __future__ import annotations

import enum
import json
from typing import Any

import pytest

import trackway
from trackway.testing import MemorySpans

WORDS = "the customer is furious"


class Said(enum.Enum):
    words = WORDS


def say(value: Any) -> None:
    trackway.effect("refund", applied=value)
    trackway.resume("t1", granted=value)
    trackway.context(value, value, dropped_messages=value, truncated=value)
    trackway.outcome(value, censored=value)


def recorded_with(value: Any, *, content: bool) -> str:
    spans = MemorySpans()
    spans.configure(capture_content=content)
    with trackway.run("t"):
        say(value)
    trackway.shutdown()
    (run,) = spans.all
    return str(run.to_json())


@pytest.mark.parametrize("value", [WORDS, Said.words, [WORDS], {"said": WORDS}])
def test_with_content_off_no_text_stands_for_a_figure(value: Any) -> None:
    written = recorded_with(value, content=False)
    assert WORDS not in written
    assert written.count("hmac-sha256:") == 8
    assert recorded_with(value, content=True).count(WORDS) == 8


@pytest.mark.parametrize(
    ("value", "written"),
    [(True, True), (False, False), (7, 7), (0.5, 0.5), (1 << 70, str(1 << 70))],
)
def test_with_content_off_figures_stay(value: Any, written: Any) -> None:
    found = json.loads(recorded_with(value, content=False))
    assert found["attributes"]["trackway.outcome.success"] == written
    fields = {k: v for event in found["events"] for k, v in event["attributes"].items()}
    names = ("applied", "granted", "tokens", "limit", "dropped_messages", "truncated")
    assert [fields[name] for name in names] == [written] * 6
