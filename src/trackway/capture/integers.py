"""What stands for an integer: OTLP, Arrow and most readers of JSON have 64 bits for one.

1. One of 64 bits stands for itself.
2. Another is the text of its digits; one of more than 4,096 bits its size.
"""

from __future__ import annotations

from typing import Any, Final

from trackway.capture.limits import ELLIPSIS
from trackway.capture.plain import INTEGER_BOUND

LONGEST_BITS: Final = 4096
"""Bits of which the digits are written: Python takes quadratic time for them."""


def whole(value: int) -> int | str:
    """Return an integer of 64 bits, or the text that stands for another."""
    if -INTEGER_BOUND <= value < INTEGER_BOUND:
        return value
    bits = value.bit_length()
    return (
        int.__repr__(value)
        if bits <= LONGEST_BITS
        else f"{ELLIPSIS}[truncated integer of {bits} bits]"
    )


def is_whole(value: Any) -> bool:
    """Whether a value may stand as it is: it is no integer beyond 64 bits."""
    return not isinstance(value, int) or -INTEGER_BOUND <= value < INTEGER_BOUND
