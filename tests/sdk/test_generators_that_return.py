"""A generator's result is what its consumer saw; what it returned besides stands beside it."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator
from typing import Any

import pytest

import trackway
from trackway.schema import GenAI, Trackway


class Piece(str):
    """A text of a class of the user's."""


def read(generator: Generator[Any, Any, Any]) -> list[Any]:
    return list(generator)


def test_the_final_text_of_an_agent_is_what_it_yielded(recorded: Any) -> None:
    @trackway.agent
    def support(question: str) -> Generator[str, None, dict[str, int]]:
        yield "Your refund of "
        yield Piece("84.00 is on its way.")
        return {"usage": 3}

    assert read(support("Refund?")) == ["Your refund of ", "84.00 is on its way."]
    attributes = recorded.one("invoke_agent support").attributes
    assert attributes[Trackway.OUTPUT] == "Your refund of 84.00 is on its way."
    assert json.loads(attributes[Trackway.STREAM_RETURNED]) == {"usage": 3}


def test_the_run_around_an_agent_has_the_yielded_text_as_its_final_text(recorded: Any) -> None:
    @trackway.agent
    def support() -> Generator[str, None, str]:
        yield "Refunded."
        return "ok"

    with trackway.run("refund"):
        read(support())
    assert recorded.one("run refund").attributes[Trackway.OUTPUT] == "Refunded."


def test_a_tool_keeps_its_pieces_and_what_it_returned(recorded: Any) -> None:
    @trackway.tool(success=lambda returned: returned["status"] == "ok", returns="id")
    def search(query: str) -> Generator[dict[str, int], None, dict[str, str]]:
        yield {"page": 1}
        yield {"page": 2}
        return {"status": "ok", "id": "A9128"}

    read(search("x"))
    attributes = recorded.tool("search").attributes
    assert recorded.result("search") == [{"page": 1}, {"page": 2}]
    assert json.loads(attributes[Trackway.STREAM_RETURNED]) == {"status": "ok", "id": "A9128"}
    assert attributes[Trackway.STEP_OK] is True
    assert list(attributes[Trackway.ENTITY_REFS]) == [":A9128"]


def test_what_a_generator_returns_without_a_piece_is_its_result(recorded: Any) -> None:
    @trackway.tool
    def search(pages: int) -> Generator[int, None, str]:
        yield from range(pages)
        return "nothing found"

    read(search(0))
    assert recorded.result("search") == "nothing found"
    assert Trackway.STREAM_RETURNED not in recorded.tool("search").attributes


def test_a_generator_that_returns_nothing_says_nothing_of_it(recorded: Any) -> None:
    @trackway.tool
    def search() -> Iterator[int]:
        yield 1

    list(search())
    assert Trackway.STREAM_RETURNED not in recorded.tool("search").attributes


def test_a_model_call_that_returns_the_whole_answer_has_it_as_its_answer(recorded: Any) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "refund", "arguments": "{}"}}
    whole = {
        "choices": [
            {"message": {"role": "assistant", "tool_calls": [call]}, "finish_reason": "tool_calls"}
        ],
        "usage": {"prompt_tokens": 3, "completion_tokens": 2},
    }

    @trackway.llm
    def chat(messages: list[Any], answer: Any) -> Generator[str, None, Any]:
        yield "Let me "
        yield "see."
        return answer

    read(chat([{"role": "user", "content": "Refund?"}], whole))
    read(chat([{"role": "user", "content": "Refund?"}], 2))
    told, yielded = recorded.all
    (message,) = json.loads(told.attributes[GenAI.OUTPUT_MESSAGES])
    assert [part["type"] for part in message["parts"]] == ["tool_call"]
    assert told.attributes[GenAI.INPUT_TOKENS] == 3
    (message,) = json.loads(yielded.attributes[GenAI.OUTPUT_MESSAGES])
    assert message["parts"] == [{"type": "text", "content": "Let me see."}]
    assert yielded.attributes[Trackway.STREAM_RETURNED] == "2"


def test_with_content_off_a_hash_of_what_was_returned_remains(recorded: Any) -> None:
    recorded.configure(capture_content=False)

    @trackway.tool
    def search() -> Generator[str, None, str]:
        yield "page"
        return "a customer's words"

    read(search())
    attributes = recorded.tool("search").attributes
    assert Trackway.STREAM_RETURNED not in attributes
    assert f"{Trackway.CONTENT_SHA256}.returned" in attributes


@pytest.mark.parametrize("pieces", [0, 2])
def test_the_recorder_for_tests_keeps_both_too(pieces: int) -> None:
    recorder = trackway.TrajectoryRecorder()

    @recorder.track
    def search() -> Generator[int, None, str]:
        yield from range(pieces)
        return "done"

    read(search())
    (record,) = recorder.trajectory
    assert record["result"] == ([0, 1] if pieces else "done")
    assert record.get("returned") == ("done" if pieces else None)
