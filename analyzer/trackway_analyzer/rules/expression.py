"""One small language for `success`, `guard`, `where` and the policy file: is it true of this step?

1. `amount` is the step's own argument; `$.status` is read from the step's own result.
2. `check_policy.limit` is read from the nearest earlier successful result of that tool, or where no
   tool has the name, of a lookup that returns that type of entity. A name with dots stands in
   quotes: `"refund_api.create".id`. Where neither is known, it is read inside the own argument.
3. Literals are JSON: `84`, `"text"`, `true`, `null`, `[1, 2]`. Operators: `== != < <= > >= in`,
   `and`, `or`, `not`, parentheses. Paths are RFC 9535; a compared path yields at most one value.
4. Types are strict: a bool is no number, `1 == 1.0`, only two numbers or two texts have an order.
   Absent equals nothing but absent.
5. A term that stands alone is true unless it is absent, false, null, 0 or empty.
6. The answer is true, false, or neither: `NoSource` where no earlier result could be read (the
   expression is then not fulfilled), `Hidden` where a gap hides a value that decides. `false and x`
   is false and `true or x` is true, whatever x is.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, Protocol, TypeAlias

import lark

from trackway_analyzer.json_text import parsed
from trackway_analyzer.model import JsonValue
from trackway_analyzer.rules.values import (
    ABSENT,
    Absent,
    Key,
    is_cut,
    is_number,
    is_singular,
    reader,
    same,
    simple_keys,
)


@dataclass(frozen=True, slots=True)
class Hidden:
    """A value that a gap hides."""

    gap: str
    position: int | None = None


@dataclass(frozen=True, slots=True)
class NoSource:
    """No earlier successful result could be read."""

    name: str


Reading: TypeAlias = JsonValue | Absent | Hidden | NoSource
Truth: TypeAlias = bool | Hidden | NoSource


@dataclass(frozen=True, slots=True)
class Source:
    """A recorded value that paths are read from."""

    value: JsonValue
    row: int | None = None
    """Row of the earlier step that it comes from; None: the step itself."""
    cut: Hidden | None = None
    """Parts of it were cut away: what is not there may have been."""

    def at(self, path: str) -> Reading:
        """Read a path: one value, or the list of them where the path may yield several."""
        values = reader(path)(self.value)
        if not is_singular(path):
            return [value for value in values if value]
        if not values or (self.cut is not None and is_cut(values[0])):
            return self.cut or ABSENT
        return values[0]


class Scope(Protocol):
    """What an expression can see from its step."""

    def arguments(self) -> Source | Hidden:
        """The step's own arguments."""

    def result(self) -> Source | Hidden:
        """The step's own result."""

    def earlier(self, name: str) -> Source | Hidden | NoSource | None:
        """Nearest earlier result of a tool or entity type; None: there is no such name."""


@dataclass(frozen=True, slots=True)
class Literal:
    """A JSON value."""

    value: JsonValue
    text: str


@dataclass(frozen=True, slots=True)
class Path:
    """A value of the step's own result."""

    path: str
    text: str


@dataclass(frozen=True, slots=True)
class Name:
    """An own argument, or with a path, what a tool or entity type returned earlier."""

    name: str
    path: str
    text: str
    quoted: bool


Term: TypeAlias = Literal | Path | Name


@dataclass(frozen=True, slots=True)
class Compare:
    """Two terms and an operator between them."""

    left: Term
    operator: str
    right: Term


@dataclass(frozen=True, slots=True)
class Bare:
    """A term that stands alone."""

    term: Term


@dataclass(frozen=True, slots=True)
class Not:
    """The opposite."""

    inner: Node


@dataclass(frozen=True, slots=True)
class All:
    """Every part is true."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Any_:
    """At least one part is true."""

    parts: tuple[Node, ...]


Node: TypeAlias = Compare | Bare | Not | All | Any_


@dataclass(frozen=True, slots=True)
class Read:
    """A term with what was read for it, and where."""

    text: str
    value: Reading
    row: int | None = None
    """Row of the earlier step that it was read from; None: the step itself."""
    literal: bool = False


@dataclass(frozen=True, slots=True)
class Because:
    """The first comparison that decided against the expression."""

    left: Read
    operator: str | None = None
    right: Read | None = None
    negated: bool = False


@dataclass(frozen=True, slots=True)
class PlainEquality:
    """`$.status == "succeeded"`: the commonest expression, for whole columns."""

    keys: tuple[Key, ...]
    text: str

    def is_true_of(self, result: JsonValue) -> bool:
        """Whether it is surely true; if not, the expression itself decides."""
        for key in self.keys:
            if not isinstance(result, dict):
                return False
            result = result.get(key)
        return isinstance(result, str) and result == self.text


@dataclass(frozen=True, slots=True)
class Expression:
    """A compiled expression."""

    text: str
    node: Node

    def __str__(self) -> str:
        return self.text

    @property
    def names(self) -> frozenset[str]:
        """Names of tools, entity types or own arguments whose inside is read."""
        return frozenset(
            t.name for t in _terms(self.node) if isinstance(t, Name) and (t.path != "$" or t.quoted)
        )

    @property
    def reads_result_only(self) -> bool:
        """Whether the answer depends on the step's own result alone."""
        return not any(isinstance(term, Name) for term in _terms(self.node))

    @property
    def plain_equality(self) -> PlainEquality | None:
        """The expression where it only compares a member of the own result with a text."""
        node = self.node
        if not isinstance(node, Compare) or node.operator != "==":
            return None
        if not isinstance(node.left, Path) or not isinstance(node.right, Literal):
            return None
        keys, value = simple_keys(node.left.path), node.right.value
        return PlainEquality(keys, value) if keys and isinstance(value, str) else None

    def truth(self, scope: Scope) -> Truth:
        """Evaluate at a step."""
        return _truth(self.node, scope)

    def because(self, scope: Scope) -> Because:
        """Say what decided, for an expression that is not true at this step."""
        return _because(self.node, scope, wanted=True)


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

_PARSER: Final = lark.Lark(_GRAMMAR, parser="lalr")


class ExpressionError(ValueError):
    """A text that is no expression: says where and what was expected."""


def compiled(text: object) -> Expression:
    """Compile an expression. Raises ExpressionError."""
    if not isinstance(text, str):
        raise ExpressionError(f"expected an expression in a text, found {text!r}")
    return _compiled(text)


@lru_cache(maxsize=4096)
def _compiled(text: str) -> Expression:
    try:
        node = _Builder().transform(_PARSER.parse(text))
    except lark.exceptions.VisitError as error:
        raise ExpressionError(f"{text!r}: {error.orig_exc}") from error
    except lark.UnexpectedInput as error:
        raise ExpressionError(_complaint(text, error)) from error
    return Expression(text.strip(), node)


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


def _terms(node: Node) -> list[Term]:
    if isinstance(node, Compare):
        return [node.left, node.right]
    if isinstance(node, Bare):
        return [node.term]
    if isinstance(node, Not):
        return _terms(node.inner)
    return [term for part in node.parts for term in _terms(part)]


def _truth(node: Node, scope: Scope) -> Truth:
    if isinstance(node, Compare):
        left, right = _read(node.left, scope).value, _read(node.right, scope).value
        return _compared(left, node.operator, right)
    if isinstance(node, Bare):
        value = _read(node.term, scope).value
        return value if isinstance(value, (Hidden, NoSource)) else _is_true(value)
    if isinstance(node, Not):
        inner = _truth(node.inner, scope)
        return not inner if isinstance(inner, bool) else inner
    parts = [_truth(part, scope) for part in node.parts]
    return _conjunction(parts) if isinstance(node, All) else _disjunction(parts)


def _conjunction(parts: list[Truth]) -> Truth:
    if False in parts:
        return False
    return next((p for kind in (NoSource, Hidden) for p in parts if isinstance(p, kind)), True)


def _disjunction(parts: list[Truth]) -> Truth:
    if True in parts:
        return True
    return next((p for kind in (Hidden, NoSource) for p in parts if isinstance(p, kind)), False)


def _is_true(value: Reading) -> bool:
    return not isinstance(value, Absent) and bool(value)


def _compared(left: Reading, operator: str, right: Reading) -> Truth:
    for side in (left, right):
        if isinstance(side, NoSource):
            return side
    for side in (left, right):
        if isinstance(side, Hidden):
            return side
    if operator in ("==", "!="):
        return _equal(left, right) is (operator == "==")
    if operator == "in":
        return isinstance(right, list) and any(_equal(left, item) for item in right)
    return _ordered(left, operator, right)


def _equal(left: Reading, right: Reading) -> bool:
    if isinstance(left, Absent) or isinstance(right, Absent):
        return left is right
    return same(left, right)


def _ordered(left: Any, operator: str, right: Any) -> bool:
    numbers = is_number(left) and is_number(right)
    if not numbers and not (isinstance(left, str) and isinstance(right, str)):
        return False
    if operator == "<":
        return bool(left < right)
    if operator == "<=":
        return bool(left <= right)
    return bool(left > right) if operator == ">" else bool(left >= right)


def _read(term: Term, scope: Scope) -> Read:
    if isinstance(term, Literal):
        return Read(term.text, term.value, literal=True)
    if isinstance(term, Path):
        return _read_at(term, scope.result())
    if term.path != "$" or term.quoted:
        source = scope.earlier(term.name)
        if source is not None:
            return _read_at(term, source)
        if term.quoted:
            return Read(term.text, NoSource(term.name))
    own = scope.arguments()
    if isinstance(own, Hidden):
        return Read(term.text, own)
    value = own.at(f"$['{term.name}']")
    if isinstance(value, Absent) and term.path != "$":
        return Read(term.text, NoSource(term.name))
    if isinstance(value, (Absent, Hidden)):
        return Read(term.text, value)
    return _read_at(term, Source(value, None, own.cut))


def _read_at(term: Path | Name, source: Source | Hidden | NoSource) -> Read:
    if isinstance(source, Source):
        return Read(term.text, source.at(term.path), source.row)
    return Read(term.text, source)


def _because(node: Node, scope: Scope, *, wanted: bool) -> Because:
    if isinstance(node, Not):
        return _because(node.inner, scope, wanted=not wanted)
    if isinstance(node, Compare):
        left, right = _read(node.left, scope), _read(node.right, scope)
        return Because(left, node.operator, right, negated=not wanted)
    if isinstance(node, Bare):
        return Because(_read(node.term, scope), negated=not wanted)
    guilty = (part for part in node.parts if _truth(part, scope) is not wanted)
    return _because(next(guilty, node.parts[0]), scope, wanted=wanted)
