"""The answer of a streamed run, where an instrumentor writes the whole stream in its place.

OpenInference's smolagents joins the printed items of `agent.run(..., stream=True)`; the last one is
`FinalAnswerStep(output=…)` (smolagents 1.26). Its output is the answer.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any, Final

SCOPE: Final = "openinference.instrumentation.smolagents"
OUTPUT: Final = "output.value"
_LAST: Final = "FinalAnswerStep(output="


def streamed_answer(present: Mapping[str, Any]) -> str | None:
    """Return the answer at the end of a printed stream; None where there is no such stream."""
    printed = present.get(OUTPUT)
    if not isinstance(printed, str) or not printed.endswith(")"):
        return None
    at = printed.rfind(_LAST)
    if at < 0:
        return None
    answer = printed[at + len(_LAST) : -1]
    try:
        said = ast.literal_eval(answer)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return answer
    return said if isinstance(said, str) else answer
