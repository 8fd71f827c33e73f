"""Ratios against peers, measured in one run on one machine: `python -m benchmarks`."""
