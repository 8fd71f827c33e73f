"""One call, from arguments or the environment; joins what is there; tells the truth."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import trackway
from trackway.environment import OTEL_CONTENT, read_environment
from trackway.schema import GenAI, Trackway

HEAD = """
import json, trackway
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
memory = InMemorySpanExporter()

@trackway.tool
def work(order="a"): return order

def spans(): return [span.name for span in memory.get_finished_spans()]
def attributes(): return dict(memory.get_finished_spans()[-1].attributes)
"""


def result_of(body: str, tmp_path: Path, **env: str) -> Any:
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("OTEL_", "TRACKWAY_"))}
    done = subprocess.run(
        [sys.executable, "-c", HEAD + body], env={**clean, **env}, cwd=tmp_path,
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1]), done.stderr


@pytest.mark.parametrize("name", ["TRACKWAY_DISABLED", "OTEL_SDK_DISABLED"])
def test_disabled_means_nothing_happens(tmp_path: Path, name: str) -> None:
    body = """
assert trackway.configure(export=SimpleSpanProcessor(memory)) is None
with trackway.run("t") as run:
    work()
print(json.dumps([spans(), len(run.id), run.last_step, trackway.flush()]))
"""
    (found, _) = result_of(body, tmp_path, **{name: "true"})
    assert found == [[], 32, 0, True]


def test_without_configure_nothing_is_recorded(tmp_path: Path) -> None:
    body = """
with trackway.run("t"):
    print(json.dumps([work(), trackway.flush(), trackway.shutdown()]))
"""
    assert result_of(body, tmp_path)[0] == ["a", True, True]
    assert list(tmp_path.iterdir()) == []


def test_without_configure_a_provider_that_the_program_has_set_is_used(tmp_path: Path) -> None:
    body = """
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(memory))
trace.set_tracer_provider(provider)
with trackway.run("t"): work()
print(json.dumps(spans()))
"""
    assert result_of(body, tmp_path)[0] == ["execute_tool work", "run t"]


def test_an_existing_provider_is_joined(tmp_path: Path) -> None:
    body = """
theirs = InMemorySpanExporter()
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(theirs))
trace.set_tracer_provider(provider)
assert trackway.configure(export=SimpleSpanProcessor(memory)) is provider
assert trace.get_tracer_provider() is provider
work()
print(json.dumps([spans(), [s.name for s in theirs.get_finished_spans()]]))
"""
    assert result_of(body, tmp_path)[0] == [["execute_tool work"]] * 2


def test_without_one_ours_becomes_the_global_provider(tmp_path: Path) -> None:
    body = """
trackway.configure("refunds", export=SimpleSpanProcessor(memory), resource={"team": "a"})
with trace.get_tracer("someone").start_as_current_span("theirs"): pass
resource = memory.get_finished_spans()[0].resource.attributes
print(json.dumps([spans(), resource["service.name"], resource["team"]]))
"""
    assert result_of(body, tmp_path)[0] == [["theirs"], "refunds", "a"]


@pytest.mark.parametrize(
    ("arguments", "env"),
    [
        ({"service_name": "refunds", "resource": {"team": "a"}}, {}),
        ({"resource": {"service.name": "refunds", "team": "a"}}, {}),
        ({"resource": {"team": "a"}}, {"TRACKWAY_SERVICE_NAME": "refunds"}),
    ],
)
def test_what_is_said_of_the_service_counts_on_a_provider_that_is_there(
    tmp_path: Path, arguments: dict[str, Any], env: dict[str, str]
) -> None:
    body = f"""
from opentelemetry.sdk.resources import Resource
theirs = InMemorySpanExporter()
provider = TracerProvider(resource=Resource({{"service.name": "shop", "host": "h"}}))
provider.add_span_processor(SimpleSpanProcessor(theirs))
trace.set_tracer_provider(provider)
trackway.configure(export=SimpleSpanProcessor(memory), **{arguments!r})
with trackway.run(): work("A1")
with trace.get_tracer("someone").start_as_current_span("theirs") as span: span.add_event("e")
ours, others = memory.get_finished_spans(), theirs.get_finished_spans()
def facts(span): return {{k: v for k, v in json.loads(span.to_json()).items() if k != "resource"}}
assert list(map(facts, ours)) == list(map(facts, others))
assert len({{id(span.resource) for span in ours}}) == 1
print(json.dumps([dict(span[-1].resource.attributes) for span in (ours, others)]))
"""
    assert result_of(body, tmp_path, **env)[0] == [
        {"service.name": "refunds", "host": "h", "team": "a"},
        {"service.name": "shop", "host": "h"},
    ]


def test_a_service_that_is_named_later_counts_from_there_on(tmp_path: Path) -> None:
    body = """
def service(**arguments):
    memory = InMemorySpanExporter()
    trackway.configure(export=SimpleSpanProcessor(memory), **arguments)
    work()
    return memory.get_finished_spans()[-1].resource.attributes["service.name"]
names = ("first", "second", "first")
print(json.dumps([*(service(service_name=name) for name in names), service(version="2")]))
"""
    assert result_of(body, tmp_path)[0] == ["first", "second", "first", "first"]


def test_a_provider_of_another_make_is_left_alone(tmp_path: Path) -> None:
    body = """
class Foreign(trace.TracerProvider):
    def get_tracer(self, *args, **kwargs): return trace.NoOpTracer()
foreign = Foreign()
trace.set_tracer_provider(foreign)
trackway.configure(export=SimpleSpanProcessor(memory))
assert trace.get_tracer_provider() is foreign
work()
print(json.dumps(spans()))
"""
    assert result_of(body, tmp_path)[0] == ["execute_tool work"]


def test_a_provider_that_comes_back_gets_no_second_processor(recorded: Any) -> None:
    first, second = TracerProvider(), TracerProvider()
    for provider in (first, second, first, second, first):
        memory = InMemorySpanExporter()
        trackway.configure(export=SimpleSpanProcessor(memory), tracer_provider=provider)
    trackway.tool(lambda: None)()
    trackway.shutdown()
    processors = [one._active_span_processor._span_processors for one in (first, second)]
    assert [len(held) for held in processors] == [1, 1]
    assert len(memory.get_finished_spans()) == 1


def test_a_provider_can_be_named(recorded: Any) -> None:
    exporter = InMemorySpanExporter()
    mine = TracerProvider()
    trackway.configure(export=SimpleSpanProcessor(exporter), tracer_provider=mine)

    @trackway.tool
    def work() -> None: ...

    work()
    assert [span.name for span in exporter.get_finished_spans()] == ["execute_tool work"]
    assert recorded.all == []


def test_configuring_again_changes_nothing_or_moves_to_the_new_targets(tmp_path: Path) -> None:
    body = """
processor = SimpleSpanProcessor(memory)
provider = trackway.configure(export=processor)
assert trackway.configure(export=processor) is provider
work()
first = spans()
second = InMemorySpanExporter()
assert trackway.configure(export=SimpleSpanProcessor(second)) is provider
work()
print(json.dumps([first, spans(), [s.name for s in second.get_finished_spans()]]))
"""
    assert result_of(body, tmp_path)[0] == [["execute_tool work"]] * 3


def test_the_default_is_parquet_here(tmp_path: Path) -> None:
    body = """
trackway.configure()
work()
print(json.dumps(trackway.flush(20)))
trackway.shutdown(20)
"""
    assert result_of(body, tmp_path)[0] is True
    assert list((tmp_path / "traces").rglob("*.parquet"))


def test_without_pyarrow_the_default_is_the_console_and_the_line_to_type(tmp_path: Path) -> None:
    body = """
import sys
sys.modules["pyarrow"] = None
trackway.configure()
trackway.shutdown()
print("null")
"""
    _, errors = result_of(body, tmp_path)
    assert "pip install 'trackway[parquet]'" in errors


def test_the_default_is_otlp_where_its_endpoint_is_set(tmp_path: Path) -> None:
    body = """
from trackway.configure import _Configured
trackway.configure()
(target,) = _Configured.pipeline._targets
print(json.dumps(type(target.exporter).__name__))
trackway.shutdown(0.1)
"""
    found, _ = result_of(body, tmp_path, OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:9")
    assert "Otlp" in found


@pytest.mark.parametrize(
    ("arguments", "env", "on"),
    [
        ("", {}, True),
        ("", {OTEL_CONTENT: "NO_CONTENT"}, False),
        ("", {OTEL_CONTENT: "false"}, False),
        ("", {OTEL_CONTENT: "SPAN_ONLY"}, True),
        ("", {OTEL_CONTENT: "EVENT_ONLY"}, True),
        ("", {OTEL_CONTENT: "span_and_event"}, True),
        ("", {OTEL_CONTENT: "true"}, True),
        ("", {OTEL_CONTENT: "true", "TRACKWAY_CAPTURE_CONTENT": "false"}, False),
        (", capture_content=True", {OTEL_CONTENT: "NO_CONTENT"}, True),
        (", capture_content=False", {OTEL_CONTENT: "true"}, False),
    ],
)
def test_content_capture(tmp_path: Path, arguments: str, env: dict[str, str], on: bool) -> None:
    body = f"""
trackway.configure(export=SimpleSpanProcessor(memory){arguments})
work()
print(json.dumps(attributes()))
"""
    found, _ = result_of(body, tmp_path, **env)
    assert (GenAI.TOOL_CALL_ARGUMENTS in found) is on
    assert (f"{Trackway.CONTENT_SHA256}.arguments" in found) is not on


def test_with_content_off_names_order_kinds_hashes_and_entities_remain(tmp_path: Path) -> None:
    body = """
trackway.configure(export=SimpleSpanProcessor(memory), capture_content=False)

@trackway.tool("refund_api.create", kind="mutate", entity="order_id", entity_type="order")
def refund(order_id, amount): return {"paid": amount}

@trackway.retriever
def search(query): return [{"id": "d1", "score": 0.5, "text": "secret words"}]

@trackway.llm(model="gpt")
def chat(messages, tools=()): return "secret words"

@trackway.agent
def bot(question):
    refund("A9128", 84.0)
    search("secret words")
    chat([{"role": "system", "content": "secret words"}], tools=[{"function": {"name": "t"}}])
    trackway.decision(chosen="secret words", reason="secret words")
    trackway.final("secret words")
    return "secret words"

bot("secret words")
print(json.dumps([[dict(s.attributes), [dict(e.attributes) for e in s.events]]
                  for s in memory.get_finished_spans()]))
"""
    found, _ = result_of(body, tmp_path, TRACKWAY_HASH_KEY="k")
    assert "secret words" not in json.dumps(found)
    tool, retrieval, model, agent = (attributes for attributes, _ in found)
    assert tool["gen_ai.tool.name"] == "refund_api.create"
    assert tool[Trackway.ENTITY_REFS] == ["order:A9128"]
    assert tool[Trackway.STEP_KIND] == "mutate"
    assert tool[f"{Trackway.CONTENT_SHA256}.result"].startswith("hmac-sha256:")
    assert json.loads(retrieval[GenAI.RETRIEVAL_DOCUMENTS])[0]["id"] == "d1"
    assert model[GenAI.REQUEST_MODEL] == "gpt"
    assert model[Trackway.TOOLS_DIGEST].startswith("hmac-sha256:")
    assert agent[f"{Trackway.CONTENT_SHA256}.output"].startswith("hmac-sha256:")
    assert [a[Trackway.STEP_INDEX] for a in (tool, retrieval, model)] == [1, 2, 3]


def test_secrets_stay_out_unless_redaction_is_off(tmp_path: Path) -> None:
    body = """
secret = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789AB"
trackway.configure(export=SimpleSpanProcessor(memory), redact=%s)
work({"note": secret, "password": "hunter2hunter2"})
print(json.dumps(attributes()))
"""
    found, _ = result_of(body % "None", tmp_path)
    assert "abcdefghijklmnop" not in json.dumps(found)
    assert "hunter2" not in json.dumps(found)
    assert found[Trackway.REDACTED] == ["arguments", "result"]
    found, _ = result_of(body % "False", tmp_path)
    assert "abcdefghijklmnop" in found[GenAI.TOOL_CALL_ARGUMENTS]
    found, _ = result_of(body % "trackway.redactor(deny_keys=['note'])", tmp_path)
    assert "abcdefghijklmnop" not in json.dumps(found)


def test_a_secret_in_an_error_stays_out(recorded: Any) -> None:
    secret = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789AB"

    @trackway.tool
    def failing() -> None:
        raise ValueError(f"bad key {secret}")

    with pytest.raises(ValueError, match="bad key"):
        failing()
    span = recorded.tool("failing")
    (event,) = span.events
    assert secret not in span.status.description
    assert secret not in event.attributes["exception.message"]
    assert secret not in event.attributes["exception.stacktrace"]


class Failing(SpanExporter):
    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        return SpanExportResult.FAILURE

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        return True


class Raising(Failing):
    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        raise ConnectionError("refused")


@pytest.mark.parametrize("exporter", [Failing, Raising])
def test_flush_and_shutdown_tell_the_truth(exporter: type[SpanExporter]) -> None:
    trackway.configure(export=exporter())

    @trackway.tool
    def work() -> None: ...

    work()
    assert trackway.flush(10) is False
    work()
    assert trackway.shutdown(10) is False


def test_one_failing_target_does_not_keep_spans_from_another() -> None:
    memory = InMemorySpanExporter()

    class Broken(SimpleSpanProcessor):
        def on_end(self, span: ReadableSpan) -> None:
            raise RuntimeError

    trackway.configure(export=[Broken(Failing()), SimpleSpanProcessor(memory)])

    @trackway.tool
    def work() -> None: ...

    work()
    trackway.shutdown()
    assert [span.name for span in memory.get_finished_spans()] == ["execute_tool work"]


def test_after_shutdown_nothing_is_recorded_until_configured_again(recorded: Any) -> None:
    @trackway.tool
    def work() -> None: ...

    trackway.shutdown()
    work()
    assert recorded.all == []
    again = InMemorySpanExporter()
    trackway.configure(export=SimpleSpanProcessor(again))
    work()
    assert len(again.get_finished_spans()) == 1


def test_version_and_variant_come_from_arguments_and_environment(tmp_path: Path) -> None:
    body = """
trackway.configure(export=SimpleSpanProcessor(memory), variant="candidate")
with trackway.run("t"): pass
first = attributes()
with trackway.run("t", version="mine"): pass
print(json.dumps([[a["trackway.agent.version"], a["trackway.variant"]]
                  for a in (first, attributes())]))
"""
    found, _ = result_of(body, tmp_path, TRACKWAY_AGENT_VERSION="sha", TRACKWAY_VARIANT="stable")
    assert found == [["sha", "candidate"], ["mine", "candidate"]]


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("TRACKWAY_SAMPLE", "2", "a number from 0 to 1"),
        ("TRACKWAY_SAMPLE", "half", "a number from 0 to 1"),
        ("TRACKWAY_KEEP_FAILED", "perhaps", "true or false"),
        (OTEL_CONTENT, "MAYBE", "SPAN_ONLY"),
    ],
)
def test_a_variable_that_makes_no_sense_is_named_and_ignored(
    caplog: pytest.LogCaptureFixture, name: str, value: str, expected: str
) -> None:
    with caplog.at_level(logging.WARNING):
        found = read_environment({name: value})
    assert found == read_environment({})
    assert name in caplog.text
    assert expected in caplog.text
    assert value in caplog.text


def test_many_attributes_of_a_framework_do_not_evict_identity(tmp_path: Path) -> None:
    body = """
trackway.configure(export=SimpleSpanProcessor(memory))
with trackway.run("t") as run:
    with trace.get_tracer("framework").start_as_current_span("llm") as span:
        for number in range(300):
            span.set_attribute(f"llm.input_messages.{number}.content", "x")
inner = memory.get_finished_spans()[0]
print(json.dumps([len(inner.attributes), inner.attributes["trackway.run.id"] == run.id]))
"""
    assert result_of(body, tmp_path)[0] == [302, True]


SECRET = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789AB"


def test_a_secret_stays_out_wherever_it_is_put(recorded: Any) -> None:
    @trackway.tool
    def work() -> None: ...

    with trackway.run(SECRET, version=SECRET, input=SECRET, revision=SECRET, more=[SECRET]) as run:
        with trackway.step("s", note=SECRET) as step:
            step.result(SECRET)
        trackway.wait(SECRET, resume_token=SECRET)
        trackway.effect(SECRET, entity=SECRET)
        run.final(SECRET, action=SECRET, arguments=SECRET)
        run.outcome(False, SECRET, SECRET, SECRET)
    for span in recorded.all:
        told = [span.name, dict(span.attributes), [dict(e.attributes) for e in span.events]]
        assert SECRET not in str(told)


def test_a_target_that_waits_takes_no_time_from_the_others() -> None:
    """The first is done only once the second has been asked to flush."""
    asked = threading.Event()

    class Waits(InMemorySpanExporter):
        def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
            asked.wait(20)
            return super().export(spans)

    class Asked(InMemorySpanExporter):
        def force_flush(self, timeout_millis: int = 30_000) -> bool:
            asked.set()
            return True

    waits, other = Waits(), Asked()
    trackway.configure(export=[waits, other])
    with trackway.run("t"):
        pass
    assert trackway.flush(10)
    assert len(waits.get_finished_spans()) == len(other.get_finished_spans()) == 1
    trackway.shutdown()


@pytest.mark.parametrize(
    ("mistake", "said"),
    [
        ({"export": 3}, r'export: expected a directory or URL, "otlp", .* found 3$'),
        ({"export": ["traces", ""]}, r"export: expected a directory or URL, .* found ''$"),
        ({"limits": 3}, r"limits: expected a trackway.Limits\(...\), found 3$"),
        (
            {"redact": "x"},
            r"redact: expected True, False or a trackway.redactor\(...\), found 'x'$",
        ),
    ],
)
def test_an_argument_of_another_kind_is_named(mistake: dict[str, Any], said: str) -> None:
    with pytest.raises(TypeError, match=said):
        trackway.configure("shop", **mistake)
    assert trackway.shutdown(60)


def test_a_system_that_gives_no_thread_costs_no_span(tmp_path: Path) -> None:
    body = """
import threading
def refuse(thread): raise RuntimeError("can't start new thread")
start, threading.Thread.start = threading.Thread.start, refuse
trackway.configure("shop", export=["traces", SimpleSpanProcessor(memory)])
work()
flushed = [trackway.flush(20)]
work()
threading.Thread.start = start
flushed.append(trackway.flush(20))
service = memory.get_finished_spans()[0].resource.attributes["service.name"]
print(json.dumps([flushed, service, trackway.capture_errors()]))
"""
    found, errors = result_of(body, tmp_path)
    assert found == [[True, True], "shop", {}]
    assert len(list((tmp_path / "traces").rglob("*.parquet"))) == 2
    assert errors.count("can't start new thread") == 2  # the exporter's thread, the detectors'


def test_a_run_that_was_opened_before_is_told_of() -> None:
    program = """
import trackway
with trackway.run("over"):
    pass
with trackway.run("early"):
    trackway.configure(export="console")
print(trackway.capture_errors())
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    )
    assert "configure() was called inside <Run" in done.stderr
    assert "task='early'" in done.stderr
    assert "{'runs opened before configure()': 1}" in done.stdout
