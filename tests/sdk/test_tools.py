"""What a tool call says of itself: kind, alias, entities, success, operation, attempt."""

from __future__ import annotations

import contextlib
import functools
from typing import Any

import pytest
from opentelemetry.trace import StatusCode

import trackway
from trackway.schema import GenAI, Trackway


def test_the_record_s_name_and_the_model_s_name(recorded: Any) -> None:
    @trackway.tool("refund_api.create", kind="mutate", alias="refund_create")
    def refund(order_id: str) -> None: ...

    refund("A9128")
    attributes = recorded.tool("refund_api.create").attributes
    assert attributes[GenAI.OPERATION_NAME] == "execute_tool"
    assert attributes[GenAI.TOOL_NAME] == "refund_api.create"
    assert attributes[GenAI.TOOL_TYPE] == "function"
    assert attributes[Trackway.TOOL_ALIAS] == "refund_create"
    assert attributes[Trackway.STEP_KIND] == "mutate"


def test_a_bare_tool_claims_no_kind_and_no_success(recorded: Any) -> None:
    @trackway.tool
    def lookup(order_id: str) -> dict[str, Any]:
        return {"status": "failed"}

    lookup("A9128")
    attributes = recorded.tool("lookup").attributes
    assert Trackway.STEP_KIND not in attributes
    assert Trackway.STEP_OK not in attributes
    assert Trackway.ENTITY_REFS not in attributes
    assert Trackway.OPERATION_ID not in attributes
    assert recorded.tool("lookup").status.status_code is StatusCode.UNSET


def test_entities_of_arguments_and_results(recorded: Any) -> None:
    @trackway.tool(kind="lookup", returns="orders[*].id", entity="customer", entity_type="order")
    def orders_of(customer: int) -> dict[str, Any]:
        return {"orders": [{"id": "A1"}, {"id": "A2"}]}

    orders_of(7)
    refs = recorded.tool("orders_of").attributes[Trackway.ENTITY_REFS]
    assert refs == ("order:7", "order:A1", "order:A2")


def test_an_entity_argument_survives_pattern_redaction(recorded: Any) -> None:
    card_like, card = "4111111111111111", "4012888888881881"

    @trackway.tool(entity="order_id", entity_type="order")
    def lookup(order_id: str, note: str) -> None: ...

    lookup(card_like, card)
    arguments = recorded.arguments("lookup")
    assert arguments["order_id"] == card_like
    assert card not in arguments["note"]
    assert recorded.tool("lookup").attributes[Trackway.ENTITY_REFS] == (f"order:{card_like}",)


def test_a_call_that_raised_keeps_the_entities_of_its_arguments(recorded: Any) -> None:
    @trackway.tool(entity="order_id", entity_type="order", returns="id")
    def lookup(order_id: str) -> None:
        raise LookupError

    with contextlib.suppress(LookupError):
        lookup("A1")
    assert recorded.tool("lookup").attributes[Trackway.ENTITY_REFS] == ("order:A1",)


@pytest.mark.parametrize(("status", "ok"), [("succeeded", True), ("failed", False)])
def test_a_declared_success_predicate_decides(recorded: Any, status: str, ok: bool) -> None:
    @trackway.tool(success=lambda result: result["status"] == "succeeded")
    def refund() -> dict[str, str]:
        return {"status": status}

    refund()
    assert recorded.tool("refund").attributes[Trackway.STEP_OK] is ok
    assert recorded.tool("refund").status.status_code is StatusCode.UNSET


def test_a_predicate_that_raises_decides_nothing(recorded: Any) -> None:
    @trackway.tool(success=lambda result: result["missing"])
    def refund() -> dict[str, str]:
        return {}

    assert refund() == {}
    attributes = recorded.tool("refund").attributes
    assert Trackway.STEP_OK not in attributes
    assert attributes[Trackway.CAPTURE_ERROR] == "success: KeyError"


def attempts(recorded: Any, name: str) -> list[tuple[int, str | None]]:
    spans = [span.attributes for span in recorded.named(f"execute_tool {name}")]
    ids: dict[str, str] = {}
    return [
        (
            a[Trackway.STEP_ATTEMPT],
            ids.setdefault(a[Trackway.OPERATION_ID], f"op{len(ids) + 1}")
            if Trackway.OPERATION_ID in a
            else None,
        )
        for a in spans
    ]


def test_a_declared_operation_id_is_kept_across_retries(recorded: Any) -> None:
    @trackway.tool(kind="mutate", operation_id="key")
    def refund(key: str, amount: float) -> None: ...

    with trackway.run("t"):
        refund("a", 1)
        refund("a", 2)
        refund("b", 1)
    assert attempts(recorded, "refund") == [(1, "op1"), (2, "op1"), (1, "op2")]
    assert recorded.named("execute_tool refund")[0].attributes[Trackway.OPERATION_ID] == "a"


def test_an_operation_id_under_a_secrets_name_gives_nothing_of_itself_out(recorded: Any) -> None:
    @trackway.tool(kind="mutate", operation_id="client_token")
    def pay(client_token: str) -> None: ...

    with trackway.run("t"):
        for token in ("tok-super-secret", "tok-another", "tok-super-secret"):
            pay(token)
    spans = recorded.named("execute_tool pay")
    ids = [span.attributes[Trackway.OPERATION_ID] for span in spans]
    assert ids[0] == ids[2] != ids[1]
    assert all(text.startswith("[redacted:key_name]#") for text in ids)


def test_an_operation_id_may_be_computed(recorded: Any) -> None:
    @trackway.tool(operation_id=lambda arguments: f"{arguments['order']}/{arguments['line']}")
    def refund(order: str, line: int) -> None: ...

    refund("A1", 2)
    assert recorded.tool("refund").attributes[Trackway.OPERATION_ID] == "A1/2"


def test_a_repetition_after_a_failure_is_the_next_attempt(recorded: Any) -> None:
    answers = iter([TimeoutError(), TimeoutError(), "paid", "paid"])

    @trackway.tool(kind="mutate")
    def refund(order_id: str) -> str:
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    with trackway.run("t"):
        for _ in range(2):
            with contextlib.suppress(TimeoutError):
                refund("A1")
        refund("A1")
        refund("A1")
    assert attempts(recorded, "refund") == [(1, "op1"), (2, "op1"), (3, "op1"), (1, "op2")]


def test_a_repetition_after_a_declared_failure_is_the_next_attempt_too(recorded: Any) -> None:
    answers = iter(["declined", "paid"])

    @trackway.tool(kind="mutate", success=lambda result: result == "paid")
    def refund(order_id: str) -> str:
        return next(answers)

    with trackway.run("t"):
        refund("A1")
        refund("A1")
    assert attempts(recorded, "refund") == [(1, "op1"), (2, "op1")]


def test_another_input_or_another_run_is_another_operation(recorded: Any) -> None:
    @trackway.tool(kind="mutate")
    def refund(order_id: str) -> None:
        raise TimeoutError

    for task in ("one", "two"):
        with trackway.run(task):
            for order in ("A1", "A2"):
                with contextlib.suppress(TimeoutError):
                    refund(order)
    found = attempts(recorded, "refund")
    assert found == [(1, "op1"), (1, "op2"), (1, "op3"), (1, "op4")]


def test_retries_are_seen_with_content_off(recorded: Any) -> None:
    recorded.configure(capture_content=False)

    @trackway.tool
    def lookup(order_id: str) -> int | None:
        run = trackway.current_run()
        assert run is not None
        if run.last_step == 1:
            raise TimeoutError
        return run.last_step

    with trackway.run("t") as run:
        with contextlib.suppress(TimeoutError):
            lookup("A1")
        assert run.has_failures
        lookup("A1")
        assert not run.has_failures


def test_a_step_block_records_like_a_tool(recorded: Any) -> None:
    with trackway.run("t"):
        with trackway.step("charge", kind="mutate", amount=4) as step:
            step.result({"paid": True})
        with trackway.step("think"):
            pass
    attributes = recorded.tool("charge").attributes
    assert step.index == 1
    assert attributes[Trackway.STEP_INDEX] == 1
    assert attributes[Trackway.STEP_KIND] == "mutate"
    assert recorded.arguments("charge") == {"amount": 4}
    assert recorded.result("charge") == {"paid": True}
    assert recorded.tool("think").attributes[Trackway.STEP_KIND] == "other"
    assert recorded.tool("think").attributes[Trackway.STEP_INDEX] == 2


def test_a_step_block_that_gave_nothing_has_no_result(recorded: Any) -> None:
    with trackway.step("think"):
        pass
    assert GenAI.TOOL_CALL_RESULT not in recorded.tool("think").attributes


def test_an_error_leaves_a_step_block_recorded_and_unchanged(recorded: Any) -> None:
    with pytest.raises(KeyError), trackway.step("charge"):
        raise KeyError("x")
    assert recorded.tool("charge").attributes[GenAI.ERROR_TYPE] == "KeyError"


def test_a_wait_is_a_step_of_its_own(recorded: Any) -> None:
    with trackway.run("t"), trackway.step("approval", kind="wait", owner="alice"):
        trackway.wait("alice", reason="amount over limit")
    span = recorded.one("wait approval")
    assert span.attributes[GenAI.OPERATION_NAME] == "wait"
    assert span.attributes[Trackway.STEP_INDEX] == 1
    assert [event.name for event in span.events] == ["trackway.wait"]


def test_a_model_call_and_a_retrieval_may_be_blocks(recorded: Any) -> None:
    with trackway.run("t"):
        with trackway.step("answer", kind="llm", model="gpt-5", messages="hi") as step:
            step.result("hello")
        with trackway.step("kb", kind="retrieval", query="refunds") as step:
            step.result([{"id": "d1"}])
    model, retrieval = recorded.one("chat gpt-5"), recorded.one("retrieval kb")
    output = recorded.value(model, GenAI.OUTPUT_MESSAGES)
    assert output == [{"role": "assistant", "parts": [{"type": "text", "content": "hello"}]}]
    assert model.attributes[GenAI.REQUEST_MODEL] == "gpt-5"
    assert retrieval.attributes[GenAI.RETRIEVAL_QUERY] == "refunds"
    assert [s.attributes[Trackway.STEP_INDEX] for s in (model, retrieval)] == [1, 2]


def test_the_id_of_the_model_s_request_joins_the_call(recorded: Any) -> None:
    @trackway.tool
    def lookup(order_id: str) -> None: ...

    with trackway.requested("call_1"):
        lookup("A1")
    lookup("A1")
    first, second = recorded.named("execute_tool lookup")
    assert first.attributes[GenAI.TOOL_CALL_ID] == "call_1"
    assert GenAI.TOOL_CALL_ID not in second.attributes


def test_a_tool_within_a_requested_tool_was_not_requested(recorded: Any) -> None:
    @trackway.tool
    def inner() -> None: ...

    @trackway.tool
    def outer() -> None:
        inner()

    with trackway.requested("call_1"):
        outer()
    assert GenAI.TOOL_CALL_ID not in recorded.tool("inner").attributes
    assert recorded.tool("outer").attributes[GenAI.TOOL_CALL_ID] == "call_1"


def refund(order_id: str, request_id: str) -> None: ...


class Shop:
    def refund(self, order_id: str) -> None: ...


NAMES_NO_PARAMETER = [
    (
        {"entity": "oder_id"},
        refund,
        "entity names 'oder_id', which is no parameter of refund; did you mean 'order_id'? "
        "The parameters: order_id, request_id",
    ),
    (
        {"entity": ["order_id", "lines[*].id"]},
        refund,
        "entity names 'lines', which is no parameter of refund; the parameters: order_id, "
        "request_id",
    ),
    (
        {"operation_id": "requestid"},
        refund,
        "operation_id names 'requestid', which is no parameter of refund; did you mean "
        "'request_id'? The parameters: order_id, request_id",
    ),
    (
        {"operation_id": "request_id.hex"},
        refund,
        "operation_id names 'request_id.hex', which is no parameter of refund; did you mean "
        "'request_id'? The parameters: order_id, request_id",
    ),
    (
        {"entity": "self"},
        Shop.refund,
        "entity names 'self', which is no parameter of Shop.refund; the parameters: order_id",
    ),
]


@pytest.mark.parametrize(("options", "function", "message"), NAMES_NO_PARAMETER)
def test_an_option_that_names_no_parameter_is_an_error_at_decoration(
    options: dict[str, Any], function: Any, message: str
) -> None:
    with pytest.raises(ValueError) as raised:
        trackway.tool(**options)(function)
    assert str(raised.value) == message


def any_keyword(order: str, **more: Any) -> None: ...
def any_position(*orders: str) -> None: ...


@pytest.mark.parametrize(
    ("entity", "function"),
    [
        ("customer", any_keyword),
        ("orders[0]", any_position),
        ("$.order_id", refund),
        ("$", refund),
        ("order_id", functools.partial(refund, "A1")),
        ("x", max),
        ("order_id", staticmethod(refund)),
    ],
)
def test_a_name_that_may_be_among_the_arguments_is_taken(entity: str, function: Any) -> None:
    trackway.tool(entity=entity)(function)


@pytest.mark.parametrize(
    ("options", "kind", "said"),
    [
        ({"returns": "orders[*"}, ValueError, r"path 'orders\[\*': expected names and indexes"),
        ({"entity": "order id"}, ValueError, "path 'order id': expected names and indexes"),
        ({"success": "ok"}, TypeError, "success must be a function of the result; found 'ok'"),
        ({"operation_id": 7}, TypeError, "operation_id must be the name of an argument or a func"),
        ({"returns": 5}, TypeError, "returns must be a path, or a list of paths; found 5"),
        ({"entity": 5}, TypeError, "entity must be a path, or a list of paths; found 5"),
        ({"entity": ["id", 5]}, TypeError, r"entity must be a path, or .* found \['id', 5\]"),
        ({"alias": 4}, TypeError, "alias must be a text; found 4"),
        ({"entity_type": 4}, TypeError, "entity_type must be a text; found 4"),
        ({"description": b"x"}, TypeError, "description must be a text; found b'x'"),
    ],
)
def test_an_option_of_no_use_is_an_error_at_decoration(
    options: dict[str, Any], kind: type[Exception], said: str
) -> None:
    with pytest.raises(kind, match=said):
        trackway.tool(**options)(refund)


def test_a_field_that_is_nearly_there_is_told_of_once(
    recorded: Any, caplog: pytest.LogCaptureFixture
) -> None:
    @trackway.tool("nearly", returns="orders[*].oder_id", entity="order.oder_id")
    def nearly(order: dict[str, str]) -> dict[str, Any]:
        return {"orders": [{"order_id": "A1"}]}

    @trackway.tool("absent", returns="id")
    def absent() -> dict[str, str]:
        return {"error": "no such order"}

    with caplog.at_level("WARNING", logger="trackway"):
        for _ in range(3):
            nearly({"order_id": "A1"})
            absent()
    assert [record.getMessage() for record in caplog.records] == [
        "trackway: nearly: entity='order.oder_id' finds nothing, since there is no 'oder_id'; "
        "did you mean 'order_id'?",
        "trackway: nearly: returns='orders[*].oder_id' finds nothing, since there is no "
        "'oder_id'; did you mean 'order_id'?",
    ]


def test_no_operation_id_lets_a_secret_out(recorded: Any) -> None:
    @trackway.tool(kind="mutate", operation_id="key")
    def pay(key: str) -> None:
        trackway.effect("pay", operation_id=key, entity="order:1", applied=True)

    pay("token=hunter2")
    span = recorded.tool("pay")
    (event,) = span.events
    assert "hunter2" not in span.to_json()
    written = span.attributes[Trackway.OPERATION_ID]
    assert written.startswith("token=[redacted:assignment]#")
    assert event.attributes["operation_id"] == written
