"""Reconstruct and check what an LLM agent really did."""

from typing import TYPE_CHECKING

from trackway_analyzer.lazy_names import lazily
from trackway_analyzer.load import load

if TYPE_CHECKING:
    from trackway_analyzer import rules, stats
    from trackway_analyzer.check import CheckReport, CheckViolationError, Verdict
    from trackway_analyzer.diff import BaselineDriftError, TrajectoryDiff, diff_trajectories
    from trackway_analyzer.model import NOT_RECORDED, Gap, Outcome, Step, Trajectory
    from trackway_analyzer.rules import (
        InsufficientEvidenceError,
        RuleViolationError,
        StepSequenceError,
        assert_step_sequence,
        find_ungrounded,
    )
    from trackway_analyzer.rules.policy import Policy
    from trackway_analyzer.trajectories import Trajectories

__getattr__ = lazily(
    __name__,
    {
        "rules": "rules",
        "rules.rule": "InsufficientEvidenceError RuleViolationError",
        "rules.sequence": "StepSequenceError assert_step_sequence",
        "rules.ungrounded": "find_ungrounded",
        "stats": "stats",
        "check": "CheckReport CheckViolationError Verdict",
        "diff": "BaselineDriftError TrajectoryDiff diff_trajectories",
        "trajectories": "Trajectories",
        "model": "NOT_RECORDED Gap Outcome Step Trajectory",
        "rules.policy": "Policy",
    },
)

__all__ = [
    "NOT_RECORDED",
    "BaselineDriftError",
    "CheckReport",
    "CheckViolationError",
    "Gap",
    "InsufficientEvidenceError",
    "Outcome",
    "Policy",
    "RuleViolationError",
    "Step",
    "StepSequenceError",
    "Trajectories",
    "Trajectory",
    "TrajectoryDiff",
    "Verdict",
    "assert_step_sequence",
    "diff_trajectories",
    "find_ungrounded",
    "load",
    "rules",
    "stats",
]
