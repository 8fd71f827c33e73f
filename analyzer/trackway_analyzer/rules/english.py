"""Is a text English? Only then do the words that claim or deny something mean anything to a rule.

1. A text is English if more of its words are common in English than in the languages that share
   its letters; a text without words says nothing in any language.
2. A text of a word or two that is common in neither is no English that can be told.
"""

from __future__ import annotations

import re
from typing import Final

_WORD: Final = re.compile(r"[^\W\d_]{2,}|\bI\b")
_ENGLISH: Final = frozenset(
    """
    I the your you has have been not and of for with this that it its my our we are were could would
    cannot is was be to in on at by as from but or if so do does did will can no yes please thanks
    thank hello hi bye goodbye welcome sorry ok okay done sure understood unfortunately anything
    else good great all set any more here there nothing again later now today tomorrow yet still
    failed declined order refund refunded issued sent email customer there's it's I'm
    """.split()  # noqa: SIM905 - a word list reads better as one
)
_OTHERS: Final = frozenset(
    """
    le la les je vous nous votre vos est été avons ai des du une un pour et pas sur au aux ce cette
    der die das ich sie ihr ihre ihnen wurde wird haben habe nicht und ein eine einen ist für mit
    von el los las su se ha sido hemos por para con del al una esta este lo que
    il gli stato stata abbiamo suo sua non di della del per
    os você seu sua foi não uma em dos das ao
    het een uw wij ik niet zijn naar van voor is de je op
    jag din har inte och det ett vi er ikke til
    """.split()  # noqa: SIM905 - a word list reads better as one
)


def is_english(text: str) -> bool:
    """Whether a text is English, as far as its common words tell."""
    words = [word if word == "I" else word.lower() for word in _WORD.findall(text)]
    english = sum(word in _ENGLISH for word in words)
    others = sum(word in _OTHERS for word in words)
    return not words or english > others
