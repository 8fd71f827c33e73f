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
from trackway_analyzer.reconstruct.messages import quickly_parsed
from trackway_analyzer.said_no import TELLING

_MAY_TELL: Final = rf'^[^{{]|"(?:{"|".join(TELLING)})"|…|"sha256|":\s|"\s+:|\\u|{DOUBTED}'
"""What no plainly done result has in it. Behind blanks or `\\u`, the look could miss something."""


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
