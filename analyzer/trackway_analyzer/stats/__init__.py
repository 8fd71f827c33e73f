"""Statistics: numbers in, numbers out. Nothing here knows of runs or files."""

from trackway_analyzer.stats.repeats import pass_hat_k

__all__ = ["pass_hat_k"]
