"""Objects that somebody wrote as Python prints them: `Message(content=[ToolUseBlock(name='a')])`.

1. Such a text is an object of a class with its members by name, a list or dict that holds some, or
   what `str` makes of a pydantic model: its members side by side (`content='' tool_calls=[...]`).
2. It becomes the JSON value of its members. LangChain prints no role: its class tells the type. A
   member of an enum (`<Role.USER: 'user'>`) is its value, whatever else is no literal its text.
3. A text of more than `MAX_PRINTED` characters, or one that Python could not read, is none.
"""

from __future__ import annotations

import ast
import re
from typing import Final

from trackway_analyzer.json_text import UnencodableError, plain
from trackway_analyzer.model import JsonValue

MAX_PRINTED: Final = 256 * 1024
_LOOKS: Final = re.compile(r"\s*[\[({\s]*(?:[A-Za-z_][\w.]*[(=]|['\"][^'\"\n]{1,64}['\"]\s*:)")
_MEMBERS: Final = re.compile(r"\s*[A-Za-z_]\w*=")
_TOKEN: Final = re.compile(
    r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|[\[({]|[\])}]|\s+(?=[A-Za-z_]\w*=)"
    r"|<[A-Za-z_][\w.]*: ('[^'\n]*'|\"[^\"\n]*\"|-?\d+)>|<[^<>'\"\n]{1,200}>",
    re.DOTALL,
)
"""A text, a bracket, what parts two members, a member of an enum, an object that does not print."""
_OPENING: Final = "[({"
_CLOSING: Final = "])}"
_OF_A_MESSAGE: Final = re.compile(r"(\w+?)Message(?:Chunk)?")
_OPERATOR_RUN: Final = re.compile(r"[-+~]{9}")


def printed(text: str) -> JsonValue:
    """Return the value of a text that is a printed object, or the text where it is none."""
    if len(text) > MAX_PRINTED or not _LOOKS.match(text) or _OPERATOR_RUN.search(text):
        return text
    source = _readable(text.strip())
    if _MEMBERS.match(source):
        source = f"_({source})"
    try:
        return plain(_value(ast.parse(source, mode="eval").body))
    except (ValueError, SyntaxError, MemoryError, RecursionError, UnencodableError):
        return text


def _readable(source: str) -> str:
    """Return a text as Python reads it: a comma between members, values in place of `<...>`."""
    depth = 0

    def readable(token: re.Match[str]) -> str:
        nonlocal depth
        mark = token[0]
        depth += (mark in _OPENING) - (mark in _CLOSING)
        if mark.isspace():
            return ", " if depth == 0 else mark
        return (token[1] or "None") if mark.startswith("<") else mark

    return _TOKEN.sub(readable, source)


def _value(node: ast.expr) -> object:
    if isinstance(node, ast.Call) and not node.args:
        return _object(node)
    if isinstance(node, ast.Dict):
        return {
            str(_value(key)): _value(value)
            for key, value in zip(node.keys, node.values, strict=True)
            if key is not None
        }
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        return [_value(each) for each in node.elts]
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError):
        return ast.unparse(node)


def _object(call: ast.Call) -> dict[str, object]:
    members = {each.arg: _value(each.value) for each in call.keywords if each.arg is not None}
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    known = _OF_A_MESSAGE.fullmatch(name)
    if known is not None and members.keys().isdisjoint(("role", "type")):
        members["type"] = known[1].lower()
    return members
