"""Step-sequence assertions, the rule set and policies."""

from typing import TYPE_CHECKING

from trackway_analyzer.lazy_names import lazily

if TYPE_CHECKING:
    from trackway_analyzer.rules.admits_failure import AdmitsFailure
    from trackway_analyzer.rules.answers import Answer
    from trackway_analyzer.rules.approvals import Approved
    from trackway_analyzer.rules.arguments import Arguments
    from trackway_analyzer.rules.budgets import Budget
    from trackway_analyzer.rules.claims import Claim
    from trackway_analyzer.rules.counts import Count
    from trackway_analyzer.rules.effects import Effects, Outcome
    from trackway_analyzer.rules.expected import ExpectedCall
    from trackway_analyzer.rules.finding import Finding, Layer, Severity, State
    from trackway_analyzer.rules.grounding import Grounded
    from trackway_analyzer.rules.located import PolicyError
    from trackway_analyzer.rules.loops import NoLoops
    from trackway_analyzer.rules.matching import AnyOrder, AtLeast, AtMost, Exact, InOrder
    from trackway_analyzer.rules.obligations import Continuity, Deadline, Routed
    from trackway_analyzer.rules.occurrence import (
        Accompanied,
        Called,
        First,
        Last,
        Never,
        NotTogether,
        Together,
    )
    from trackway_analyzer.rules.partial_order import PartialOrder
    from trackway_analyzer.rules.pattern import StepSpec
    from trackway_analyzer.rules.policy import Policy, PolicyWarning
    from trackway_analyzer.rules.precedence import After, Before, Immediately, NotAfter, Responds
    from trackway_analyzer.rules.references import References
    from trackway_analyzer.rules.result_used import ResultUsed
    from trackway_analyzer.rules.rule import InsufficientEvidenceError, Rule, RuleViolationError
    from trackway_analyzer.rules.safety import Allowed, Forbidden
    from trackway_analyzer.rules.secrets import NoSecrets
    from trackway_analyzer.rules.sequence import (
        Sequence,
        StepSequenceError,
        UnknownKindWarning,
        assert_step_sequence,
    )
    from trackway_analyzer.rules.status import Executed, Recovered
    from trackway_analyzer.rules.step_regex import StepRegex
    from trackway_analyzer.rules.terminal import Terminal
    from trackway_analyzer.rules.tools import EntitySpec, ToolSpec
    from trackway_analyzer.rules.ungrounded import find_ungrounded
    from trackway_analyzer.rules.windows import AtMostOnceBetween, Between, Until

__getattr__ = lazily(
    __name__,
    {
        "admits_failure": "AdmitsFailure",
        "answers": "Answer",
        "approvals": "Approved",
        "arguments": "Arguments",
        "budgets": "Budget",
        "claims": "Claim",
        "counts": "Count",
        "effects": "Effects Outcome",
        "expected": "ExpectedCall",
        "finding": "Finding Layer Severity State",
        "grounding": "Grounded",
        "located": "PolicyError",
        "loops": "NoLoops",
        "matching": "AnyOrder AtLeast AtMost Exact InOrder",
        "obligations": "Continuity Deadline Routed",
        "occurrence": "Accompanied Called First Last Never NotTogether Together",
        "partial_order": "PartialOrder",
        "pattern": "StepSpec",
        "policy": "Policy PolicyWarning",
        "precedence": "After Before Immediately NotAfter Responds",
        "references": "References",
        "rule": "InsufficientEvidenceError Rule RuleViolationError",
        "safety": "Allowed Forbidden",
        "secrets": "NoSecrets",
        "sequence": "Sequence StepSequenceError UnknownKindWarning assert_step_sequence",
        "result_used": "ResultUsed",
        "status": "Executed Recovered",
        "step_regex": "StepRegex",
        "terminal": "Terminal",
        "tools": "EntitySpec ToolSpec",
        "ungrounded": "find_ungrounded",
        "windows": "AtMostOnceBetween Between Until",
    },
)

__all__ = [
    "Accompanied",
    "AdmitsFailure",
    "After",
    "Allowed",
    "Answer",
    "AnyOrder",
    "Approved",
    "Arguments",
    "AtLeast",
    "AtMost",
    "AtMostOnceBetween",
    "Before",
    "Between",
    "Budget",
    "Called",
    "Claim",
    "Continuity",
    "Count",
    "Deadline",
    "Effects",
    "EntitySpec",
    "Exact",
    "Executed",
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
    "NoLoops",
    "NoSecrets",
    "NotAfter",
    "NotTogether",
    "Outcome",
    "PartialOrder",
    "Policy",
    "PolicyError",
    "PolicyWarning",
    "Recovered",
    "References",
    "Responds",
    "ResultUsed",
    "Routed",
    "Rule",
    "RuleViolationError",
    "Sequence",
    "Severity",
    "State",
    "StepRegex",
    "StepSequenceError",
    "StepSpec",
    "Terminal",
    "Together",
    "ToolSpec",
    "UnknownKindWarning",
    "Until",
    "assert_step_sequence",
    "find_ungrounded",
]
