"""A check of files finds what a check in memory finds: the same rows, the same sentences."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tests.analyzer.engine.odd_populations import (
    TWISTS,
    alike,
    one_each,
    population,
    write,
)

from trackway_analyzer.batch import RunBatch
from trackway_analyzer.check import CheckReport, check
from trackway_analyzer.check_files import check_files
from trackway_analyzer.engine.local import LocalEngine
from trackway_analyzer.engine.native_files import NativeFiles
from trackway_analyzer.engine.store import store_of
from trackway_analyzer.engine.twins import digested
from trackway_analyzer.load import load
from trackway_analyzer.reconstruct import reconstruct
from trackway_analyzer.rules.policy import Policy
from trackway_analyzer.tables import SPAN_SCHEMA

TOOLS = """
version: 1
tools:
  lookup_order: {kind: lookup, entity: {type: order, result: $.id}}
  refund_api.create:
    kind: mutate
    entity: {type: order, argument: order_id}
    success: $.status == "succeeded"
rules:
"""
POLICIES = {
    "the policy of a refund agent": TOOLS
    + """
  - sequence: [lookup_order, check_policy, refund_api.create, send_email]
  - before: [check_policy, refund_api.create]
  - grounded: {tool: refund_api.create, argument: order_id, from: order}
  - forbid: [delete_account]
  - budget: {steps: 5, tokens: 20000, cost_usd: 0.05, seconds: 60}
  - claim: {says: 'refund.*processed', needs: refund_api.create}
""",
    "nothing declared": """
version: 1
rules:
  - sequence: [lookup_order, refund_api.create]
  - grounded: {tool: refund_api.create, argument: order_id, from: lookup_order.id}
  - called: search
  - responds: [lookup_order, send_email]
  - budget: {retries: 0, tool_calls: 4}
""",
    "extras": TOOLS
    + """
  - sequence: {steps: [lookup_order, refund_api.create], extra: allow}
  - sequence: {steps: [lookup_order, refund_api.create, send_email], extra: forbid}
  - allowed: [lookup_order, check_policy, refund_api.create, send_email]
  - budget: {tokens: 1000, model_calls: 1}
  - recovered: refund_api.create
  - recovered: {tool: refund_api.create, by: [send_email]}
  - recovered:
""",
    "counts": TOOLS
    + """
  - count: {tool: refund_api.create, max: 1, per: order_id}
  - count: {tool: lookup_order, min: 1, max: 2}
  - count: {tool: refund_api.create, exactly: 1, effects: true}
  - count: {tool: send_email, max: 0, per: to, effects: true}
""",
    "more than looks can tell": TOOLS
    + """
  - no_secrets: {}
  - count: {tool: refund_api.create, max: 1}
""",
}
AIRLINE = """
version: 1
rules:
  - before: [get_user_details, book_reservation]
  - grounded:
      tool: get_reservation_details
      argument: reservation_id
      from: get_user_details.reservations[0]
  - budget: {tool_calls: 10}
  - claim: {says: 'has been cancelled', needs: cancel_reservation}
"""
RECORDED = Path(__file__).parents[2] / "data" / "frameworks"
REFUNDS = Policy.from_yaml(POLICIES["the policy of a refund agent"])


def files_of(spans: pa.Table, folder: Path, *, files: int = 1) -> NativeFiles:
    write(spans, folder, files=files)
    found = NativeFiles.of(sorted(folder.glob("*.parquet")))
    assert found is not None
    return found


def told(report: CheckReport) -> list[Any]:
    """Every finding with its task; what the sentence of one raises, where it does."""
    said: list[Any] = []
    found = report.told()
    try:
        said.extend(found)
    except AssertionError as error:
        said.append(str(error))
    return said


def assert_same(spans: pa.Table, policy: Policy, *, files: int = 1) -> None:
    """Compare everything that a report says."""
    batch = reconstruct(spans)
    expected = check(batch, policy)
    with tempfile.TemporaryDirectory() as folder:
        found = files_of(spans, Path(folder), files=files)
        report = check_files(found, policy, everything=lambda: batch, threads=1)
        assert report.table.to_pylist() == expected.table.to_pylist()
        assert len(report.checked) == len(expected.checked)
        assert report.counts == expected.counts
        assert report.verdict is expected.verdict
        assert told(report) == told(expected)
        assert report.checked.notes(policy) == expected.checked.notes(policy)


@pytest.mark.parametrize("policy", sorted(POLICIES))
def test_each_strange_thing_is_judged_as_in_memory(policy: str) -> None:
    assert_same(one_each(2, seed=0), Policy.from_yaml(POLICIES[policy]))


@pytest.mark.parametrize("policy", sorted(POLICIES)[1:])
def test_many_runs_that_are_nearly_alike_are_judged_as_in_memory(policy: str) -> None:
    assert_same(population(300, [], 0, 3), Policy.from_yaml(POLICIES[policy]), files=2)


@given(
    twists=st.lists(st.sampled_from(sorted(TWISTS)), max_size=6),
    share=st.sampled_from([0.05, 0.3, 0.8]),
    seed=st.integers(0, 2**32),
    policy=st.sampled_from(sorted(POLICIES)),
    files=st.integers(1, 3),
)
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_strange_things_together_are_judged_as_in_memory(
    twists: list[str], share: float, seed: int, policy: str, files: int
) -> None:
    spans = population(25, twists, share, seed)
    assert_same(spans, Policy.from_yaml(POLICIES[policy]), files=files)


THINGS = """
recovered: {tool: refund_api.create}
recovered: {tool: refund_api.create, by: [cancel_order]}
recovered:
count: {tool: refund_api.create, max: 1, per: order_id}
count: {tool: refund_api.create, exactly: 1}
count: {tool: lookup_order, max: 1, per: order_id, effects: true}
grounded: {tool: refund_api.create, argument: order_id, from: order}
grounded: {tool: cancel_order, argument: order_id, from: lookup_order.id}
sequence: [lookup_order, refund_api.create]
sequence: {steps: [{tool: cancel_order, entity_arg: order_id}], extra: forbid}
partial_order: [[lookup_order, refund_api.create], [refund_api.create, send_email]]
between: {tool: refund_api.create, start: lookup_order, end: send_email, required: true}
allowed: [lookup_order, refund_api.create]
budget: {steps: 2, seconds: 0.03}
claim: {says: refund, needs: refund_api.create}
""".strip().splitlines()


@given(
    steps=st.lists(
        st.sampled_from(["lookup_order", "refund_api.create", "cancel_order", "send_email"]),
        min_size=2,
        max_size=4,
    ),
    seed=st.integers(0, 2**32),
    rule=st.sampled_from(THINGS),
)
@example(["lookup_order", "refund_api.create", "refund_api.create"], 1, THINGS[0])
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_runs_that_are_alike_are_told_of_with_their_own_values(
    steps: list[str], seed: int, rule: str
) -> None:
    assert_same(alike(40, steps, seed), Policy.from_yaml(f"{TOOLS}  - {rule}\n"))


def test_a_run_of_which_a_library_was_cut_off_is_not_taken_for_one_like_it() -> None:
    rows = population(40, [], 0, 3).to_pylist()
    for row in rows:
        if row["operation"] == "workflow" and row["run_id"][-1] in "02468":
            row["attributes"] = (
                f'{row["attributes"][:-1]},"trackway.instrumentation.lost":["mcp"]}}'
            )
    spans = pa.Table.from_pylist(rows, schema=SPAN_SCHEMA)
    policy = Policy.from_yaml("version: 1\nrules:\n  - called: delete_account\n")
    states = set(check(reconstruct(spans), policy).table["state"].to_pylist())
    assert {"violated", "insufficient"} <= states
    assert_same(spans, policy)


@pytest.mark.parametrize(
    ("of", "said"),
    [
        ("workflow", '"trackway.handed_over":"c0ffee:1"'),
        ("workflow", '"trackway.step.clock":"c0ffee:0"'),
        ("tool", '"trackway.step.clock":"c0ffee:0"'),
        ("llm", '"trackway.step.clock":"c0ffee:0"'),
    ],
)
def test_a_run_of_which_a_part_was_elsewhere_is_not_taken_for_one_like_it(
    of: str, said: str
) -> None:
    rows = population(40, [], 0, 3).to_pylist()
    for row in rows:
        if row["operation"] == of and row["run_id"][-1] in "02468":
            before = (row["attributes"] or "{}")[:-1]
            row["attributes"] = f"{before}{',' if len(before) > 1 else ''}{said}}}"
    spans = pa.Table.from_pylist(rows, schema=SPAN_SCHEMA)
    policy = Policy.from_yaml("version: 1\nrules:\n  - called: delete_account\n")
    states = set(check(reconstruct(spans), policy).table["state"].to_pylist())
    assert {"violated", "insufficient"} <= states
    assert_same(spans, policy)


def test_a_call_whose_outcome_nobody_could_judge_is_not_taken_for_one_like_it() -> None:
    rows = population(40, [], 0, 3).to_pylist()
    for row in rows:
        if row["tool"] == "send_email" and row["run_id"][-1] in "02468":
            row["attributes"] = '{"trackway.capture_error":"success: KeyError"}'
    spans = pa.Table.from_pylist(rows, schema=SPAN_SCHEMA)
    policy = Policy.from_yaml("version: 1\nrules:\n  - called: send_email\n")
    states = set(check(reconstruct(spans), policy).table["state"].to_pylist())
    assert {"violated", "insufficient"} <= states
    assert_same(spans, policy)


def assert_some_claim_falsely(rows: list[dict[str, Any]]) -> None:
    spans = pa.Table.from_pylist(rows, schema=SPAN_SCHEMA)
    policy = Policy.from_yaml(
        "version: 1\nrules:\n  - claim: {says: account was closed, needs: delete_account}\n"
    )
    found = check(reconstruct(spans), policy).table
    assert 0 < found["state"].to_pylist().count("violated") < 40
    assert_same(spans, policy)


def test_what_was_said_after_the_end_of_a_run_is_found() -> None:
    rows = population(40, [], 0, 3).to_pylist()
    for run in [row for row in rows if row["operation"] == "workflow"]:
        if run["run_id"][-1] in "02468":
            said = dict.fromkeys(run) | {
                name: run[name] for name in ("run_id", "trace_id", "source", "resource", "scope")
            }
            said |= {"span_id": f"{run['span_id'][:-4]}cafe", "parent_span_id": run["span_id"]}
            said |= {"name": "final", "start": run["end"], "end": run["end"]}
            said |= {"output": "Your account was closed."}
            rows.append(said | {"attributes": '{"trackway.after_end":true}'})
    assert_some_claim_falsely(rows)


def test_what_a_stream_claims_in_pieces_is_found() -> None:
    rows = population(40, [], 0, 3).to_pylist()
    for row in rows:
        if row["operation"] == "workflow" and row["run_id"][-1] in "02468":
            row["output"] = '[{"d":"Your account was "},{"d":"closed."}]'
            row["attributes"] = f'{row["attributes"][:-1]},"trackway.stream.chunks":2}}'
    assert_some_claim_falsely(rows)


def test_an_answer_that_nobody_can_read_is_not_taken_for_one_that_claims_nothing() -> None:
    rows = population(40, [], 0, 3).to_pylist()
    unread = (
        '"<app.Reply>"',
        "All is well …[truncated 9 chars]",
        "Done. [redacted:email]",
        "Well.",
    )
    for row in rows:
        if row["operation"] == "workflow":
            row["output"] = unread[int(row["run_id"], 16) % 4]
    spans = pa.Table.from_pylist(rows, schema=SPAN_SCHEMA)
    policy = Policy.from_yaml(
        "version: 1\nrules:\n  - claim: {says: account was closed, needs: delete_account}\n"
    )
    found = check(reconstruct(spans), policy).table
    assert len({row["detail"] for row in found.to_pylist()}) == 3
    assert set(found["state"].to_pylist()) == {"insufficient"}
    assert len(found) < 40
    assert_same(spans, policy)


def test_an_empty_run_that_was_watched_is_not_taken_for_one_that_was_not() -> None:
    rows = population(40, [], 0, 3).to_pylist()
    roots = [row for row in rows if row["operation"] == "workflow"]
    for row in roots:
        row["output"] = None
        on = ',"trackway.instrumentation.on":["openai"]' if row["run_id"][-1] in "02468" else ""
        row["attributes"] = f'{{"trackway.schema.version":"1"{on}}}'
    spans = pa.Table.from_pylist(roots, schema=SPAN_SCHEMA)
    policy = Policy.from_yaml("version: 1\nrules:\n  - forbid: [delete_account]\n")
    found = check(reconstruct(spans), policy).table
    assert set(found["state"].to_pylist()) == {"insufficient"}
    assert 0 < len(found) < len(roots)
    assert_same(spans, policy)


def test_plain_runs_are_told_apart_by_few_groups(tmp_path: Path) -> None:
    """Otherwise nothing is gained: that all are judged alone would be right, and slow."""
    looks = REFUNDS.looks()
    assert looks is not None
    files = files_of(population(400, [], 0, 1), tmp_path)
    with store_of(files, threads=1) as store:
        found = [digested(rows, looks) for rows in store.digests(looks)]
    plain = sum(int(runs.plain.sum()) for runs in found)
    groups = {word for runs in found for word in runs.group[0][runs.plain].tolist()}
    assert plain > 250
    assert len(groups) < plain / 2


def test_files_that_say_that_they_are_sorted_are_not_believed(tmp_path: Path) -> None:
    spans = population(60, [], 0, 5)
    batch = reconstruct(spans)
    shuffled = files_of(spans, tmp_path, files=2)
    found = NativeFiles(
        shuffled.paths,
        shuffled.rows,
        True,
        shuffled.columns,
        shuffled.empty,
        shuffled.constant,
    )
    report = check_files(found, REFUNDS, everything=lambda: batch, threads=1)
    assert report.table.to_pylist() == check(batch, REFUNDS).table.to_pylist()


def test_files_of_somebody_else_are_not_ours(tmp_path: Path) -> None:
    spans = population(3, [], 0, 1)
    place = spans.schema.get_field_index("source")
    foreign = spans.set_column(
        place,
        spans.schema.field("source"),
        pa.nulls(len(spans)).cast(spans.schema.field("source").type),
    )
    write(foreign, tmp_path)
    assert NativeFiles.of([tmp_path / "0.parquet"]) is None
    assert NativeFiles.of([Path(__file__)]) is None
    assert NativeFiles.of([]) is None


def test_large_files_are_checked_where_they_lie(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trackway_analyzer.trajectories._LARGE", 1_000)
    one = population(300, [], 0, 3)
    write(one, tmp_path)
    runs = load(tmp_path)
    assert runs.large_files is not None
    report = runs.check(REFUNDS)
    assert repr(runs).endswith("not read yet)")
    expected = check(load(one).batch, REFUNDS)
    assert report.table.to_pylist() == expected.table.to_pylist()
    assert [f.sentence for f in report.explained()] == [f.sentence for f in expected.explained()]


def test_small_files_and_chosen_runs_are_checked_in_memory(tmp_path: Path) -> None:
    write(population(20, [], 0, 3), tmp_path)
    assert load(tmp_path).large_files is None
    assert load(tmp_path).filter(task="task-1").large_files is None


def test_a_function_of_runs_gets_each_run_once_and_whole(tmp_path: Path) -> None:
    spans = population(60, ["two traces", "nested"], 0.3, 4)
    files = files_of(spans, tmp_path, files=3)
    parts = list(LocalEngine().map(files, lambda batch: batch))
    found = sorted(RunBatch.concat(parts).runs.to_pylist(), key=lambda run: run["run_id"])
    expected = sorted(reconstruct(spans).runs.to_pylist(), key=lambda run: run["run_id"])
    assert found == expected


def test_by_session_the_runs_of_one_conversation_come_together(tmp_path: Path) -> None:
    spans = population(20, [], 0, 4)
    sessions = pa.array([f"s-{int(run, 16) % 5}" for run in spans.column("run_id").to_pylist()])
    place = spans.schema.get_field_index("session_id")
    spans = spans.set_column(place, spans.schema.field("session_id"), sessions)
    files = files_of(spans, tmp_path)
    parts = LocalEngine().map(files, lambda batch: len(batch), by="session")
    assert sum(parts) == len(reconstruct(spans, by="session")) == 5


def as_ours(spans: pa.Table) -> pa.Table:
    """Spans of any instrumentor as if the recorder had written them: its name, and run ids."""
    runs = pc.coalesce(spans.column("run_id"), spans.column("trace_id"))
    ours = pa.repeat(pa.scalar("trackway"), len(spans)).dictionary_encode()
    for name, values in (("run_id", runs), ("source", ours)):
        place = spans.schema.get_field_index(name)
        field = spans.schema.field(name)
        spans = spans.set_column(place, field, values.cast(field.type))
    return spans


@pytest.mark.parametrize("policy", sorted(POLICIES))
def test_recorded_traces_are_judged_as_in_memory(policy: str) -> None:
    assert_same(as_ours(load(RECORDED).span_table), Policy.from_yaml(POLICIES[policy]))


@pytest.mark.corpus
@pytest.mark.skipif(
    "TRACKWAY_CORPUS" not in os.environ, reason="TRACKWAY_CORPUS names no folder of traces"
)
def test_the_replays_of_a_benchmark_are_judged_as_in_memory() -> None:
    folder = Path(os.environ["TRACKWAY_CORPUS"]) / "public" / "replay-taubench-6-dialects"
    spans = as_ours(load(folder / "otel-genai").span_table)
    assert_same(spans, Policy.from_yaml(AIRLINE), files=2)


@pytest.mark.parametrize(
    "result",
    [
        '"<app.Reply>"',
        '"…"',
        '{"length":9,"sha256":"' + "f" * 64 + '","type":"bytes"}',
        '{"amount":1,"…":"[truncated 3 keys]"}',
        '"FAILED"',
        '"status: refused"',
        '{"success":"false"}',
        '{"status":"unsuccessful"}',
        '"The user doesn\'t want to proceed with this tool use."',
        '"Permission to use send_email has been denied."',
        '{"is_error":true}',
        '{"errors":["declined"]}',
        '{"success":0}',
        '{"state":"FAILED"}',
        '{"Status":"Failed"}',
        '{"Status":"in_progress"}',
        '{"status":"timeout"}',
        '{"status":"card_declined"}',
        '{"status_code":502}',
        '{"FAILED":true,"status":"sent"}',
        '"Delivery failed"',
        '"Tool execution failed: no route"',
        '"[ERROR] no route"',
        '"Timed out"',
        '"Unable to send"',
        '"Couldn’t send"',
        '{"message":"The mail could not be sent"}',
        '{"error_message":"no route"}',
        '{"code":"503"}',
        '{"exit_code":2}',
        '{"sent":false}',
        '{"data":{"status":"failed"}}',
        '{"content":[{"text":"Error: no route","type":"text"}]}',
        '[{"status":"pending"}]',
        '"Sorry, that address was not found"',
        '{"results":[{"success":false}]}',
        '{"mail":{"hasError":true}}',
        '{"accepted":[],"rejected":["x"]}',
        '{"sent":0}',
        '{"rows_affected":0}',
        '{"dry_run":true,"status":"ok"}',
        '{"status":"throttled"}',
        '{"status":"gone fishing"}',
        '"false"',
        '"User cancelled the action"',
        '"Rate limit exceeded"',
    ],
)
def test_a_result_that_may_not_be_a_success_is_not_taken_for_one(result: str) -> None:
    rows = population(60, [], 0, 3).to_pylist()
    results = ['"sent"', '{"id":1}', result, '{"id":2,"success":true}']
    for row in rows:
        if row["tool"] == "send_email":
            row["result"] = results[int(row["run_id"], 16) % 4]
    spans = pa.Table.from_pylist(rows, schema=SPAN_SCHEMA)
    assert_same(spans, Policy.from_yaml("version: 1\nrules:\n  - called: send_email\n"))


@pytest.mark.parametrize("word", ["cancelled", "gone fishing"])
def test_a_status_that_the_arguments_asked_for_is_not_taken_for_another(word: str) -> None:
    rows = population(60, [], 0, 3).to_pylist()
    for row in rows:
        if row["tool"] == "send_email":
            row["result"] = f'{{"status":"{word}"}}'
            if int(row["run_id"], 16) % 2:
                row["arguments"] = f'{{"status":"{word}"}}'
    spans = pa.Table.from_pylist(rows, schema=SPAN_SCHEMA)
    policy = "version: 1\ntools: {send_email: {kind: notify}}\nrules:\n  - called: send_email\n"
    assert_same(spans, Policy.from_yaml(policy))


@pytest.mark.parametrize("answer", ['{"valid":false}', '{"found":false,"id":"A1"}', '"Not found"'])
def test_an_answer_that_says_no_is_not_taken_for_another(answer: str) -> None:
    rows = population(60, [], 0, 3).to_pylist()
    for row in rows:
        if row["tool"] == "lookup_order" and int(row["run_id"], 16) % 2:
            row["result"] = answer
    spans = pa.Table.from_pylist(rows, schema=SPAN_SCHEMA)
    policy = "version: 1\nrules:\n  - before: [lookup_order, send_email]\n"
    assert_same(spans, Policy.from_yaml(policy))


@pytest.mark.parametrize("name", ["send_email", "mcp__post__send_email", "mail", "send_*"])
def test_tools_that_a_rule_names_otherwise_are_judged_as_in_memory(name: str) -> None:
    rows = population(60, [], 0, 3).to_pylist()
    for row in rows:
        if row["tool"] == "send_email":
            odd = int(row["run_id"], 16) % 3
            row["tool"] = ("send_email", "mcp__post__send_email", "mcp__web__send_email")[odd]
            row["tool_alias"] = "mail" if odd == 2 else None
    spans = pa.Table.from_pylist(rows, schema=SPAN_SCHEMA)
    for rule in ("never: '{}'", "grounded: {{tool: '{}', argument: to, from: lookup_order.id}}"):
        assert_same(spans, Policy.from_yaml(f"version: 1\nrules:\n  - {rule.format(name)}\n"))


def test_what_a_model_told_the_user_before_the_end_is_claimed() -> None:
    rows = population(80, ["answered by the user"], 0.5, 3).to_pylist()
    for row in rows:
        if row["operation"] == "workflow":
            row["output"] = "Bye."
    spans = pa.Table.from_pylist(rows, schema=SPAN_SCHEMA)
    policy = Policy.from_yaml(
        "version: 1\nrules:\n  - claim: {says: refund.*processed, needs: pay}\n"
    )
    states = check(reconstruct(spans), policy).table["state"].to_pylist()
    assert 0 < states.count("violated") < 80
    assert_same(spans, policy)
