"""Record what an LLM agent really did."""
