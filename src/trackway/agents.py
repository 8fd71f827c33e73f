"""An agent: the one thing that can be a run by itself.

1. Called outside any run, or after its run has ended, an agent opens one: its span is the run span,
   with the arguments as input and a text result as final text.
2. Inside a run it is a sub-agent. The outermost one lends a run that a block opened its input and
   its final text, where the run was given none.
"""

from __future__ import annotations

from typing import Any

from opentelemetry.context import Context
from opentelemetry.trace import SpanKind

from trackway.binding import Binder
from trackway.capture import Captured, record_capture_error
from trackway.capture.storage import type_name
from trackway.driving import Opened
from trackway.faults import goes_on
from trackway.fields import is_a
from trackway.plans import UNREAD, Args, Kwargs, changed
from trackway.recording import Recorder, put, put_text
from trackway.run import Run, new_identity
from trackway.schema import SCHEMA_VERSION, GenAI, Trackway
from trackway.spans import NOTHING, Live, Plan
from trackway.unrecorded import Unrecorded


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
            if not run.recording:
                return Unrecorded(run, context)
            outer = run.attributes
        fixed = self.fixed(recorder)
        inherited = {**outer, GenAI.AGENT_NAME: fixed[GenAI.AGENT_NAME]}
        live = Live(self, recorder, run, inherited)
        live.root = root
        live.outermost = not root and GenAI.AGENT_NAME not in outer
        attributes = {**inherited, **fixed}
        captured = self._read(recorder, args, kwargs, attributes)
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

    def _read(
        self, recorder: Recorder, args: Args, kwargs: Kwargs, attributes: dict[str, Any]
    ) -> Captured:
        try:
            return recorder.capture.arguments(self.bind(*args, **kwargs))
        except BaseException as error:  # user objects run in here
            if goes_on(error):
                raise
            record_capture_error(f"{self.name}: arguments", error)
            attributes[Trackway.CAPTURE_ERROR] = f"arguments: {type_name(type(error))}"
            return UNREAD

    def _new_run(self, recorder: Recorder) -> Run:
        fields = dict(recorder.defaults)
        if self.version is not None:
            fields["version"] = recorder.names.name(self.version)
        identity = new_identity(**fields)
        return Run(identity, recording=recorder.keep is None or recorder.keep(identity.run_id))

    def result_attributes(self, live: Live, result: Any) -> dict[str, Any]:
        """Return the final text; other results as JSON."""
        attributes = changed(live)
        capture = live.recorder.capture
        if is_a(result, str):
            put_text(attributes, Trackway.OUTPUT, "output", capture, result)
            if live.outermost and live.run is not None:
                live.run.lend(final=attributes)
        else:
            put(attributes, Trackway.OUTPUT, "output", capture.value(result))
        return attributes
