"""Reconstruct and check what an LLM agent really did."""
