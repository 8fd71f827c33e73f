"""Whatever an export, a trajectory or a session holds: no traceback, and spans or a reason."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import trackway_analyzer as ta
from analyzer.read.test_atif import ASKED, trajectory
from analyzer.read.test_coding_sessions import CODEX, Lines, use, words
from analyzer.read.test_exports import EXPORTS, OBSERVATIONS

JUNK = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(2**70), 2**70),
        st.floats(),
        st.text(max_size=5),
        st.sampled_from(
            ["", "0", "2026-11-29T10:00:00Z", "2026-99-99T99:99:99Z", "[", "{}", "1e999"]
        ),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(["type", "id", "attributes", "name"]), inner, max_size=3),
    ),
    max_leaves=4,
)


def claude() -> list[Any]:
    lines = Lines()
    lines.user("Go")
    lines.assistant("m1", words("I look."), use("c1", "Task", prompt="Look"))
    lines.user("Look", isSidechain=True, uuid="s1", parentUuid=None)
    lines.assistant("m2", use("c2", "Grep"), isSidechain=True, uuid="s2", parentUuid="s1")
    lines.result("c1", [{"type": "text", "text": "ok"}], toolUseResult={"agentId": "a"})
    lines.add("system", subtype="api_error", error={"type": "x"})
    return lines.lines


def lines_of(name: str, most: int) -> list[Any]:
    return [json.loads(line) for line in (EXPORTS / name).read_text().splitlines()[:most]]


def sub_agents() -> Any:
    reference = [{"trajectory_id": "inner"}]
    results = [{"source_call_id": "a", "content": "x", "subagent_trajectory_ref": reference}]
    step = {**ASKED, "metrics": {"prompt_tokens": 1}, "observation": {"results": results}}
    copied = {**step, "is_copied_context": True}
    inner = trajectory(step, trajectory_id="inner")
    return trajectory(copied, step, subagent_trajectories=[inner], extra={"trackway": {"run": {}}})


DOCUMENTS: dict[str, list[Any]] = {
    "phoenix": [{"data": json.loads((EXPORTS / "phoenix_spans.json").read_text())["data"][3:6]}],
    "phoenix otlp": [
        {"data": json.loads((EXPORTS / "phoenix_otlp.json").read_text())["data"][3:5]}
    ],
    "phoenix rows": lines_of("phoenix_frame.jsonl", 2),
    "mlflow": [json.loads((EXPORTS / "mlflow_trace.json").read_text())],
    "langfuse": [{"trace": {"sessionId": "s"}, "observations": OBSERVATIONS}],
    "clickhouse": lines_of("clickhouse_traces.ndjson", 2),
    "atif": [sub_agents()],
    "claude-code": claude(),
    "codex": CODEX,
}


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a document."""
    yield path
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(inner, (*path, key))


def put(value: Any, path: tuple[Any, ...], junk: Any) -> Any:
    if not path:
        return junk
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = put(value[path[0]], path[1:], junk)
    return copy


@pytest.mark.parametrize("kind", DOCUMENTS)
@settings(max_examples=25)
@given(data=st.data())
def test_no_mutation_raises(kind: str, data: st.DataObject) -> None:
    mutated: Any = DOCUMENTS[kind]
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from([path for path in places(mutated) if path]))
        mutated = put(mutated, path, data.draw(JUNK))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "mutated.jsonl"
        path.write_text("".join(json.dumps(item) + "\n" for item in mutated))
        trajectories = ta.load(path)
        trajectories.batch.validate()
        lost = len(trajectories.quarantined)
        assert len(trajectories.span_table) or lost or not isinstance(mutated[0], dict)
        trajectories.to_atif(Path(folder) / "again.jsonl")
