"""Libraries that write spans by themselves: what they lack is added, what doubles is left out."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from typing import Any

import pytest
from mcp.client import Client
from mcp.client.session import ClientSession
from mcp.server.mcpserver import MCPServer
from opentelemetry import trace

import trackway
from trackway.schema import GenAI, Trackway

CONTENT = "ANTHROPIC_OPEN_TELEMETRY_TRACES_CONTENT_MODE"


@pytest.fixture(autouse=True)
def _turned_off_again() -> Iterator[None]:
    yield
    trackway.uninstrument()


def shop() -> MCPServer:
    server = MCPServer("shop")

    @server.tool()
    def lookup_order(order_id: str) -> dict[str, Any]:
        if order_id == "none":
            raise ValueError("no such order")
        return {"id": order_id}

    return server


def call(order_id: str, *, by_hand: bool = False) -> None:
    async def calls() -> None:
        async with Client(shop()) as client:
            session = (
                trackway.tools(client, kinds={"lookup_order": "lookup"}) if by_hand else client
            )
            await session.call_tool("lookup_order", {"order_id": order_id})

    with trackway.run("t"):
        asyncio.run(calls())


def steps(recorded: Any) -> list[Any]:
    return [s for s in recorded.all if Trackway.STEP_INDEX in s.attributes]


def test_calls_of_every_mcp_session_are_recorded_with_their_arguments(recorded: Any) -> None:
    report = trackway.instrument("mcp")
    assert report["mcp"].on
    call("A-1")
    (step,) = steps(recorded)
    assert step.attributes[GenAI.TOOL_NAME] == "lookup_order"
    assert step.attributes[GenAI.TOOL_CALL_ARGUMENTS] == '{"order_id":"A-1"}'
    assert '"id"' in step.attributes[GenAI.TOOL_CALL_RESULT]
    assert step.attributes[Trackway.STEP_OK] is True
    assert {s.attributes[Trackway.RUN_ID] for s in recorded.all} == {
        step.attributes[Trackway.RUN_ID]
    }


def test_a_tool_that_failed_on_the_server_is_not_ok(recorded: Any) -> None:
    trackway.instrument("mcp")
    call("none")
    (step,) = steps(recorded)
    assert step.attributes[Trackway.STEP_OK] is False


def test_a_session_that_is_wrapped_by_hand_as_well_is_one_step(recorded: Any) -> None:
    trackway.instrument("mcp")
    call("A-1", by_hand=True)
    (step,) = steps(recorded)
    assert step.attributes[Trackway.STEP_KIND] == "lookup"
    assert len(recorded.named("execute_tool lookup_order")) == 1


def test_without_instrument_the_protocol_s_own_spans_are_one_step(recorded: Any) -> None:
    call("A-1")
    (step,) = steps(recorded)
    assert step.instrumentation_scope.name == "mcp-python-sdk"


def test_turning_mcp_off_leaves_the_class_as_it_was(recorded: Any) -> None:
    before = ClientSession.call_tool
    trackway.instrument("mcp")
    assert ClientSession.call_tool is not before
    trackway.uninstrument("mcp")
    assert ClientSession.call_tool is before


@pytest.mark.parametrize(("content", "mode"), [(True, "content"), (False, "metadata_only")])
def test_the_anthropic_client_is_told_the_content_choice(
    monkeypatch: pytest.MonkeyPatch, content: bool, mode: str
) -> None:
    from trackway.testing import MemorySpans

    monkeypatch.delenv(CONTENT, raising=False)
    MemorySpans().configure(capture_content=content)
    report = trackway.instrument("anthropic")
    assert os.environ[CONTENT] == mode
    assert report["anthropic"].content is content
    trackway.uninstrument()
    trackway.shutdown()
    assert CONTENT not in os.environ


@pytest.mark.parametrize("together", [True, False])
def test_a_span_that_says_late_what_it_is_takes_its_place_then(
    recorded: Any, together: bool
) -> None:
    tracer = trace.get_tracer("agent_framework")

    def say(span: Any, **attributes: str) -> None:
        named = {key.replace("__", "."): value for key, value in attributes.items()}
        if together:
            span.set_attributes(named)
            return
        for key, value in named.items():
            span.set_attribute(key, value)

    with tracer.start_as_current_span("agent") as agent:
        say(agent, gen_ai__operation__name="invoke_agent", gen_ai__agent__name="a")
        with tracer.start_as_current_span("tool") as tool:
            say(tool, gen_ai__operation__name="execute_tool", gen_ai__tool__name="lookup_order")
            say(tool, other="1")
    found = recorded.one("tool").attributes
    assert found[Trackway.STEP_INDEX] == 1
    assert found["other"] == "1"
    assert found[Trackway.RUN_ID] == recorded.one("agent").attributes[Trackway.RUN_ID]
    assert recorded.one("agent").attributes[Trackway.RUN_LAST_STEP] == 1
