"""The grammar of expressions: a text to its terms. What they mean stands in `expression`."""

from __future__ import annotations

from typing import Any, Final

import lark

from trackway_analyzer.json_text import parsed
from trackway_analyzer.rules.terms import (
    All,
    Any_,
    Bare,
    Compare,
    ExpressionError,
    Literal,
    Name,
    Node,
    Not,
    Path,
)
from trackway_analyzer.rules.values import is_singular, reader

_SEGMENT: Final = (
    r"\.\.?(?:[^\W\d]\w*|\*)"
    r"""|\[(?:[^\[\]"']|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|\[[^\[\]]*\])+\]"""
)
_GRAMMAR: Final = rf"""
?start: disjunction
?disjunction: conjunction (("or" | "||") conjunction)*
?conjunction: unary (("and" | "&&") unary)*
?unary: ("not" | "!") unary -> negation
    | term OPERATOR term -> compare
    | term IN term -> compare
    | term -> bare
    | "(" disjunction ")"
?term: literal | path | name
literal: NUMBER | TEXT | TRUE | FALSE | NULL | array
array: "[" [literal ("," literal)*] "]"
path: PATH
name: NAME SEGMENTS? | TEXT SEGMENTS

IN: "in"
TRUE: "true"
FALSE: "false"
NULL: "null"
OPERATOR: "==" | "!=" | "<=" | ">=" | "<" | ">"
NUMBER: /-?\d+(\.\d+)?([eE][+-]?\d+)?/
TEXT: /"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'/
NAME: /[^\W\d]\w*/
SEGMENTS: /(?:{_SEGMENT})+/
PATH: /\$(?:{_SEGMENT})*/
%ignore /\s+/
"""

_DEEPEST: Final = 50
"""Most `not`, `and` and `or` inside one another."""
_PARSER: Final = lark.Lark(_GRAMMAR, parser="lalr")


def node_of(text: str) -> Node:
    """Parse an expression. Raises ExpressionError."""
    try:
        node: Node = _Builder().transform(_PARSER.parse(text))
    except lark.exceptions.VisitError as error:
        raise ExpressionError(f"{text!r}: {error.orig_exc}") from error
    except lark.UnexpectedInput as error:
        raise ExpressionError(_complaint(text, error)) from error
    except RecursionError:
        raise ExpressionError(_too_deep(text)) from None
    if _is_deep(node):
        raise ExpressionError(_too_deep(text))
    return node


def _is_deep(node: Node) -> bool:
    level: list[Node] = [node]
    for _ in range(_DEEPEST):
        level = [inner for outer in level for inner in _inside(outer)]
    return bool(level)


def _inside(node: Node) -> tuple[Node, ...]:
    if isinstance(node, Not):
        return (node.inner,)
    return node.parts if isinstance(node, (All, Any_)) else ()


def _too_deep(text: str) -> str:
    return f"{text[:40]!r}… is nested deeper than {_DEEPEST} levels: write it more simply"


def _complaint(text: str, error: lark.UnexpectedInput) -> str:
    expected = "a value or a name, then an operator (== != < <= > >= in and or not)"
    if isinstance(error, lark.UnexpectedToken) and error.token.type == "$END":
        return f"{text!r} ends too early: expected {expected}"
    at = error.pos_in_stream or 0
    found = text[at:]
    if found.startswith("=") and not found.startswith("=="):
        return f"{text!r}: write == to compare, found = at character {at + 1}"
    return f"{text!r}: found {found!r} at character {at + 1}, expected {expected}"


class _Builder(lark.Transformer[lark.Token, Any]):
    """Parse tree to nodes."""

    def literal(self, children: list[Any]) -> Literal:
        (child,) = children
        if isinstance(child, list):
            return Literal([item.value for item in child], f"[{', '.join(c.text for c in child)}]")
        if child.type == "TEXT":
            return Literal(_unquoted(str(child)), str(child))
        return Literal(parsed(str(child)), str(child))

    def array(self, children: list[Any]) -> list[Literal]:
        return [child for child in children if child is not None]

    def path(self, children: list[Any]) -> Path:
        text = str(children[0])
        reader(text)
        return Path(text, text)

    def name(self, children: list[Any]) -> Name:
        first, segments = children[0], str(children[1]) if len(children) > 1 else ""
        quoted = first.type == "TEXT"
        path = f"${segments}"
        reader(path)
        return Name(_unquoted(first) if quoted else str(first), path, f"{first}{segments}", quoted)

    def compare(self, children: list[Any]) -> Compare:
        left, operator, right = children
        for term in (left, right):
            if isinstance(term, (Path, Name)) and not is_singular(term.path):
                raise ValueError(f"{term.text} may yield several values, compare one")
        return Compare(left, str(operator), right)

    def bare(self, children: list[Any]) -> Bare:
        return Bare(children[0])

    def negation(self, children: list[Any]) -> Not:
        return Not(children[0])

    def conjunction(self, children: list[Any]) -> All:
        return All(tuple(children))

    def disjunction(self, children: list[Any]) -> Any_:
        return Any_(tuple(children))


def _unquoted(text: str) -> str:
    if text[0] == "'":
        text = '"' + text[1:-1].replace("\\'", "'").replace('"', '\\"') + '"'
    value = parsed(text)
    if not isinstance(value, str) or value is text:
        raise ValueError(f"{text} is no text that JSON can read")
    return value
