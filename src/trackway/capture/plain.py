"""Whether JSON knows a value as it is, so that it can be written in one go.

1. Plain is: exact dict with str keys, list, tuple, str, int of 64 bits, float, bool and None; no
   key denied or longer than 256; no deeper than the limit; within the budget.
2. The budget, in characters: a string in a container costs twice its length (four times where it
   is not ASCII), one alone its length, each element of a list 40, each entry of a dict 80; an
   integer 40 and a float 160 besides.
3. Strings are not looked into, floats may be NaN: what writes the value finds out.
"""

from __future__ import annotations

from typing import Any, Final

from trackway.capture.redact import Redactor
from trackway.capture.text import json_length

INTEGER_BOUND: Final = 1 << 63
_ELEMENT_COST: Final = 40
_ENTRY_COST: Final = 80
_INTEGER_COST: Final = 40
_FLOAT_COST: Final = 160
_LONGEST_KEY: Final = 256
_SHORT: Final = 4096
_TEXT_COST: Final = 2
_MOST_BYTES: Final = 4
"""UTF-8 bytes of a character."""


class EveryKeySafe:
    """Stands for a redactor where there is none: no key is denied."""

    safe_keys: Final = frozenset[str]()

    def learn(self, _key: str) -> bool:
        """Return True."""
        return True


EVERY_KEY_SAFE: Final = EveryKeySafe()


def is_plain(value: Any, room: int, depth: int, keys: Redactor | EveryKeySafe) -> bool:
    """Whether a value is plain, within `room` characters and `depth` levels of containers."""
    kind = type(value)
    if kind is dict or kind is list or kind is tuple:
        return _plain_room(value, room, depth, keys) >= 0
    if kind is str:
        if not value.isascii():
            return len(value) <= room // _MOST_BYTES
        return len(value) <= room and (len(value) <= _SHORT or json_length(value) <= room)
    if kind is int:
        return bool(-INTEGER_BOUND <= value < INTEGER_BOUND)
    return kind is float or kind is bool or value is None


def _plain_room(value: Any, room: int, depth: int, keys: Redactor | EveryKeySafe) -> int:
    """Return what is left of `room` after a container, or -1 where it is not plain."""
    kind = type(value)
    if kind is dict:
        room -= _ENTRY_COST * len(value)
        if room < 0:
            return -1
        safe = keys.safe_keys
        for key in value:
            if type(key) is not str:
                return -1
            if key not in safe and (len(key) > _LONGEST_KEY or not keys.learn(key)):
                return -1
        members = value.values()
    elif kind is list or kind is tuple:
        room -= _ELEMENT_COST * len(value)
        members = value
    else:
        return -1
    if room < 0 or depth == 0:
        return -1
    for member in members:
        kind = type(member)
        if kind is str:
            room -= (_TEXT_COST if member.isascii() else _MOST_BYTES) * len(member)
        elif kind is int:
            if not -INTEGER_BOUND <= member < INTEGER_BOUND:
                return -1
            room -= _INTEGER_COST
        elif kind is float:
            room -= _FLOAT_COST
        elif kind is not bool and member is not None:
            room = _plain_room(member, room, depth - 1, keys)
            if room < 0:
                return -1
    return room
