"""Step-sequence assertions, the rule set and policies."""

from trackway_analyzer.rules.pattern import StepSpec
from trackway_analyzer.rules.rule import InsufficientEvidenceError, Rule, RuleViolationError
from trackway_analyzer.rules.sequence import (
    Sequence,
    StepSequenceError,
    UnknownKindWarning,
    assert_step_sequence,
)
from trackway_analyzer.rules.tools import EntitySpec, ToolSpec

__all__ = [
    "EntitySpec",
    "InsufficientEvidenceError",
    "Rule",
    "RuleViolationError",
    "Sequence",
    "StepSequenceError",
    "StepSpec",
    "ToolSpec",
    "UnknownKindWarning",
    "assert_step_sequence",
]
