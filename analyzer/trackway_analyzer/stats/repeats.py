"""What several trials of one task say about further ones."""

from __future__ import annotations

from math import comb


def pass_hat_k(n: int, c: int, k: int) -> float | None:
    """Probability that k further trials of a task all succeed, estimated from c of n.

    For what a user meets who comes back k times; a single try is `k=1`. Unbiased: the share of
    subsets of k trials without a failure (tau-bench, arXiv 2406.12045, eq. 1). None where n < k:
    too few trials say nothing. Over several tasks take the mean of the tasks, never of the trials.
    Raises ValueError for counts that cannot be.
    """
    if not 0 <= c <= n:
        raise ValueError(f"expected 0 <= successes <= trials, found {c} of {n}")
    if k < 1:
        raise ValueError(f"expected k >= 1, found {k}")
    return comb(c, k) / comb(n, k) if k <= n else None
