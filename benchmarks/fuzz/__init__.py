"""Fuzzing of every reader: `python -m benchmarks.fuzz --count 1000000`."""
