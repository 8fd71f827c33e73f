"""What a program hands to a platform as a model's output is read, whatever holds the calls."""

from __future__ import annotations

import json
from typing import Any

import pytest

from trackway_analyzer.dialects.messages import canonical_messages
from trackway_analyzer.dialects.printed import printed

CALL = {"type": "tool_call", "id": "c1", "name": "refund", "arguments": {"id": "A1"}}
FUNCTION = {"name": "refund", "arguments": '{"id": "A1"}'}
OPENAI = {"id": "c1", "type": "function", "function": FUNCTION}
LANGCHAIN = {"name": "refund", "args": {"id": "A1"}, "id": "c1", "type": "tool_call"}
BLOCK = {"type": "tool_use", "id": "c1", "name": "refund", "input": {"id": "A1"}}
PRINTED_CALL = (
    "ChatCompletionMessageToolCall(id='c1', "
    "function=Function(arguments='{\"id\": \"A1\"}', name='refund'), type='function')"
)
PRINTED = f"ChatCompletionMessage(content=None, role='assistant', tool_calls=[{PRINTED_CALL}])"
PRINTED_BLOCK = "ToolUseBlock(id='c1', input={'id': 'A1'}, name='refund', type='tool_use')"


def dumped(kind: str, **members: Any) -> dict[str, Any]:
    """A message as LangChain dumps it, whose class alone tells what it is."""
    path = ["langchain_core", "messages", kind]
    return {"lc": 1, "type": "constructor", "id": path, "kwargs": {"content": "", **members}}


OUTPUTS: dict[str, Any] = {
    "calls beside nothing": {"tool_calls": [OPENAI]},
    "calls of the AI SDK": {"text": "", "toolCalls": [{"toolCallId": "c1", **LANGCHAIN}]},
    "a list of calls": [OPENAI],
    "a list of blocks": [BLOCK],
    "one block": BLOCK,
    "a list as text": json.dumps([BLOCK]),
    "a dump without a type": dumped("AIMessage", tool_calls=[LANGCHAIN]),
    "a dump of a chunk": dumped("AIMessageChunk", tool_calls=[LANGCHAIN]),
    "an old dump": dumped("AIMessage", additional_kwargs={"tool_calls": [OPENAI]}),
    "generations": {
        "generations": [[{"text": "", "message": dumped("AIMessage", tool_calls=[LANGCHAIN])}]]
    },
    "a printed message": PRINTED,
    "a printed answer": f"ChatCompletion(id='x', choices=[Choice(index=0, message={PRINTED})])",
    "printed blocks": f"[{PRINTED_BLOCK}]",
    "a printed answer of blocks": f"Message(id='m', content=[{PRINTED_BLOCK}], role='assistant')",
    "a model as text": f"content='' additional_kwargs={{}} tool_calls=[{LANGCHAIN!r}]",
    "a printed state": f"{{'messages': [AIMessage(content='', tool_calls=[{LANGCHAIN!r}])]}}",
    "a printed role of an enum": f"ChatMessage(role=<Role.ASSISTANT: 'assistant'>, content=None, "
    f"tool_calls=[{PRINTED_CALL}], raw=<object at 0x7f>)",
    "a dict as text": repr({"role": "assistant", "content": None, "tool_calls": [OPENAI]}),
}


@pytest.mark.parametrize("output", OUTPUTS.values(), ids=OUTPUTS)
def test_a_call_in_what_a_program_kept_of_an_answer_is_read(output: Any) -> None:
    assert canonical_messages(output, "assistant") == [{"role": "assistant", "parts": [CALL]}]


def test_the_text_beside_a_block_is_what_was_said() -> None:
    (message,) = canonical_messages([{"type": "text", "text": "Moment."}, BLOCK], "assistant") or []
    assert message["parts"] == [{"type": "text", "content": "Moment."}, CALL]


@pytest.mark.parametrize(
    ("kind", "role"),
    [("HumanMessage", "user"), ("SystemMessage", "system"), ("AIMessage", "assistant")],
)
def test_the_class_of_a_dump_tells_who_spoke(kind: str, role: str) -> None:
    (message,) = canonical_messages([dumped(kind, content="Hello")], "user") or []
    assert message["role"] == role


@pytest.mark.parametrize(
    "text",
    [
        "Refund(id='A1') is what I would call",
        "name='A1' is the argument, don't forget",
        "total=84",
        "Point(x=1, y=2)",
        "{'total': 84}",
        "It is 12 (or 13).",
        "f(" * 500,
    ],
)
def test_any_other_text_is_what_was_said(text: str) -> None:
    (message,) = canonical_messages(text, "assistant") or []
    assert message["parts"] == [{"type": "text", "content": text}]


def test_what_a_person_said_is_never_taken_for_a_printed_object() -> None:
    (message,) = canonical_messages(PRINTED, "user") or []
    assert message == {"role": "user", "parts": [{"type": "text", "content": PRINTED}]}


def test_what_stands_in_a_printed_text_stays_as_it_is() -> None:
    value = printed("Message(content='<b: 1> is (bold', role='assistant')")
    assert value == {"content": "<b: 1> is (bold", "role": "assistant"}
