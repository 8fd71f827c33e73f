"""Values on one short line."""

from __future__ import annotations

import pytest

from trackway_analyzer.model import NOT_RECORDED
from trackway_analyzer.report.shorten import arguments_text, cut, value_text


def test_what_fits_stands_as_it_is():
    assert cut("refund", 6) == "refund"


def test_what_does_not_fit_ends_in_one_ellipsis():
    assert cut("refund order", 8) == "refund…"
    assert cut("refund…, and more", 8) == "refund…"


def test_a_cut_argument_among_cut_arguments_keeps_one_ellipsis():
    text = arguments_text({"body": "x" * 90, "to": "y" * 90}, 62)
    assert "……" not in text
    assert len(text) <= 62


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        ("a\nb", '"a b"'),
        ("\x1b[2J", r'"\x1b[2J"'),
        ({"id": 1}, '{"id": 1}'),
        (NOT_RECORDED, "not recorded"),
    ],
)
def test_a_value_reads_as(value: object, text: str):
    assert value_text(value, 80) == text
