"""What SDKs cut or dropped of messages may have held calls: no evidence that none was made."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import trackway_analyzer as ta
from trackway_analyzer.dialects.cut_messages import Cut, cut_of
from trackway_analyzer.dialects.messages import canonical_messages, written_messages
from trackway_analyzer.json_text import parsed

HERE = Path(__file__).parents[2] / "data" / "frameworks"
CORPUS = Path(os.environ.get("TRACKWAY_CORPUS") or ".") / "recorded" / "frameworks"
RECORDED = sorted([*HERE.glob("*/*.json"), *CORPUS.glob("*/happy.json")])
RULES = ("forbid: [refund_create]", "forbid: [lookup_order]")
CHAT = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}
TEXT = {"type": "text", "content": "I look."}
CALL = {"type": "tool_call", "id": "c1", "name": "delete_account", "arguments": {"of": ["A", "B"]}}
ANSWER = {"type": "tool_call_response", "id": "c1", "response": "gone"}
OUTPUT = json.dumps([{"role": "assistant", "parts": [TEXT, CALL]}])
SAID = json.dumps([{"role": "assistant", "parts": [{"type": "text", "content": "Done."}]}])
ASKED = {"role": "user", "parts": [{"type": "text", "content": "Help."}]}
HISTORY = json.dumps(
    [ASKED, {"role": "assistant", "parts": [CALL]}, {"role": "tool", "parts": [ANSWER]}]
)
ABSENT = ("forbid: [delete_account]", "allow: [lookup]", "count: {tool: delete_account, max: 0}")
CLAIM = "claim: {says: 'deleted', needs: delete_account}"


def span(number: int, /, name: Any = "chat", parent: Any = None, **more: Any) -> Any:
    start = 1_700_000_000_000_000_000 + number * 1_000_000
    made = {
        "traceId": "a" * 32,
        "spanId": f"{number:016x}",
        "name": name,
        "startTimeUnixNano": str(start),
        "endTimeUnixNano": str(start + 500_000),
        "droppedAttributesCount": more.pop("dropped", 0),
        "attributes": [{"key": key, "value": _value(value)} for key, value in more.items()],
    }
    return made if parent is None else made | {"parentSpanId": f"{parent:016x}"}


def _value(value: Any) -> dict[str, Any]:
    if isinstance(value, list):
        return {"arrayValue": {"values": [_value(item) for item in value]}}
    return {"stringValue": value}


def runs(*spans: Any, scope: str = "my.client") -> ta.Trajectories:
    scopes = [{"scope": {"name": scope}, "spans": list(spans)}]
    return ta.load({"resourceSpans": [{"scopeSpans": scopes}]})


def model(number: int, /, **more: Any) -> Any:
    return span(number, **CHAT, **more)


def output(text: str) -> dict[str, str]:
    return {"gen_ai.output.messages": text}


def told(text: str) -> dict[str, str]:
    return {"gen_ai.input.messages": text}


def verdicts(found: ta.Trajectories, folder: Path, *rules: str) -> list[str]:
    path = folder / "policy.yaml"
    said = []
    for rule in rules:
        path.write_text(f"version: 1\nrules:\n  - {rule}\n")
        said.append(str(found.check(ta.Policy.from_yaml(path)).verdict))
    return said


def unseen(found: ta.Trajectories) -> list[str | None]:
    (run,) = found
    return [gap.detail for gap in run.gaps if gap.name == "tools_not_observable"]


@pytest.mark.parametrize("length", range(40, OUTPUT.index("}}"), 7))
def test_a_cut_output_decides_nothing_that_rests_on_absence(length: int, tmp_path: Path) -> None:
    found = runs(model(1, **output(OUTPUT[:length])))
    assert set(verdicts(found, tmp_path, *ABSENT, CLAIM)) == {"insufficient"}
    (run,) = found
    assert run.final_text is not None
    assert run.final_text.endswith("…[truncated]")
    assert '"role"' not in run.final_text


def test_of_cut_messages_the_whole_parts_are_read() -> None:
    (run,) = runs(model(1, **output(OUTPUT[: OUTPUT.index('"arguments"')])))
    assert run.final_text == "I look.\n…[truncated]"
    assert run.steps[0].truncated == ("output",)
    behind = OUTPUT[: OUTPUT.index("}]}]") + 1]
    (run,) = runs(model(1, **output(behind)))
    assert [step.tool for step in run.steps] == [None, "delete_account"]
    assert run.steps[1].arguments == {"of": ["A", "B"]}


def test_what_was_seen_before_the_cut_stands(tmp_path: Path) -> None:
    both = json.dumps([{"role": "assistant", "parts": [CALL, TEXT, TEXT]}])
    found = runs(model(1, **output(both[:-20])))
    assert verdicts(found, tmp_path, "forbid: [lookup]") == ["insufficient"]
    assert verdicts(found, tmp_path, "claim: {says: 'deleted', needs: delete_account}") == [
        "insufficient"
    ]


@pytest.mark.parametrize("length", [60, 120, len(HISTORY) - 1])
@pytest.mark.parametrize("system", [{}, {"gen_ai.system_instructions": '[{"type":"text"}]'}])
def test_a_cut_input_may_hold_a_call_of_the_history(
    length: int, system: dict[str, str], tmp_path: Path
) -> None:
    found = runs(model(1, **system, **told(HISTORY[:length]), **output(SAID)))
    assert "pass" not in verdicts(found, tmp_path, *ABSENT)


def test_a_later_input_that_is_whole_repeats_what_was_cut(tmp_path: Path) -> None:
    again = json.dumps([ASKED, *json.loads(SAID), ASKED])
    found = runs(model(1, **output(OUTPUT[:75])), model(2, **told(again), **output(SAID)))
    assert unseen(found) == []
    assert verdicts(found, tmp_path, ABSENT[0]) == ["pass"]


TITLE = json.dumps([{"role": "user", "parts": [{"type": "text", "content": "Write a title."}]}])


UNSHOWN: dict[str, Any] = {**output(SAID), "gen_ai.response.finish_reasons": ["tool_calls"]}


@pytest.mark.parametrize(
    ("heard", "lost"),
    [
        (told(json.dumps([ASKED])), output(OUTPUT[:75])),
        (told(json.dumps([ASKED])), UNSHOWN),
        (told(json.dumps([ASKED])), {}),
        ({}, output(OUTPUT[:75])),
        ({}, UNSHOWN),
    ],
)
def test_a_later_input_of_another_dialogue_repeats_nothing(
    heard: dict[str, str], lost: dict[str, Any], tmp_path: Path
) -> None:
    title = model(3, **told(TITLE), **output(SAID))
    found = runs(model(1, **heard, **lost), title)
    assert len(unseen(found)) == 1
    assert verdicts(found, tmp_path, ABSENT[0]) == ["insufficient"]
    again = json.dumps([ASKED, *json.loads(SAID), ASKED])
    found = runs(model(1, **heard, **lost), model(2, **told(again), **output(SAID)), title)
    assert unseen(found) == []
    assert verdicts(found, tmp_path, ABSENT[0]) == ["pass"]


def test_the_same_input_again_repeats_no_answer(tmp_path: Path) -> None:
    asked = told(json.dumps([ASKED]))
    found = runs(model(1, **asked, **output(OUTPUT[:75])), model(2, **asked, **output(SAID)))
    assert verdicts(found, tmp_path, ABSENT[0]) == ["insufficient"]


def test_a_cut_input_behind_a_turn_of_another_dialogue_may_hide_calls(tmp_path: Path) -> None:
    second = json.dumps([ASKED, *json.loads(SAID), ASKED])
    found = runs(
        model(1, **told(TITLE), **output(SAID)), model(2, **told(second[:90]), **output(SAID))
    )
    assert verdicts(found, tmp_path, ABSENT[0]) == ["insufficient"]


def test_a_text_that_was_cut_is_the_same_as_far_as_it_goes(tmp_path: Path) -> None:
    long = {"role": "user", "parts": [{"type": "text", "content": "Help me now, please."}]}
    cut = json.dumps([long])[:-20]
    again = json.dumps([long, *json.loads(SAID), ASKED])
    later = model(2, **told(again), **output(SAID))
    found = runs(model(1, **told(cut), **output(OUTPUT[:75])), later)
    assert unseen(found) == []


def test_a_cut_input_behind_whole_turns_hides_nothing(tmp_path: Path) -> None:
    first, second = json.dumps([ASKED]), json.dumps([ASKED, *json.loads(SAID), ASKED])
    found = runs(
        model(1, **told(first), **output(SAID)), model(2, **told(second[:90]), **output(SAID))
    )
    assert unseen(found) == []
    assert verdicts(found, tmp_path, ABSENT[0]) == ["pass"]


def test_where_spans_show_tools_a_cut_output_hides_none(tmp_path: Path) -> None:
    tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "lookup"}
    found = runs(model(1, **output(OUTPUT[:75])), span(2, "execute_tool lookup", **tool))
    assert verdicts(found, tmp_path, ABSENT[0]) == ["pass"]
    shown = runs(
        model(1, **output(OUTPUT[:75])), scope="opentelemetry.instrumentation.openai_agents"
    )
    assert verdicts(shown, tmp_path, ABSENT[0]) == ["pass"]


def test_whether_a_cut_output_asked_for_a_call_is_not_known() -> None:
    tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "lookup"}
    whole = json.dumps([{"role": "assistant", "parts": [CALL, TEXT]}])
    spans = [span(2, "execute_tool lookup", **tool)]
    (run,) = runs(model(1, **output(whole)), *spans)
    assert {step.tool: step.requested for step in run.steps if step.tool}["lookup"] is False
    (run,) = runs(model(1, **output(whole[:-20])), *spans)
    assert {step.tool: step.requested for step in run.steps if step.tool}["lookup"] is None


VERCEL = {"ai.operationId": "ai.generateText.doGenerate", "ai.response.text": "Done."}
CALLS = json.dumps([{"toolCallId": "c1", "toolName": "lookup", "input": "{}"}] * 2)
EVENT = {"event.name": "gen_ai.choice", "message": {"role": "assistant", "content": "Done."}}
LEGACY = json.dumps({"choices": [{"message": {"role": "assistant", "content": "Done."}}] * 2})


@pytest.mark.parametrize(
    "attributes",
    [
        {**VERCEL, "ai.response.toolCalls": CALLS[:40]},
        {**VERCEL, "ai.response.toolCalls": CALLS[:80]},
        {**CHAT, "logfire.msg_template": "Chat", "events": json.dumps([EVENT, EVENT])[:-20]},
        {"mlflow.spanType": '"CHAT_MODEL"', "mlflow.spanOutputs": LEGACY[:100]},
        {"langfuse.observation.type": "generation", "langfuse.observation.output": LEGACY[:100]},
        {**CHAT, "gen_ai.completion": LEGACY[:100]},
        {
            "logfire.msg_template": "Chat Completion with {request_data[model]!r}",
            "request_data": "{}",
            "response_data": json.dumps(
                {"message": {"role": "assistant", "content": [TEXT, TEXT]}}
            )[:-30],
        },
    ],
)
def test_a_cut_output_of_any_dialect_decides_nothing(
    attributes: dict[str, str], tmp_path: Path
) -> None:
    assert verdicts(runs(span(1, **attributes)), tmp_path, ABSENT[0]) == ["insufficient"]


def cut_texts(value: Any, length: int) -> Any:
    if isinstance(value, dict):
        cut = {key: cut_texts(item, length) for key, item in value.items()}
        text = value.get("stringValue")
        return cut | {"stringValue": text[:length]} if isinstance(text, str) else cut
    return [cut_texts(item, length) for item in value] if isinstance(value, list) else value


@pytest.fixture(params=RECORDED, ids=lambda path: f"{path.parent.name}-{path.stem}")
def recorded(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """A recorded run in which the tools of `RULES` were called, as its document."""
    assert verdicts(ta.load(request.param), tmp_path, *RULES) == ["violation"] * 2
    return json.loads(request.param.read_text())


@pytest.mark.parametrize("length", [64, 100, 200])
def test_a_recorded_run_with_a_limit_on_texts_passes_nothing(
    recorded: Any, length: int, tmp_path: Path
) -> None:
    assert "pass" not in verdicts(ta.load(cut_texts(recorded, length)), tmp_path, *RULES)


def last_attributes(value: Any, count: int) -> Any:
    if isinstance(value, list):
        return [last_attributes(item, count) for item in value]
    if not isinstance(value, dict):
        return value
    found = {key: last_attributes(item, count) for key, item in value.items()}
    if "spanId" in found and len(found.get("attributes", ())) > count:
        found["droppedAttributesCount"] = len(found["attributes"]) - count
        found["attributes"] = found["attributes"][-count:]
    return found


@pytest.mark.parametrize("count", [2, 4, 8])
def test_a_recorded_run_with_a_limit_on_attributes_passes_nothing(
    recorded: Any, count: int, tmp_path: Path
) -> None:
    assert "pass" not in verdicts(ta.load(last_attributes(recorded, count)), tmp_path, *RULES)


def test_flattened_messages_of_which_some_were_dropped_decide_nothing(tmp_path: Path) -> None:
    attributes = {
        "openinference.span.kind": "LLM",
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.content": "Done.",
    }
    whole = runs(span(1, **attributes))
    dropped = runs(span(1, **attributes, dropped=20))
    assert verdicts(whole, tmp_path, ABSENT[0]) == ["pass"]
    assert verdicts(dropped, tmp_path, ABSENT[0]) == ["insufficient"]


@pytest.mark.parametrize(
    ("kind", "name", "verdict"),
    [
        ({"openinference.span.kind": "TOOL"}, "delete", "insufficient"),
        ({"openinference.span.kind": "TOOL", "tool.name": "lookup"}, "run", "pass"),
        ({"openinference.span.kind": "AGENT"}, "agent", "pass"),
        ({}, "delete", "insufficient"),
    ],
)
def test_a_span_that_lost_attributes_may_be_a_call_of_any_tool(
    kind: dict[str, str], name: str, verdict: str, tmp_path: Path
) -> None:
    tool = {"openinference.span.kind": "TOOL", "tool.name": "lookup"}
    agent = {"openinference.span.kind": "AGENT"}
    spans = [
        span(1, "agent", **agent),
        span(2, "x", 1, **tool),
        span(3, name, 1, **kind, dropped=3),
    ]
    assert verdicts(runs(*spans), tmp_path, ABSENT[0]) == [verdict]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["parts", "a", ""]), inner),
)


@given(st.lists(JSON, min_size=1), st.data())
def test_every_beginning_of_a_json_list_is_known_as_one(value: list[Any], data: Any) -> None:
    text = json.dumps(value, ensure_ascii=data.draw(st.booleans()))
    beginning = text[: data.draw(st.integers(0, len(text) - 1))]
    cut = cut_of(beginning)
    if cut is None:
        assert beginning.lstrip()[:2] not in ('["', "[[", "[{")
    else:
        assert cut.value is None or not isinstance(cut.value, str)


@pytest.mark.parametrize(
    "text",
    ["[1] see", "{name}, hello", "[INFO] up", '["a" b', '{"a":1} and', "[[x", '{"a" "b"', '["a"]]'],
)
def test_a_text_that_only_begins_like_json_is_a_text(text: str) -> None:
    assert cut_of(text) is None
    assert parsed(text) == text
    assert written_messages(text, "assistant").cut is False
    assert canonical_messages(text, "assistant") == [
        {"role": "assistant", "parts": [{"type": "text", "content": text}]}
    ]


def test_a_part_in_which_the_cut_falls_is_left_out() -> None:
    arguments = {"type": "tool_call", "id": "c", "name": "f", "arguments": {"parts": [1, [2]]}}
    text = json.dumps([{"role": "assistant", "parts": [TEXT, arguments]}])
    assert cut_of(text[: text.index("[2]")]) == Cut([{"role": "assistant", "parts": [TEXT]}])


def flat(side: str, *places: int, role: str = "user") -> dict[str, str]:
    named = {f"llm.{side}_messages.{place}.message." for place in places}
    return {key + what: role for key in named for what in ("role", "content")}


OI = {"openinference.span.kind": "LLM"}
ANSWERED = flat("output", 0, role="assistant")
CALLED = "llm.output_messages.0.message.tool_calls.{}.tool_call.function.name"
TRACELOOP = {
    **{f"gen_ai.prompt.{n}.{key}": "user" for n in (2, 3) for key in ("role", "content")},
    **{f"gen_ai.completion.0.{key}": "assistant" for key in ("role", "content")},
}
HOLES: dict[str, dict[str, Any]] = {
    "before all": OI | flat("input", 7) | ANSWERED,
    "between": OI | flat("input", 0, 3, 4) | ANSWERED,
    "among ten": OI | flat("input", *range(6), *range(7, 12)) | ANSWERED,
    "in the output": OI | flat("input", 0) | flat("output", 1, role="assistant"),
    "in openllmetry": CHAT | TRACELOOP,
}


@pytest.mark.parametrize("name", HOLES)
def test_messages_that_are_missing_among_others_may_have_held_calls(
    name: str, tmp_path: Path
) -> None:
    found = runs(span(1, **HOLES[name]))
    assert unseen(found) == ["messages of a model were cut, and no span would show a call in them"]
    assert verdicts(found, tmp_path, ABSENT[0]) == ["insufficient"]


def test_the_place_of_instructions_may_be_free(tmp_path: Path) -> None:
    found = runs(span(1, **OI | flat("input", 1, 2) | ANSWERED))
    assert unseen(found) == []
    assert verdicts(found, tmp_path, ABSENT[0]) == ["pass"]


def test_a_call_that_is_missing_among_others_may_be_any() -> None:
    calls = {CALLED.format(place): "lookup" for place in (0, 2)}
    (run,) = runs(span(1, **OI | flat("input", 0) | ANSWERED | calls))
    assert "truncated_value" in {gap.name for gap in run.gaps}


def test_messages_in_any_order_of_their_keys_are_whole(tmp_path: Path) -> None:
    keys = sorted(flat("input", *range(12)).items(), reverse=True)
    found = runs(span(1, **OI | dict(keys) | ANSWERED))
    assert unseen(found) == []
    assert verdicts(found, tmp_path, ABSENT[0]) == ["pass"]


def choice(**more: Any) -> dict[str, Any]:
    told = {"message": json.dumps({"role": "assistant", "content": "Done."}), "index": "0"}
    events = [("gen_ai.user.message", {"content": "Help."}), ("gen_ai.choice", told)]
    return {
        **model(1, **more),
        "events": [
            {
                "name": name,
                "timeUnixNano": "1700000000000000000",
                "attributes": [{"key": key, "value": _value(value)} for key, value in of.items()],
            }
            for name, of in events
        ],
    }


def test_events_that_were_dropped_may_have_held_a_call(tmp_path: Path) -> None:
    found = runs(choice() | {"droppedEventsCount": 12})
    assert unseen(found) == ["events were dropped, and with them a call may be lost"]
    assert verdicts(found, tmp_path, ABSENT[0]) == ["insufficient"]
    assert verdicts(runs(choice()), tmp_path, ABSENT[0]) == ["pass"]
    # Tokens of a stream, say: the messages stand among the attributes, all of them.
    found = runs(model(1, **output(SAID)) | {"droppedEventsCount": 12})
    assert verdicts(found, tmp_path, ABSENT[0]) == ["pass"]
