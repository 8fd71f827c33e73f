"""What each kind of decorated function puts on its span.

1. Names follow the GenAI conventions: `execute_tool {name}`, `invoke_agent {name}`, `retrieval
   {name}`. The operation attribute decides what a span is; the name decides nothing.
2. Tools, model calls, retrievals and waits are steps: they take the run's clock and an attempt.
3. An agent outside any run opens one: its span is then the run span, with the arguments as input
   and a text result as final text. An agent inside a run is a sub-agent; the outermost one lends
   the run its input and final text where the run was given none.
4. `trackway.step.ok` is written only where a success predicate was declared or the call raised.
5. A mutation has an operation id: the declared one, else one made for its first attempt and kept
   for the attempts that follow a failure.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from opentelemetry.context import Context, set_value
from opentelemetry.trace import SpanKind

from trackway.binding import Binder
from trackway.capture import Captured, entity_refs
from trackway.driving import Opened
from trackway.recording import Recorder, put, put_text
from trackway.run import FIRST, REQUESTED, Attempt, Run, new_identity
from trackway.schema import SCHEMA_VERSION, GenAI, StepKind, Trackway
from trackway.spans import NOTHING, Live, Plan
from trackway.unrecorded import Unrecorded

Args = tuple[Any, ...]
Kwargs = dict[str, Any]


class StepPlan(Plan):
    """A span that takes the logical clock."""

    operation_name: str
    span_kind = SpanKind.INTERNAL
    input_key: str
    input_field: str
    output_key: str
    output_field: str

    def __init__(self, name: str, bind: Binder, static: Mapping[str, Any]) -> None:
        self.name = name
        self.span_name = f"{self.operation_name} {name}"
        self.bind = bind
        self.static = {GenAI.OPERATION_NAME: self.operation_name, **static}

    def begin(
        self,
        recorder: Recorder,
        context: Context,
        place: Live | None,
        captured: Captured,
        attributes: dict[str, Any],
        operation_id: str | None = None,
        span_name: str | None = None,
    ) -> Live:
        """Start the step's span: identity, clock, attempt and input in one go."""
        run, inherited = (None, NOTHING) if place is None else (place.run, place.inherited)
        live = Live(self, recorder, run, inherited)
        put(attributes, self.input_key, self.input_field, captured)
        if run is not None:
            attributes[Trackway.STEP_INDEX] = step = run.tick()
            attempt = FIRST
            if operation_id is not None or run.has_failures:
                key = self.key(attributes) if operation_id is None else self.span_name
                attempt = run.attempt(key, operation_id)
                operation_id = attempt.operation_id
            attributes[Trackway.STEP_ATTEMPT] = attempt.number
            if operation_id is None and self.makes_operation_ids:
                operation_id = f"{run.id}:{step}"
                attempt = Attempt(attempt.number, operation_id)
            live.attempt = attempt
        if operation_id is not None:
            attributes[Trackway.OPERATION_ID] = operation_id
        return live.start(span_name or self.span_name, context, self.span_kind, attributes)

    makes_operation_ids = False
    operation_id: str | Callable[[dict[str, Any]], object] | None = None

    def failed(self, live: Live) -> None:
        """Remember the failure, so that a repetition is the next attempt; declared ids tell it."""
        if live.run is not None and self.operation_id is None:
            live.run.failed(self.key(live.attributes), live.attempt)

    def key(self, attributes: Mapping[str, Any]) -> object:
        """Calls of one operation have name and input in common, or its hash."""
        text = attributes.get(self.input_key)
        digest = attributes.get(f"{Trackway.CONTENT_SHA256}.{self.input_field}")
        return self.span_name, text, digest

    def result_attributes(self, live: Live, result: Any) -> dict[str, Any]:
        """Return the captured result."""
        attributes = changed(live)
        put(attributes, self.output_key, self.output_field, live.recorder.capture.value(result))
        return attributes


def changed(live: Live) -> dict[str, Any]:
    """Return the change lists that the span has had since its start, to be added to."""
    start = live.attributes
    return {key: start[key] for key in (Trackway.TRUNCATED, Trackway.REDACTED) if key in start}


class ToolPlan(StepPlan):
    """A tool call: arguments by name, result, entities, success."""

    operation_name = "execute_tool"
    input_key, input_field = GenAI.TOOL_CALL_ARGUMENTS, "arguments"
    output_key, output_field = GenAI.TOOL_CALL_RESULT, "result"

    def __init__(
        self,
        name: str,
        bind: Binder,
        *,
        kind: StepKind | None = None,
        alias: str | None = None,
        entity: Sequence[str] = (),
        entity_type: str | None = None,
        returns: Sequence[str] = (),
        success: Callable[[Any], object] | None = None,
        operation_id: str | Callable[[dict[str, Any]], object] | None = None,
        description: str | None = None,
    ) -> None:
        static: dict[str, Any] = {GenAI.TOOL_NAME: name, GenAI.TOOL_TYPE: "function"}
        optional = {
            Trackway.STEP_KIND: kind,
            Trackway.TOOL_ALIAS: alias,
            GenAI.TOOL_DESCRIPTION: description,
        }
        static.update({key: str(value) for key, value in optional.items() if value is not None})
        super().__init__(name, bind, static)
        self.entity = tuple(entity)
        self.entity_type = entity_type
        self.returns = tuple(returns)
        self.success = success
        self.operation_id = operation_id
        self.exempt = frozenset(path.split(".")[0].split("[")[0] for path in self.entity)
        self.makes_operation_ids = kind is StepKind.MUTATE

    def start(
        self,
        recorder: Recorder,
        context: Context,
        place: Live | None,
        args: Args,
        kwargs: Kwargs,
    ) -> Live:
        """Start the span with the arguments under their parameter names."""
        arguments = self.bind(*args, **kwargs)
        captured = recorder.capture.arguments(arguments, self.exempt)
        inherited = NOTHING if place is None else place.inherited
        attributes = {**inherited, **self.static}
        call_id = context.get(REQUESTED)
        if call_id is not None:
            attributes[GenAI.TOOL_CALL_ID] = call_id
            # What the tool calls in its turn, the model did not request.
            context = set_value(REQUESTED, None, context)
        refs: list[str] = []
        if self.entity:
            refs = [
                ref
                for path in self.entity
                for ref in entity_refs(arguments, path, self.entity_type)
            ]
            if refs:
                attributes[Trackway.ENTITY_REFS] = refs
        live = self.begin(
            recorder, context, place, captured, attributes, self._operation_id(arguments)
        )
        live.refs = refs
        return live

    def _operation_id(self, arguments: dict[str, Any]) -> str | None:
        declared = self.operation_id
        if declared is None:
            return None
        value = declared(arguments) if callable(declared) else arguments.get(declared)
        return None if value is None else str(value)

    def result_attributes(self, live: Live, result: Any) -> dict[str, Any]:
        """Return the result, the entities that it establishes, and whether it succeeded."""
        attributes = super().result_attributes(live, result)
        if self.returns:
            found = [
                ref for path in self.returns for ref in entity_refs(result, path, self.entity_type)
            ]
            if found:
                attributes[Trackway.ENTITY_REFS] = list(dict.fromkeys([*live.refs, *found]))
        if self.success is not None:
            try:
                ok = bool(self.success(result))
            except Exception as error:  # noqa: BLE001 - a user's predicate
                live.lost("success", error)
            else:
                attributes[Trackway.STEP_OK] = ok
                if not ok:
                    self.failed(live)
        return attributes

    def error_attributes(self, live: Live) -> dict[str, Any]:  # noqa: ARG002
        """A call that raised did not succeed."""
        return {Trackway.STEP_OK: False}


class AgentPlan(Plan):
    """An agent: opens a run outside of any, is a sub-agent inside one."""

    opens_runs = True

    def __init__(self, name: str, bind: Binder, *, version: str | None = None) -> None:
        self.name = name
        self.span_name = f"invoke_agent {name}"
        self.bind = bind
        self.version = version
        self.static = {GenAI.OPERATION_NAME: "invoke_agent", GenAI.AGENT_NAME: name}

    def start(
        self,
        recorder: Recorder,
        context: Context,
        place: Live | None,
        args: Args,
        kwargs: Kwargs,
    ) -> Opened:
        """Start the agent's span, which is the run span where no run is open."""
        run, outer = (None, NOTHING) if place is None else (place.run, place.inherited)
        root = run is None
        if run is None:
            run = self._new_run(recorder)
            outer = run.attributes
            if recorder.keep is not None and not recorder.keep(run.id):
                return Unrecorded(run, context)
        inherited = {**outer, GenAI.AGENT_NAME: self.name}
        live = Live(self, recorder, run, inherited)
        live.root = root
        live.outermost = not root and GenAI.AGENT_NAME not in outer
        captured = recorder.capture.arguments(self.bind(*args, **kwargs))
        attributes = {**inherited, **self.static}
        put(attributes, Trackway.INPUT, "input", captured)
        if root:
            attributes[Trackway.SCHEMA_VERSION] = SCHEMA_VERSION
        elif live.outermost:
            lent: dict[str, Any] = {}
            put(lent, Trackway.INPUT, "input", captured)
            run.lend(input=lent)
        live.start(self.span_name, context, SpanKind.INTERNAL, attributes)
        if root:
            run.begin(live.span, input_given=True)
            run.recording = live.span.is_recording()
        return live

    def _new_run(self, recorder: Recorder) -> Run:
        fields = dict(recorder.defaults)
        if self.version is not None:
            fields["version"] = self.version
        return Run(new_identity(**fields))

    def result_attributes(self, live: Live, result: Any) -> dict[str, Any]:
        """Return the final text; other results as JSON."""
        attributes = changed(live)
        capture = live.recorder.capture
        if isinstance(result, str):
            put_text(attributes, Trackway.OUTPUT, "output", capture, result)
            if live.outermost and live.run is not None:
                live.run.lend(final=attributes)
        else:
            put(attributes, Trackway.OUTPUT, "output", capture.value(result))
        return attributes
