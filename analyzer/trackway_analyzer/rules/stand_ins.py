"""Does a value that a name calls secret only stand for one?

1. A mask (`********`, `[hidden]`), a reference to where it is kept (`{{vault:db}}`, `$DB_PASSWORD`,
   `${TOKEN}`), an example (`<YOUR_API_KEY>`, `your-api-key-here`).
2. Code that reads it: a dotted name (`settings.API_KEY`), a call, a type with a default, a variable
   that is called like a secret (`token = token`).
3. Prose behind a colon, with addresses in it or without (`Password: reset it here https://…`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from trackway.schema import REDACTION_MARKER

_STAND_IN: Final = re.compile(
    r"[*•●·.xX#]{3,}|[\[<(_]*(?i:redacted|hidden|masked|filtered|removed|omitted"
    r"|scrubbed[^\]]*)[\])>_]*"
    r"|\{\{[^{}]*\}\}|\$\{\{?[^{}]*\}?\}|\$[A-Z][A-Z0-9]*_[A-Z0-9_]*|%[A-Z_]+%|%\(\w+\)s"
    r"|<[A-Za-z][\w -]*>"
    r"|(?:vault|secret|env|ssm|op|keyring|aws-sm|gcp-sm)s?:(?://)?[\w./:@-]+"
    r"|(?:[Yy]our|YOUR|[Mm]y|MY|some|insert|enter|replace|change|example|dummy|fake|test)"
    r"[-_ ](?:[a-zA-Z]+[-_ ]?)+",
)
_CODE: Final = re.compile(
    r"(?:await\s+|new\s+|return\s+)?[A-Za-z_][\w]*(?:\??\.[A-Za-z_]\w*)+(?:[(\[].*)?"
    r"|(?:await|new)(?:\s.*)?|[A-Za-z_][\w.]*\s*[(\[].*|[A-Za-z_][\w.\[\], |]*\s*=\s*\S.*"
    r"|(?i:str|string|bytes|text|optional)",
    re.DOTALL,
)
_CALLED_SO: Final = re.compile(
    r"\w*(?:password|passwd|token|secret|api_?key|credentials?)\w*(?<!\d)", re.IGNORECASE
)
_LINK: Final = re.compile(r"https?://\S+")


def stands_for_a_secret(value: object) -> bool:
    """Whether a whole value is a mask, a reference or an example."""
    return isinstance(value, str) and _STAND_IN.fullmatch(value.strip()) is not None


def is_no_assignment(taken_out: str) -> bool:
    """Whether what was set in a text is no secret but code, prose or a stand-in for one."""
    bare = taken_out.strip().strip("\"'`;,").strip()
    if stands_for_a_secret(bare) or _CODE.fullmatch(bare) or _CALLED_SO.fullmatch(bare):
        return True
    words = _LINK.sub("", bare).split()
    return _LINK.search(bare) is not None and all(word.strip(".,:;!?").isalpha() for word in words)


def taken_out(text: str, clean: str) -> Iterator[str]:
    """What stood where the markers of a redacted text stand, as far as its neighbours tell."""
    pieces = REDACTION_MARKER.split(clean)[::2]
    at = len(pieces[0])
    for piece in pieces[1:]:
        end = text.find(piece, at) if piece else len(text)
        end = len(text) if end < 0 else end
        yield text[at:end]
        at = end + len(piece)
