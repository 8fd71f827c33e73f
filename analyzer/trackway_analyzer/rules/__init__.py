"""Step-sequence assertions, the rule set and policies."""

from trackway_analyzer.rules.budgets import Budget
from trackway_analyzer.rules.claims import Claim
from trackway_analyzer.rules.expected import ExpectedCall
from trackway_analyzer.rules.finding import Finding, Layer, Severity, State
from trackway_analyzer.rules.grounding import Grounded
from trackway_analyzer.rules.located import PolicyError
from trackway_analyzer.rules.matching import AnyOrder, AtLeast, AtMost, Exact, InOrder
from trackway_analyzer.rules.occurrence import (
    Accompanied,
    Called,
    First,
    Last,
    Never,
    NotTogether,
    Together,
)
from trackway_analyzer.rules.pattern import StepSpec
from trackway_analyzer.rules.policy import Policy
from trackway_analyzer.rules.precedence import After, Before, Immediately, NotAfter, Responds
from trackway_analyzer.rules.references import References
from trackway_analyzer.rules.rule import InsufficientEvidenceError, Rule, RuleViolationError
from trackway_analyzer.rules.safety import Allowed, Forbidden
from trackway_analyzer.rules.sequence import (
    Sequence,
    StepSequenceError,
    UnknownKindWarning,
    assert_step_sequence,
)
from trackway_analyzer.rules.tools import EntitySpec, ToolSpec
from trackway_analyzer.rules.ungrounded import find_ungrounded
from trackway_analyzer.rules.windows import AtMostOnceBetween, Between, Until

__all__ = [
    "Accompanied",
    "After",
    "Allowed",
    "AnyOrder",
    "AtLeast",
    "AtMost",
    "AtMostOnceBetween",
    "Before",
    "Between",
    "Budget",
    "Called",
    "Claim",
    "EntitySpec",
    "Exact",
    "ExpectedCall",
    "Finding",
    "First",
    "Forbidden",
    "Grounded",
    "Immediately",
    "InOrder",
    "InsufficientEvidenceError",
    "Last",
    "Layer",
    "Never",
    "NotAfter",
    "NotTogether",
    "Policy",
    "PolicyError",
    "References",
    "Responds",
    "Rule",
    "RuleViolationError",
    "Sequence",
    "Severity",
    "State",
    "StepSequenceError",
    "StepSpec",
    "Together",
    "ToolSpec",
    "UnknownKindWarning",
    "Until",
    "assert_step_sequence",
    "find_ungrounded",
]
