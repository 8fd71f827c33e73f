"""Which stretches of a column are the same? They are numbered by what they hold.

A column is cut into stretches by offsets, one more than there are stretches. Two stretches have one
number if they hold the same values in the same order. Hashes find candidates, every value is then
compared: two different stretches never get one number.
"""

from __future__ import annotations

from itertools import count

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Ints = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]

TURN = np.uint64(0x9E3779B97F4A7C15)
STIR = np.uint64(0xBF58476D1CE4E5B9)


def stirred(word: Words) -> Words:
    """Spread what differs between words over all their bits."""
    word = (word ^ (word >> np.uint64(30))) * STIR
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    spread: Words = word ^ (word >> np.uint64(31))
    return spread


def distinct(values: Ints, cuts: Ints) -> tuple[Ints, Ints]:
    """Number stretches by what they hold, in the order in which it first comes.

    Returns the number of each stretch and, of each number, the first stretch that has it.
    """
    lengths = np.diff(cuts)
    places = np.arange(len(values)) - np.repeat(cuts[:-1], lengths)
    longest = int(lengths.max(initial=0)) + 1
    words = values * longest + places
    size = int(words.max(initial=0)) + 1
    few = size < len(words)
    for salt in count(1):
        # Of few different words each is stirred once.
        given = np.arange(size) if few else words
        hashes = stirred(given.astype(np.uint64) * np.uint64(2 * salt + 1) * TURN)
        sums = np.zeros(len(values) + 1, dtype=np.uint64)
        np.cumsum(hashes[words] if few else hashes, out=sums[1:])
        keys = sums[cuts[1:]] - sums[cuts[:-1]] + lengths.astype(np.uint64)
        encoded = pa.array(keys).dictionary_encode()
        number = encoded.indices.to_numpy().astype(np.int64)
        first = np.empty(len(encoded.dictionary), dtype=np.int64)
        first[number[::-1]] = np.arange(len(lengths))[::-1]
        like = first[number]
        if np.array_equal(lengths, lengths[like]) and np.array_equal(
            values, values[np.repeat(cuts[like], lengths) + places]
        ):
            return number, first
    raise AssertionError("unreachable")


def taken(cuts: Ints, chosen: Ints) -> tuple[Ints, Ints]:
    """Places of the values of chosen stretches, one stretch after the other, and their cuts."""
    lengths = np.diff(cuts)[chosen]
    own = np.zeros(len(chosen) + 1, dtype=np.int64)
    np.cumsum(lengths, out=own[1:])
    return np.arange(own[-1]) + np.repeat(cuts[chosen] - own[:-1], lengths), own
