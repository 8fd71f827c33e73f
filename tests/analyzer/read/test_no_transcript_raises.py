"""Whatever stands in the place of a transcript's values, nothing raises."""

from __future__ import annotations

from typing import Any

import orjson
from hypothesis import given
from hypothesis import strategies as st

from trackway_analyzer.dialects import span_reader
from trackway_analyzer.read.any_value import MAX_DEPTH
from trackway_analyzer.read.formats import DOCUMENTS, document_spans
from trackway_analyzer.read.quarantine import Quarantine
from trackway_analyzer.read.span_rows import converted
from trackway_analyzer.reconstruct import reconstruct

_KEYS = """messages role content tool_calls id function name arguments tool_call_id type call_id
output input system choices message parts text tool_use tool_result tool_use_id is_error error
traj reward task_id trial info simulations agent_info llm environment_info domain_name
reward_info termination_reason start_time end_time timestamp usage prompt_tokens cost raw_data
requestor trajectory history action observation response is_demo tool_call_ids model_stats
api_calls eval version samples epoch scores value events event completed attachments uuid model
task choices stop_reason function_call function_call_output reasoning success run_id"""
_WORDS = """user assistant tool system model function human ai c1 c2 lookup user_stop C I tool_use
tool_result function_call message attachment://c1 2025-08-01T16:20:01 {"id":1} -1 1e999 NaN"""

KEYS, WORDS = _KEYS.split(), _WORDS.split()

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.sampled_from(WORDS)
    | st.text(max_size=3)
)
JSON = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=6)
    ),
    max_leaves=20,
)


def optional(names: str) -> dict[Any, st.SearchStrategy[Any]]:
    return dict.fromkeys(names.split(), JSON)


MESSAGES = st.lists(
    st.fixed_dictionaries(
        {"role": st.sampled_from(["user", "assistant", "tool"]) | SCALARS},
        optional=optional("content tool_calls tool_call_id error timestamp usage"),
    ),
    max_size=5,
)
STEPS = st.fixed_dictionaries(
    {"action": SCALARS, "observation": JSON}, optional={"response": JSON, "tool_calls": JSON}
)
LOG_SAMPLES = st.fixed_dictionaries(
    {"messages": MESSAGES},
    optional=optional("id epoch scores events attachments error"),
)
DOCUMENT = (
    JSON
    | MESSAGES
    | st.fixed_dictionaries({"messages": MESSAGES}, optional={"system": JSON, "reward": JSON})
    | st.fixed_dictionaries({"traj": MESSAGES, "reward": JSON, "task_id": JSON, "trial": JSON})
    | st.fixed_dictionaries(
        {
            "info": JSON,
            "simulations": st.lists(
                st.fixed_dictionaries({"messages": MESSAGES, "reward_info": JSON, "id": JSON})
            ),
        }
    )
    | st.fixed_dictionaries(
        {"trajectory": st.lists(STEPS, max_size=3), "history": MESSAGES, "info": JSON}
    )
    | st.fixed_dictionaries(
        {
            "version": st.just(2),
            "eval": st.dictionaries(st.sampled_from(KEYS), JSON, max_size=3),
            "samples": st.lists(LOG_SAMPLES, max_size=3),
        }
    )
)
READ = span_reader()


@given(DOCUMENT)
def test_no_document_raises_and_its_runs_reconstruct(document: Any) -> None:
    try:
        found = orjson.loads(orjson.dumps(document))
    except (TypeError, orjson.JSONEncodeError):
        return
    quarantine = Quarantine("file.json")
    spans = document_spans(found, None, quarantine, 0)
    if spans is not None:
        batch = reconstruct(converted(list(spans), READ))
        batch.validate()
        assert all(run.run["start"] is None or run.run["start"].year < 2263 for run in batch)


@given(DOCUMENT, st.sampled_from(DOCUMENTS))
def test_no_format_that_is_forced_raises(document: Any, known: Any) -> None:
    try:
        found = orjson.loads(orjson.dumps(document))
    except (TypeError, orjson.JSONEncodeError):
        return
    spans = document_spans(found, known.format, Quarantine("file.json"), 0)
    if spans is not None:
        converted(list(spans), READ)


def test_depth_is_bounded_everywhere() -> None:
    deep: Any = "x"
    for _ in range(MAX_DEPTH + 1):
        deep = [deep]
    chat = [{"role": "assistant", "content": deep}]
    for document in (
        {"messages": chat},
        [{"traj": chat, "reward": 1, "task_id": 1}],
        {"simulations": [{"messages": chat, "task_id": 1}]},
        {"trajectory": [{"action": "a", "observation": deep}]},
        {"version": 2, "eval": {}, "samples": [{"messages": chat}]},
    ):
        quarantine = Quarantine("file.json")
        assert list(document_spans(document, None, quarantine, 0) or ()) == []
        assert [entry.reason for entry in quarantine.take()] == ["too_deep"]
