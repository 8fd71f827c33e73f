"""How values are written: one canonical JSON form, whatever the type."""

from __future__ import annotations

import json

import pytest

from trackway.capture import Capture


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (True, "true"),
        (1, "1"),
        (1.5, "1.5"),
        ("text", '"text"'),
        ({"b": 1, "a": [1, 2]}, '{"a":[1,2],"b":1}'),
        ("Müller", '"Müller"'),
        (float("nan"), '"NaN"'),
        ([float("-inf")], '["-Infinity"]'),
        (10**30, f'"{10**30}"'),
        ("\ud800", '"\\\\ud800"'),
    ],
)
def test_a_value_is_written_as(value: object, text: str) -> None:
    captured = Capture().value(value)
    assert captured.text == text
    assert not captured.truncated
    assert not captured.redacted
    assert captured.digest is None


def test_a_long_text_is_cut_inside_the_json() -> None:
    captured = Capture().value("word " * 4_000_000)
    assert captured.text is not None
    assert len(captured.text.encode()) <= 65536
    assert json.loads(captured.text).endswith(" chars]")
    assert captured.truncated
    assert captured.digest is not None
    assert captured.digest.startswith("sha256-partial:")
