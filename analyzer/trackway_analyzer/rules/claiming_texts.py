"""Which of many final texts may claim something? A quick look, and classes of texts.

1. A text that neither matches a pattern nor leaves something out claims nothing.
2. Two texts are of one class if they both claim or do not, imply or do not, and are whole or not
   for one reason. A pattern that treats all digits alike is looked for in texts with zeros for
   digits.
"""

from __future__ import annotations

import re
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from trackway.schema import GapName
from trackway_analyzer.rules.claim_language import (
    APOSTROPHES,
    BREAKS,
    BULLET,
    HYPHENS,
    MARKDOWN,
    UNSEEN,
    claims,
    digit_blind,
    implied,
)
from trackway_analyzer.rules.gaps import NOT_RECORDED_GAP, REDACTED_GAP
from trackway_analyzer.rules.unread import left_out, may_leave_out

_ZERO: Final = np.uint8(ord("0"))
_ANCHOR: Final = re.compile(r"(?<!\\)[\^$]|\\A")
_WHOLE_OR_NOT: Final = (None, GapName.TRUNCATED_VALUE, NOT_RECORDED_GAP, REDACTED_GAP)

_IMPLIED: Final = 2 * len(_WHOLE_OR_NOT)


def claim_classes(pattern: str, texts: pa.Array) -> npt.NDArray[np.int64]:
    """Tell final texts apart as far as a claim without groups does: claims or not, cut or not."""
    like = _with_zeros(texts) if digit_blind(pattern) else texts
    encoded = like.dictionary_encode()
    classes = np.zeros(len(encoded.dictionary), dtype=np.int64)
    for row, text in claiming(pa.chunked_array([encoded.dictionary]), pattern):
        whole = _WHOLE_OR_NOT.index(left_out(text))
        says = 1 if claims(text, pattern) else _IMPLIED * (implied(text, pattern) is not None)
        classes[row] = says + 2 * whole
    found: npt.NDArray[np.int64] = classes[encoded.indices.to_numpy(zero_copy_only=False)]
    return found


def _with_zeros(texts: pa.StringArray) -> pa.StringArray:
    """Write a zero for each digit, in place of the bytes: no other sign of UTF-8 has these."""
    _, offsets, data = texts.buffers()
    if data is None:
        return texts
    signs = np.frombuffer(data, np.uint8)
    digit = signs - _ZERO  # of other signs wrapped to ten and more
    made = pa.py_buffer(signs - digit * (digit < 10))
    return pa.StringArray.from_buffers(len(texts), offsets, made, None, 0, texts.offset)


def claiming(texts: pa.ChunkedArray, pattern: str) -> list[tuple[int, str]]:
    """Runs whose text may claim something, with the text. RE2 sorts most out, where it can."""
    try:
        if _ANCHOR.search(pattern):  # it stands at the ends of a sentence, not of the text
            raise pa.ArrowInvalid
        plain = pc.replace_substring_regex(texts, UNSEEN, "")
        plain = pc.replace_substring_regex(plain, f"[{HYPHENS}]", "-")
        plain = pc.replace_substring_regex(plain, f"[{APOSTROPHES}]", "’")
        plain = pc.replace_substring_regex(plain, BREAKS, " ")
        plain = pc.replace_substring_regex(plain, BULLET, " ")
        plain = pc.replace_substring_regex(plain, MARKDOWN, "")
        plain = pc.replace_substring_regex(plain, r"[\s\p{Z}]+", " ")
        hits = pc.match_substring_regex(plain, pattern, ignore_case=True)
        rows = pc.indices_nonzero(pc.fill_null(pc.or_(hits, may_leave_out(texts)), False))
    except pa.ArrowInvalid:  # a pattern with look-around, say
        rows = pc.indices_nonzero(pc.is_valid(texts))
    return list(zip(rows.to_pylist(), texts.take(rows).to_pylist(), strict=True))
