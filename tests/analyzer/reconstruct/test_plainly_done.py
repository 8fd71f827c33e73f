"""A result that plainly says nothing against its call is one that `happened` takes for done."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trackway.schema import StepKind
from trackway_analyzer.reconstruct.effect import plainly_done, took_effect
from trackway_analyzer.said_no import TELLING

NAMES = (
    *TELLING,
    *("message", "code", "exit_code", "data", "result", "content", "text", "type", "…", "refunded"),
    *("error_message", "id", "done", "http_status", "sent", "sha256", "payment_error"),
)
TEXTS = (
    *(
        "declined",
        "failed",
        "could not be refunded",
        "pending",
        "ok",
        "",
        "404",
        "500",
        "a1",
        "text",
    ),
    *("[truncated 3 keys]", "[redacted:email]", "Refund issued.", "<object at 0x1f>", "no", "é"),
)
LEAVES = st.sampled_from([*TEXTS, True, False, None, 0, 1, 404, 500])
OBJECTS = st.recursive(
    LEAVES,
    lambda inner: (
        st.dictionaries(st.sampled_from(NAMES), inner, max_size=3) | st.lists(inner, max_size=2)
    ),
    max_leaves=5,
)


@given(OBJECTS, st.sampled_from([(",", ":"), (", ", ": "), (" , ", " : ")]), st.booleans())
def test_what_is_plainly_done_took_effect_whoever_was_called(
    result: object, separators: tuple[str, str], ascii_only: bool
) -> None:
    text = json.dumps(result, separators=separators, ensure_ascii=ascii_only)
    if plainly_done(pa.array([text])) == [True]:
        for kind in (None, StepKind.LOOKUP.value):
            for tool in (None, "refund_api.create", "cancel_order"):
                assert took_effect(text, kind, raised=False, tool=tool) is True


@pytest.mark.parametrize("text", ['{"id":"re_1","amount":3.5}', '{"queued_as":"m1"}', "{}"])
def test_an_object_that_says_nothing_against_its_call_is_plainly_done(text: str) -> None:
    assert plainly_done(pa.array([text])) == [True]


@pytest.mark.parametrize(
    "text",
    ['{"st\\u0061tus":"failed"}', '{"error" : "declined"}', '{"id":1', "error", '["a"]', "3"],
)
def test_what_is_spelt_otherwise_or_is_no_object_is_looked_at_closely(text: str) -> None:
    assert plainly_done(pa.array([text])) == [False]
