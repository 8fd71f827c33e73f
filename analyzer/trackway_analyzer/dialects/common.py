"""What a span of any dialect may carry: the run's identity, the session, the error's type.

Session ids stand in five places; the order is: the conversation id of the conventions,
`session.id`, then what frameworks call it. A transport's or a project's session id is none.
"""

from __future__ import annotations

from typing import Final

from trackway.schema import SPAN_COLUMNS, GenAI
from trackway_analyzer.dialects.dialect import Dialect, Fields, Marks
from trackway_analyzer.dialects.values import says

_OURS: Final[Fields] = {
    column.name: (column.attribute,)
    for column in SPAN_COLUMNS
    if column.attribute is not None and column.attribute.startswith("trackway.")
}

COMMON: Final = Dialect(
    name="common",
    marks=Marks(),
    fields={
        **_OURS,
        "session_id": (
            GenAI.CONVERSATION_ID,
            GenAI.SESSION_ID,
            "traceloop.association.properties.session_id",
            "traceloop.association.properties.thread_id",
            "langsmith.metadata.session_id",
            "langsmith.metadata.thread_id",
            "langsmith.metadata.conversation_id",
            "gcp.vertex.agent.session_id",
            "ai.telemetry.metadata.sessionId",
            "ai.settings.context.sessionId",
        ),
        "agent": (GenAI.AGENT_NAME,),
        "failed": (
            ("gen_ai.tool.status", says("error")),
            ("langfuse.observation.level", says("ERROR")),
        ),
        "error_type": (GenAI.ERROR_TYPE,),
    },
)
