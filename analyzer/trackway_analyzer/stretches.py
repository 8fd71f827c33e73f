"""Which stretches of a column are the same? They are numbered by what they hold.

A column is cut into stretches by offsets, one more than there are stretches. Two stretches have one
number if they hold the same values in the same order. Hashes find candidates, every value is then
compared: two different stretches never get one number. Those that fit into 64 bits are their own
hash.
"""

from __future__ import annotations

from itertools import count

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Ints = npt.NDArray[np.int64]
Small = npt.NDArray[np.int32]
Words = npt.NDArray[np.uint64]

TURN = np.uint64(0x9E3779B97F4A7C15)
STIR = np.uint64(0xBF58476D1CE4E5B9)
_BITS = 64


def stirred(word: Words) -> Words:
    """Spread what differs between words over all their bits."""
    word = (word ^ (word >> np.uint64(30))) * STIR
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    spread: Words = word ^ (word >> np.uint64(31))
    return spread


def places_of(cuts: Ints) -> Small:
    """Of each value, its place in its stretch."""
    places: Small = np.arange(cuts[-1], dtype=np.int32)
    places -= np.repeat(cuts[:-1].astype(np.int32), np.diff(cuts))
    return places


def distinct(values: Ints | Small, cuts: Ints) -> tuple[Ints, Ints]:
    """Number stretches by what they hold, in the order in which it first comes.

    Returns the number of each stretch and, of each number, the first stretch that has it.
    """
    lengths = np.diff(cuts)
    places = places_of(cuts)
    bits = (int(values.max(initial=0)) + 1).bit_length()
    if bits * int(lengths.max(initial=0)) <= _BITS:
        return _numbered(_packed(values, places, cuts, bits))
    longest = int(lengths.max(initial=0)) + 1
    size = (int(values.max(initial=0)) + 1) * longest
    few = size < len(values)
    words = values * longest + places if few else values.astype(np.int64) * longest + places
    filled = np.flatnonzero(lengths)
    for salt in count(1):
        # Of few different words each is stirred once.
        given = np.arange(size) if few else words
        hashes = stirred(given.astype(np.uint64) * np.uint64(2 * salt + 1) * TURN)
        keys = lengths.astype(np.uint64)
        keys[filled] += np.add.reduceat(hashes.take(words) if few else hashes, cuts[filled])
        number, first = _numbered(keys)
        like = first[number]
        if (lengths == lengths[like]).all():
            places += np.repeat(cuts[like].astype(np.int32), lengths)
            if (values == values.take(places)).all():
                return number, first
            places = places_of(cuts)
    raise AssertionError("unreachable")


def _packed(values: Ints | Small, places: Small, cuts: Ints, bits: int) -> Words:
    """Each stretch as one word: no value is 0 in it, so that it tells where it ends."""
    filled = np.flatnonzero(np.diff(cuts))
    words = values.astype(np.uint64)
    words += np.uint64(1)
    words <<= (places * np.int32(bits)).astype(np.uint64)
    packed = np.zeros(len(cuts) - 1, dtype=np.uint64)
    packed[filled] = np.add.reduceat(words, cuts[filled]) if len(filled) else 0
    return packed


def _numbered(keys: Words) -> tuple[Ints, Ints]:
    """Of each key its number, in the order in which they first come, and where that is."""
    encoded = pa.array(keys).dictionary_encode()
    number = encoded.indices.to_numpy().astype(np.int64)
    first = np.empty(len(encoded.dictionary), dtype=np.int64)
    first[number[::-1]] = np.arange(len(keys))[::-1]
    return number, first


def taken(cuts: Ints, chosen: Ints) -> tuple[Ints, Ints]:
    """Places of the values of chosen stretches, one stretch after the other, and their cuts."""
    lengths = np.diff(cuts)[chosen]
    own = np.zeros(len(chosen) + 1, dtype=np.int64)
    np.cumsum(lengths, out=own[1:])
    return np.arange(own[-1]) + np.repeat(cuts[chosen] - own[:-1], lengths), own
