"""A dialogue that comes again, longer, is read from where it was read to, and is the same."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import orjson
from hypothesis import given
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parent))
from dumped import span

from trackway_analyzer import dialects
from trackway_analyzer.dialects.messages import canonical_messages, plain_text
from trackway_analyzer.written import WrittenAttributes

READ = dialects.span_reader()
TEXTS = st.text(st.characters(codec="utf-8"), max_size=12)
SAID = st.fixed_dictionaries(
    {"role": st.sampled_from(["system", "user", "assistant"]), "content": TEXTS}
)
CALL = st.builds(
    lambda name, city: {
        "role": "assistant",
        "tool_calls": [
            {"tool_call": {"function": {"name": name, "arguments": json.dumps({"city": city})}}}
        ],
    },
    st.sampled_from(["weather", "book"]),
    TEXTS,
)
MESSAGES = st.lists(SAID | CALL, min_size=1, max_size=8)


def flattened(value: Any, key: str) -> dict[str, Any]:
    """Return a value as OpenInference writes it: a key for each text in it."""
    if not isinstance(value, dict | list):
        return {key: value}
    items = value.items() if isinstance(value, dict) else enumerate(value)
    return {k: v for name, item in items for k, v in flattened(item, f"{key}.{name}").items()}


def read_flat(messages: list[dict[str, Any]], first: int, *, as_literals: bool) -> Any:
    """Return the input of a model span that holds these messages under keys from `first` on."""
    numbered = {f"{first + n}": {"message": message} for n, message in enumerate(messages)}
    attributes = flattened(numbered, "llm.input_messages")
    attributes["openinference.span.kind"] = "LLM"
    if as_literals:
        literals = {key: orjson.dumps(value) for key, value in attributes.items()}
        attributes = WrittenAttributes(literals, tuple(literals), b"")
    typed, _ = READ(span(attributes=attributes))
    text = typed.get("input")
    return None if text is None else orjson.loads(text)


@given(MESSAGES, st.lists(MESSAGES, max_size=2), st.booleans(), st.integers(0, 3))
def test_a_flattened_dialogue_is_what_its_messages_are(
    messages: list[dict[str, Any]],
    others: list[list[dict[str, Any]]],
    as_literals: bool,
    first: int,
) -> None:
    for length in range(1, len(messages) + 1):
        begun = messages[:length]
        expected = canonical_messages([{"message": message} for message in begun], "user")
        assert read_flat(begun, first, as_literals=as_literals) == expected
        for other in others:
            branch = [*begun, *other]
            expected = canonical_messages([{"message": message} for message in branch], "user")
            assert read_flat(branch, first, as_literals=as_literals) == expected


def test_a_number_is_not_taken_for_a_truth_that_was_read_before() -> None:
    def of(value: object) -> Any:
        attributes = {
            "openinference.span.kind": "LLM",
            "llm.input_messages.0.message.role": "assistant",
            "llm.input_messages.0.message.tool_calls.0.tool_call.function.name": "count",
            "llm.input_messages.0.message.tool_calls.0.tool_call.function.arguments": value,
        }
        typed, _ = READ(span(attributes=attributes))
        return orjson.loads(typed["input"])[0]["parts"][0]["arguments"]

    assert [of(True), of(1), of(True)] == [True, 1, True]
    assert of(1) is not True


@given(st.lists(SAID, min_size=1, max_size=6))
def test_the_last_words_are_found_from_the_end(messages: list[dict[str, Any]]) -> None:
    for role in ("user", "assistant"):
        spoken = [m["content"] for m in messages if m["role"] == role and m["content"]]
        for state in (messages, {"messages": messages}, {"messages": [messages]}):
            assert plain_text(json.dumps(state), role) == (spoken[-1] if spoken else None)


def test_instructions_beside_the_messages_come_first_from_either_end() -> None:
    request = {"system": "Be kind.", "messages": [{"role": "user", "content": "Hi"}]}
    assert plain_text(request, "user") == "Hi"
    assert plain_text(request, "system") == "Be kind."


def test_a_message_again_with_another_part_is_read_anew() -> None:
    def parts(*texts: str) -> str:
        listed = [{"type": "text", "content": text} for text in texts]
        return json.dumps([{"role": "user", "parts": listed}])

    for texts in (("a",), ("a", "b"), ("b",), ("",)):
        said = canonical_messages(parts(*texts), "user")
        found = [part["content"] for message in said or () for part in message["parts"]]
        assert found == [text for text in texts if text]
