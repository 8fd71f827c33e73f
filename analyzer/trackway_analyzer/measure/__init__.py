"""Measuring: suites of runs to tables."""

from trackway_analyzer.measure.passes import PassRate, PassSet, pass_sets

__all__ = ["PassRate", "PassSet", "pass_sets"]
