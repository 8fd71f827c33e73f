"""In which words did a call say that it took no effect, or leave it open?"""

from __future__ import annotations

from trackway_analyzer.answers_no import answers_no
from trackway_analyzer.happened import UNNAMED_ERRORS
from trackway_analyzer.model import JsonValue
from trackway_analyzer.reads_as_failure import doubtful_member
from trackway_analyzer.rules.evidence import Evidence
from trackway_analyzer.rules.expression import Expression
from trackway_analyzer.rules.scope import StepScope
from trackway_analyzer.rules.sentences import because, hidden_value, step
from trackway_analyzer.rules.terms import Hidden, Source
from trackway_analyzer.rules.tools import LOOKUP, MUTATE, NOTIFY
from trackway_analyzer.rules.values import shown
from trackway_analyzer.said_no import call_of, leaving_open, refusing


def no_effect(evidence: Evidence, row: int, success: Expression | None = None) -> str:
    """Say why a call took no effect: `step 3 refund did not take effect: status "failed"`."""
    name = f"{step(evidence, row)} did not take effect"
    error = evidence.error_type[row]
    if error is not None:
        if error in UNNAMED_ERRORS:
            return f"{name}: it failed; the kind of error was not recorded"
        return f"{name}: it raised {error}"
    why = undeclared(evidence, row, success)
    if why:
        return f"{name}{why}"
    result = evidence.result(row)
    return f"{name}{_refusal(result.value)}" if isinstance(result, Source) else name


def undeclared(evidence: Evidence, row: int, success: Expression | None = None) -> str:
    """Say in what a call differs from the `success` that is declared; empty: in nothing."""
    success = success or evidence.spec_of(row).success
    if success is None or evidence.error_type[row] is not None:
        return ""
    scope = StepScope(evidence, row)
    truth = success.truth(scope)
    if truth is True or isinstance(truth, Hidden):
        return ""
    return f": {because(evidence, success.because(scope))}"


def open_end(evidence: Evidence, row: int) -> str:
    """Say why nobody knows whether a call took effect: `… may not have: status "pending"`."""
    name, result = step(evidence, row), evidence.result(row)
    if isinstance(result, Hidden):
        return hidden_value(result, f"the result of {name}")
    hidden, value = result.cut or result.redacted, result.value
    said = ""
    if isinstance(value, dict):
        kind = evidence.kind[row]
        call = call_of(evidence.tool[row], lookup=kind == LOOKUP, mutation=kind in (MUTATE, NOTIFY))
        said = (
            leaving_open(value, call) or doubtful_member(value, call) or answers_no(value)
        ) or "status"
    if isinstance(value, dict) and said in value:
        return f"{name} may not have taken effect: {said} {shown(value[said])}"
    if hidden is not None:
        return hidden_value(hidden, f"a value of the result of {name}")
    if isinstance(value, dict):
        return f"{name} may not have taken effect: its result does not say"
    return f"{name} may not have taken effect: it answered {shown(value)}"


def _refusal(result: JsonValue) -> str:
    if isinstance(result, str):
        return f": it answered {shown(result)}"
    if not isinstance(result, dict):
        return ""
    key = refusing(result) or "status"
    return f": {key} {shown(result[key])}" if key in result else ""
