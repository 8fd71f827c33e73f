"""A support agent that refunds orders: the example of the README, the demo and the tests."""
