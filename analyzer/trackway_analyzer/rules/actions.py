"""Does a text claim that a tool did its work? Words for an action, taken from the tool's name.

1. A name is split into words (`refund_api.create` → refund, api, create). Words that say nothing
   of the action (`api`, `tool`, `create`, `process` …) are left aside, unless nothing else is
   left.
2. A first word that reads (`lookup`, `check` …) is claimed by its past form alone. A first word
   that is a verb of its own (`send`, `cancel`, `book` …) is claimed by its past form; any other
   word by its past form ("refunded"), or as the thing that was done ("your refund has been
   issued", "I've processed the refund", "the refund is on its way", "Refund: ✅"). So is the name
   itself ("refund_api.create succeeded"), and so are other verbs for a word ("reimbursed").
3. What counts as a claim stands in `claim_language`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final

_SILENT: Final = frozenset(
    """
    api apis tool tools service client server v1 v2 v3 the a an to by for of from in on my
    your handler action function fn call do run make create add new submit perform execute
    process issue post put place request start trigger mcp
    """.split()  # noqa: SIM905 - a word list reads better as one
)
_VERBS: Final = frozenset(
    """
    send cancel book update delete remove change modify exchange return transfer notify email
    reschedule close open reset approve reject pay charge ship schedule upload write edit
    escalate confirm register enroll subscribe unsubscribe activate deactivate suspend
    """.split()  # noqa: SIM905 - a word list reads better as one
)
_READS: Final = {
    "lookup": r"\blooked\s+up\b",
    "look": r"\blooked\b",
    "get": r"\bretrieved\b",
    "fetch": r"\bfetched\b",
    "find": r"\bfound\b",
    "search": r"\bsearched\b",
    "check": r"\bchecked\b",
    "verify": r"\bverified\b",
    "read": r"\bI(?:'ve|’ve)?\s+read\b",
    "list": r"\blisted\b",
    "query": r"\bqueried\b",
    "view": r"\bviewed\b",
    "describe": r"\bdescribed\b",
    "calculate": r"\bcalculated\b",
    "think": r"\bI\s+thought\b",
    "retrieve": r"\bretrieved\b",
}
"""Verbs of tools that only read, with what claims them."""
IRREGULAR: Final = {
    "send": "sent",
    "pay": "paid",
    "write": "written",
    "reset": "reset",
    "notify": "notified",
    "modify": "modified",
    "cancel": "cancell?ed",
    "transfer": "transferred",
    "ship": "shipped",
    "submit": "submitted",
}
"""Past participles that no rule makes, as patterns."""
_SAME: Final = {
    "refund": ("reimbursed", "credited", r"paid\s+(?:\w+\s+){0,3}back"),
    "cancel": (r"called\s+off", "voided", "terminated", "annulled"),
    "delete": ("removed", "erased"),
    "remove": ("deleted", "erased"),
    "update": ("changed", "modified", "adjusted"),
    "change": ("updated", "modified", "adjusted"),
    "modify": ("changed", "updated", "adjusted"),
    "send": ("mailed", "forwarded", "dispatched"),
    "email": ("mailed",),
    "book": ("reserved",),
    "reserve": ("booked",),
    "pay": ("settled", "transferred"),
    "charge": ("billed", "debited"),
    "exchange": ("swapped", "replaced"),
    "escalate": (r"handed\s+(?:\w+\s+){0,3}over", "forwarded"),
    "schedule": ("arranged", "booked"),
    "notify": ("informed",),
    "ship": ("dispatched",),
    "close": ("resolved",),
}
"""Other verbs for what a verb says."""
_TICK: Final = "[✅✔☑✓👍]\ufe0f?"
_DONE: Final = (
    r"(?:processed|issued|created|made|completed?|complete|done|submitted|initiated|sent|placed"
    r"|approved|confirmed|finali[sz]ed|executed|recorded|applied|posted|credited|returned|booked"
    r"|scheduled|successful(?:ly)?|underway|under\s+way|in\s+progress|on\s+(?:its|the|their)\s+way"
    r"|in\s+your\s+inbox|all\s+set|succeeded|gone\s+through|went\s+through|been\s+\w+ed)"
)

ANY_WORK: Final = (
    r"\b(?!(?:fail|declin|reject|refus|deni|expir|ne)ed\b)\w+ed\b"
    rf"|\b(?:{'|'.join(sorted(set(IRREGULAR.values())))})\b|\b\w+\b.*?\b{_DONE}\b|{_TICK}"
)
"""Pattern of what a claim of any tool's work says."""


def action_claim(text: str | None, tool: str) -> str | None:
    """Quote the sentence of a text that claims what the tool does; None: nothing claims it."""
    if not text:
        return None
    from trackway_analyzer.rules.claim_language import claims  # hundreds of patterns, rarely asked

    found = claims(text, claim_pattern(tool))
    return found[0].sentence.quote if found else None


@lru_cache(maxsize=1024)
def claim_pattern(tool: str) -> str:
    """Return the pattern of what claims that a tool did its work."""
    words = words_of(tool)
    telling = [word for word in words if word not in _SILENT] or words
    if telling[0] in _READS:
        forms = [_READS[telling[0]]]
    elif telling[0] in _VERBS:
        forms = [past(telling[0])]
        forms += [_thing(word) for word in telling[1:2] if telling[0] == "send"]
        forms += [past(word) for word in telling[1:2] if word in _VERBS]
        forms += _by_itself(tool, telling[:1])
    else:
        forms = [form for word in telling for form in (past(word), _thing(word))]
        forms += _by_itself(tool, telling)
    return "|".join(rf"(?:{form})" for form in forms)


def is_telling(tool: str) -> bool:
    """Whether a tool's name holds a word by which a text could claim its work."""
    words = words_of(tool)
    return any(len(word) > 2 and word.isascii() for word in words if word not in _SILENT)


def _by_itself(tool: str, words: Iterable[str]) -> Iterator[str]:
    """The name itself that is said to be done, and other verbs for its words."""
    yield rf"(?<!\w){re.escape(tool)}(?!\w).*?\b{_DONE}\b"
    for word in words:
        yield from (rf"\b(?:{other})\b" for other in _SAME.get(word, ()))


def reads_by_name(tool: str) -> bool:
    """Whether a tool's name begins like that of a tool that only reads."""
    words = words_of(tool)
    return bool(words) and words[0] in _READS


def words_of(tool: str) -> list[str]:
    """Lower-case words of a tool's name."""
    return [w.lower() for w in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+|[^\W\d_a-zA-Z]+", tool)]


def past(verb: str) -> str:
    """Pattern of a verb's past participle."""
    if verb in IRREGULAR:
        return rf"\b{IRREGULAR[verb]}\b"
    if verb.endswith("e"):
        return rf"\b{re.escape(verb)}d\b"
    if re.search(r"[^aeiou]y\Z", verb):
        return rf"\b{re.escape(verb[:-1])}ied\b"
    return rf"\b{re.escape(verb)}ed\b"


def _thing(noun: str) -> str:
    """Pattern of a thing that is said to be done."""
    thing = rf"\b{re.escape(noun)}s?\b"
    ticked = rf"{thing}[\s:|=–-]*{_TICK}|{_TICK}\s*(?:\w+\s+)?{thing}"
    return rf"{thing}.*?\b{_DONE}\b|\b{_DONE}\b.*?{thing}|{ticked}"
