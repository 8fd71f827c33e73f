"""A history that goes on is read from where it was read to: nobody can tell the difference."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from trackway_analyzer.reconstruct.marks import Heard, Marks
from trackway_analyzer.reconstruct.messages import Messages

IDS = st.sampled_from([None, "a", "b", "c"])
PARTS = st.one_of(
    st.builds(lambda text: {"type": "text", "content": text}, st.text(max_size=8)),
    st.builds(
        lambda name, key, ran: {
            "type": "tool_call",
            "name": name,
            "id": key,
            "arguments": {"n": 2**70},
            "by_provider": ran,
        },
        st.sampled_from(["search", '"tool_call"', "}]"]),
        IDS,
        st.booleans(),
    ),
    st.builds(
        lambda key, failed: {
            "type": "tool_call_response",
            "id": key,
            "response": "[1, 2}]",
            "is_error": failed,
        },
        IDS,
        st.booleans(),
    ),
)
MESSAGES = st.lists(
    st.one_of(
        st.builds(
            lambda role, parts: {"role": role, "parts": parts},
            st.sampled_from(["user", "assistant", "tool", None]),
            st.lists(PARTS, max_size=3),
        ),
        st.sampled_from([{"role": "user", "content": "hi"}, {}, 7, "}"]),
    ),
    max_size=6,
)


@st.composite
def histories(draw: st.DrawFn) -> list[str]:
    """Inputs of one agent: most repeat the one before it, some are shortened or broken."""
    told: list[Any] = []
    texts = []
    for _ in range(draw(st.integers(1, 5))):
        told = [*(told if draw(st.integers(0, 4)) else told[1:]), *draw(MESSAGES)]
        text = json.dumps(told, separators=(",", ":"), ensure_ascii=False)
        texts.append(draw(st.sampled_from([text, text, text, text[:-1], text + " ", text + "]"])))
    return texts


@given(histories())
def test_a_history_read_after_another_is_read_as_if_alone(texts: list[str]) -> None:
    reader = Messages(short=0)
    assert [reader.history(t) for t in texts] == [Messages().read(t) for t in texts]


@given(histories())
def test_marks_after_another_history_are_those_of_the_text_alone(texts: list[str]) -> None:
    heard = Heard()
    assert [heard.marks(t, "agent") for t in texts] == [Heard().marks(t, "agent") for t in texts]


def test_marks_are_counted() -> None:
    call = {"type": "tool_call", "id": "1"}
    answer = {"type": "tool_call_response", "id": "1", "is_error": True}
    first, second = ([{"role": "x", "parts": parts}] for parts in ([call], [call, answer, answer]))
    heard = Heard()
    assert heard.marks(json.dumps(first), 1) == Marks(mentions=1, calls=1)
    grown = json.dumps(first + second)
    assert heard.marks(grown, 1) == heard.marks(grown, 2) == Marks(4, 2, 2, 2)
    assert heard.marks(None, 1) == Marks()


def test_what_was_read_before_stays_as_it_was() -> None:
    call = {"role": "assistant", "parts": [{"type": "tool_call", "name": "a", "id": "1"}]}
    long = {"role": "user", "parts": [{"type": "text", "content": "x" * 10_000}]}
    reader = Messages()
    first = reader.history(json.dumps([long, call], separators=(",", ":")))
    second = reader.history(json.dumps([long, call, call], separators=(",", ":")))
    assert (len(first), len(second)) == (2, 3)
    assert second[0] is first[0]
