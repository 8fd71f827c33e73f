"""A whole registry of tools, recorded in one call."""

from __future__ import annotations

import asyncio
import math
import os
import subprocess
import sys
import types
from collections import ChainMap, OrderedDict, UserDict, defaultdict, deque
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.server.mcpserver import MCPServer

import trackway
from trackway.schema import GenAI, Trackway


def lookup_order(order_id: str) -> dict[str, Any]:
    return {"id": order_id}


def refund(order_id: str, amount: float) -> str:
    return "paid"


async def send_email(to: str) -> None: ...


class Shop:
    currency = "USD"

    def __init__(self) -> None:
        self.refunded: list[str] = []

    def lookup(self, order_id: str) -> str:
        return order_id

    def refund(self, order_id: str) -> None:
        self.refunded.append(order_id)

    @property
    def dangerous(self) -> str:
        raise RuntimeError("a property must not be read")

    def _private(self) -> None: ...


def test_a_dict_by_its_names(recorded: Any) -> None:
    given = {"lookup_order": lookup_order, "refund_api.create": refund, "email": send_email}
    made = trackway.tools(given, kinds={"refund_api.create": "mutate"})
    assert made["refund_api.create"]("A1", amount=2) == "paid"
    asyncio.run(made["email"]("ann"))
    assert recorded.arguments("refund_api.create") == {"order_id": "A1", "amount": 2}
    assert recorded.tool("refund_api.create").attributes[Trackway.STEP_KIND] == "mutate"
    assert recorded.arguments("email") == {"to": "ann"}
    assert given["lookup_order"] is lookup_order


def test_a_list_by_the_functions_names(recorded: Any) -> None:
    first, second = trackway.tools([lookup_order, refund])
    first("A1")
    assert recorded.result("lookup_order") == {"id": "A1"}
    assert isinstance(trackway.tools((lookup_order,)), tuple)
    assert second.__name__ == "refund"


def test_openai_style_entries(recorded: Any) -> None:
    definition = {"type": "function", "function": {"name": "lookup", "parameters": {}}}
    made = trackway.tools(
        [{**definition, "callable": lookup_order}, {"name": "pay", "func": refund}]
    )
    made[0]["callable"]("A1")
    made[1]["func"]("A1", 2.0)
    assert recorded.arguments("lookup") == {"order_id": "A1"}
    assert recorded.arguments("pay") == {"order_id": "A1", "amount": 2.0}
    assert made[0]["function"] == definition["function"]


def test_an_object_by_its_public_methods(recorded: Any) -> None:
    shop = Shop()
    view = trackway.tools(shop, kinds={"refund": "mutate"})
    assert view.lookup("A1") == "A1"
    view.refund("A1")
    assert shop.refunded == ["A1"]
    assert view.refunded is shop.refunded
    assert view.currency == "USD"
    assert isinstance(view, Shop)
    assert recorded.names == ["execute_tool lookup", "execute_tool refund"]


def test_what_is_set_on_a_view_is_set_on_the_object(recorded: Any) -> None:
    shop = Shop()
    view = trackway.tools(shop)
    view.refunded = kept = ["A0"]
    view.refund("A1")
    assert shop.refunded is kept == ["A0", "A1"]
    view.currency = "EUR"
    assert shop.currency == "EUR"
    del view.currency
    assert shop.currency == view.currency == "USD"
    with pytest.raises(AttributeError, match="dangerous"):
        view.dangerous = "x"
    assert view.lookup("A1") == "A1"


def test_a_method_that_is_replaced_on_a_view_is_replaced(recorded: Any) -> None:
    shop = Shop()
    view = trackway.tools(shop)
    view.lookup = lambda order_id: "another"
    assert shop.lookup("A1") == view.lookup("A1") == "another"
    del view.lookup
    assert shop.lookup("A1") == view.lookup("A1") == "A1"


class Counter:
    """Orders."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def lookup(self, order: str) -> str:
        self.seen.append(order)
        return order

    @classmethod
    def name(cls) -> str:
        return cls.__name__

    @staticmethod
    def double(amount: int) -> int:
        return amount * 2


def test_a_class_by_its_public_methods(recorded: Any) -> None:
    recorded_class = trackway.tools(Counter, kinds={"lookup": "lookup"})
    shop = recorded_class()
    assert (shop.lookup("A1"), shop.seen, recorded_class.name(), shop.double(2)) == (
        "A1",
        ["A1"],
        "Counter",
        4,
    )
    assert isinstance(shop, Counter)
    assert (recorded_class.__name__, recorded_class.__doc__) == ("Counter", "Orders.")
    assert recorded.names == [
        "execute_tool lookup",
        "execute_tool name",
        "execute_tool double",
    ]
    Counter().lookup("A2")
    assert len(recorded.names) == 3


def test_a_module_of_builtins_and_of_cached_functions(recorded: Any) -> None:
    module = types.ModuleType("shop")
    exec(
        "from functools import cache\nfrom math import sqrt\n@cache\ndef price(order): return 84",
        vars(module),
    )
    assert trackway.tools(math, kinds={"hypot": "lookup"}).hypot(3, 4) == 5
    shop = trackway.tools(module)
    assert (shop.price("A1"), shop.sqrt(9)) == (84, 3)
    assert recorded.names == ["execute_tool hypot", "execute_tool price"]


def test_an_object_that_holds_builtins(recorded: Any) -> None:
    class Shop:
        def __init__(self) -> None:
            self.find = {"A1": 84}.get

    assert trackway.tools(Shop()).find("A1") == 84
    assert recorded.names == ["execute_tool find"]


def test_a_module_by_its_own_public_functions(recorded: Any) -> None:
    module = types.ModuleType("shop")
    exec(
        "from json import dumps\ndef lookup(order): return order\ndef _hidden(): ...", vars(module)
    )
    tools = trackway.tools(module)
    assert tools.lookup("A1") == "A1"
    assert tools.dumps("A1") == '"A1"'
    assert recorded.names == ["execute_tool lookup"]


def test_functions_that_an_object_holds(recorded: Any) -> None:
    tools = trackway.tools(types.SimpleNamespace(lookup=lambda order: order, limit=3))
    assert (tools.lookup("A1"), tools.limit) == ("A1", 3)
    assert recorded.names == ["execute_tool lookup"]


def test_what_is_recorded_already_is_recorded_once(recorded: Any) -> None:
    mine = trackway.tool("mine", kind="lookup")(lookup_order)
    made = trackway.tools({"lookup_order": mine})
    made["lookup_order"]("A1")
    assert recorded.names == ["execute_tool mine"]


def test_a_name_that_no_tool_has_is_refused_with_the_nearest() -> None:
    with pytest.raises(ValueError, match=r"'lookup_ordr'.* did you mean 'lookup_order'\?"):
        trackway.tools({"lookup_order": lookup_order}, kinds={"lookup_ordr": "lookup"})
    with pytest.raises(ValueError, match="known: lookup_order"):
        trackway.tools({"lookup_order": lookup_order}, kinds={"zzz": "lookup"})
    with pytest.raises(ValueError, match="found 'reads'"):
        trackway.tools({"lookup_order": lookup_order}, kinds={"lookup_order": "reads"})


@pytest.mark.parametrize("nothing", [[1], {"a": 1}, (None,), None, {"a": 1}.values()])
def test_a_registry_without_tools_is_refused(nothing: Any) -> None:
    with pytest.raises(TypeError, match="found no callable in"):
        trackway.tools(nothing)


NO_REGISTRIES: dict[str, Any] = {
    "set": {refund}, "frozenset": frozenset([refund]), "dict_keys": {refund: 1}.keys(),
    "generator": (tool for tool in [refund]), "str": "refund", "bytes": b"refund",
    "int": 5,
}  # fmt: skip


@pytest.mark.parametrize("kind", NO_REGISTRIES)
def test_what_is_no_registry_is_refused_by_its_kind(kind: str) -> None:
    hint = "" if kind in ("str", "bytes", "int") else "; give list\\(…\\) of it"
    with pytest.raises(TypeError, match=f"expected a mapping or list .*; found {kind}{hint}$"):
        trackway.tools(NO_REGISTRIES[kind])


@pytest.mark.parametrize("empty", [{}, [], (), OrderedDict(), types.MappingProxyType({})])
def test_an_empty_registry_is_one(empty: Any) -> None:
    made = trackway.tools(empty)
    assert (type(made), len(made)) == (type(empty), 0)
    with pytest.raises(ValueError, match="'refund', which is no tool of the registry; known: none"):
        trackway.tools(empty, kinds={"refund": "mutate"})


class Catalogue(Mapping[str, Any]):
    """A mapping of the user's own."""

    def __init__(self, held: dict[str, Any]) -> None:
        self._held = held

    def __getitem__(self, name: str) -> Any:
        return self._held[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._held)

    def __len__(self) -> int:
        return len(self._held)


MAPPINGS: dict[str, tuple[Callable[[dict[str, Any]], Any], type]] = {
    "ordered": (OrderedDict, OrderedDict),
    "default": (lambda held: defaultdict(lambda: send_email, held), defaultdict),
    "user": (UserDict, UserDict),
    "chain": (lambda held: ChainMap({}, held), ChainMap),
    "read only": (types.MappingProxyType, types.MappingProxyType),
    "own": (Catalogue, dict),
}


@pytest.mark.parametrize("kind", MAPPINGS)
def test_every_mapping_of_tools_is_recorded_and_left_as_it_was(recorded: Any, kind: str) -> None:
    make, expected = MAPPINGS[kind]
    made: Any
    given = make({"refund": refund})
    made = trackway.tools(given, kinds={"refund": "mutate"})
    assert type(made) is expected
    assert list(made) == ["refund"]
    assert made["refund"]("A9128", 2) == "paid"
    assert recorded.tool("refund").attributes[Trackway.STEP_KIND] == "mutate"
    assert given["refund"] is refund


def test_a_default_dict_keeps_its_factory() -> None:
    given: dict[str, Any] = defaultdict(lambda: send_email, {"refund": refund})
    made = trackway.tools(given)
    assert made["unknown"] is send_email


def test_sequences_are_recorded_as_lists_and_named_tuples_stay_ones(recorded: Any) -> None:
    class Tools(NamedTuple):
        refund: Any

    (refund_recorded,) = trackway.tools(deque([refund]))
    refund_recorded("A1", 1)
    trackway.tools(Tools(refund)).refund("A2", 2)
    assert recorded.names == ["execute_tool refund"] * 2


SERVER = """
from mcp.server.mcpserver import MCPServer
server = MCPServer("shop")

@server.tool()
def lookup_order(order_id: str) -> dict:
    if order_id == "none":
        raise ValueError("no such order")
    return {"id": order_id, "total": 84.0}

"""
OVER_STDIO = 'server.run("stdio")'
OVER_HTTP = """
import socket, uvicorn
with socket.create_server(("127.0.0.1", 0)) as listener:
    print(listener.getsockname()[1], flush=True)
    app = server.streamable_http_app()
    uvicorn.Server(uvicorn.Config(app, log_level="error")).run(sockets=[listener])
"""


def check_session(recorded: Any, target: Any) -> None:
    async def main() -> None:
        async with Client(target) as client:
            session = trackway.tools(client, kinds={"lookup_order": "lookup"})
            with trackway.run("t"):
                good = await session.call_tool("lookup_order", {"order_id": "A9128"})
                bad = await session.call_tool("lookup_order", {"order_id": "none"})
            assert (good.is_error, bad.is_error) == (False, True)
            assert [tool.name for tool in (await session.list_tools()).tools] == ["lookup_order"]

    asyncio.run(main())
    ours = [
        span
        for span in recorded.named("execute_tool lookup_order")
        if span.instrumentation_scope.name == "trackway"
    ]
    good, bad = (span.attributes for span in ours)
    assert recorded.value(ours[0], GenAI.TOOL_CALL_ARGUMENTS) == {"order_id": "A9128"}
    assert recorded.value(ours[0], GenAI.TOOL_CALL_RESULT) == {"id": "A9128", "total": 84.0}
    assert "lookup_order" in recorded.value(ours[1], GenAI.TOOL_CALL_RESULT)
    assert (good[Trackway.STEP_OK], bad[Trackway.STEP_OK]) == (True, False)
    assert good[Trackway.STEP_KIND] == "lookup"
    indices = [span.attributes.get(Trackway.STEP_INDEX) for span in recorded.all]
    assert sorted(index for index in indices if index is not None) == [1, 2]


def test_an_mcp_session_in_one_process(recorded: Any) -> None:
    server = MCPServer("shop")

    @server.tool()
    def lookup_order(order_id: str) -> dict[str, Any]:
        if order_id == "none":
            raise ValueError("no such order")
        return {"id": order_id, "total": 84.0}

    check_session(recorded, server)


class Pages:
    """A session whose server lists its tools on two pages."""

    async def call_tool(self, name: str, arguments: Any = None) -> Any:
        return name

    async def list_tools(self, cursor: str | None = None) -> Any:
        name = "lookup_order" if cursor is None else "refund"
        tool = types.SimpleNamespace(name=name)
        return types.SimpleNamespace(tools=[tool], next_cursor="2" if cursor is None else None)


def test_a_kind_of_a_tool_that_the_server_lacks_is_said_once_the_tools_are_listed(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def main() -> None:
        session = trackway.tools(Pages(), kinds={"refnd": "mutate", "lookup_order": "lookup"})
        assert (await session.list_tools()).next_cursor == "2"
        assert caplog.messages == []
        for _ in range(2):
            page = await session.list_tools("2")
            assert [tool.name for tool in page.tools] == ["refund"]
            assert caplog.messages == [
                "trackway: kinds names 'refnd', which is no tool of the registry; "
                "did you mean 'refund'?"
            ]

    asyncio.run(main())


def test_an_mcp_session_over_stdio(recorded: Any, tmp_path: Path) -> None:
    path = tmp_path / "server.py"
    path.write_text(SERVER + OVER_STDIO)
    parameters = StdioServerParameters(
        command=sys.executable, args=["-W", "ignore", str(path)], env=dict(os.environ)
    )
    check_session(recorded, stdio_client(parameters))


def test_an_mcp_session_over_streamable_http(recorded: Any, tmp_path: Path) -> None:
    path = tmp_path / "server.py"
    path.write_text(SERVER + OVER_HTTP)
    command = [sys.executable, "-W", "ignore", str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            # The port listens from before it is printed: a client that is early waits its turn.
            check_session(recorded, f"http://127.0.0.1:{int(server.stdout.readline())}/mcp")
        finally:
            server.kill()
