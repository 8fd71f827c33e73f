"""What of a URL is no content: scheme, host, port and path.

1. A text that is a URL as a whole loses user info, parameters (`;`), query and fragment. For query
   and fragment stands a mark: nobody is to take what remains for the whole URL.
2. So does a path alone that has a query (`/search?q=…`), and whatever stands under a key that ends
   as those of URLs do (`_ENDINGS`). Of the name of a span, each word
   with a `/` and a query.
3. What needs nothing of this is the same object.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from operator import is_
from typing import Any, Final

from trackway.schema import redaction_marker

_URL: Final = re.compile(
    r"(?P<scheme>\s*[A-Za-z][A-Za-z0-9+.-]*://)(?:[^\s/?#]*@)?(?P<place>[^\s?#;]*)(?P<rest>[?#;].*)?",
    re.DOTALL,
)
_UNDER_URL: Final = re.compile(r"(?P<place>[^?#;]*)(?P<rest>[?#;].*)", re.DOTALL)
_PATH_WITH_QUERY: Final = re.compile(r"(?P<place>/[^\s?]*)(?P<rest>\?.*)", re.DOTALL)
_NAME_WORD: Final = re.compile(r"\S+")
_ENDINGS: Final = (
    *("url", "uri", "href", "link", "target", "path", "url.full", "url.original", "endpoint"),
    *("referer", "referrer", "location"),
)
_MARK: Final = f"?{redaction_marker('query')}"


def without_query(key: str, value: Any) -> Any:
    """Return what may stand for a value with content off; of a list, item by item."""
    if isinstance(value, str):
        return _bare(key, value)
    if isinstance(value, (tuple, list)):
        items: Sequence[Any] = [without_query(key, item) for item in value]
        return value if all(map(is_, items, value)) else tuple(items)
    return value


def name_without_query(name: str) -> str:
    """Return the name of a span without the queries of the paths and URLs in it."""
    return _NAME_WORD.sub(_word, name) if "?" in name else name


def _word(found: re.Match[str]) -> str:
    place, query, rest = found[0].partition("?")
    return place + _MARK if query and rest and "/" in place else found[0]


def _bare(key: str, text: str) -> str:
    found = _URL.fullmatch(text)
    if found is not None:
        bare = found["scheme"] + found["place"]
    else:
        path = _UNDER_URL if key.lower().endswith(_ENDINGS) else _PATH_WITH_QUERY
        found = path.fullmatch(text)
        if found is None:
            return text
        bare = found["place"]
    if found["rest"]:
        bare += _MARK
    return text if bare == text else bare
