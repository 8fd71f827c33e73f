"""A wrong argument is an error before anything starts; a wrong variable stops no service."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import trackway
from trackway.configure import _Configured
from trackway.environment import _READ, read_environment
from trackway.export import BatchingProcessor
from trackway.export.near_miss import check_name
from trackway.export.otlp.endpoint import Endpoint, endpoint_of

HOST_AND_PORT = "expected a host and a port from 1 to 65535, found "
WRONG_URLS = {
    "s3://": "export URL 's3://': expected a bucket or a path, found none; write it as in "
    "s3://bucket/traces",
    "gopher://x": "export URL 'gopher://x': expected a store that pyarrow or fsspec knows",
    "http://x:4318": "export URL 'http://x:4318': expected a place for files, found the protocol "
    "'http'; for an OTLP receiver write otlp+http://x:4318 or otlp+grpc://x:4318",
    "file://traces": "export URL 'file://traces': expected an absolute path, found 'traces'; write "
    "it as in file:///var/traces, or without file://",
    "otpl": "export: found 'otpl', which may be meant as otlp or as a folder; for otlp write "
    '"otlp", or "otlp+http://host:4318" or "otlp+grpc://host:4317", for the folder write "./otpl"',
    "OTLP": "export: found 'OTLP', which may be meant as otlp or as a folder; ",
    "otlp-http": "export: found 'otlp-http', which may be meant as otlp or as a folder; ",
    "consol": "export: found 'consol', which may be meant as console or as a folder; for console "
    'write "console", for the folder write "./consol"',
    "none": "export: expected a target, found 'none'; set TRACKWAY_DISABLED=true to record "
    'nothing, or write "./none" for a folder of that name',
    "otlp,console": "export: expected one target, found 'otlp,console'; give several as a list: "
    "configure(export=['otlp', 'console'])",
    "otlp+http://": f"export target 'otlp+http://': {HOST_AND_PORT}''; write it as in "
    "otlp+http://localhost:4318",
    "otlp+http://x:99999": f"export target 'otlp+http://x:99999': {HOST_AND_PORT}'x:99999'; write "
    "it as in otlp+http://localhost:4318",
    "otlp+grpc://x:port": f"export target 'otlp+grpc://x:port': {HOST_AND_PORT}'x:port'; write it "
    "as in otlp+grpc://localhost:4317",
    "otlp+grpc://:4317": f"export target 'otlp+grpc://:4317': {HOST_AND_PORT}':4317'; write it as "
    "in otlp+grpc://localhost:4317",
}


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TRACKWAY_SPOOL_DIR", str(tmp_path / "spool"))
    yield
    trackway.shutdown()


def assert_nothing_started(before: set[threading.Thread], folder: Path) -> None:
    assert {thread for thread in threading.enumerate() if thread not in before} == set()
    assert list(folder.iterdir()) == []
    assert _Configured.arguments is None


@pytest.mark.parametrize("url", WRONG_URLS)
def test_a_target_that_leads_nowhere_is_an_error_before_anything_starts(
    tmp_path: Path, url: str
) -> None:
    before = set(threading.enumerate())
    with pytest.raises(ValueError) as raised:
        trackway.configure("shop", export=["otlp+http://127.0.0.1:9", "traces", url])
    assert str(raised.value).startswith(WRONG_URLS[url])
    assert_nothing_started(before, tmp_path)


@pytest.mark.parametrize(
    ("mistake", "said"),
    [
        ({"export": ""}, 'export: expected a directory or URL, "otlp", "console"'),
        ({"export": 5}, 'export: expected a directory or URL, "otlp", "console"'),
        ({"export": ["otlp", None]}, 'export: expected a directory or URL, "otlp", "console"'),
        ({"service_name": 5}, "service_name: expected a name, found 5"),
        ({"redact": 5}, "redact: expected True, False or a trackway.redactor(...), found 5"),
        ({"limits": 3}, "limits: expected a trackway.Limits(...), found 3"),
        ({"capture_content": "false"}, "capture_content: expected True or False, found 'false'"),
        ({"sample": "half"}, "sample: expected a share from 0 to 1, found 'half'"),
        ({"resource": "team=a"}, "resource: expected a mapping of attributes, found 'team=a'"),
        (
            {"flush_at_run_end": "soon"},
            "flush_at_run_end: expected True, False or a number of seconds, found 'soon'",
        ),
        ({"tools": 5}, "tools: expected the path of a file, found 5"),
        ({"sample": True}, "sample: expected a share from 0 to 1, found True"),
        ({"version": 5}, "version: expected a version, found 5"),
        ({"variant": 5}, "variant: expected a name, found 5"),
        (
            {"tracer_provider": 5},
            "tracer_provider: expected an opentelemetry.sdk.trace.TracerProvider, found 5",
        ),
    ],
)
def test_an_argument_that_cannot_be_meant_is_an_error_before_anything_starts(
    tmp_path: Path, mistake: dict[str, Any], said: str
) -> None:
    before = set(threading.enumerate())
    with pytest.raises(TypeError) as raised:
        trackway.configure(**{"export": "traces", **mistake})
    assert str(raised.value).startswith(said)
    assert_nothing_started(before, tmp_path)


@pytest.mark.parametrize("seconds", [-1, float("nan"), 1e9])
def test_an_end_of_a_run_waits_no_absurd_time(seconds: float) -> None:
    with pytest.raises(ValueError, match="flush_at_run_end: expected seconds from 0 to 3600"):
        trackway.configure(export="traces", flush_at_run_end=seconds)


def test_an_argument_that_is_wrong_leaves_the_earlier_configuration_at_work(
    tmp_path: Path,
) -> None:
    trackway.configure(export="traces")
    with pytest.raises(ValueError):
        trackway.configure(export="s3://")
    with trackway.run("t"):
        pass
    assert trackway.flush(20)
    assert list((tmp_path / "traces").rglob("*.parquet"))


@pytest.mark.parametrize("url", WRONG_URLS)
def test_a_wrong_target_in_the_environment_is_named_and_ignored(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, url: str
) -> None:
    monkeypatch.setenv("TRACKWAY_EXPORT", url)
    trackway.configure("shop")
    (message,) = caplog.messages
    assert message.startswith(f"trackway: TRACKWAY_EXPORT: {WRONG_URLS[url]}")
    assert message.endswith("; ignored")
    assert _Configured.pipeline is not None
    (target,) = _Configured.pipeline._targets
    assert isinstance(target, BatchingProcessor)
    assert type(target.exporter).__name__ == "ParquetSpanExporter"  # the default


def test_without_pyarrow_a_folder_in_the_environment_stops_no_service(tmp_path: Path) -> None:
    program = (
        "import os, sys; sys.modules['pyarrow'] = None; os.environ['TRACKWAY_EXPORT'] = 'traces'\n"
        "import trackway; trackway.configure()\n"
        "with trackway.run('t'): pass"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert '"name": "run t"' in done.stdout  # on the console
    assert (
        "trackway: TRACKWAY_EXPORT: export to Parquet needs pyarrow, which is not installed: "
        "pip install 'trackway[parquet]'; ignored"
    ) in done.stderr


def test_a_protocol_that_nobody_speaks_is_named_and_ignored(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "pigeons")
    assert endpoint_of("otlp") == Endpoint(grpc=False)
    assert caplog.messages == [
        "trackway: OTEL_EXPORTER_OTLP_PROTOCOL: expected grpc or http/protobuf, found 'pigeons'; "
        "ignored, spans go over http/protobuf"
    ]


@pytest.mark.parametrize("nothing", [[], ()])
def test_an_export_to_nowhere_is_an_error_before_anything_starts(
    tmp_path: Path, nothing: Any
) -> None:
    before = set(threading.enumerate())
    with pytest.raises(ValueError, match=r"^export: expected at least one target, found"):
        trackway.configure("shop", export=nothing)
    assert_nothing_started(before, tmp_path)


@pytest.mark.parametrize("name", ["traces", "./otpl", "out", "notes", "otlp2024/x", "spans,old"])
def test_a_folder_may_have_any_other_name(name: str) -> None:
    check_name(name)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        (
            "TRACKWAY_SAMPEL",
            "0.1",
            "trackway: TRACKWAY_SAMPEL: no such variable; expected TRACKWAY_SAMPLE; ignored",
        ),
        (
            "TRACKWAY_DISABLED",
            "ture",
            "trackway: TRACKWAY_DISABLED: expected true or false, found 'ture'; ignored",
        ),
        ("TRACKWAY_CORPUS", "/data", None),
    ],
)
def test_a_variable_with_a_slip_is_named_and_ignored(
    caplog: pytest.LogCaptureFixture, name: str, value: str, said: str | None
) -> None:
    read_environment({name: value})
    assert caplog.messages == ([] if said is None else [said])


def test_every_variable_that_is_read_is_known() -> None:
    source = Path(trackway.__file__).parent
    texts = (path.read_text() for path in source.rglob("*.py"))
    read = {name for text in texts for name in re.findall(r"TRACKWAY_[A-Z_]+[A-Z]", text)}
    assert read <= _READ
