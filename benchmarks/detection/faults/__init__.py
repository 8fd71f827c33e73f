"""The faults, by what goes wrong."""

from benchmarks.detection.faults.change import Change, Changes
from benchmarks.detection.faults.conduct import CONDUCT
from benchmarks.detection.faults.effects import EFFECTS
from benchmarks.detection.faults.order import ORDER
from benchmarks.detection.faults.values import VALUES

FAULTS: tuple[Change, ...] = (*ORDER, *VALUES, *EFFECTS, *CONDUCT)

__all__ = ["FAULTS", "Change", "Changes"]
