"""A model call: request and answer in the message JSON of the conventions, whoever's client."""

from __future__ import annotations

import asyncio
import gc
import hashlib
import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import anthropic
import openai
import pytest
from anthropic.types import Message
from openai.types.chat import ChatCompletion
from openai.types.responses import Response
from opentelemetry.trace import StatusCode

import trackway
from trackway.messages import messages
from trackway.schema import GenAI, Trackway
from trackway.streams import MAX_CHARACTERS

QUESTION = [
    {"role": "system", "content": "You refund."},
    {"role": "user", "content": "Refund A9128"},
]
TOOLS = [
    {
        "type": "function",
        "function": {"name": "lookup_order", "description": "Look up", "parameters": {"a": 1}},
    }
]
REQUESTED = [
    {
        "id": "call_1",
        "type": "function",
        "function": {"name": "lookup_order", "arguments": '{"order_id":"A9128"}'},
    }
]
CHAT = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1,
    "model": "gpt-5-2026",
    "system_fingerprint": "fp_1",
    "choices": [
        {
            "index": 0,
            "finish_reason": "tool_calls",
            "message": {
                "role": "assistant",
                "content": None,
                "tool_calls": REQUESTED,
            },
        }
    ],
    "usage": {
        "prompt_tokens": 20,
        "completion_tokens": 8,
        "total_tokens": 28,
        "prompt_tokens_details": {"cached_tokens": 5},
        "completion_tokens_details": {"reasoning_tokens": 3},
    },
}
ASKED = {
    "type": "tool_call",
    "id": "call_1",
    "name": "lookup_order",
    "arguments": {"order_id": "A9128"},
}


def recorded_answer(recorded: Any, answer: Any) -> tuple[Any, dict[str, Any]]:
    @trackway.llm
    def chat(messages: Any) -> Any:
        return answer

    assert chat(QUESTION) is answer
    span = recorded.one("chat")
    return recorded.value(span, GenAI.OUTPUT_MESSAGES), dict(span.attributes)


@pytest.mark.parametrize(
    "answer", [CHAT, ChatCompletion.model_validate(CHAT)], ids=["dict", "object"]
)
def test_a_chat_completion(recorded: Any, answer: Any) -> None:
    output, attributes = recorded_answer(recorded, answer)
    assert output == [{"role": "assistant", "parts": [ASKED], "finish_reason": "tool_call"}]
    assert attributes[GenAI.OPERATION_NAME] == "chat"
    assert attributes[GenAI.RESPONSE_MODEL] == "gpt-5-2026"
    assert attributes[GenAI.RESPONSE_ID] == "chatcmpl-1"
    assert attributes[GenAI.RESPONSE_FINISH_REASONS] == ("tool_call",)
    assert attributes[GenAI.SYSTEM_FINGERPRINT] == "fp_1"
    assert attributes[GenAI.INPUT_TOKENS] == 20
    assert attributes[GenAI.OUTPUT_TOKENS] == 8
    assert attributes[GenAI.CACHE_READ_TOKENS] == 5
    assert attributes[GenAI.REASONING_TOKENS] == 3
    assert attributes.get(GenAI.PROVIDER_NAME) == (None if answer is CHAT else "openai")


RESPONSE = {
    "id": "resp_1",
    "object": "response",
    "created_at": 1,
    "model": "gpt-5",
    "status": "completed",
    "parallel_tool_calls": True,
    "tool_choice": "auto",
    "tools": [],
    "output": [
        {
            "type": "reasoning",
            "id": "r1",
            "summary": [{"type": "summary_text", "text": "thinking"}],
        },
        {
            "type": "message",
            "id": "m1",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": "Looking up.", "annotations": []}],
        },
        {
            "type": "function_call",
            "id": "f1",
            "call_id": "call_1",
            "name": "lookup_order",
            "arguments": '{"order_id":"A9128"}',
        },
    ],
    "usage": {
        "input_tokens": 11,
        "output_tokens": 7,
        "total_tokens": 18,
        "input_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 0},
        "output_tokens_details": {"reasoning_tokens": 2},
    },
}


@pytest.mark.parametrize(
    "answer", [RESPONSE, Response.model_validate(RESPONSE)], ids=["dict", "object"]
)
def test_a_response_of_the_responses_api(recorded: Any, answer: Any) -> None:
    output, attributes = recorded_answer(recorded, answer)
    assert output == [
        {
            "role": "assistant",
            "parts": [
                {"type": "reasoning", "content": "thinking"},
                {"type": "text", "content": "Looking up."},
                ASKED,
            ],
            "finish_reason": "tool_call",
        }
    ]
    assert attributes[GenAI.INPUT_TOKENS] == 11
    assert attributes[GenAI.CACHE_READ_TOKENS] == 4
    assert attributes[GenAI.REASONING_TOKENS] == 2


ANTHROPIC = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude-5",
    "stop_reason": "tool_use",
    "stop_sequence": None,
    "content": [
        {"type": "thinking", "thinking": "hm", "signature": "s"},
        {"type": "text", "text": "Looking up."},
        {
            "type": "tool_use",
            "id": "call_1",
            "name": "lookup_order",
            "input": {"order_id": "A9128"},
        },
    ],
    "usage": {
        "input_tokens": 10,
        "cache_read_input_tokens": 4,
        "cache_creation_input_tokens": 3,
        "output_tokens": 6,
    },
}


@pytest.mark.parametrize(
    "answer", [ANTHROPIC, Message.model_validate(ANTHROPIC)], ids=["dict", "object"]
)
def test_a_message_of_anthropic(recorded: Any, answer: Any) -> None:
    output, attributes = recorded_answer(recorded, answer)
    assert output == [
        {
            "role": "assistant",
            "parts": [
                {"type": "reasoning", "content": "hm"},
                {"type": "text", "content": "Looking up."},
                ASKED,
            ],
            "finish_reason": "tool_call",
        }
    ]
    assert attributes[GenAI.INPUT_TOKENS] == 17
    assert attributes[GenAI.OUTPUT_TOKENS] == 6
    assert attributes[GenAI.CACHE_READ_TOKENS] == 4
    assert attributes[GenAI.CACHE_WRITE_TOKENS] == 3


def test_a_text_and_a_bare_message_are_answers_too(recorded: Any) -> None:
    output, _ = recorded_answer(recorded, "Refund processed.")
    text = [{"type": "text", "content": "Refund processed."}]
    assert output == [{"role": "assistant", "parts": text}]
    recorded.clear()
    output, _ = recorded_answer(recorded, {"role": "assistant", "content": "Refund processed."})
    assert output == [{"role": "assistant", "parts": text}]


def test_an_unknown_answer_is_kept_whole_and_its_tokens_are_unknown(recorded: Any) -> None:
    output, attributes = recorded_answer(recorded, {"generated": [1, 2]})
    whole = [{"type": "json", "content": {"generated": [1, 2]}}]
    assert output == [{"role": "assistant", "parts": whole}]
    assert not [key for key in attributes if key.startswith("gen_ai.usage")]


def test_the_request(recorded: Any) -> None:
    @trackway.llm(provider="openai")
    def chat(messages: Any, model: str, tools: Any, **parameters: Any) -> str:
        return "ok"

    chat(
        QUESTION, "gpt-5", TOOLS, temperature=0, top_p=0.5, max_completion_tokens=10, seed=7,
        stream=True,
    )  # fmt: skip
    span = recorded.one("chat gpt-5")
    attributes = span.attributes
    assert recorded.value(span, GenAI.INPUT_MESSAGES) == [
        {"role": "system", "parts": [{"type": "text", "content": "You refund."}]},
        {"role": "user", "parts": [{"type": "text", "content": "Refund A9128"}]},
    ]
    assert attributes[GenAI.REQUEST_MODEL] == "gpt-5"
    assert attributes[GenAI.PROVIDER_NAME] == "openai"
    assert attributes[GenAI.REQUEST_TEMPERATURE] == 0
    assert attributes[GenAI.REQUEST_TOP_P] == 0.5
    assert attributes[GenAI.REQUEST_MAX_TOKENS] == 10
    assert attributes[GenAI.REQUEST_SEED] == 7
    assert attributes[GenAI.REQUEST_STREAM] is True
    assert recorded.value(span, GenAI.TOOL_DEFINITIONS) == [
        {
            "type": "function",
            "name": "lookup_order",
            "description": "Look up",
            "parameters": {"a": 1},
        }
    ]


def digests(recorded: Any, system: str, description: str) -> tuple[str, str]:
    recorded.clear()

    @trackway.llm
    def chat(messages: Any, tools: Any) -> str:
        return "ok"

    tool = {"name": "t", "description": description}
    chat([{"role": "system", "content": system}, {"role": "user", "content": "x"}], [tool])
    attributes = recorded.one("chat").attributes
    return attributes[Trackway.PROMPT_DIGEST], attributes[Trackway.TOOLS_DIGEST]


def test_system_prompt_and_tools_are_hashed(recorded: Any) -> None:
    first = digests(recorded, "You refund.", "Look up")
    prompt = '[{"content":"You refund.","type":"text"}]'
    assert first[0] == hashlib.sha256(prompt.encode()).hexdigest()
    assert digests(recorded, "You refund.", "Look up") == first
    assert digests(recorded, "You refund!", "Look up")[0] != first[0]
    assert digests(recorded, "You refund.", "Look down")[1] != first[1]


def test_instructions_given_apart_stand_apart(recorded: Any) -> None:
    @trackway.llm
    def create(system: str, messages: Any) -> str:
        return "ok"

    create("You refund.", [{"role": "user", "content": "x"}])
    span = recorded.one("chat")
    instructions = recorded.value(span, GenAI.SYSTEM_INSTRUCTIONS)
    assert instructions == [{"type": "text", "content": "You refund."}]
    assert Trackway.PROMPT_DIGEST in span.attributes


def test_arguments_that_hold_no_conversation_are_kept_whole(recorded: Any) -> None:
    @trackway.llm
    def extract(document: str, fields: list[str]) -> str:
        return "ok"

    extract("text", ["a"])
    (message,) = recorded.value(recorded.one("chat"), GenAI.INPUT_MESSAGES)
    content = {"document": "text", "fields": ["a"]}
    assert message == {"role": "user", "parts": [{"type": "json", "content": content}]}


PICTURE = "data:image/png;base64," + "QUJD" * 1000
CONVERSATIONS = [
    ("hi", [{"role": "user", "parts": [{"type": "text", "content": "hi"}]}]),
    (
        [{"role": "tool", "tool_call_id": "c1", "content": "42"}],
        [{"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": "42"}]}],
    ),
    (
        [{"role": "assistant", "content": "", "tool_calls": REQUESTED}],
        [{"role": "assistant", "parts": [{"type": "text", "content": ""}, ASKED]}],
    ),
    (
        [{"type": "function_call_output", "call_id": "c1", "output": "42"}],
        [{"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": "42"}]}],
    ),
    (
        [
            {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "4"}],
            }
        ],
        [{"role": "user", "parts": [{"type": "tool_call_response", "id": "c1", "response": "4"}]}],
    ),
    (
        [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://x/y"}}]}],
        [{"role": "user", "parts": [{"type": "uri", "modality": "image", "uri": "https://x/y"}]}],
    ),
    (
        [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": PICTURE}}]}],
        [
            {
                "role": "user",
                "parts": [
                    {
                        "type": "blob",
                        "modality": "image",
                        "mime_type": "image/png",
                        "characters": 4000,
                        "sha256": hashlib.sha256(b"QUJD" * 1000).hexdigest(),
                    }
                ],
            }
        ],
    ),
    (
        [{"role": "user", "content": [{"type": "novel", "value": 1}]}],
        [{"role": "user", "parts": [{"type": "novel", "value": 1}]}],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("given", "expected"), CONVERSATIONS)
def test_messages_of_every_shape(given: Any, expected: Any) -> None:
    assert messages(given) == expected


def test_arguments_that_are_no_json_stay_a_text() -> None:
    call = {"id": "c", "function": {"name": "t", "arguments": '{"cut": '}}
    (message,) = messages([{"role": "assistant", "content": None, "tool_calls": [call]}])
    assert message["parts"][0]["arguments"] == '{"cut": '


def sse(*events: tuple[str | None, Any]) -> bytes:
    lines = []
    for name, data in events:
        lines.append(f"event: {name}\n" if name else "")
        lines.append(f"data: {data if isinstance(data, str) else json.dumps(data)}\n\n")
    return "".join(lines).encode()


def chunk(delta: dict[str, Any], finish: str | None = None, **more: Any) -> tuple[None, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "gpt-5"}
    return None, {**head, "choices": [choice], **more}


def piece(position: int, **function: str) -> dict[str, Any]:
    call_id = {"id": f"call_{position + 1}"} if "name" in function else {}
    return {"tool_calls": [{"index": position, **call_id, "function": function}]}


OPENAI_STREAM = sse(
    chunk({"role": "assistant", "content": "Look"}),
    chunk({"content": "ing up."}),
    chunk(piece(0, name="lookup_order", arguments="")),
    chunk(piece(1, name="check_policy", arguments="{}")),
    chunk(piece(0, arguments='{"order_id":')),
    chunk(piece(0, arguments='"A9128"}')),
    chunk({}, "tool_calls"),
    (
        None,
        {
            "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "gpt-5",
            "choices": [],
            "usage": {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13},
        },
    ),
    (None, "[DONE]"),
)  # fmt: skip
STREAMED = [
    {
        "role": "assistant",
        "parts": [
            {"type": "text", "content": "Looking up."},
            ASKED,
            {"type": "tool_call", "id": "call_2", "name": "check_policy", "arguments": {}},
        ],
        "finish_reason": "tool_call",
    }
]


def block(index: int, **content: Any) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": content}


def delta(index: int, **change: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": change}


ANTHROPIC_STREAM = sse(
    *[
        (event["type"], event)
        for event in (
            {
                "type": "message_start",
                "message": {
                    "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-5",
                    "content": [], "stop_reason": None, "stop_sequence": None,
                    "usage": {"input_tokens": 9, "output_tokens": 1},
                },
            },
            block(0, type="text", text=""),
            delta(0, type="text_delta", text="Looking"),
            delta(0, type="text_delta", text=" up."),
            {"type": "content_block_stop", "index": 0},
            block(1, type="tool_use", id="call_1", name="lookup_order", input={}),
            delta(1, type="input_json_delta", partial_json='{"order_id":'),
            delta(1, type="input_json_delta", partial_json='"A9128"}'),
            {"type": "content_block_stop", "index": 1},
            {
                "type": "message_delta",
                "delta": {"stop_reason": "tool_use", "stop_sequence": None},
                "usage": {"output_tokens": 4},
            },
            {"type": "message_stop"},
        )
    ]
)  # fmt: skip
RESPONSES_STREAM = sse(
    *[
        (event["type"], event)
        for event in (
            {
                "type": "response.created", "sequence_number": 0,
                "response": {**RESPONSE, "output": []},
            },
            {
                "type": "response.output_text.delta", "sequence_number": 1, "item_id": "m1",
                "output_index": 0, "content_index": 0, "delta": "Looking", "logprobs": [],
            },
            {"type": "response.completed", "sequence_number": 2, "response": RESPONSE},
        )
    ]
)  # fmt: skip


class Endpoint:
    """A server on loopback that answers every request with the same events."""

    def __init__(self) -> None:
        self.body = b""
        self.missing = 0
        """Bytes that are announced and never come."""
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["content-length"]))
                self.send_response(200)
                self.send_header("content-type", "text/event-stream")
                self.send_header("content-length", str(len(endpoint.body) + endpoint.missing))
                self.end_headers()
                self.wfile.write(endpoint.body)

            def log_message(self, *arguments: Any) -> None: ...

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    made = Endpoint()
    yield made
    made.server.shutdown()
    made.server.server_close()


def openai_chat(url: str) -> Any:
    client = openai.OpenAI(base_url=url, api_key="k", max_retries=0)
    return lambda: client.chat.completions.create(model="gpt-5", messages=QUESTION, stream=True)


def anthropic_chat(url: str) -> Any:
    client = anthropic.Anthropic(base_url=url, api_key="k", max_retries=0)
    question = [{"role": "user", "content": "x"}]
    return lambda: client.messages.create(
        model="claude-5", max_tokens=9, messages=question, stream=True
    )


def openai_responses(url: str) -> Any:
    client = openai.OpenAI(base_url=url, api_key="k", max_retries=0)
    return lambda: client.responses.create(model="gpt-5", input="x", stream=True)


STREAMS = [
    (openai_chat, OPENAI_STREAM, STREAMED, (9, 4), 8, "openai"),
    (
        anthropic_chat,
        ANTHROPIC_STREAM,
        [{**STREAMED[0], "parts": STREAMED[0]["parts"][:2]}],  # type: ignore[index]
        (9, 4),
        11,
        "anthropic",
    ),
    (openai_responses, RESPONSES_STREAM, None, (11, 7), 3, "openai"),
]


def streaming(create: Any, returned: bool) -> Any:
    """Return a recorded model call that returns the client's stream, or yields what it gives."""

    @trackway.llm
    def stream() -> Any:
        return create()

    @trackway.llm
    def generate() -> Iterator[Any]:
        yield from create()

    return stream if returned else generate


@pytest.mark.parametrize(
    ("make", "body", "output", "tokens", "chunks", "provider"), STREAMS, ids=lambda v: str(v)[:20]
)
@pytest.mark.parametrize("returned", [True, False], ids=["returned", "yielded"])
def test_a_stream_is_put_together(
    recorded: Any, endpoint: Endpoint, make: Any, body: bytes, output: Any,
    tokens: tuple[int, int], chunks: int, provider: str, returned: bool,
) -> None:  # fmt: skip
    endpoint.body = body
    create = make(endpoint.url)

    with trackway.run("t"):
        events = streaming(create, returned)()
        if returned:
            assert isinstance(events, openai.Stream | anthropic.Stream)
        seen = sum(1 for _ in events)
    assert seen == chunks
    span = recorded.one("chat")
    if output is not None:
        assert recorded.value(span, GenAI.OUTPUT_MESSAGES) == output
    assert (span.attributes[GenAI.INPUT_TOKENS], span.attributes[GenAI.OUTPUT_TOKENS]) == tokens
    assert span.attributes[Trackway.STREAM_CHUNKS] == chunks
    assert Trackway.TRUNCATED not in span.attributes
    assert span.attributes[GenAI.RESPONSE_TIME_TO_FIRST_CHUNK] >= 0
    if returned:
        assert span.attributes[GenAI.PROVIDER_NAME] == provider


def chat_chunk(text: str) -> object:
    return {"choices": [{"delta": {"content": text}}]}


def chat_call_chunk(text: str) -> object:
    call = {"index": 0, "function": {"name": "refund", "arguments": text}}
    return {"choices": [{"delta": {"tool_calls": [call]}}]}


def responses_event(text: str) -> object:
    return {"type": "response.output_text.delta", "output_index": 0, "delta": text}


def anthropic_event(text: str) -> object:
    delta = {"type": "text_delta", "text": text}
    return {"type": "content_block_delta", "index": 0, "delta": delta}


@pytest.mark.parametrize(
    "piece", [str, chat_chunk, chat_call_chunk, responses_event, anthropic_event]
)
@pytest.mark.parametrize(("length", "is_cut"), [(1, False), (MAX_CHARACTERS, True)])
def test_a_stream_is_cut_where_it_goes_on_after_the_bound(
    recorded: Any, piece: Callable[[str], object], length: int, is_cut: bool
) -> None:
    @trackway.llm
    def stream() -> Iterator[object]:
        yield from (piece("x" * length), piece("y"))

    list(stream())
    cut = recorded.one("chat").attributes.get(Trackway.TRUNCATED, ())
    assert ("stream" in cut) == is_cut


def test_an_async_stream_is_put_together(recorded: Any, endpoint: Endpoint) -> None:
    endpoint.body = OPENAI_STREAM

    @trackway.llm
    async def stream() -> Any:
        client = openai.AsyncOpenAI(base_url=endpoint.url, api_key="k", max_retries=0)
        return await client.chat.completions.create(
            model="gpt-5",
            messages=QUESTION,  # type: ignore[arg-type]
            stream=True,
        )

    async def main() -> int:
        async with await stream() as events:
            assert isinstance(events, openai.AsyncStream)
            return len([event async for event in events])

    assert asyncio.run(main()) == 8
    assert recorded.value(recorded.one("chat"), GenAI.OUTPUT_MESSAGES) == STREAMED


def test_the_time_to_the_first_piece_begins_with_the_call(recorded: Any) -> None:
    begun = threading.Event()

    @trackway.llm
    def stream() -> Any:
        begun.wait(0.05)  # what a request takes
        return iter(["a", "b"])

    assert list(stream()) == ["a", "b"]
    assert recorded.one("chat").attributes[GenAI.RESPONSE_TIME_TO_FIRST_CHUNK] >= 0.05


def test_a_stream_that_is_left_early_keeps_what_came(recorded: Any, endpoint: Endpoint) -> None:
    endpoint.body = OPENAI_STREAM
    create = openai_chat(endpoint.url)

    @trackway.llm
    def stream() -> Any:
        return create()

    with stream() as events:
        next(events)
    span = recorded.one("chat")
    (message,) = recorded.value(span, GenAI.OUTPUT_MESSAGES)
    assert message["parts"] == [{"type": "text", "content": "Look"}]
    assert span.attributes[Trackway.STREAM_ABANDONED] is True


def events_before(stream: bytes, mark: bytes) -> bytes:
    """Return the whole events before the first one that holds the mark."""
    return stream[: stream.rindex(b"\n\n", 0, stream.index(mark)) + 2]


WORDS = {"type": "text", "content": "Looking up."}
BROKEN = [
    (openai_chat, events_before(OPENAI_STREAM, b"tool_calls"), [WORDS]),
    (
        anthropic_chat,
        events_before(ANTHROPIC_STREAM, b'\\"A9128'),
        [WORDS, {**ASKED, "arguments": '{"order_id":'}],
    ),
    (
        openai_responses,
        events_before(RESPONSES_STREAM, b"response.completed"),
        [{"type": "text", "content": "Looking"}],
    ),
]


@pytest.mark.parametrize(("make", "body", "came"), BROKEN, ids=["chat", "anthropic", "responses"])
@pytest.mark.parametrize("returned", [True, False], ids=["returned", "yielded"])
def test_a_stream_that_fails_keeps_what_came(
    recorded: Any, endpoint: Endpoint, make: Any, body: bytes, came: Any, returned: bool
) -> None:
    endpoint.body, endpoint.missing = body, 100
    with pytest.raises(Exception, match=r"(?i)connection|peer closed"):
        list(streaming(make(endpoint.url), returned)())
    span = recorded.one("chat")
    assert recorded.value(span, GenAI.OUTPUT_MESSAGES) == [
        {"role": "assistant", "parts": came, "finish_reason": "error"}
    ]
    assert span.attributes[GenAI.RESPONSE_FINISH_REASONS] == ("error",)
    assert span.status.status_code is StatusCode.ERROR
    assert span.attributes[Trackway.STREAM_CHUNKS] > 0
    assert Trackway.STREAM_ABANDONED not in span.attributes


@pytest.mark.parametrize("returned", [True, False], ids=["returned", "yielded"])
def test_an_async_stream_that_fails_keeps_what_came(
    recorded: Any, endpoint: Endpoint, returned: bool
) -> None:
    endpoint.body, endpoint.missing = events_before(OPENAI_STREAM, b"tool_calls"), 100

    async def create() -> Any:
        client = openai.AsyncOpenAI(base_url=endpoint.url, api_key="k", max_retries=0)
        question: Any = QUESTION
        return await client.chat.completions.create(model="gpt-5", messages=question, stream=True)

    @trackway.llm
    async def stream() -> Any:
        return await create()

    @trackway.llm
    async def generate() -> Any:
        async for event in await create():
            yield event

    async def main() -> None:
        async for _ in await stream() if returned else generate():
            pass

    with pytest.raises(Exception, match=r"(?i)connection|peer closed"):
        asyncio.run(main())
    (message,) = recorded.value(recorded.one("chat"), GenAI.OUTPUT_MESSAGES)
    assert message["parts"] == [WORDS]
    assert message["finish_reason"] == "error"


def test_a_dropped_stream_ends_its_span(recorded: Any, endpoint: Endpoint) -> None:
    endpoint.body = OPENAI_STREAM
    create = openai_chat(endpoint.url)

    @trackway.llm
    def stream() -> Any:
        return create()

    stream()
    gc.collect()
    assert recorded.one("chat").attributes[Trackway.STREAM_ABANDONED] is True


def test_a_retry_after_an_error_is_the_next_attempt(recorded: Any) -> None:
    answers = iter([TimeoutError("slow"), TimeoutError("slow"), "ok", "ok"])

    @trackway.llm
    def chat(messages: Any) -> str:
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    with trackway.run("t"):
        for _ in range(2):
            with pytest.raises(TimeoutError):
                chat("x")
        chat("x")
        chat("x")
    attempts = [span.attributes[Trackway.STEP_ATTEMPT] for span in recorded.named("chat")]
    assert attempts == [1, 2, 3, 1]


def test_a_broken_answer_does_not_break_the_call(recorded: Any) -> None:
    class Hostile:
        @property
        def choices(self) -> Any:
            raise RuntimeError("boom")

    answer = Hostile()

    @trackway.llm
    def chat(messages: Any) -> Any:
        return answer

    assert chat("x") is answer
    ((part,),) = [m["parts"] for m in recorded.value(recorded.one("chat"), GenAI.OUTPUT_MESSAGES)]
    assert part["type"] == "json"
    assert part["content"].endswith("Hostile>")


def test_the_retriever_records_ids_scores_ranks_and_hashes(recorded: Any) -> None:
    @trackway.retriever("kb")
    def search(query: str, limit: int = 2) -> Any:
        return [
            {"id": "d1", "score": 0.9, "text": "Refunds within 30 days."},
            ({"metadata": {"id": "d2"}, "page_content": "None."}, 0.4),
            "bare text",
        ]

    with trackway.run("t"):
        search("refund policy")
    span = recorded.one("retrieval kb")
    assert span.attributes[GenAI.OPERATION_NAME] == "retrieval"
    assert span.attributes[GenAI.RETRIEVAL_QUERY] == "refund policy"
    assert span.attributes[Trackway.STEP_INDEX] == 1
    documents = recorded.value(span, GenAI.RETRIEVAL_DOCUMENTS)
    text_hash = hashlib.sha256(b'"Refunds within 30 days."').hexdigest()
    assert documents[0] == {"id": "d1", "score": 0.9, "rank": 1, "sha256": text_hash}
    assert (documents[1]["id"], documents[1]["score"], documents[1]["rank"]) == ("d2", 0.4, 2)
    assert set(documents[2]) == {"rank", "sha256"}
    assert recorded.value(span, Trackway.OUTPUT)[0]["id"] == "d1"


def test_very_many_and_very_long_documents_are_listed_within_bounds(recorded: Any) -> None:
    long = "long " * 10_000

    @trackway.retriever("kb")
    def search(query: str) -> list[dict[str, Any]]:
        return [{"id": n, "text": long if n == 1 else "x" * 30_000} for n in range(600)]

    search("refunds")
    span = recorded.one("retrieval kb")
    documents = json.loads(span.attributes[GenAI.RETRIEVAL_DOCUMENTS])
    assert [document["id"] for document in documents] == list(range(256))
    assert documents[1]["sha256"].startswith("sha256-partial:")
    hashed = [document["id"] for document in documents if "sha256" in document]
    assert hashed == list(range(19))  # half a million characters in all


def test_a_conversation_of_very_many_messages_says_how_many_were_left_out(recorded: Any) -> None:
    @trackway.llm
    def chat(messages: list[dict[str, Any]]) -> str:
        return "ok"

    chat([{"role": "user", "content": "hello"}] * 50_000)
    span = recorded.one("chat")
    written = json.loads(span.attributes[GenAI.INPUT_MESSAGES])
    assert written[0] == {"role": "user", "parts": [{"type": "text", "content": "hello"}]}
    assert written[-1] == f"…[truncated {50_000 - len(written) + 1} items]"
    assert span.attributes[Trackway.TRUNCATED] == ("input",)


def test_long_arguments_of_a_request_stay_the_text_that_they_are(recorded: Any) -> None:
    @trackway.llm
    def chat(messages: list[dict[str, Any]]) -> str:
        return "ok"

    call = {"id": "c1", "function": {"name": "save", "arguments": json.dumps(["x" * 600_000])}}
    chat([{"role": "assistant", "tool_calls": [call]}])
    (message,) = json.loads(recorded.one("chat").attributes[GenAI.INPUT_MESSAGES])
    (request,) = message["parts"]
    assert request["name"] == "save"
    assert request["arguments"].startswith('["xxx')
    assert "…[truncated" in request["arguments"]


def test_arguments_of_a_request_are_read_where_the_budget_allows_it(recorded: Any) -> None:
    @trackway.llm
    def chat(messages: list[dict[str, Any]]) -> str:
        return "ok"

    wanted = {"text": "x" * 2_000, "n": 1}
    call = {"id": "c1", "function": {"name": "save", "arguments": json.dumps(wanted)}}
    broken = {"id": "c2", "function": {"name": "save", "arguments": '{"text": "' + "x" * 2_000}}
    chat([{"role": "assistant", "tool_calls": [call, broken]}])
    (message,) = json.loads(recorded.one("chat").attributes[GenAI.INPUT_MESSAGES])
    assert message["parts"][0]["arguments"] == wanted
    assert message["parts"][1]["arguments"] == '{"text": "' + "x" * 2_000
