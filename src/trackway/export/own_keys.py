"""Which keys are ours: the names of the schema, which hold no secret themselves."""

from __future__ import annotations

from typing import Final

from trackway.schema import GenAI, Trackway

_OWN_KEYS: Final = frozenset(
    value
    for owner in (GenAI, Trackway)
    for name, value in vars(owner).items()
    if name.isupper() and isinstance(value, str)
)
_OWN_PREFIXES: Final = (f"{Trackway.CONTENT_SHA256}.", f"{Trackway.FINGERPRINT}.")


def is_own_key(key: str) -> bool:
    """Tell whether our own capture writes this attribute or event, and has cleaned it."""
    return key in _OWN_KEYS or key.startswith(_OWN_PREFIXES)


def is_name_of_schema(key: str) -> bool:
    """Tell whether a key is a name of the schema, whoever wrote it."""
    return key in _OWN_KEYS
