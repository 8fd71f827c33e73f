"""One small language for `success`, `guard`, `where` and the policy file: is it true of this step?

1. `amount` is the step's own argument; `$.status` is read from the step's own result.
2. `check_policy.limit` is read from the nearest earlier successful result of that tool, or where no
   tool has the name, of a lookup that returns that type of entity. A name with dots stands in
   quotes: `"refund_api.create".id`. Where neither is known, it is read inside the own argument.
3. Literals are JSON: `84`, `"text"`, `true`, `null`, `[1, 2]`. Operators: `== != < <= > >= in`,
   `and`, `or`, `not`, parentheses. Paths are RFC 9535; a compared path yields at most one value.
4. Types are strict: a bool is no number, `1 == 1.0`, `"84"` is not `84`. Only numbers, also those
   in texts, and dates have an order (`ordered`); that of two other texts is undecided. Two recorded
   texts that are one number are equal; a text that the expression states is taken to the letter.
   With one side absent `==`, `in` and an order are false, their negation and `!=` undecided; with
   both absent each is undecided: a name may be misspelt.
5. A term that stands alone is true unless it is absent, false, null, 0, empty or the text `false`
   or `no`. Where it is a permission (a guard, what an approval granted, what an earlier result
   says), only true, 1, `true` and `yes` are true and words such as `denied` are false; what is
   neither leaves it undecided. A negation, or a path that may yield several values, asks whether
   something is there.
6. The answer is true, false, or neither: `NoSource` where no earlier result could be read (the
   expression is then not fulfilled), `Hidden` where a gap hides a value that decides. `false and x`
   is false and `true or x` is true, whatever x is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from trackway_analyzer.model import JsonValue
from trackway_analyzer.rules.ordered import equal, in_order, may_be_equal
from trackway_analyzer.rules.terms import (
    ABSENT_GAP,
    NEITHER_GAP,
    NO_ORDER_GAP,
    All,
    Bare,
    Because,
    Compare,
    ExpressionError,
    Hidden,
    Literal,
    Name,
    Node,
    NoSource,
    Not,
    Path,
    Read,
    Reading,
    Scope,
    Source,
    Term,
    Truth,
)
from trackway_analyzer.rules.values import (
    Absent,
    Key,
    is_number,
    is_singular,
    same,
    simple_keys,
)
from trackway_analyzer.said_no import FAILED

_YES: Final = frozenset({"true", "yes"})
_NO: Final = frozenset({"false", "no"})


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
    permission: bool = False
    """Whether a term that stands alone must say yes."""

    def __str__(self) -> str:
        return self.text

    @property
    def names(self) -> frozenset[str]:
        """Names of tools, entity types or own arguments whose inside is read."""
        return frozenset(
            t.name for t in _terms(self.node) if isinstance(t, Name) and (t.path != "$" or t.quoted)
        )

    @property
    def terms(self) -> tuple[Term, ...]:
        """Everything that it reads, literals too."""
        return tuple(_terms(self.node))

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
        return _truth(self.node, scope, permission=self.permission)

    def because(self, scope: Scope) -> Because:
        """Say what decided, for an expression that is not true at this step."""
        return _because(self.node, scope, wanted=True, permission=self.permission)


def compiled(text: object, *, permission: bool = False) -> Expression:
    """Compile an expression; `permission`: a guard or a grant. Raises ExpressionError."""
    if not isinstance(text, str):
        raise ExpressionError(f"expected an expression in a text, found {text!r}")
    return _compiled(text, permission)


@lru_cache(maxsize=4096)
def _compiled(text: str, permission: bool) -> Expression:
    # Making the parser takes longer than most checks, and few policies hold an expression.
    from trackway_analyzer.rules.grammar import node_of

    return Expression(text.strip(), node_of(text), permission)


def _terms(node: Node) -> list[Term]:
    if isinstance(node, Compare):
        return [node.left, node.right]
    if isinstance(node, Bare):
        return [node.term]
    if isinstance(node, Not):
        return _terms(node.inner)
    return [term for part in node.parts for term in _terms(part)]


def _truth(node: Node, scope: Scope, *, wanted: bool = True, permission: bool = False) -> Truth:
    """Evaluate a node; `wanted` is false inside an odd number of negations."""
    if isinstance(node, Compare):
        left, right = _read(node.left, scope), _read(node.right, scope)
        return _compared(left, node.operator, right, wanted=wanted)
    if isinstance(node, Bare):
        read = _read(node.term, scope)
        asks = wanted and (permission or read.row is not None) and not _yields_several(node.term)
        return _permitted(read.value) if asks else _is_true(read.value)
    if isinstance(node, Not):
        inner = _truth(node.inner, scope, wanted=not wanted, permission=permission)
        return not inner if isinstance(inner, bool) else inner
    parts = [_truth(part, scope, wanted=wanted, permission=permission) for part in node.parts]
    return _conjunction(parts) if isinstance(node, All) else _disjunction(parts)


def _conjunction(parts: list[Truth]) -> Truth:
    if False in parts:
        return False
    return next((p for kind in (NoSource, Hidden) for p in parts if isinstance(p, kind)), True)


def _disjunction(parts: list[Truth]) -> Truth:
    if True in parts:
        return True
    return next((p for kind in (Hidden, NoSource) for p in parts if isinstance(p, kind)), False)


def _is_true(value: Reading) -> Truth:
    if isinstance(value, (Hidden, NoSource)):
        return value
    return not isinstance(value, Absent) and bool(value) and _word(value) not in _NO


def _permitted(value: Reading) -> Truth:
    if _is_true(value) is not True:
        return _is_true(value)
    if value is True or (is_number(value) and value == 1) or _word(value) in _YES:
        return True
    return False if _word(value) in FAILED else Hidden(NEITHER_GAP)


def _word(value: Reading) -> str | None:
    return value.strip().lower() if isinstance(value, str) else None


def _yields_several(term: Term) -> bool:
    return isinstance(term, (Path, Name)) and not is_singular(term.path)


def _compared(left_read: Read, operator: str, right_read: Read, *, wanted: bool) -> Truth:
    left, right = left_read.value, right_read.value
    for side in (left, right):
        if isinstance(side, NoSource):
            return side
    for side in (left, right):
        if isinstance(side, Hidden):
            return side
    absent = isinstance(left, Absent), isinstance(right, Absent)
    if all(absent) or (any(absent) and (operator == "!=" or not wanted)):
        return Hidden(ABSENT_GAP)
    if any(absent):
        return False
    alike = same if left_read.literal or right_read.literal else equal
    if operator in ("==", "!="):
        if not alike(left, right) and may_be_equal(left, right):
            return Hidden(NO_ORDER_GAP)
        return alike(left, right) is (operator == "==")
    if operator == "in":
        return isinstance(right, list) and any(alike(left, item) for item in right)
    holds = in_order(left, operator, right)
    return Hidden(NO_ORDER_GAP) if holds is None else holds


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
    return _read_at(term, replace(own, value=value))


def _read_at(term: Path | Name, source: Source | Hidden | NoSource) -> Read:
    if isinstance(source, Source):
        return Read(term.text, source.at(term.path), source.row)
    return Read(term.text, source)


def _because(node: Node, scope: Scope, *, wanted: bool, permission: bool) -> Because:
    if isinstance(node, Not):
        return _because(node.inner, scope, wanted=not wanted, permission=permission)
    if isinstance(node, Compare):
        left, right = _read(node.left, scope), _read(node.right, scope)
        return Because(left, node.operator, right, negated=not wanted)
    if isinstance(node, Bare):
        return Because(_read(node.term, scope), negated=not wanted)
    truths = (_truth(part, scope, wanted=wanted, permission=permission) for part in node.parts)
    guilty = (p for p, truth in zip(node.parts, truths, strict=True) if truth is not wanted)
    return _because(next(guilty, node.parts[0]), scope, wanted=wanted, permission=permission)
