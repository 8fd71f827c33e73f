"""Forms of English that take a claim back or let it stand, as patterns of `claim_language`."""

from __future__ import annotations

import re
from typing import Final

_WORDS = re.IGNORECASE
SENTENCE_END: Final = re.compile(
    r"(?<=[.!?…])[\"')\]*_]*\s+|\s*\n\s*\n\s*|[^\S\n]*\n(?![^\S\n]*[a-z])\s*"
)
ABBREVIATION: Final = re.compile(
    r"(?:\b(?:no|nos|mr|mrs|ms|dr|st|vs|approx|ref|e\.g|i\.e|inc|ltd|co))\.[\"')\]*_]*\Z", _WORDS
)
BOUNDARY: Final = re.compile(
    r"(?<!\d),|,(?!\d)|[;:](?!\d)|\s[-–—]+\s|—|[()]"
    r"|\s(?=(?:and|but|so(?!\s+far\b)|then|because|although|though|however|while)\b)"
    r"|\s(?=yet\s+(?:I|we|you|it|they|the|your|this)\b)"
    r"|\s(?=(?:that|which|who)\s+(?:will|should|can|may|might|would|could)\b)",
    _WORDS,
)
GOES_ON: Final = re.compile(r"\s*(?:been|being|be)\b", _WORDS)
"""How a clause goes on after an insertion between commas."""
PASSIVE: Final = re.compile(r"\b(?:be|been|being)\s+(?:\w+\s+)?\w+(?:ed|en|id)\s*\Z", _WORDS)
SAME_VERB: Final = re.compile(r"\s*and\s+(?:\w+ly\s+|then\s+)?\Z", _WORDS)
"""`will be cancelled and refunded`: the second participle has the verb of the first."""
ASSURED: Final = re.compile(
    r"\s*(?:(?:and|but|so|also|just|yes)\s+)*(?:"
    r"(?:(?:I|we)(?:['’](?:m|re|d)|\s+(?:am|are|would|was|were))?\s+|it['’]?s?\s+(?:is\s+)?my\s+)?"
    r"(?:just\s+)?(?:can|able\s+to|(?:happy|glad|pleased|delighted|pleasure|like|love|want|wanted"
    r"|writing)\s+to|this\s+is\s+to|let\s+me|allow\s+me\s+to)\s+(?:now\s+|also\s+|gladly\s+)?"
    r"(?:confirm|report|say|announce|share|assure\s+you|tell\s+you|inform\s+you|advise\s+you"
    r"|let\s+you\s+know|notify\s+you)"
    r"|(?:I\s+(?:hope|trust)\s+)?you(?:['’](?:ll|re)|\s+(?:will|are))\s+(?:be\s+)?"
    r"(?:glad|happy|pleased|relieved|delighted)\s+to\s+(?:know|hear|learn|see)"
    r"|(?:please|kindly)\s+(?:note|know|rest\s+assured|be\s+(?:advised|aware|informed|assured))"
    r"|you\s+(?:can|may)\s+(?:be\s+sure|rest\s+assured)"
    r"|you\s+(?:can|may|will|should)\s+(?:see|notice|find)(?=\s+that\b)"
    r")(?:\s+that)?\s+(?!to\b)",
    _WORDS,
)
"""Words that affirm the clause after them, whatever verb they have themselves."""
NOT: Final = re.compile(
    r"\b(?:not(?!\s+(?:only|just|merely)\b)|never|cannot|unable|neither|nor|hardly)\b"
    r"|n['’]t\b(?!\s+(?:only|just|merely)\b)"
    r"|\b(?:failed|fails|failing|refused?|declined?|refuses|unwilling|yet)\s+to\b"
    r"|\b(?:still|remains?)\s+to\s+be\b|\bno\s+longer\b",
    _WORDS,
)
NO: Final = re.compile(r"\b(?:no|none|nothing|nobody|without|instead\s+of|rather\s+than)\b", _WORDS)
FAILED: Final = re.compile(
    r"\b(?:failed|fails|failure|unsuccessful(?:ly)?|declined|rejected|denied|blocked|on\s+hold"
    r"|impossible|ineligible|refused|pending\s+(?:approval|review)|awaiting|errored)\b",
    _WORDS,
)
CONDITION: Final = re.compile(
    r"\b(?:if|once|when(?:ever)?|unless|until|till|after|before|whether|provided|assuming"
    r"|as\s+soon\s+as|in\s+case|should\s+(?:you|we|it|the|your|this)|as\s+though|as\s+if"
    r"|suppose|supposing|had\s+(?:I|we|you|it|the)|only\s+(?:within|for|where))\b",
    _WORDS,
)
PRESENT: Final = re.compile(
    r"\b(?:is|are|gets?|get)\b(?!\s+(?:on\s+(?:its|the)\s+way|now))", _WORDS
)
MODAL: Final = re.compile(
    r"\b(?:will|shall|would|could|can|may|might|should|must|ought)\b|['’](?:ll|d)\b(?!\s+been)"
    r"|\b(?:need(?:s|ed)?|want(?:s|ed)?|wish(?:es)?|tr(?:y|ying|ied)|attempt(?:s|ing|ed)?"
    r"|hop(?:e|es|ing)|intend(?:s|ing)?|have|has|(?<!was\s)(?<!were\s)(?<!been\s)able)\s+to\b"
    r"|\b(?:let\s+me|let['’]s|allow\s+me|please|in\s+order\s+to)\b",
    _WORDS,
)
TO_COME: Final = re.compile(
    r"\b(?:going|about|ready|happy|glad|plan(?:s|ned|ning)?|expect(?:s|ed|ing)?|due|scheduled"
    r"|supposed|likely|set|eligible)\s+to\b",
    _WORDS,
)
FINITE: Final = re.compile(r"\b(?:has|have|had|was|were|is|are|been|went)\b|['’](?:s|ve)\b", _WORDS)
REPORTED: Final = re.compile(
    r"\b(?:you|they|he|she|customer|user|client|policy|e?-?mail)\s+(?:\w+\s+)?"
    r"(?:(?:said|say|says|mention(?:ed|s)?|told|tell|claim(?:ed|s)?|ask(?:ed|s)?|wrote"
    r"|report(?:ed|s)?|believe[ds]?|think|thought|requires?|states?)\b(?:\s+(?:me|us))?"
    r"\s+(?:that|whether|if)\b|(?:said|say|says|mention(?:ed|s)?|told|claim(?:ed|s)?|wrote"
    r"|believe[ds]?|think|thought)\b(?:\s+(?:me|us))?"
    r"\s+(?:it|I|we|he|she|they|you|the|this|that|your|my|our|an?)\b)"
    r"|\b(?:example|hypothetical(?:ly)?|imagine|pretend)\b",
    _WORDS,
)
OWN_WORDS: Final = re.compile(r"(?:[,;]|\b(?:so|and|but|then))\s+(?:so\s+)?(?:I|we)\b", _WORDS)
"""Where the text speaks for itself again after what somebody said."""
ASKS: Final = re.compile(
    r"\s*(?:(?:and|but|so|or)\s+)?(?:(?:is|are|was|do|does|did|has|have|can|could|will|would|shall"
    r"|should|may|what|how|which|who|where|when|why|any|anything)\b(?!\s+(?:that|it|this)\b)"
    r"(?!['’]t\b))",
    _WORDS,
)
"""How a question begins that is no tag to what was said before."""
GENERAL: Final = re.compile(
    r"\s*(?:and\s+|but\s+)?(?:only|any|every|each|most)\b(?!.*\b(?:now|already|your)\b)"
    r".*\b(?:is|are|gets?)\b"
    r"|\s*(?:and\s+|but\s+)?(?!(?:you|your|we|they|the|these|those|both|all|my|our)\b)"
    r"(?:[a-z]+\s+){1,3}are\s+(?!now\b|already\b|on\b|being\b)"
    r"|.*\b(?:is|are)\s+(?:usually|normally|generally|typically|always|only)\b"
    r"|.*\b(?:we|they)\s+(?:usually|normally|generally|typically|always|only)\s+(?!\w+ed\b)",
    _WORDS,
)
"""What is so in general: a rule of the house, in the present tense, of no order in particular."""
