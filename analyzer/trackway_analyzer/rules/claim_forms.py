"""Forms of English that take a claim back or let it stand, as patterns of `claim_clauses`."""

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
    r"|(?<!\bsoon)(?<!\blong)(?<!\bfar)\s(?=(?:since|as|given\s+that)\s+(?:I|we|you|it|they|he|she|this|that|the|your|there)\b)"
    r"|\s(?=(?:that\s+|which\s+)?(?:you|they|he|she|it)\s+"
    r"(?:never\b|(?:did|could|have|has)(?:n['’]t|\s+not)\b))"
    r"|\s(?=since\s+(?:I|we)\b)"
    r"|\s(?=yet\s+(?:I|we|you|it|they|the|your|this)\b)"
    r"|\s(?=(?:that|which|who)\s+(?:will|should|can|may|might|would|could)\b)",
    _WORDS,
)
INSERTED: Final = re.compile(
    r",\s*(?:however|unfortunately|sadly|of\s+course|in\s+fact|therefore|regrettably)\s*,", _WORDS
)
"""An insertion that ends no clause."""
GOES_ON: Final = re.compile(r"\s*(?:been|being|be)\b", _WORDS)
"""How a clause goes on after an insertion between commas."""
PASSIVE: Final = re.compile(r"\b(?:be|been|being)\s+(?:\w+\s+)?\w+(?:ed|en|id)\s*\Z", _WORDS)
SAME_VERB: Final = re.compile(r"\s*and\s+(?:\w+ly\s+|then\s+)?\Z", _WORDS)
"""`will be cancelled and refunded`: the second participle has the verb of the first."""
ALSO_TO_DO: Final = re.compile(
    r"\s*(?:and|or)\s+(?:then\s+|also\s+)?(?:\w+ing\b|(?!(?:the|your|an?|I|we|you|it|this|that|these"
    r"|those|my|our|is|was|are|were|has|have|had|no|not|he|she|they|both|all|also|so|now|then|\w+ed"
    r"|sent|made|paid|went|got|gave|put|did)\b)[a-z]+\s+(?=(?:for|the|your|an?|it|this|that|you|any"
    r"|both|all)\b))",
)
"""`I will check it and arrange for …`: the second verb has the modal of the first."""
CHOICE: Final = re.compile(
    r"\b(?:reasons?|options?|methods?|either|choose|choices?|such\s+as|for\s+example|e\.g)\b",
    _WORDS,
)
"""What introduces things of which one is to be chosen, with `or` before the last."""
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
    r"|you(?:['’]ll)?\s+(?:(?:can|may|might|will|should)\s+)?(?:(?:also|already|now)\s+)?"
    r"(?:see|notice|find|have\s+(?:seen|noticed|found))(?=\s+(?:that|I|we)\b)"
    r"|(?:I\s+hope\s+(?:that\s+)?)?you\s+(?:do(?:n['’]t|\s+not)|wo(?:n['’]t)|will\s+not)\s+mind"
    r"(?=\s+(?:that|I|we)\b)"
    r"|(?:I|we)\s+could(?:n['’]t|\s+not)\s+be\s+(?:happier|gladder|prouder|more\s+\w+)\s+"
    r"(?:to\s+(?:say|tell\s+you|report|announce|confirm|share|inform\s+you)|that)"
    r")(?:\s+that)?\s+(?!to\b)",
    _WORDS,
)
"""Words that affirm the clause after them, whatever verb they have themselves."""
_ADVERBS: Final = r"(?:\s+(?:just|now|also|then|since|\w+ly|already))*"
DEED: Final = re.compile(
    rf"\b(?:I|we)(?:['’]ve|\s+have)?{_ADVERBS}\s+(?:went\s+ahead\s+and\s+)?"
    r"(?:\w+ed|made|sent|paid|gave|put|did|wrote|got|took)\b",
    _WORDS,
)
"""What the text says its author did."""
OPENING: Final = re.compile(
    r"\s*(?:(?:as\s+soon\s+as|once|when(?:ever)?|after|before|until|since|as|because|if|although"
    r"|(?:even\s+)?though|while)\s+\S+\s+\S.*|(?:without|instead\s+of|rather\s+than|despite"
    r"|in\s+spite\s+of|unlike)\s+\S.*)(?<!\bthat)(?<!\bsay)(?<!\bsays)(?<!\bthink)(?<!\bbelieve)"
    r"(?<!\bsee)(?<!\bknow)(?<!\bfind)(?<!\bwish)(?<!\bthe)\s",
    _WORDS,
)
"""What opens a sentence and ends where its author did something."""
_PERFORMED: Final = (
    r"(?:issued|made|sent|processed|created|initiated|completed|submitted|placed|paid|posted"
    r"|credited|booked|cancell?ed|changed|updated|shipped|executed|granted|approved)\b"
)
WHICH_WAS_DONE: Final = re.compile(
    rf"\s(?:that\s+|which\s+)?(?:I|we)(?:['’]ve|\s+have)?{_ADVERBS}\s+{_PERFORMED}"
    rf"|\s(?:that|which)\s+(?:was|were|has\s+been|have\s+been){_ADVERBS}\s+{_PERFORMED}",
    _WORDS,
)
"""What is said of a thing right behind it: that it was done."""
COMPOUND: Final = re.compile(
    r"s?[ -](?:requests?|polic(?:y|ies)|process|team|department|amount|options?|eligibility|status"
    r"|questions?|inquir(?:y|ies)|terms|rules?|forms?|window|periods?|page|tickets?|claims?|cases?"
    r"|conditions|issues?|problems?|system|service)\b",
    _WORDS,
)
"""How a word goes on that says of what kind another is."""
DONE_WITH_IT: Final = re.compile(
    r"\b(?:processed|completed?|approved|issued|paid|credited|granted|fulfilled|accepted|done"
    r"|successful(?:ly)?)\b",
    _WORDS,
)
ASKED_FOR: Final = re.compile(
    r"\b(?:you|they|he|she|customer|user|client)(?:['’]re|['’]d|['’]ve)?\s+(?:\w+\s+){0,2}"
    r"(?:ask(?:ed|ing|s)?|want(?:ed|s)?|request(?:ed|ing|s)?|need(?:ed|s)?|like|look(?:ed|ing)?"
    r"|seek(?:ing)?|expect(?:ed|ing|s)?|appl(?:y|ied|ying))\s+(?:\w+\s+){0,4}\Z"
    r"|\b(?:eligible|entitled|qualif(?:y|ies|ied)|request(?:s|ed)?|case|reason|options?|rules?"
    r"|policy|deadline)\s+(?:for|to|on)\s+(?:\w+\s+){0,3}\Z"
    r"|\b(?:issues?|problems?|trouble|delays?|errors?|questions?)\s+(?:with|in|about|processing)\s+"
    r"(?:\w+\s+){0,3}\Z",
    _WORDS,
)
"""Words before a thing that somebody asks for, has a right to, or has trouble with."""
ONLY_TALKED_OF: Final = re.compile(
    r"\b(?:escalat|review|check|verif|investigat|discuss|track|explain|mention|compar|look(?:ed|ing)?\s+into"
    r"|inform(?:ation)?\s+(?:you\s+)?(?:about|on)|details\s+(?:on|about|of)|sorry\s+(?:about|for)"
    r"|apolog\w+\s+(?:about|for)|regret)\w*\s+(?:(?:the|your|this|that|an?|any|our|my|some)\s+)?"
    r"(?:\w+\s+){0,2}\Z",
    _WORDS,
)
"""What is done with a thing without doing it: `I reviewed the …`."""
HANDED_ON: Final = re.compile(
    r"\A\w*(?:\s+\w+){0,2}\s+to\s+(?:(?:a|an|the|our|my)\s+)?(?:\w+\s+){0,2}(?:human|agent|colleague|team"
    r"|specialist|supervisor|manager|department|representative)\b",
    _WORDS,
)
GERUND: Final = re.compile(r"\A\s*\w+ing\s+(?:(?:an?|the|your|any)\s+)?(?:\w+\s+)?\Z", _WORDS)
TAKES: Final = re.compile(
    r"\A\w*\s+(?:(?:usually|normally|generally|typically|only|always)\s+)?"
    r"(?:takes?|requires?|needs?|costs?|is|are|can|may|will|depends|works?)\b",
    _WORDS,
)
"""How a sentence goes on whose subject is an activity: `processing a refund takes …`."""
ARRIVES: Final = re.compile(
    r"\A\w*\s+(?:of\s+\S+\s+)?(?:will|should|['’]ll|would)\s+(?:(?:also|now|then|soon|\w+ly)\s+)*"
    r"(?:be\s+(?:on|in|back|with|there|visible|available|credited)|arrive|appear|reach|show|come|land|post|hit|go|take)\b"
    r"|\A\w*\s+(?:is|are)\s+expected\s+to\s+(?:arrive|appear|reach|show|come|land|post)\b",
    _WORDS,
)
AWAITED: Final = re.compile(
    r"\byou(?:['’]ll|\s+(?:will|should|can|may))\s+(?:(?:also|now|then|soon|\w+ly)\s+)*"
    r"(?:see|get|receive|have|find|notice|expect)\s+(?:(?:the|your|a|this|that|full|it|both|\w+ly)\s+)*"
    r"(?:[\w$.,]+\s+){0,2}\Z",
    _WORDS,
)
"""What nobody says of a thing that was not done: that it will arrive, without a condition."""
IN_GENERAL: Final = re.compile(
    r"\s*(?:(?:all|most|such|our|these)\s+)?(?:[a-z]+\s+)?[a-z]+s\s+(?:usually\s+|normally\s+"
    r"|generally\s+|typically\s+|only\s+|always\s+)?(?:take|appear|arrive|require|need|depend|go"
    r"|vary|apply|cost|come|work)\b|\s*(?:in\s+order\s+)?to\s+\w+\s*\Z",
    _WORDS,
)
"""Things in general, in the present tense; what is done for some end."""
NOT: Final = re.compile(
    r"\b(?:not(?!\s+(?:only|just|merely)\b)|never|cannot|unable|neither|nor|hardly)\b"
    r"|(?:n['’]t|\b(?:was|were|is|are|has|have|had|do|does|did|wo|ca|ai|could|would|should)nt)\b"
    r"(?!\s+(?:only|just|merely)\b)"
    r"|\b(?:failed|fails|failing|refused?|declined?|refuses|unwilling|yet)\s+to\b"
    r"|\b(?:still|remains?)\s+to\s+be\b|\bno\s+longer\b"
    r"|(?<!\bno\s)(?<!\ba\s)(?<!\bany\s)(?<!\bwithout\s)\bdoubt(?:s|ed|ful)?\b"
    r"|\b(?:unlikely|unclear|uncertain|unsure)\b",
    _WORDS,
)
NO: Final = re.compile(
    r"\b(?:no(?!\s+(?:doubt|problem|worries)\b)|none|nothing|nobody"
    r"|without(?!\s+(?:an?\s+|any\s+)?(?:doubt|question|fail)\b)|instead\s+of|rather\s+than)\b",
    _WORDS,
)
NEARLY: Final = re.compile(
    r"\b(?:nearly|almost|all\s+but|close\s+to|(?<!\w)non-?|(?<!\w)un-?|never-|not-|to-be-)"
    r"(?:\s+(?:been|being|getting))?\s*\Z",
    _WORDS,
)
"""What stands right before a word and says that it is not so."""
ANSWERED_NO: Final = re.compile(
    r"(?:s|ed|d)?(?:\s+\w+){0,3}[\s\"'’”)\]]*[:|=][\s:|=\"'“‘]*(?:no|false|not\s+yet|not\s+done|none|never"
    r"|n/?a|pending|open|to\s+do|todo|[✗✘❌✖])[\s\"'’”]*(?:[|.,;!)]|\Z)"
    r"|able\b",
    _WORDS,
)
"""How a word goes on that is asked or listed, with the answer that it is not so; an adjective."""
FINITE_WORDS: Final = r"\b(?:has|have|had|was|were|is|are|been|went)\b|['’](?:s|ve)\b"
FINITE: Final = re.compile(FINITE_WORDS, _WORDS)
AIMED_AT: Final = re.compile(
    r"(?<!\bable\s)(?<!\bmanaged\s)(?<!\bhappened\s)(?<!\bout\s)(?<!\bsure\s)(?<!\bproceeded\s)"
    r"(?<!\bahead\s)(?<!\btime\s)(?<!\bway\s)(?<!\bstarted\s)(?<!\bon\s)(?<!\bmind\s)\bto\s+"
    r"(?:get|be|receive|see|become|start|begin|avoid|have\s+(?:it|the|your|this|that|my|our|an?)"
    r"|process|issue|make|send|create|complete|initiate|submit|place|pay|book|execute|grant|approve"
    r"|request|offer|arrange|finali[sz]e|perform|proceed\s+with|continue\s+with|apply|check|handle)"
    r"\s+(?:\w+\s+){0,3}\Z",
    _WORDS,
)
"""An aim in front of what is to be reached: `to get refunded`, `I need it to process the …`."""
_UNDOING: Final = (
    r"(?:cancell?ed|stopped|halted|paused|suspended|reversed|rolled\s+back|withdrawn|withdrew|voided"
    r"|revoked|declined|rejected|refused|denied|blocked|postponed|put\s+off|held\s+(?:back|up)"
    r"|interrupted|terminated|aborted|disapproved|turned\s+down|prevented|undone|undid|dropped)"
)
UNDID: Final = re.compile(
    rf"\b{_UNDOING}\s+(?:(?:the|your|this|that|my|our|any|his|her|their|its|an?)\s+)?"
    r"(?:(?!for\b|with\b|and\b)[\w$.,'’-]+\s+){0,2}\Z",
    _WORDS,
)
"""What was undone stands right behind it: `I have cancelled the …`."""
UNDONE: Final = re.compile(
    r"\A[\w'’]*(?:\s+(?:for|of|on|to|from)\s+(?:\S+\s*){1,5}?)?\s*"
    r"\b(?:is|are|was|were|been|be|being|has|have|had|got|gets?|remains?|stays?|['’]s)\s+"
    r"(?:(?:been|being|be|now|still|already|currently|since|also|\w+ly)\s+)*"
    rf"(?:{_UNDOING}|expired|lapsed|stuck|void|invalid|under\s+(?:review|investigation|consideration)"
    r"|(?:being\s+)?reviewed|in\s+review|in\s+limbo|up\s+to\s+(?:you|your|the)|overdue|missing|open)\b"
    r"|\A[\w'’]*\s+(?:was\s+|is\s+)?(?:requires?|needs?|awaits?|lacks?|expired|bounced|lapsed|depends)\b",
    _WORDS,
)
"""How a clause goes on behind a thing that came to nothing, or is not yet: `… has expired`."""
NOT_FAILED: Final = re.compile(
    r"(?:\bnot|n['’]t|\bnever|\bwithout)\s+(?:actually\s+|in\s+fact\s+)?fail(?:ed|ing|s)?\b"
    r"(?=.*[;:,.–—-]\s*(?:it|and|the|but|I|we)\b"
    rf".*\b(?:{_PERFORMED}|done|paid|completed?|went\s+through|gone\s+through))",
    _WORDS,
)
"""Two negations: `it hasn't failed; it was issued`."""
LABEL_ENDS: Final = re.compile(r"\s*(?:[:|=]|\s[-–—]+\s|—|[(\[])[\s:|=\"'“‘(\[*_–—-]*")
"""What stands between a heading and what it says."""
VERB: Final = re.compile(
    rf"{FINITE_WORDS}|\b\w{{2,}}(?:ed|ing)\b|\b(?:sent|made|done|paid|complete|gave|went|did|got)\b",
    _WORDS,
)
SAYS_NO: Final = re.compile(
    r"(?:(?:[$€£]\s?)?\d[\d.,]*\s*(?:€|£|usd|eur|gbp|dollars?|euros?)?[\s(:,;–—-]+)?"
    r"(?:not(?!\s+(?:only|just|merely)\b)|no(?!\s+(?:problem|doubt|worries|fees?|questions?|further|action|need)\b)"
    r"|none|never|nothing|nil|zero|(?:[$€£]\s?)?0(?:[.,]0+)?(?![\d.,]*\d)|n/?a\b|cannot|can['’]t|could\s+not|couldn['’]t"
    r"|unable|unavailable|impossible|ineligible|unsuccessful|failed|failure|error|pending|awaiting"
    r"|waiting|on\s+hold|expired|open|todo|to\s+do|tbd|to\s+be|under\s+review|in\s+review|requires?"
    rf"|needs?|{_UNDOING}|false|[✗✘❌✖🚫⛔☐])(?:\b|(?<=[✗✘❌✖🚫⛔☐]))",
    _WORDS,
)
"""What a heading says where the thing was not done."""
UNTICKED: Final = re.compile(r"(?:\[\s?\]|[☐□✗✘❌✖🚫⛔❎])\ufe0f?\s*(?:[\w'’$]+\s+){0,3}\Z")
CROSSED: Final = re.compile(
    r"[\w'’]*(?:\s+[\w$.'’]+){0,3}?\s*[:|=–—-]*\s*(?:[☐□✗✘❌✖🚫⛔]|\[\s?\])"
)
"""Marks of what is not done, before and behind it."""
OWN_TAG: Final = re.compile(
    r",?\s*(?:did|have|has)(?:n['’]t|\s+not)?\s+(?:I|we)(?:\s+not)?\s*\?\W*\Z", _WORDS
)
"""A tag to what the text says its author did."""
FAILED: Final = re.compile(
    r"\b(?:failed|fails|failure|unsuccessful(?:ly)?|declined|rejected|denied|blocked|on\s+hold"
    r"|impossible|ineligible|refused|pending\s+(?:approval|review)|awaiting|errored)\b",
    _WORDS,
)
OF_ANOTHER: Final = re.compile(
    rf"\b(?:the|your|an?|this|that|my|our|his|her|their)\s+{FAILED.pattern}\s+(?=\w)", _WORDS
)
"""A word for a failure that says of what kind another thing is: `for your rejected parcel`."""
STATUS_OF: Final = re.compile(r"\A\w*\s+(?:status|request|case)\s*\Z", _WORDS)
CONDITION: Final = re.compile(
    r"\b(?:if|once|when(?:ever)?|unless|until|till|after|before|whether|provided|assuming"
    r"|as\s+soon\s+as|in\s+case|should\s+(?:you|we|it|the|your|this)|as\s+though|as\s+if"
    r"|suppose|supposing|had\s+(?:I|we|you|it|the)\b(?=.*\b(?:would|could|might)\b)|only\s+(?:within|for|where))\b",
    _WORDS,
)
PRESENT: Final = re.compile(
    r"\b(?:is|are|gets?|get)\b(?!\s+(?:on\s+(?:its|the)\s+way|now|already))", _WORDS
)
MODAL: Final = re.compile(
    r"\b(?:will|shall|would|could|can|may|might|should|must|ought)\b|['’](?:ll|d)\b(?!\s+been)"
    r"|\b(?:need(?:s|ed)?|want(?:s|ed)?|wish(?:es)?|tr(?:y|ying|ied)|attempt(?:s|ing|ed)?"
    r"|hop(?:e|es|ing)|intend(?:s|ing)?|have|has|(?<!was\s)(?<!were\s)(?<!been\s)able)\s+to\b"
    r"|\b(?:ensure|make\s+sure)\b|\bwish\s+(?:I|we)\b|\b(?:let\s+me|let['’]s|allow\s+me|please|in\s+order\s+to)\b",
    _WORDS,
)
TO_COME: Final = re.compile(
    r"\b(?:going|about|ready|happy|glad|plan(?:s|ned|ning)?|expect(?:s|ed|ing)?|due|scheduled"
    r"|supposed|likely|set|eligible)\s+to\b|\bstill\s+(?:needs?|requires?)\b",
    _WORDS,
)
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
OWN_WORDS: Final = re.compile(
    r"(?:[,;]|\b(?:so|and|but|then))\s+(?:so\s+)?(?:I|we)\b|[:;,–—-]\s*yes\b", _WORDS
)
"""Where the text speaks for itself again after what somebody said."""
ASKS: Final = re.compile(
    r"\s*(?:(?:and|but|so|or)\s+)?(?:(?:is|are|was|do|does|did|has|have|can|could|will|would|shall"
    r"|should|may|what|how|which|who|where|when|why|any|anything)\b"
    r"(?!\s+(?:that|it|this|not)(?:\s+(?:not|right|correct|true|so|accurate|really|the\s+case))?\W*\Z)"
    r"(?!['’]t\b)|(?:ok|okay|al+\s*right|deal|cool|fine|great|sounds?\s+good)\W*\Z"
    r"|(?:need|want)\s+(?:anything|something|more|help)\b|(?:is|are|was|were|do|does|did|has|have|can|could|will|would|should)n['’]t\s+"
    r"(?:it|you|he|she|they|that|this|the|your|I|we)\s+\w+)",
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
