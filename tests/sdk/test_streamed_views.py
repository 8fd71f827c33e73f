"""A view that streams is one run until the last piece of its answer, whatever serves it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

import django
import flask
import pytest
from django.conf import settings
from django.http import FileResponse, StreamingHttpResponse
from django.test import AsyncClient, Client
from django.urls import path
from fastapi import FastAPI
from fastapi.testclient import TestClient
from sse_starlette import EventSourceResponse

import trackway
from trackway.schema import Trackway

WORDS = ("one ", "two")


@trackway.tool
def fetch(word: str) -> str:
    return word


def body() -> Iterator[str]:
    for word in WORDS:
        yield fetch(word)


async def async_body() -> AsyncIterator[str]:
    for word in WORDS:
        yield fetch(word)


def assert_one_run(recorded: Any) -> None:
    run = recorded.one("invoke_agent view")
    assert run.attributes[Trackway.OUTPUT] == "one two"
    assert run.attributes[Trackway.RUN_LAST_STEP] == 2
    tools = recorded.named("execute_tool fetch")
    assert [tool.parent.span_id for tool in tools] == [run.context.span_id] * 2


def whole() -> Any:
    return flask.Response(body())


def in_context() -> Any:
    return flask.Response(flask.stream_with_context(body()))


def bare() -> Any:
    return body()


def with_status() -> Any:
    return body(), 200


def with_status_and_headers() -> Any:
    return body(), 200, {"X-Answer": "yes"}


@pytest.mark.parametrize("answer", [whole, in_context, bare, with_status, with_status_and_headers])
def test_an_answer_that_flask_streams_is_one_run(recorded: Any, answer: Any) -> None:
    app = flask.Flask(__name__)

    @app.get("/")
    @trackway.agent
    def view() -> Any:
        return answer()

    assert app.test_client().get("/").text == "one two"
    assert_one_run(recorded)


def test_what_flask_has_whole_ends_at_once(recorded: Any) -> None:
    app = flask.Flask(__name__)

    @app.get("/")
    @trackway.agent
    def view() -> Any:
        return flask.jsonify({"answer": "one"}), 201

    assert app.test_client().get("/").status_code == 201
    assert recorded.one("invoke_agent view")


@trackway.agent("view")
def django_view(request: object) -> StreamingHttpResponse:
    return StreamingHttpResponse(body())


@trackway.agent("view")
async def django_async_view(request: object) -> StreamingHttpResponse:
    return StreamingHttpResponse(async_body())


@trackway.agent("view")
def django_file(request: object) -> FileResponse:
    return FileResponse(open(__file__, "rb"))


urlpatterns = [
    path("", django_view),
    path("async", django_async_view),
    path("file", django_file),
]


@pytest.fixture
def django_urls() -> None:
    if not settings.configured:
        settings.configure(ROOT_URLCONF=None, ALLOWED_HOSTS=["*"], SECRET_KEY="-")
        django.setup()
    settings.ROOT_URLCONF = type("urls", (), {"urlpatterns": urlpatterns})


@pytest.mark.usefixtures("django_urls")
def test_an_answer_that_django_streams_is_one_run(recorded: Any) -> None:
    assert Client().get("/").getvalue() == b"one two"
    assert_one_run(recorded)


@pytest.mark.usefixtures("django_urls")
def test_an_answer_that_django_streams_async_is_one_run(recorded: Any) -> None:
    async def main() -> bytes:
        response: Any = await AsyncClient().get("/async")
        return b"".join([piece async for piece in response.streaming_content])

    assert asyncio.run(main()) == b"one two"
    assert_one_run(recorded)


@pytest.mark.usefixtures("django_urls")
def test_a_file_of_django_s_is_left_alone(recorded: Any) -> None:
    response = Client().get("/file")
    assert recorded.one("invoke_agent view")
    assert b"left_alone" in response.getvalue()


def test_server_sent_events_are_one_run(recorded: Any) -> None:
    app = FastAPI()

    @app.get("/")
    @trackway.agent
    async def view() -> EventSourceResponse:
        return EventSourceResponse(async_body())

    text = TestClient(app).get("/").text
    assert [line for line in text.splitlines() if line] == ["data: one ", "data: two"]
    assert_one_run(recorded)
