"""Messages of any provider or framework become one form."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trackway_analyzer.dialects.messages import canonical_messages, messages_text, plain_text

ASKED = {
    "role": "assistant",
    "parts": [
        {"type": "text", "content": "I look."},
        {"type": "tool_call", "id": "c1", "name": "weather", "arguments": {"city": "Paris"}},
    ],
}
ANSWERED = {
    "role": "tool",
    "parts": [{"type": "tool_call_response", "id": "c1", "response": {"t": 14}}],
}
DIALOGUE = [
    {"role": "user", "parts": [{"type": "text", "content": "Weather?"}]},
    ASKED,
    ANSWERED,
]

FORMS = {
    "genai, arguments as text, result key, answer in a user message": [
        {"role": "user", "parts": [{"type": "text", "content": "Weather?"}]},
        {
            "role": "assistant",
            "parts": [
                {"type": "text", "content": "I look."},
                {
                    "type": "tool_call",
                    "id": "c1",
                    "name": "weather",
                    "arguments": '{"city":"Paris"}',
                },
            ],
        },
        {
            "role": "user",
            "parts": [{"type": "tool_call_response", "id": "c1", "result": '{"t":14}'}],
        },
    ],
    "openai chat": [
        {"role": "user", "content": "Weather?"},
        {
            "role": "assistant",
            "content": "I look.",
            "tool_calls": [
                {
                    "id": "c1",
                    "type": "function",
                    "function": {"name": "weather", "arguments": '{"city": "Paris"}'},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": '{"t": 14}'},
    ],
    "openai responses": [
        {"role": "user", "content": [{"type": "input_text", "text": "Weather?"}]},
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "I look."}],
        },
        {
            "type": "function_call",
            "call_id": "c1",
            "name": "weather",
            "arguments": '{"city": "Paris"}',
        },
        {"type": "function_call_output", "call_id": "c1", "output": '{"t": 14}'},
    ],
    "anthropic": [
        {"role": "user", "content": "Weather?"},
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "c1", "name": "weather", "input": {"city": "Paris"}},
            ],
        },
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "c1", "content": '{"t": 14}'}],
        },
    ],
    "bedrock": [
        {"role": "user", "content": [{"text": "Weather?"}]},
        {
            "role": "assistant",
            "content": [
                {"text": "I look."},
                {"toolUse": {"toolUseId": "c1", "name": "weather", "input": {"city": "Paris"}}},
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "toolResult": {
                        "toolUseId": "c1",
                        "status": "success",
                        "content": [{"json": {"t": 14}}],
                    }
                }
            ],
        },
    ],
    "vercel": [
        {"role": "user", "content": [{"type": "text", "text": "Weather?"}]},
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "I look."},
                {
                    "type": "tool-call",
                    "toolCallId": "c1",
                    "toolName": "weather",
                    "input": {"city": "Paris"},
                },
            ],
        },
        {
            "role": "tool",
            "content": [
                {
                    "type": "tool-result",
                    "toolCallId": "c1",
                    "output": {"type": "json", "value": {"t": 14}},
                }
            ],
        },
    ],
    "langchain, constructor form in nested lists": {
        "messages": [
            [
                {
                    "lc": 1,
                    "type": "constructor",
                    "kwargs": {"content": "Weather?", "type": "human"},
                },
                {
                    "lc": 1,
                    "type": "constructor",
                    "kwargs": {
                        "content": "I look.",
                        "type": "ai",
                        "tool_calls": [{"name": "weather", "args": {"city": "Paris"}, "id": "c1"}],
                    },
                },
                {
                    "lc": 1,
                    "type": "constructor",
                    "kwargs": {"content": '{"t": 14}', "type": "tool", "tool_call_id": "c1"},
                },
            ]
        ]
    },
    "langchain, data form": [
        {"type": "human", "data": {"content": "Weather?", "type": "human"}},
        {
            "type": "ai",
            "data": {
                "content": "I look.",
                "type": "ai",
                "tool_calls": [{"name": "weather", "args": {"city": "Paris"}, "id": "c1"}],
            },
        },
        {"type": "tool", "data": {"content": '{"t": 14}', "type": "tool", "tool_call_id": "c1"}},
    ],
    "openinference, unflattened": [
        {"message": {"role": "user", "content": "Weather?"}},
        {
            "message": {
                "role": "assistant",
                "contents": [{"message_content": {"type": "text", "text": "I look."}}],
                "tool_calls": [
                    {
                        "tool_call": {
                            "id": "c1",
                            "function": {"name": "weather", "arguments": '{"city": "Paris"}'},
                        }
                    }
                ],
            }
        },
        {"message": {"role": "tool", "tool_call_id": "c1", "content": '{"t": 14}'}},
    ],
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
def test_dialogue_is_the_same_in_every_form(form: object) -> None:
    assert canonical_messages(form, "user") == DIALOGUE
    assert canonical_messages(json.dumps(form), "user") == DIALOGUE
    assert canonical_messages(json.dumps(json.dumps(form)), "user") == DIALOGUE


def test_gemini_contents_follow_their_system_instruction() -> None:
    request = {
        "config": {"system_instruction": "Be brief."},
        "contents": [
            {"role": "user", "parts": [{"text": "Weather?"}]},
            {
                "role": "model",
                "parts": [
                    {"text": "I look."},
                    {"function_call": {"id": "c1", "name": "weather", "args": {"city": "Paris"}}},
                ],
            },
            {
                "role": "user",
                "parts": [{"function_response": {"id": "c1", "response": {"t": 14}}}],
            },
        ],
    }
    system = {"role": "system", "parts": [{"type": "text", "content": "Be brief."}]}
    assert canonical_messages(request, "user") == [system, *DIALOGUE]


def test_calls_written_twice_in_one_message_are_there_once() -> None:
    call = {"id": "c1", "name": "weather", "input": {"city": "Paris"}}
    message = {
        "role": "assistant",
        "content": [{"type": "text", "text": "I look."}, {"type": "tool_use", **call}],
        "tool_calls": [{"id": "c1", "name": "weather", "args": {"city": "Paris"}}],
    }
    assert canonical_messages([message], "user") == [ASKED]


@pytest.mark.parametrize("mark", [{}, {"id": "c1"}])
def test_a_mark_of_a_call_in_the_content_is_no_call_beside_the_one_that_it_stands_for(
    mark: dict[str, str],
) -> None:
    message = {
        "role": "assistant",
        "contents": [
            {"message_content": {"type": "text", "text": "I look."}},
            {"message_content": {"type": "tool_use", **mark}},
        ],
    }
    call = {"id": "c1", "function": {"name": "weather", "arguments": '{"city": "Paris"}'}}
    beside = {**message, "tool_calls": [{"tool_call": call}]}
    assert canonical_messages([beside], "assistant") == [ASKED]
    inside = {**message, "contents": [*message["contents"][:1], _ordered(call)]}
    assert canonical_messages([inside], "assistant") == [ASKED]
    assert canonical_messages([{**inside, "tool_calls": [{"tool_call": call}]}], "assistant") == [
        ASKED
    ]
    (alone,) = canonical_messages([message], "assistant")
    assert [part["type"] for part in alone["parts"]] == ["text", "tool_call"]


def _ordered(call: dict[str, object]) -> dict[str, object]:
    """Return a block as OpenInference 0.1.42 writes a call among texts."""
    return {"message_content": {"type": "tool_use"}, "tool_call": call}


def test_one_turn_written_as_several_messages_is_one_message() -> None:
    def calls(number: int) -> dict[str, object]:
        return {
            "role": "assistant",
            "tool_calls": [{"id": f"c{number}", "function": {"name": "f", "arguments": "{}"}}],
        }

    found = canonical_messages([calls(1), calls(2)], "user")
    assert found is not None
    assert [part["id"] for message in found for part in message["parts"]] == ["c1", "c2"]
    assert len(found) == 1


def test_legacy_function_call_and_bare_completions_are_read() -> None:
    asked = {"role": "assistant", "content": "", "function_call": {"name": "f", "arguments": "{}"}}
    assert canonical_messages([asked], "user") == [
        {
            "role": "assistant",
            "parts": [{"type": "tool_call", "id": None, "name": "f", "arguments": {}}],
        }
    ]
    generations = {
        "generations": [[{"text": "Once", "generation_info": {"finish_reason": "stop"}}]]
    }
    assert canonical_messages(generations, "assistant") == [
        {"role": "assistant", "parts": [{"type": "text", "content": "Once"}]}
    ]


def test_malformed_arguments_stay_text_and_placeholder_ids_are_missing() -> None:
    part = {"type": "tool_call", "id": "<not specified>", "name": "f", "arguments": '{"city": "Pa'}
    found = canonical_messages([{"role": "assistant", "parts": [part]}], "user")
    assert found is not None
    assert found[0]["parts"][0] == {
        "type": "tool_call",
        "id": None,
        "name": "f",
        "arguments": '{"city": "Pa',
    }


def test_failed_answers_are_marked_and_unknown_parts_are_kept() -> None:
    blocks = [
        {"type": "tool_result", "tool_use_id": "c1", "content": "kaput", "is_error": True},
        {"toolResult": {"toolUseId": "c2", "status": "error", "content": [{"text": "kaput"}]}},
    ]
    found = canonical_messages([{"role": "user", "content": blocks}], "user")
    assert found is not None
    assert [(part["id"], part["is_error"]) for part in found[0]["parts"]] == [
        ("c1", True),
        ("c2", True),
    ]
    image = {"type": "uri", "modality": "image", "uri": "https://example.com/a.png"}
    kept = canonical_messages([{"role": "user", "parts": [image]}], "user")
    assert kept == [{"role": "user", "parts": [image]}]


def test_text_that_is_no_json_is_one_message_of_the_expected_role() -> None:
    assert canonical_messages("Hello", "user") == [
        {"role": "user", "parts": [{"type": "text", "content": "Hello"}]}
    ]
    assert canonical_messages("", "user") is None
    assert canonical_messages({"temperature": 1}, "user") is None


def test_final_text_is_the_last_the_role_said() -> None:
    state = {"messages": [*FORMS["openai chat"], {"role": "assistant", "content": "14C."}]}
    assert plain_text(state, "assistant") == "14C."
    assert plain_text(state, "user") == "Weather?"
    assert plain_text({"output": "done"}, "assistant") == "done"
    assert plain_text({"args": ["Weather?"], "kwargs": {}}, "user") == "Weather?"
    assert plain_text({"t": 14}, "assistant") == '{"t":14}'
    assert plain_text([{"role": "user", "content": "Weather?"}], "assistant") is None


KEYS = """role parts content type text tool_calls id name arguments function message messages prompt
tool_call_id kwargs data lc input output toolUse toolResult system""".split()  # noqa: SIM905

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(KEYS) | st.text(max_size=4),
            inner,
            max_size=5,
        )
    ),
    max_leaves=20,
)


@given(JSON)
def test_no_json_raises_and_every_message_has_role_and_parts(value: object) -> None:
    for message in canonical_messages(value, "user") or ():
        assert isinstance(message["role"], str)
        assert all(isinstance(part, dict) for part in message["parts"])
    plain_text(value, "assistant")


MESSAGE = st.sampled_from(
    [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "Hello"},
        {"role": "assistant", "tool_calls": [{"id": "c1", "function": {"name": "f"}}]},
        {"role": "tool", "tool_call_id": "c1", "content": "[1, 2]"},
        {"type": "function_call", "call_id": "c2", "name": "g", "arguments": "{}"},
        {"no": "message"},
        [],
    ]
)


@given(st.lists(MESSAGE, max_size=8), st.lists(MESSAGE, max_size=3), st.booleans())
def test_a_dialogue_that_grows_reads_as_if_read_at_once(
    dialogue: list[object], other: list[object], spaced: bool
) -> None:
    separators = (", ", ": ") if spaced else (",", ":")
    for turn in range(len(dialogue) + 1):
        for messages in (dialogue[:turn], [*dialogue[:turn], *other]):
            written = json.dumps(messages, separators=separators)
            assert messages_text(written, "user") == messages_text(messages, "user")


@given(JSON)
def test_canonical_messages_are_a_fixed_point(value: object) -> None:
    once = canonical_messages(value, "user")
    if once is not None:
        assert canonical_messages(json.loads(json.dumps(once)), "user") in (once, None)


def test_a_block_of_a_type_that_nobody_knows_is_kept_and_is_no_text() -> None:
    block = {"type": "compaction", "content": "earlier turns summarized"}
    messages = [{"role": "user", "parts": [{"type": "text", "content": "Hi"}, block]}]
    (found,) = canonical_messages(messages, "user") or []
    assert found["parts"] == [{"type": "text", "content": "Hi"}, block]
