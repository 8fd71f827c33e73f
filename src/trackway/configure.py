"""One call that makes everything record: arguments, else environment, else defaults.

1. An explicit argument wins over `TRACKWAY_*`, which wins over `OTEL_*`.
2. Spans go to: what `export` says; else what `OTEL_TRACES_EXPORTER` names; else OTLP where
   `OTEL_EXPORTER_OTLP_*` is set; else Parquet in `./traces`; else, without pyarrow, the console,
   with the line to type to get Parquet. What is wrong in an argument is raised before anything
   starts; what is wrong in the environment is named in a warning and ignored.
3. An OpenTelemetry SDK provider that the program has set is joined, never replaced. Where none is
   set, ours becomes the global one. A provider of another make that takes no processors is left
   alone, and ours stays private. What is said of the service counts for what Trackway writes,
   whosever the provider is.
4. Calling it again with the same arguments changes nothing. With others it replaces the whole
   configuration, says what changes, and never turns content on or redaction off by saying nothing
   (`settings.py`).
5. `TRACKWAY_DISABLED` or `OTEL_SDK_DISABLED` make all of this a no-op.
"""

from __future__ import annotations

import importlib.util
import logging
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from opentelemetry import trace
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import SpanExporter
from opentelemetry.trace import ProxyTracerProvider

from trackway.arguments import check
from trackway.blocks import opened_too_early
from trackway.capture import DEFAULT_REDACTOR, Capture, Limits, Redactor, count_capture_errors
from trackway.declaration import DEFAULT_FILE, Declaration, DeclarationError, read_declaration
from trackway.environment import Environment, read_environment, share
from trackway.exits import close_at_exit
from trackway.export import Cleaner, processors_for
from trackway.export.shown import shown
from trackway.pipeline import DEFAULT_TIMEOUT, Pipeline
from trackway.propagation import place_in_baggage, with_baggage
from trackway.provider import bounds_on, named_resource, new_provider, our_tracer, told_on
from trackway.recording import Recorder, install
from trackway.run_end import DEFAULT_SECONDS, RunEndFlush
from trackway.sampling import is_kept
from trackway.settings import carried, settled, tell_of_changes
from trackway.their_sampler import tell_of_sampler
from trackway.threads_and_processes import (
    hand_over_to_threads_and_processes,
    stop_handing_over,
)
from trackway.watching import lost

_LOGGER: Final = logging.getLogger("trackway")

Export = str | Path | SpanExporter | SpanProcessor


class _Configured:
    """What `configure()` has set up in this process."""

    arguments: Mapping[str, Any] | None = None
    program: Mapping[str, Any] | None = None
    """The same, without what a test has said."""
    settings: Mapping[str, Any] | None = None
    """What counts of them."""
    provider: TracerProvider | None = None
    pipeline: Pipeline | None = None
    pipelines: Final[weakref.WeakKeyDictionary[TracerProvider, Pipeline]] = (
        weakref.WeakKeyDictionary()
    )
    """The one of every provider so far: a provider gives no processor back."""
    handing_over: bool = False
    held: SpanProcessor | None = None
    """Where spans go, every run of them, while a test holds them, whoever configures."""


def configure(
    service_name: str | None = None,
    *,
    export: Export | Sequence[Export] | None = None,
    redact: Redactor | bool | None = None,
    capture_content: bool | None = None,
    sample: float | None = None,
    keep_failed: bool | None = None,
    resource: Mapping[str, Any] | None = None,
    version: str | None = None,
    variant: str | None = None,
    limits: Limits | None = None,
    hand_over: bool | None = None,
    baggage: bool | None = None,
    flush_at_run_end: bool | float | None = None,
    tools: str | Path | None = None,
    tracer_provider: TracerProvider | None = None,
) -> TracerProvider | None:
    """Start recording; return the tracer provider in use, or None where recording is disabled.

    export: a directory or URL (Parquet), "otlp", "otlp+http://host:4318", "otlp+grpc://host:4317",
        "console", an OpenTelemetry exporter or processor, or a list of these.
    redact: False for no redaction, or a `trackway.redactor(...)` with keys and patterns of yours.
    capture_content: False keeps names, order, kinds, hashes and entities, and no values.
    sample: share of runs that is kept, from 0 to 1; with `keep_failed` (default) failed ones too.
    version, variant: release under test and rollout arm of runs that name none.
    hand_over: False leaves thread and process pools as they are.
    baggage: True writes runs into the OpenTelemetry baggage (it goes into the headers of outbound
        requests) and takes them from the baggage of inbound ones.
    flush_at_run_end: for platforms that freeze the process between requests: the end of a run waits
        until its spans are delivered, for a second at most, or for the seconds that are given.
    tools: the file that says what tools do that nobody decorated; default `./trackway.toml`.
    tracer_provider: the provider to join instead of the global one.

    Raises TypeError for an argument of another kind, ValueError for a share outside 0 to 1, a slip
    for a target (`"otpl"`) or a wrong file in `tools`, OSError where that can't be read.
    """
    arguments = dict(locals())
    check(arguments)
    arguments = carried(arguments, _Configured.program)
    found = read_environment()
    if found.disabled:
        install(None, disabled=True)
        return None
    if _Configured.arguments == arguments:
        return _Configured.provider
    settings = settled(arguments, found)
    declared = _declared(tools, found.tools)
    kept = share(settings["sample"])
    if _Configured.held is not None:
        kept = 1.0
    tail = kept < 1 and settings["keep_failed"]
    bounds = bounds_on(settings["limits"], tracer_provider)
    redactor = _redactor(settings["redact"])
    content = settings["capture_content"]
    cleaner = Cleaner(redactor, bounds, content)
    targets = [_Configured.held] if _Configured.held else _targets(export, found, cleaner)
    told = named_resource(settings["service_name"], settings["resource"])
    provider, pipeline = _provider(tracer_provider, told)
    tell_of_sampler(provider)
    pipeline.replace(targets, kept if tail else None, told_on(provider, told))
    defaults = {name: settings[name] for name in ("version", "variant")}
    names = Capture(bounds, redactor)
    in_baggage = settings["baggage"]
    install(
        Recorder(
            tracer=our_tracer(provider),
            capture=Capture(bounds, redactor, content=content),
            names=names,
            defaults={name: names.name(value) for name, value in defaults.items() if value},
            keep=None if tail or kept == 1 else lambda run_id: is_kept(run_id, kept),
            keep_whole=pipeline.keep_whole if tail else None,
            to_baggage=with_baggage if in_baggage else None,
            from_baggage=place_in_baggage if in_baggage else None,
            flush_at_run_end=_run_end_flush(pipeline, settings["flush_at_run_end"]),
            declared=declared,
        )
    )
    hands_over(settings["hand_over"])
    close_at_exit(_close, _last_word)
    _tell_of_early_runs()
    if _Configured.settings is not None and _Configured.held is None:
        tell_of_changes(_Configured.settings, settings)
    _Configured.arguments = _Configured.program = arguments
    _Configured.settings = settings
    return provider


def _tell_of_early_runs() -> None:
    early = opened_too_early()
    if early:
        count_capture_errors("runs opened before configure()", len(early))
        _LOGGER.warning(
            "trackway: configure() was called inside %s: nothing of a run that was opened before "
            "is recorded; call it at the start of the program",
            shown(repr(early[0])),
        )


def hands_over(wanted: bool) -> None:
    """Have threads, pools and processes take the run along, or leave them as they are."""
    _Configured.handing_over = wanted
    if wanted:
        hand_over_to_threads_and_processes()
    else:
        stop_handing_over()


def provider_in_use() -> TracerProvider | None:
    """Return the provider that records, where it is not the global one or none is global yet."""
    return None if _Configured.arguments is None else _Configured.provider


def flush(timeout: float = DEFAULT_TIMEOUT) -> bool:
    """Deliver what has ended, within `timeout` seconds; True only if all of it was delivered."""
    lost()
    pipeline = _Configured.pipeline
    return pipeline is None or pipeline.force_flush(int(timeout * 1000))


def shutdown(timeout: float = DEFAULT_TIMEOUT) -> bool:
    """Flush, stop recording and release the targets; True only if all was delivered in time.

    What would be recorded afterwards is counted as lost, said in the log, and makes the next
    `flush` return False.
    """
    pipeline = _Configured.pipeline
    install(None, disabled=True, missed=None if pipeline is None else pipeline.late.note)
    hands_over(False)
    _Configured.arguments = _Configured.program = _Configured.settings = None
    return pipeline is None or pipeline.close(timeout)


def _close() -> None:
    lost()  # the last chance to tell of what was cut off
    if _Configured.pipeline is not None:
        _Configured.pipeline.close(leaving=True)


def _last_word() -> None:
    if _Configured.pipeline is not None:
        _Configured.pipeline.last_word()


def _run_end_flush(pipeline: Pipeline, wanted: bool | float) -> RunEndFlush | None:
    if not wanted:
        return None
    return RunEndFlush(pipeline, DEFAULT_SECONDS if wanted is True else float(wanted))


def _redactor(redact: Redactor | bool) -> Redactor | None:
    if isinstance(redact, bool):
        return DEFAULT_REDACTOR if redact else None
    return redact


def _provider(
    given: TracerProvider | None, told: Mapping[str, Any]
) -> tuple[TracerProvider, Pipeline]:
    existing = given or trace.get_tracer_provider()
    if not isinstance(existing, TracerProvider):
        existing_is_foreign = not isinstance(existing, ProxyTracerProvider)
        existing = _Configured.provider or new_provider(told)
        if not existing_is_foreign:
            trace.set_tracer_provider(existing)
    if existing is not _Configured.provider or _Configured.pipeline is None:
        owes = _Configured.pipeline is not None and not _Configured.pipeline.retire()
        pipeline = _Configured.pipelines.get(existing)
        if pipeline is None:
            pipeline = _Configured.pipelines[existing] = Pipeline()
            existing.add_span_processor(pipeline)
        if owes:
            pipeline.owe()
        _Configured.provider, _Configured.pipeline = existing, pipeline
    return existing, _Configured.pipeline


def _declared(tools: str | Path | None, named: str | None) -> Declaration | None:
    """A file that the program names must be right; one that it does not must not stop it."""
    if tools is not None:
        return read_declaration(tools)
    if named is None and not Path(DEFAULT_FILE).is_file():
        return None
    try:
        declaration = read_declaration(named or DEFAULT_FILE, strict=False)
    except (DeclarationError, OSError) as error:
        _LOGGER.error("trackway: tools are not declared: %s", error)
        return None
    for problem in declaration.problems:
        _LOGGER.error("trackway: left out of the declared tools: %s", problem)
    return declaration


def _targets(
    export: Export | Sequence[Export] | None, found: Environment, cleaner: Cleaner
) -> list[SpanProcessor]:
    if export is not None:
        return processors_for(export, cleaner=cleaner)
    if found.export is not None:
        try:
            return processors_for(found.export, cleaner=cleaner)
        except (ValueError, ImportError, OSError) as error:
            _LOGGER.warning("trackway: TRACKWAY_EXPORT: %s; ignored", shown(error))
    return processors_for(_default_export(found), cleaner=cleaner)


def _default_export(found: Environment) -> str | Sequence[str]:
    if found.exporters is not None:
        return found.exporters
    if found.has_otlp:
        return "otlp"
    if importlib.util.find_spec("pyarrow") is not None:
        return "./traces"
    _LOGGER.warning(
        "trackway: spans go to the console, because no OTEL_EXPORTER_OTLP_ENDPOINT is set and "
        "pyarrow is not installed; for Parquet files type: pip install 'trackway[parquet]'"
    )
    return "console"
