"""What tests of recorded programs need: spans in memory, and the pytest fixture that gives them."""

from trackway.testing.memory import MemorySpans

__all__ = ["MemorySpans"]
