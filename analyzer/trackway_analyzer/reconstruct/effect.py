"""Did a recorded call take effect? `happened` holds the rules; here a result is still a text.

Most results are objects with nothing in them that could say no. One look at all texts at once finds
them (`plainly_done`): none has a member, a word or a mark that `happened` asks about, nor is spelt
so that the look could miss one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from trackway.schema import StepKind
from trackway_analyzer.happened import happened
from trackway_analyzer.model import NOT_RECORDED
from trackway_analyzer.reads_as_failure import DOUBTED
from trackway_analyzer.reconstruct.columns import Mask
from trackway_analyzer.reconstruct.messages import quickly_parsed
from trackway_analyzer.said_no import TELLING

_MAY_TELL: Final = rf'^[^{{]|"(?:{"|".join(TELLING)})"|…|"sha256|":\s|"\s+:|\\u|{DOUBTED}'
"""What no plainly done result has in it. Behind blanks or `\\u`, the look could miss something."""


_FROM_OUTSIDE: Final = (
    r"(?i)(?:^|\.)(?:\w*(?:cancell?ed|time_?out|timed_?out|timelimit)\w*"
    r"|SystemExit|KeyboardInterrupt|GeneratorExit)$"
)
_NOTHING_SENT: Final = r"(?i)(?:connect(?:ion)?|pool)_?timeout"


def cut_off(error_types: pa.Array, kinds: pa.Array) -> Mask:
    """Tell of calls that raised whether they were ended from outside: cancelled, out of time.

    What they had set going may have gone through. A lookup had nothing, and neither has a call that
    got no connection.
    """
    names = pc.fill_null(pc.cast(error_types, pa.string()), "")
    looks = pc.fill_null(pc.equal(pc.cast(kinds, pa.string()), StepKind.LOOKUP.value), False)
    is_cut = pc.and_not(
        pc.match_substring_regex(names, _FROM_OUTSIDE),
        pc.or_(pc.match_substring_regex(names, _NOTHING_SENT), looks),
    )
    found: Mask = is_cut.to_numpy(zero_copy_only=False)
    return found


def took_effect(
    result: str | None,
    kind: str | None,
    *,
    raised: bool,
    declared: bool | None = None,
    tool: str | None = None,
    arguments: str | None = None,
) -> bool | None:
    """Return whether a call took effect; None where the record leaves it open."""
    if declared is not None:
        return declared
    return happened(
        NOT_RECORDED if result is None else quickly_parsed(result),
        raised=raised,
        lookup=kind == StepKind.LOOKUP,
        mutation=kind in (StepKind.MUTATE, StepKind.NOTIFY),
        tool=tool,
        arguments=NOT_RECORDED if arguments is None else quickly_parsed(arguments),
    )


def plainly_done(results: pa.Array) -> list[bool]:
    """Tell of texts, none of them null, which are objects that say that their call took effect."""
    quick = pc.invert(pc.match_substring_regex(results, _MAY_TELL))
    return [
        plain and isinstance(quickly_parsed(text), Mapping)
        for plain, text in zip(quick.to_pylist(), results.to_pylist(), strict=True)
    ]
