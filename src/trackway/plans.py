"""What a step, and a tool call above all, puts on its span.

1. Names follow the GenAI conventions: `execute_tool {name}`, `retrieval {name}`. The operation
   attribute decides what a span is; the name decides nothing.
2. Tools, model calls, retrievals and waits are steps: they take the run's clock and an attempt. So
   do those of which nothing is recorded, since recording was shut down inside the run.
3. Arguments that can't be read cost the span its input, not its existence.
4. `trackway.step.ok` is written only where a success predicate was declared or the call raised.
5. A mutation has an operation id: the declared one, else one made for its first attempt and kept
   for the attempts that follow a failure.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, Final

from opentelemetry.context import Context, set_value
from opentelemetry.trace import SpanKind, get_current_span

from trackway.binding import Binder
from trackway.capture import Captured, entity_refs, record_capture_error
from trackway.capture.refs import id_text
from trackway.capture.storage import type_name
from trackway.declaration import Declaration
from trackway.faults import goes_on
from trackway.fields import text_of
from trackway.foreign import attributes_of, is_own, is_same_call, operation_of, tool_of
from trackway.ids import made_up_operation_id
from trackway.late_steps import next_step, note_outside
from trackway.named_fields import note_missing
from trackway.questions import answer
from trackway.recording import Recorder, put
from trackway.run import FIRST, REQUESTED, Attempt, current_place
from trackway.said import note_verdict
from trackway.schema import GenAI, StepKind, Trackway
from trackway.spans import NOTHING, Live, Plan

Args = tuple[Any, ...]
Kwargs = dict[str, Any]
UNREAD: Final = Captured(None)


@dataclass(slots=True)
class Request:
    """What a plan read from the arguments of one call."""

    captured: Captured = UNREAD
    operation_id: str | None = None
    refs: Sequence[str] = ()
    span_name: str | None = None


class StepPlan(Plan):
    """A span that takes the logical clock."""

    operation_name: str
    span_kind = SpanKind.INTERNAL
    input_key: str
    input_field: str
    output_key: str
    output_field: str
    makes_operation_ids = False
    known_names: frozenset[str] = frozenset()
    """Names under which a framework may know the tool."""
    identified: frozenset[str] = frozenset()
    """Paths to ids of entities in the result: patterns of secrets do not apply to them."""
    operation_id: str | Callable[[dict[str, Any]], object] | None = None

    def __init__(self, name: str, bind: Binder, static: Mapping[str, Any]) -> None:
        self.name = name
        self.span_name = f"{self.operation_name} {name}"
        self.bind = bind
        self.static = {GenAI.OPERATION_NAME: self.operation_name, **static}
        self.operation = operation_of(self.static)

    def start(
        self,
        recorder: Recorder,
        context: Context,
        place: Live | None,
        args: Args,
        kwargs: Kwargs,
    ) -> Live:
        """Start the step's span: identity, clock, attempt and input in one go."""
        run, inherited = (None, NOTHING) if place is None else (place.run, place.inherited)
        live = Live(self, recorder, run, inherited)
        attributes = {**inherited, **self.fixed(recorder)}
        try:
            request = self.read(recorder, self.bind(*args, **kwargs), attributes)
        except BaseException as error:  # user objects run in here
            if goes_on(error):
                raise
            record_capture_error(f"{self.name}: arguments", error)
            attributes[Trackway.CAPTURE_ERROR] = f"arguments: {type_name(type(error))}"
            request = Request()
        live.refs = request.refs
        put(attributes, self.input_key, self.input_field, request.captured)
        operation_id = request.operation_id
        if run is not None:
            if not self.is_seen_above(context, place, attributes):
                attributes[Trackway.STEP_INDEX] = next_step(place, run)
                if run.clock is not None:
                    attributes[Trackway.STEP_CLOCK] = run.clock
            attempt = FIRST
            if operation_id is not None or run.has_failures:
                key = self.key(attributes) if operation_id is None else self.span_name
                attempt = run.attempt(key, operation_id)
                operation_id = attempt.operation_id
            attributes[Trackway.STEP_ATTEMPT] = attempt.number
            if operation_id is None and self.makes_operation_ids:
                operation_id = made_up_operation_id(run.id)
                attempt = Attempt(attempt.number, operation_id)
            live.attempt = attempt
        else:
            note_outside(get_current_span(context))
        if operation_id is not None:
            named = self.operation_id if isinstance(self.operation_id, str) else ""
            attributes[Trackway.OPERATION_ID] = recorder.names.id_text(operation_id, named)
        name = request.span_name or self.span_name
        return live.start(name, context, self.span_kind, attributes)

    def missed(self) -> None:
        """Take the run's clock: its record goes on with a hole, should it go on."""
        place = current_place()
        if place is not None and place.run is not None:
            place.run.tick()

    def is_seen_above(
        self, context: Context, place: Live | None, attributes: dict[str, Any]
    ) -> bool:
        """Whether a foreign span right above is this same call, and has its place on the clock."""
        if place is None or place.context is context:
            return False
        above = get_current_span(context)
        if above is place.span or is_own(above):
            return False
        return is_same_call(self.operation, self.known_names, above)

    def read(
        self, recorder: Recorder, arguments: dict[str, Any], attributes: dict[str, Any]
    ) -> Request:
        """Read the arguments of a call; add to `attributes` what is no input."""
        raise NotImplementedError

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
        captured = live.recorder.capture.value(result, self.identified)
        put(attributes, self.output_key, self.output_field, captured)
        return attributes


def changed(live: Live) -> dict[str, Any]:
    """Return the change lists that the span has had since its start, to be added to."""
    start = live.attributes
    if Trackway.TRUNCATED not in start and Trackway.REDACTED not in start:
        return {}
    return {key: start[key] for key in (Trackway.TRUNCATED, Trackway.REDACTED) if key in start}


def _judged(live: Live, result: Any) -> Any:
    """Return what a declaration over the result is about: what a generator returned, if it did."""
    return result if live.returned is None else live.returned


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
        function_name: str | None = None,
    ) -> None:
        static: dict[str, Any] = {GenAI.TOOL_NAME: name, GenAI.TOOL_TYPE: "function"}
        optional = {
            Trackway.STEP_KIND: kind,
            Trackway.TOOL_ALIAS: alias,
            GenAI.TOOL_DESCRIPTION: description,
        }
        static.update({key: str(value) for key, value in optional.items() if value is not None})
        super().__init__(name, bind, static)
        self.known_names = frozenset(filter(None, (name, alias, function_name)))
        self.entity = tuple(entity)
        self.entity_type = entity_type
        self.returns = tuple(returns)
        self.identified = frozenset(self.returns)
        self.success = success
        self.operation_id = operation_id
        self.exempt = frozenset(self.entity)
        self.makes_operation_ids = kind is StepKind.MUTATE
        self._is_silent = not (kind or self.entity or self.returns or operation_id)
        self._declared: tuple[Declaration, ToolPlan] | None = None

    def start(
        self,
        recorder: Recorder,
        context: Context,
        place: Live | None,
        args: Args,
        kwargs: Kwargs,
    ) -> Live:
        """Start the span; under the id of the model's request where one was named."""
        if self._is_silent and recorder.declared is not None:
            plan = self._as_declared(recorder.declared)
            if plan is not self:
                return plan.start(recorder, context, place, args, kwargs)
        call_id = context.get(REQUESTED)
        if call_id is None:
            return super().start(recorder, context, place, args, kwargs)
        # What the tool calls in its turn, the model did not request.
        context = set_value(REQUESTED, None, context)
        live = super().start(recorder, context, place, args, kwargs)
        live.span.set_attribute(GenAI.TOOL_CALL_ID, recorder.names.id_text(str(call_id)))
        return live

    def _as_declared(self, declaration: Declaration) -> ToolPlan:
        """Return the plan of a tool whose decorator says nothing and the declaration something."""
        known = self._declared
        if known is not None and known[0] is declaration:
            return known[1]
        said = declaration.tool(self.name)
        plan = self
        if said is not None:
            plan = copy(self)
            ToolPlan.__init__(
                plan,
                self.name,
                self.bind,
                kind=said.kind,
                alias=self.static.get(Trackway.TOOL_ALIAS),
                entity=said.acts_on,
                entity_type=said.entity_type,
                returns=said.establishes,
                success=self.success,
                operation_id=said.operation_id,
                description=self.static.get(GenAI.TOOL_DESCRIPTION),
            )
            plan.known_names = self.known_names
            plan._is_silent = False
        self._declared = declaration, plan
        return plan

    def read(
        self, recorder: Recorder, arguments: dict[str, Any], attributes: dict[str, Any]
    ) -> Request:
        """Read the arguments under their parameter names, and the entities that they name."""
        captured = recorder.capture.arguments(arguments, self.exempt)
        if not self.entity and self.operation_id is None:
            return Request(captured)
        refs = self._refs(arguments, "entity", self.entity, recorder)
        if refs:
            attributes[Trackway.ENTITY_REFS] = refs
        return Request(captured, self._operation_id(arguments, attributes), refs)

    def _refs(
        self, value: object, option: str, paths: Sequence[str], recorder: Recorder
    ) -> list[str]:
        found: list[str] = []
        for path in paths:
            refs = entity_refs(value, path, self.entity_type, recorder.capture.redactor)
            if not refs:
                note_missing(self.name, option, path, value)
            found.extend(refs)
        return found

    def is_seen_above(
        self, context: Context, place: Live | None, attributes: dict[str, Any]
    ) -> bool:
        """The same; the framework's name for the tool is the one that the model saw."""
        seen = super().is_seen_above(context, place, attributes)
        shown = tool_of(attributes_of(get_current_span(context))) if seen else None
        if shown is not None and shown != self.name:
            attributes.setdefault(Trackway.TOOL_ALIAS, shown)
        return seen

    def _operation_id(self, arguments: dict[str, Any], attributes: dict[str, Any]) -> str | None:
        try:
            return self._key_of(arguments)
        except BaseException as error:  # a user's function
            if goes_on(error):
                raise
            record_capture_error(f"{self.name}: operation_id", error)
            attributes[Trackway.CAPTURE_ERROR] = f"operation_id: {type_name(type(error))}"
            return None

    def _key_of(self, arguments: dict[str, Any]) -> str | None:
        declared = self.operation_id
        if declared is None:
            return None
        if callable(declared):
            value: Any = answer(declared, arguments)
        else:
            value = arguments.get(declared)
            if value is None and declared not in arguments:
                note_missing(self.name, "operation_id", declared, arguments)
        return None if value is None else text_of(value) or id_text(value)

    def result_attributes(self, live: Live, result: Any) -> dict[str, Any]:
        """Return the result, the entities that it establishes, and whether it succeeded."""
        attributes = self.partial_attributes(live, result, is_failed=False)
        if self.success is not None:
            try:
                verdict = answer(self.success, _judged(live, result))
                ok = bool(verdict)
                if ok:
                    note_verdict(self.name, verdict)
            except BaseException as error:  # a user's predicate
                if goes_on(error):
                    raise
                live.lost("success", error)
            else:
                attributes[Trackway.STEP_OK] = ok
                if not ok:
                    self.failed(live)
        return attributes

    def partial_attributes(self, live: Live, result: Any, is_failed: bool) -> dict[str, Any]:
        """The same without a verdict: the predicate is declared over whole results."""
        attributes = super().result_attributes(live, result)
        if self.returns:
            judged = _judged(live, result)
            found = self._refs(judged, "returns", self.returns, live.recorder)
            if found:
                attributes[Trackway.ENTITY_REFS] = list(dict.fromkeys([*live.refs, *found]))
        return attributes

    def error_attributes(self, live: Live) -> dict[str, Any]:
        """A call that raised did not succeed."""
        return {Trackway.STEP_OK: False}
