"""Which tools may something name that nobody reads?

1. No list of forms holds all of them. So what is left out (a document that is no trace, a file that
   was passed over, a line, role or log record that nobody knows) keeps the words in it that may be
   the name of a tool, and counts as lost where a policy speaks of one of them (`quarantine`).
2. Such a word is a text of at most `MAX_NAME` characters that is spelt like a name, a key over an
   object or a list, a `word_with_lines` in a short text, or a word in a text that stands where a
   call of it would: before `(` or `{`, behind `"name":`, `Action:`, `<function=` and the like. An
   id (four digits, or hex) is none.
3. These name tools without any call of them: descriptions (what has a schema; texts in a list of
   tools), what was expected of a run, prompts, settings and policies, judgements of people, and
   what was found by a check.
4. At most `MAX_NAMES` words are kept, and `MAX_NODES` values are looked at: of what holds more,
   any tool may be named (`ANY`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Final

MAX_NAME: Final = 128
MAX_NAMES: Final = 4_000
MAX_NODES: Final = 200_000
ANY: Final = "*"
"""Stands for every name."""

_NAME: Final = re.compile(r"[A-Za-z_][\w.\-/:]*")
_NO_NAME: Final = re.compile(
    r"(?:.*\d){4}|[0-9a-fA-F\-]{8,}$|https?:|[a-z]+/[a-z0-9.+\-]+$", re.DOTALL
)
"""An id, a number with a word before it, an address, a type of a medium."""
_WORD: Final = r"([A-Za-z_][\w.\-]{0,127})"
_IN_CALL: Final = tuple(
    re.compile(pattern)
    for pattern in (
        rf"(?<![\w.\-]){_WORD}[ \t]*[({{]",
        rf"[\"'](?:name|tool|tool_?name|function|function_?name|action)\\*[\"']\s*:\s*\\*[\"']{_WORD}",
        rf"(?:Action|Tool|Function|Calling|Invoking|Running)(?: \w+)?:\s*[`\"']?{_WORD}",
        rf"<(?:function|tool|invoke|parameter)(?:=| name=[\"'])?{_WORD}",
        rf"(?:<tool_call>|<\|tool_call\|>|\[TOOL_CALLS\]|to=(?:functions\.)?)\s*{_WORD}",
        rf"<{_WORD}>\s*<",
    )
)
_VALUE: Final = re.compile(
    rf"(?:^(?=\w+[,;\t|])|[:=(\[>,|;\t])\s*\\*[\"'`]?{_WORD}(?=\\*[\"'`]|[\s),;\]}}<&(|]|$)",
    re.MULTILINE,
)
"""A word where data has a value."""
_SNAKE: Final = re.compile(r"(?<![\w.\-])[A-Za-z]\w*_\w*[A-Za-z]\b")
"""A word of a short text that is spelt like nothing but a name."""
_TEXT: Final = 1_048_576
"""Characters of a text that are looked through."""
_BLANK_BEFORE: Final = 4_096
"""A text without a blank up to here is data of a picture or the like, and no call."""

_LISTS: Final = frozenset(
    [
        *("tools", "functions", "tooldefinitions", "availabletools", "toolschemas", "toolspecs"),
        *("allowedtools", "disallowedtools", "enabledtools", "disabledtools", "toolnames"),
        *("toolsavailable", "availablefunctions"),
    ]
)
"""Keys under which descriptions and names of tools stand, and objects that may be calls."""
_SCHEMA: Final = frozenset(
    ["parameters", "inputschema", "description", "jsonschema", "argsschema", "schema"]
)
_SKIPPED: Final = frozenset(
    [
        *("prompt", "prompts", "system", "systemprompt", "instructions", "description", "template"),
        *("rules", "policy", "policies", "permissions", "settings", "config", "findings"),
        *("resourcemetrics", "toolchoice", "inputschema", "jsonschema", "schema", "properties"),
    ]
)
_JUDGED: Final = frozenset(["score", "rating", "comment", "feedback", "label", "annotation"])
_IDS: Final = frozenset(["traceid", "spanid", "runid", "observationid", "sessionid"])
EXPECTED: Final = re.compile(
    r"expect|ground_?truth|gold|reference_|eval(uation)?_(criteria|cases)|task_description",
    re.IGNORECASE,
)
_EXPECTED_FILE: Final = re.compile(
    r"(expect(ed|ations?)?|ground[_-]?truth|gold(en)?)([_\-.]|$)", re.IGNORECASE
)
_TOLD_FILE: Final = re.compile(
    r"prompt|instruction|polic(y|ies)|read_?me|licen[cs]e", re.IGNORECASE
)
"""Names of files that hold what somebody wrote to a model or a person."""
_BINARY_WORD: Final = re.compile(rb"[A-Za-z_][A-Za-z0-9_.\-]{2,127}")
_KEY: Final = re.compile(r"[^a-z0-9]")


def is_of_the_expected(file: str) -> bool:
    """Tell by the name of a file whether it holds what was expected of runs."""
    return _EXPECTED_FILE.match(file.rpartition("/")[2]) is not None


def names_in_file(file: str, head: bytes) -> tuple[str, ...]:
    """Return what the beginning of a file that is not read may name."""
    if is_of_the_expected(file) or _TOLD_FILE.search(file.rpartition("/")[2]):
        return ()
    if b"\0" in head[:_BINARY_HEAD] and not head.startswith((b"\xff\xfe", b"\xfe\xff")):
        words = (word.decode() for word in _BINARY_WORD.findall(head))
        return bounded_names(each for word in words for each in _whole(word))
    text = head.decode("utf-16" if head[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8", "replace")
    return names_in_text(text)


_BINARY_HEAD: Final = 4_096


def names_held(value: Any, *, without: Collection[str] = ()) -> tuple[str, ...]:
    """Return the words of a decoded value that may name a tool, sorted; see the rules above."""
    found: set[str] = set()
    seen = 0
    waiting: list[Any] = [value]
    while waiting:
        node = waiting.pop()
        seen += 1
        if seen > MAX_NODES or len(found) > MAX_NAMES:
            return (ANY,)
        if isinstance(node, str):
            if len(node) > _TEXT and any(map(str.isspace, node[:_BLANK_BEFORE])):
                return (ANY,)
            found.update(_of_text(node))
        elif isinstance(node, list):
            waiting.extend(node)
        elif isinstance(node, dict):
            waiting.extend(_members(node))
    return bounded_names(found.difference(without))


def names_in_text(text: str) -> tuple[str, ...]:
    """Return the words of a text that stand where a call of a tool or a value would."""
    return bounded_names({*_called(text), *_valued(text)})


def bounded_names(names: Iterable[str]) -> tuple[str, ...]:
    """Return names sorted, or `ANY` where they are too many."""
    several = set(names)
    return (ANY,) if ANY in several or len(several) > MAX_NAMES else tuple(sorted(several))


def named_of(held: Iterable[str], tools: Collection[str]) -> str | None:
    """Return the first tool, by name, of those that the words name: whole, or by its last part."""
    words = set(held)
    if ANY in words:
        return min(tools, default=None)
    words |= {last_part(word) for word in words}
    return next((tool for tool in sorted(tools) if tool in words or last_part(tool) in words), None)


def last_part(name: str) -> str:
    """Return the name of a tool without the server, agent or module that it stands under."""
    return _PARTS.split(name)[-1]


_PARTS: Final = re.compile(r"[./:]|__")


def _members(node: Mapping[str, Any]) -> Iterator[Any]:
    plain = {key: _KEY.sub("", str(key).lower()) for key in node}
    keys = set(plain.values())
    if not keys.isdisjoint(_JUDGED) and not keys.isdisjoint(_IDS):
        return  # the judgement of somebody on a run
    if not keys.isdisjoint(_SCHEMA) and "name" in keys and keys.isdisjoint(_CALLED):
        return  # the description of a tool
    for key, value in node.items():
        if plain[key] in _SKIPPED or EXPECTED.match(str(key)):
            continue
        if plain[key] in _LISTS:
            several = value if isinstance(value, list) else [value]
            yield from (each for each in several if _is_no_description(each))
            continue
        yield value
        if isinstance(value, dict | list) and value:
            yield key


_CALLED: Final = frozenset(["arguments", "args", "input", "output", "result", "callid", "state"])


def _is_no_description(item: Any) -> bool:
    if not isinstance(item, dict):
        return False
    inner = item.get("function")
    keys = {
        _KEY.sub("", str(key).lower())
        for each in (item, inner)
        if isinstance(each, dict)
        for key in each
    }
    return keys.isdisjoint(_SCHEMA) and not keys.isdisjoint(
        {"name", "tool", "toolname", "function"}
    )


def _of_text(text: str) -> Iterator[str]:
    if len(text) <= MAX_NAME and _NAME.fullmatch(text):
        if not _NO_NAME.match(text):
            yield text
        return
    yield from _called(text)
    if len(text) <= MAX_NAME:
        yield from (word for word in _SNAKE.findall(text) if not _NO_NAME.match(word))
    if text.lstrip()[:1] in ("{", "["):
        yield from _valued(text)


def _called(text: str) -> Iterator[str]:
    head = text[:_TEXT]
    for pattern in _IN_CALL:
        for found in set(pattern.findall(head)):
            yield from _whole(found)


def _valued(text: str) -> Iterator[str]:
    for found in set(_VALUE.findall(text[:_TEXT])):
        yield from _whole(found)


def _whole(name: str) -> Iterator[str]:
    name = name.rstrip(".-")
    if not _NO_NAME.match(name):
        yield name
