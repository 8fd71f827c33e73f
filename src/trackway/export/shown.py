"""What of a text may stand in the log: no secret, and of a URL neither user info nor query."""

from __future__ import annotations

import re
from typing import Final

from trackway.capture import DEFAULT_REDACTOR

_USER_INFO: Final = re.compile(r"(?<=://)[^\s/?#\"']*@")
_QUERY: Final = re.compile(r"(?<=[^\s?])\?[^\s\"'<>),;]+")


def shown(told: object) -> str:
    """Return the text of an address or a complaint as it may stand in the log."""
    text = str(told)
    # First the queries, whole: a marker would break them in two.
    return DEFAULT_REDACTOR.text(_USER_INFO.sub("", _QUERY.sub("", text)))[0]
