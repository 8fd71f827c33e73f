"""pass^k of one task: against its definition, against scipy, and undefined where trials lack."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import hypergeom

from trackway_analyzer.stats import pass_hat_k


@pytest.mark.parametrize(
    ("n", "c", "k", "expected"),
    [(8, 7, 4, 0.5), (8, 6, 4, 3 / 14), (20, 19, 8, 0.6), (4, 4, 4, 1.0), (4, 1, 2, 0.0)],
)
def test_known_values(n: int, c: int, k: int, expected: float) -> None:
    assert pass_hat_k(n, c, k) == pytest.approx(expected, abs=1e-12)


@given(st.lists(st.booleans(), min_size=1, max_size=9), st.integers(1, 9))
def test_it_is_the_share_of_subsets_without_a_failure(trials: list[bool], k: int) -> None:
    subsets = list(combinations(trials, k))
    expected = sum(map(all, subsets)) / len(subsets) if subsets else None
    assert pass_hat_k(len(trials), sum(trials), k) == pytest.approx(expected)


@given(st.integers(1, 300), st.data())
def test_it_is_a_hypergeometric_probability(n: int, data: st.DataObject) -> None:
    c, k = data.draw(st.integers(0, n)), data.draw(st.integers(1, n))
    drawn_all_good = hypergeom(M=n, n=c, N=k).pmf(k)
    assert pass_hat_k(n, c, k) == pytest.approx(drawn_all_good, rel=1e-6, abs=1e-12)


def test_fewer_trials_than_k_say_nothing() -> None:
    assert pass_hat_k(3, 3, 4) is None
    assert pass_hat_k(0, 0, 1) is None


@pytest.mark.parametrize(("n", "c", "k"), [(3, 4, 1), (3, -1, 1), (3, 1, 0), (-1, 0, 1)])
def test_impossible_counts_raise(n: int, c: int, k: int) -> None:
    with pytest.raises(ValueError, match="expected"):
        pass_hat_k(n, c, k)
