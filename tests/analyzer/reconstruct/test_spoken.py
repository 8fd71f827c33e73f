"""What a reader of a stream heard is the final text, in whatever pieces it came."""

from __future__ import annotations

import json
from typing import Any

import pytest

from analyzer.span_builder import Recording
from trackway_analyzer.reconstruct.spoken import spoken

STREAM = {"trackway.schema.version": "1", "trackway.stream.chunks": 2}


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ('["Your refund of ","$84 is on its way."]', "Your refund of $84 is on its way."),
        ('[{"delta":"Your refund "},{"delta":"was sent."}]', "Your refund was sent."),
        ('[{"usage":3},{"delta":"Your refund "},{"delta":"was sent."}]', "Your refund was sent."),
        (
            '[{"choices":[{"delta":{"content":"sent"}}]},{"choices":[{"delta":{"content":"."}}]}]',
            "sent.",
        ),
        ('[{"type":"a","text":"Your "},{"type":"b","text":"refund"}]', "ab\nYour refund"),
        ("data: Your refund\n\ndata: was sent\n\n", "Your refundwas sent"),
        (
            'data: {"t":"Your "}\n\nevent: x\ndata: {"t":"refund"}\n\ndata: [DONE]\n\n',
            "Your refund",
        ),
        (': ping\r\n\r\nid: 1\r\ndata: "Your "\r\n\r\ndata:"refund"', "Your refund"),
        ("data: two\ndata: lines\n\n", "two\nlines"),
    ],
)
def test_pieces_are_put_together(output: str, said: str) -> None:
    assert spoken(output) == said


@pytest.mark.parametrize(
    "output",
    [
        "Your refund was sent.",
        "data: sent\nand more than that",
        "event: nothing came\n\n",
        "[1,2]",
        "[no list",
        "[]",
        '{"delta":"sent"}',
        '["sent",{"length":3,"sha256":"ab","type":"bytes"}]',
        '["sent","<app.Response>"]',
        "",
    ],
)
def test_anything_else_is_said_as_it_stands(output: str) -> None:
    assert spoken(output) == output


def test_a_piece_as_deep_as_json_may_be_is_no_trouble() -> None:
    assert spoken('["sent",' + "[" * 900 + '"deep"' + "]" * 900 + "]") == "sent"


def answered(attributes: dict[str, Any], **columns: Any) -> str | None:
    record = Recording()
    output = json.dumps([{"delta": "Your refund "}, {"delta": "was sent."}])
    record.agent("support", output=output, attributes=attributes, run_id="r", **columns)
    return record.run().final_text


def test_the_final_text_of_a_streamed_run_is_what_its_pieces_say() -> None:
    assert answered(STREAM, source="trackway") == "Your refund was sent."


def test_a_list_that_was_no_stream_is_an_answer_as_it_stands() -> None:
    whole = answered({"trackway.schema.version": "1"}, source="trackway")
    assert whole == '[{"delta": "Your refund "}, {"delta": "was sent."}]'
