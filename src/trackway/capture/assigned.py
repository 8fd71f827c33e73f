r"""What a name in a text is set to: from where to where does its value go?

1. A separator stands behind the name: `=`, `=>`, `->`, `:`, `:=`, `==` and `!=`, or a comma
   between two quoted texts (`("password", "…")`) or before the key of a value
   (`"name": "password", "value": …`). Quotes, backslashes, backticks, asterisks and `]` may stand
   before it.
2. A quoted value goes to its own closing quote. One behind N backslashes closes behind N, or 2(N+1)
   more: so escapes are counted in JSON in JSON. JSON does not escape a single quote: how deep it
   stands tells the first double one behind it. A doubled quote, and a quote that a shell puts
   between two quoted parts (`'\''`), are part of the value. Where it does not close on its line, it
   may within 1,024 characters; else the rest of the line is the value. `b'…'` is quoted as well.
3. Of a list or tuple of quoted texts it is all of them.
4. A block of YAML (`|`, `>`) goes as far as its lines are indented.
5. A bare value ends at white space, at quotes and closing brackets that no letter or digit follows,
   at `&`, `,` and `;` before the next name. Behind a header it is the rest of the line, quoted
   parts of it (`response="…"`) too; so it is behind `password:` at the beginning of a line, up to
   a comma or semicolon before the next name.
6. The text of an element of XML.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from trackway.capture.search import Work

_LONGEST_QUOTED_LINES: Final = 1024
_MOST_QUOTES: Final = 3
_DOUBLED: Final = 2
_MOST_LISTED: Final = 32
_LISTED: Final = 512
"""What it costs besides to find the end of a list."""
_MOST_BACKSLASHES: Final = 255

_BEFORE: Final = r"[0-9]*+(?:\\++t|[\\\"'`*\] \t])*+"
BEFORE_SEPARATOR: Final = r"[0-9]*(?:\\t|[\\\"'`*\] \t])*(?:[:=]|!=|->)"
"""What stands between a name and its value, for engines that know no possessive repeats."""
BEFORE_COMMA: Final = r"[0-9]*\\*[\"'],"
_SPACE: Final = r"(?:\s|\\++[nrt])*+"
_NAMED: Final = r"[A-Za-z0-9_.\[\]%-]{1,64}(?:\\*[\"'])?[=:]"
_QUOTE: Final = r"(?:[bBrRuUfF]{1,2}(?=\\*[\"']))?(?P<open>(?P<run>\\*)(?P<quote>[\"'`]))"
_closes: Final = re.compile(r"\\*[\"'`](?:\\*[\"'`]){0,2}").match
_empty: Final = re.compile(r"\\*(?:[\s,;:)}\]]|\Z)").match
"""Behind a doubled quote: nothing is quoted. In a row of CSV quotes are doubled."""
_set_to: Final = re.compile(
    rf"{_BEFORE}(?P<separator>!?=(?:==?)?>?|->|:=?|(?<=[\"']),)"
    rf"\*{{0,3}}(?P<space>{_SPACE})"
).match
_quote: Final = re.compile(_QUOTE).match
_opens: Final = re.compile(rf"[\[(]{_SPACE}(?={_QUOTE})").match
_value_key: Final = re.compile(
    rf"\\*[\"'](?i:(?:parameter)?value|val|v)\\*[\"']{_SPACE}[:=]>?{_SPACE}"
).match
_goes_on: Final = re.compile(rf"{_SPACE},{_SPACE}(?={_QUOTE})").match
_marker: Final = re.compile(r"\[redacted:[a-z_]+\]")
_WORD: Final = (
    r"[^\s\"'\\&<>(){}\[\],;]"
    r"|[,;](?!\s|\Z|" + _NAMED + r")"
    r"|&(?!" + _NAMED + r"|\s|\Z)"
    r"|\\++(?:[ ](?=\S)|(?=[^\snrtu\"'\\])|[\"'](?=[A-Za-z0-9]))"
    r"|[\"')}\]>](?=[A-Za-z0-9])"
    r"|[({\[](?!redacted:)"
    r"|<(?!\\*/|[A-Za-z][A-Za-z0-9:]{0,31}[\s/>])"
)
_bare: Final = re.compile(rf"(?![<(){{}}\[\]>,;&\"'\\])(?:{_WORD})++").match
_LINE: Final = r"(?![<(){}\[\]>]|[\"'\\])"
_header: Final = re.compile(
    r"(?!\[redacted:|[A-Za-z_][A-Za-z_.]{0,200}[(\[])[^\s\"'\\]"
    r"(?:[^\r\n\"'\\=]|=(?:\\*\"[^\"\r\n]*\"|\\*'[^'\r\n]*')?"
    r"|\\++(?=[^\snrtu\"'\\]))*+"
).match
_rest_of_line: Final = re.compile(
    rf"{_LINE}(?:[^\r\n\\,;]|[,;](?!\s*{_NAMED})|\\++(?![nr\"']))++"
).match
_NEW_LINE: Final = r"(?:\r?\n|\\++(?:r\\++)?n)"
_block: Final = re.compile(
    rf"[|>][0-9+-]{{0,3}}[ \t]*(?:#[^\r\n\\\"]*)?{_NEW_LINE}(?P<block>(?P<indent>[ \t]+)"
    rf"(?:(?!\\++(?:r\\++)?n)[^\r\n])*(?:{_NEW_LINE}(?:(?P=indent)(?:(?!\\++(?:r\\++)?n)[^\r\n])*"
    rf"|[ \t]*(?={_NEW_LINE})))*)"
).match
_element: Final = re.compile(
    r"[0-9]{0,4}(?:\s[^<>]{0,256})?>\s{0,64}(?:<!\[CDATA\[)?"
    r"(?P<text>(?!\[redacted:)[^<>\s][^<>]{0,1023})(?:\]\]>)?<\\{0,7}/"
).match
_double: Final = re.compile(r"(?P<run>\\*+)\"").search
_line_end: Final = re.compile(r"[\r\n]|\Z").search
_begins_line: Final = re.compile(r"(?:\A|\n|\\+n)[ \t>#*`-]*\Z").search
_LINE_START: Final = 32


@dataclass(frozen=True, slots=True)
class Assigned:
    """What a name is set to: the characters from `start` to `stop`."""

    start: int
    stop: int
    separator: str
    """`""` for an element of XML."""
    spaced: bool
    """White space stands before the value."""
    quoted: bool


def value_at(
    text: str, start: int, end: int, work: Work, *, header: bool, password: bool
) -> Assigned | None:
    """Return what the name that stands from `start` to `end` is set to.

    `header`: the rest of the line is the value; `password`: so it is where the name begins a line.
    Looking for a closing quote on other lines is paid for from `work`.
    """
    match = _set_to(text, end)
    if match is None:
        return None
    separator = match["separator"]
    spaced = bool(match["space"])
    at = match.end()
    value_key = _value_key(text, at) if separator == "," else None
    if value_key is not None:
        separator, at = "=", value_key.end()
    span = quoted_span(text, at, work) or _listed_span(text, at, work)
    if span is not None:
        return Assigned(*span, separator, spaced, True)
    if separator == ",":
        return None
    block = _block(text, at) if separator == ":" else None
    if block is not None:
        return Assigned(*block.span("block"), separator, spaced, True)
    matches = _header if header else _bare
    if (
        password
        and separator == ":"
        and "\n" not in match["space"]
        and _begins_line(text, max(0, start - _LINE_START), start)
    ):
        matches = _rest_of_line
    value = matches(text, at)
    if value is None:
        return None
    return Assigned(value.start(), value.end(), separator, spaced, False)


def element_at(text: str, end: int) -> Assigned | None:
    """Return the text of the element of XML whose name ends at `end`."""
    match = _element(text, end)
    return None if match is None else Assigned(*match.span("text"), "", False, True)


def is_marker(text: str) -> bool:
    """Whether a text is what stands in a secret's place."""
    return _marker.fullmatch(text) is not None


def quoted_span(text: str, at: int, work: Work) -> tuple[int, int] | None:
    """Return from where to where a quoted text goes whose opening quote stands at a place."""
    match = _quote(text, at)
    if match is None:
        return None
    start, opening, times = match.end(), match["open"], 1
    while times < _MOST_QUOTES and text.startswith(opening, start):
        start += len(opening)
        times += 1
    if times == _DOUBLED and _empty(text, start):
        start -= len(opening)
        times = 1
    run = len(match["run"])
    stop = _quoted_stop(text, start, run, match["quote"], times, work)
    return start, stop


def _quoted_stop(text: str, start: int, run: int, quote: str, times: int, work: Work) -> int:
    """Return where a quoted text ends that begins at `start`, behind `run` backslashes."""
    if run <= _MOST_BACKSLASHES:
        unit = _unit(text, start) if quote == "'" and run == 0 else run + 1
        match = _quoted(run, quote, times, unit, r"\r\n")(text, start)
        if match is None and work.spend(_LONGEST_QUOTED_LINES // 2):
            several_lines = _quoted(run, quote, times, unit, "")
            match = several_lines(text, start, start + _LONGEST_QUOTED_LINES)
        if match is not None:
            return match.end("body")
    end = _line_end(text, start)
    return len(text) if end is None else end.start()


def _unit(text: str, start: int) -> int:
    """Return how many backslashes stand for one in what is quoted once by a single quote.

    In JSON in JSON, N deep, a double quote behind M backslashes has 2^N (2 M + 1) - 1 before it.
    """
    double = _double(text, start, start + _LONGEST_QUOTED_LINES)
    run = 0 if double is None else len(double["run"])
    return min((run + 1) & -(run + 1), _MOST_BACKSLASHES + 1)


@lru_cache(maxsize=64)
def _quoted(
    run: int, sign: str, times: int, unit: int, but: str
) -> Callable[..., re.Match[str] | None]:
    """Return what matches a quoted text, behind its opening quote, with its closing one.

    An escaped backslash is `unit` times two; `but` are characters that the text does not hold.
    """
    closing = rf"(?:\\{{{run}}}{sign}){{{times}}}"
    inner = rf"(?:\\{{{2 * unit}}})*+"
    both = [rf"(?:{closing}){{2}}"]
    if run == 0:
        both.append(rf"{closing}(?=[A-Za-z0-9])")
    if run == 0 and sign == "'":
        both.append(r"'\\++''")
    return re.compile(
        rf"(?P<body>(?:[^{sign}\\{but}]++|{inner}(?:{'|'.join(both)})"
        rf"|(?!{inner}{closing})(?:\\++{sign}?|{sign}))*+{inner}){closing}"
    ).match


def _listed_span(text: str, at: int, work: Work) -> tuple[int, int] | None:
    """Return from the first of some quoted texts in brackets to the last."""
    place = _opens(text, at)
    if place is None or not work.spend(_LISTED):
        return None
    start = stop = -1
    for _ in range(_MOST_LISTED):
        span = quoted_span(text, place.end(), work)
        if span is None:
            break
        start, stop = (span[0] if start < 0 else start), span[1]
        closing = _closes(text, stop)
        place = _goes_on(text, stop if closing is None else closing.end())
        if place is None:
            break
    return start, stop
