"""An image, a sound or a file in a call costs a line in the record, never the record."""

from __future__ import annotations

import base64
import json
import random
from typing import Any

import pytest

import trackway
from trackway.schema import GenAI

PICTURE = random.Random(1).randbytes(3_000_000)
BASE64 = base64.b64encode(PICTURE).decode()
DATA_URL = f"data:image/png;base64,{BASE64}"


@trackway.tool
def describe(caption: str, image: Any, page: int) -> Any:
    return {"caption": caption, "image": image}


@pytest.mark.parametrize(
    "image",
    [PICTURE, bytearray(PICTURE), memoryview(PICTURE), BASE64, DATA_URL, {"data": BASE64}],
    ids=["bytes", "bytearray", "memoryview", "base64", "data URL", "in a dict"],
)
def test_what_stands_beside_an_image_is_recorded(recorded: Any, image: Any) -> None:
    result = describe("a kettle", image, 3)
    assert result["image"] is image
    arguments = recorded.arguments("describe")
    assert (arguments["caption"], arguments["page"]) == ("a kettle", 3)
    assert recorded.result("describe")["caption"] == "a kettle"
    span = recorded.tool("describe")
    assert sum(len(str(value)) for value in span.attributes.values()) < 150_000


def test_equal_images_can_be_told_from_others(recorded: Any) -> None:
    for image in (PICTURE, PICTURE, PICTURE[:-1] + b"\0"):
        describe("a kettle", image, 3)
    told = [
        json.dumps(recorded.value(span, GenAI.TOOL_CALL_ARGUMENTS)["image"])
        for span in recorded.all
    ]
    assert told[0] == told[1] != told[2]


MESSAGES: dict[str, list[Any]] = {
    "chat": [{"type": "image_url", "image_url": {"url": DATA_URL}}],
    "responses": [{"type": "input_image", "image_url": DATA_URL}],
    "anthropic": [
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": BASE64}}
    ],
    "sound": [{"type": "input_audio", "input_audio": {"data": BASE64, "format": "wav"}}],
    "file": [{"type": "file", "file": {"filename": "a.pdf", "file_data": DATA_URL}}],
    "unknown": [{"type": "hologram", "payload": BASE64}],
}


@pytest.mark.parametrize("shape", list(MESSAGES))
def test_a_conversation_with_media_keeps_its_words(recorded: Any, shape: str) -> None:
    @trackway.llm(model="m")
    def ask(messages: list[Any]) -> str:
        return "a kettle"

    words = {"type": "text", "text": "What is this?"}
    ask([{"role": "user", "content": [*MESSAGES[shape], words]}] * 5)
    span = recorded.one("chat m")
    messages = recorded.value(span, GenAI.INPUT_MESSAGES)
    assert [message["role"] for message in messages] == ["user"] * 5
    assert json.dumps(messages).count("What is this?") == 5
    assert len(span.attributes[GenAI.INPUT_MESSAGES]) <= 65_536
    assert span.attributes[GenAI.OPERATION_NAME] == "chat"


def test_a_result_of_blocks_keeps_its_words(recorded: Any) -> None:
    @trackway.tool
    def screenshot() -> list[dict[str, str]]:
        return [
            {"type": "image", "mimeType": "image/png", "data": BASE64},
            {"type": "text", "text": "the front page"},
        ]

    screenshot()
    assert recorded.result("screenshot")[1] == {"type": "text", "text": "the front page"}


def test_many_large_images_in_a_conversation_are_told_apart_by_their_ends(recorded: Any) -> None:
    @trackway.llm
    def chat(messages: list[dict[str, Any]]) -> str:
        return "ok"

    images = [
        {
            "type": "image_url",
            "image_url": {"url": DATA_URL[:number] + "A" + DATA_URL[number + 1 :]},
        }
        for number in (100, 200)
    ]
    chat([{"role": "user", "content": [*images, images[0]]}])
    (message,) = recorded.value(recorded.one("chat"), GenAI.INPUT_MESSAGES)
    first, second, again = message["parts"]
    assert first["characters"] == len(BASE64)
    assert first["sha256"].startswith("ends:")
    assert first["sha256"] == again["sha256"] != second["sha256"]
