"""What is lost, doubled or held up on every way out of a process and under every fault."""
