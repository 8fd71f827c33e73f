"""Diffs of trajectories: alignment, moves, drift of values, severity."""

from trackway_analyzer.diff.diff import diff_trajectories
from trackway_analyzer.diff.learn import learn_masks
from trackway_analyzer.diff.result import BaselineDriftError, Difference, Row, TrajectoryDiff
from trackway_analyzer.diff.severity import Level, What

__all__ = [
    "BaselineDriftError",
    "Difference",
    "Level",
    "Row",
    "TrajectoryDiff",
    "What",
    "diff_trajectories",
    "learn_masks",
]
