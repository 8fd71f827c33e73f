"""Reconstruct and check what an LLM agent really did."""

from trackway_analyzer import rules, stats
from trackway_analyzer.check import CheckReport, CheckViolationError, Verdict
from trackway_analyzer.diff import BaselineDriftError, TrajectoryDiff, diff_trajectories
from trackway_analyzer.load import Trajectories, load
from trackway_analyzer.model import NOT_RECORDED, Gap, Outcome, Step, Trajectory
from trackway_analyzer.rules import (
    InsufficientEvidenceError,
    RuleViolationError,
    StepSequenceError,
    assert_step_sequence,
    find_ungrounded,
)
from trackway_analyzer.rules.policy import Policy

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
