"""Arguments and results come out of the wrappers that instrumentors put around them."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parent))
from dumped import span

from trackway_analyzer import dialects
from trackway_analyzer.dialects.tool_values import arguments, result
from trackway_analyzer.json_text import canonical, parsed, parsed_literal
from trackway_analyzer.spans import RawEvent

PARIS = {"city": "Paris"}


def tool(attributes: dict[str, Any], scope: str = "test", **fields: Any) -> dict[str, Any]:
    return dialects.span_reader()(span(scope, attributes=attributes, **fields))[0]


@pytest.mark.parametrize(
    "value",
    [
        '{"city":"Paris"}',
        '"{\\"city\\": \\"Paris\\"}"',
        {"city": "Paris"},
        '{"args": [], "kwargs": {"city": "Paris"}}',
        '{"kwargs": {"city": "Paris"}}',
        '{"args": [], "sanitize_inputs_outputs": true, "kwargs": {"city": "Paris"}}',
        '{"input_str": "{\'city\': \'Paris\'}", "tags": [], "metadata": {}}',
        '{"name": "weather", "args": {"city": "Paris"}, "id": "c1", "type": "tool_call"}',
        "{'city': 'Paris'}",
    ],
)
def test_arguments_are_the_same_object_in_every_wrapper(value: object) -> None:
    assert arguments(value).value == PARIS


def test_arguments_that_are_no_object_are_named() -> None:
    assert arguments("Paris").value == {"input": "Paris"}
    assert arguments("[1, 2]").value == {"input": [1, 2]}
    assert arguments('{"args": ["Paris", 3], "kwargs": {"days": 2}}').value == {
        "arg0": "Paris",
        "arg1": 3,
        "days": 2,
    }


def test_a_tools_own_parameters_called_args_or_input_str_are_left_alone() -> None:
    assert arguments({"args": ["x"]}).value == {"args": ["x"]}
    assert arguments({"args": "x", "kwargs": {}}).value == {"args": "x", "kwargs": {}}
    assert arguments({"input_str": "x"}).value == {"input_str": "x"}


@pytest.mark.parametrize(
    "value",
    [
        '{"t": 14}',
        [{"text": '{"t": 14}'}],
        [{"type": "text", "text": '{"t": 14}'}],
        [{"json": {"t": 14}}],
        {"content": [{"type": "text", "text": '{"t": 14}'}], "isError": False},
        {"content": [], "structuredContent": {"t": 14}, "isError": False},
        {"type": "tool", "data": {"content": '{"t": 14}', "tool_call_id": "c1"}},
        {"lc": 1, "kwargs": {"content": '{"t": 14}', "tool_call_id": "c1"}},
        {"type": "tool", "content": '{"t": 14}', "tool_call_id": "c1"},
        {
            "toolResult": {
                "toolUseId": "c1",
                "content": [{"text": '{"t": 14}'}],
                "status": "success",
            }
        },
        {"id": "c1", "name": "weather", "response": {"t": 14}},
        {"blocks": [], "tool_name": "weather", "raw_input": {}, "raw_output": {"t": 14}},
        {
            "graph": None,
            "update": {"messages": [{"type": "tool", "content": '{"t": 14}', "tool_call_id": "c"}]},
        },
        "content='{\"t\": 14}' name='weather' tool_call_id='c1'",
        "{'t': 14}",
    ],
)
def test_results_are_the_same_value_in_every_wrapper(value: object) -> None:
    assert result(value).value == {"t": 14}
    if not isinstance(value, str):
        assert result(json.dumps(value)).value == {"t": 14}


def test_a_result_tells_its_call_its_tool_and_its_failure() -> None:
    message = {
        "type": "tool",
        "content": "kaput",
        "tool_call_id": "c1",
        "name": "f",
        "status": "error",
    }
    found = result(message)
    assert (found.value, found.call_id, found.tool, found.failed) == ("kaput", "c1", "f", True)
    assert result({"content": [{"type": "text", "text": "no"}], "isError": True}).failed
    assert result({"toolUseId": "c2", "content": [], "status": "error"}).failed


def test_an_ordinary_result_is_not_taken_for_a_wrapper() -> None:
    for value in (
        {"output": 1},
        {"content": "x"},
        {"status": "error"},
        {"id": 1, "name": "a"},
        [],
        14,
    ):
        assert result(value).value == value


def test_tool_parameters_hold_arguments_or_a_schema() -> None:
    def read(parameters: object) -> object:
        attributes = {"openinference.span.kind": "TOOL", "tool.name": "f"}
        return tool({**attributes, "tool.parameters": json.dumps(parameters)}).get("arguments")

    assert read(PARIS) == '{"city":"Paris"}'
    assert read({"type": "object", "properties": {"city": {"type": "string"}}}) is None
    assert read({"city": {"type": "string", "description": "a city"}}) is None


def test_bare_text_of_a_tool_span_is_text_even_if_it_looks_like_a_number() -> None:
    row = tool({"openinference.span.kind": "TOOL", "tool.name": "f", "input.value": "0042"})
    assert row["arguments"] == '{"input":"0042"}'


def test_placeholders_are_missing_values() -> None:
    row = tool(
        {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "f",
            "gen_ai.tool.call.id": "<not specified>",
            "gen_ai.tool.call.arguments": "N/A",
            "gen_ai.tool.call.result": "<REDACTED>",
        }
    )
    assert row["tool_call_id"] is None
    assert row.get("arguments") is None
    assert row.get("result") is None


def test_a_failed_result_fails_the_span_and_describes_it() -> None:
    message = {"type": "tool", "content": "no such order", "tool_call_id": "c1", "status": "error"}
    row = tool(
        {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "f",
            "gen_ai.tool.call.result": json.dumps(message),
        }
    )
    assert (row["error_type"], row["error_message"]) == ("tool_error", "no such order")
    assert row["tool_call_id"] == "c1"


TOOL = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "f"}
RAISED = RawEvent(
    "exception", 1, {"exception.type": "shop.errors.Gone", "exception.message": "order gone"}
)


def test_error_type_and_message_have_their_order() -> None:
    def error(attributes: dict[str, Any], **fields: Any) -> tuple[Any, Any]:
        row = tool(TOOL | attributes, **fields)
        return row.get("error_type"), row.get("error_message")

    assert error({}, status="OK") == (None, None)
    assert error({}, status="OK", events=(RAISED,)) == (None, None)
    assert error({}, status="ERROR") == ("_OTHER", None)
    assert error({}, status="ERROR", events=(RAISED,)) == ("Gone", "order gone")
    assert error({"error.type": "a.b.Timeout"}, status="UNSET") == ("Timeout", None)
    assert error({"error.type": "500"}, status="ERROR", status_message="down") == ("500", "down")
    assert error({"gen_ai.tool.status": "error"}, status="OK") == ("_OTHER", None)
    described = error({"error.type": "KeyError"}, status="ERROR", status_message="KeyError: 'id'")
    assert described == ("KeyError", "'id'")
    printed = "ValueError('kaput')\n\nTraceback (most recent call last):\n  File ..."
    assert error({}, status="ERROR", status_message=printed) == ("ValueError", "kaput")


def test_values_beyond_the_bounds_become_a_named_gap() -> None:
    deep: Any = 1
    for _ in range(400):
        deep = [deep]
    row = tool(TOOL | {"gen_ai.tool.call.result": deep})
    assert row.get("result") is None
    assert row["truncated"] == ["result"]
    cut = tool(TOOL | {"gen_ai.tool.call.result": '{"order": "A-1", "tot'})
    assert cut["truncated"] == ["result"]
    assert json.loads(cut["result"]) == '{"order": "A-1", "tot'


def test_long_integers_nan_and_lone_surrogates_survive() -> None:
    assert parsed('{"id": 123456789012345678901234567890}') == {
        "id": 123456789012345678901234567890
    }
    assert parsed('{"x": NaN, "y": -Infinity}') == {"x": "NaN", "y": "-Infinity"}
    value = parsed('{"x": "\\ud800"}')
    assert isinstance(value, dict)
    assert canonical(value) == '{"x":"?"}'


@given(st.text())
def test_reading_any_text_never_raises(text: str) -> None:
    arguments(text)
    result(text)
    parsed_literal(text)
    parsed("[" + text)
    parsed_literal("{" + text)


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=10,
    )
)
def test_canonical_text_is_one_per_value(value: object) -> None:
    text = canonical(value)
    if isinstance(value, dict):
        assert canonical(dict(reversed(value.items()))) == text
    assert canonical(json.loads(text)) == text
