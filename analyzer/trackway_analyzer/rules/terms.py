"""What expressions are made of, what they read, and what they find."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Protocol, TypeAlias

from trackway_analyzer.model import JsonValue
from trackway_analyzer.rules.values import (
    ABSENT,
    Absent,
    is_cut,
    is_redacted,
    is_singular,
    loses_members,
    reader,
)

ABSENT_GAP: Final = "absent"
"""Name for a value that a comparison needs and that the record, which is there, does not hold."""

NO_ORDER_GAP: Final = "no_order"
"""Name for two texts of which an expression asks which is less, and nobody knows their order."""

NEITHER_GAP: Final = "neither_yes_nor_no"
"""Name for a value that is asked for a permission and says neither yes nor no."""

DENIED_GAP: Final = "denied"
"""Name for a fact that a text only holds behind a negation."""

OTHERWISE_GAP: Final = "written_otherwise"
"""Name for a value of a text that may be a shown one in other signs, or worked out of some."""

ABOUT_GAP: Final = "about_another"
"""Name for an approval that may be about another thing than the call."""

ALIKE_GAP: Final = "alike"
"""Name for values that differ in their type or in blanks alone: they may name one thing."""

TOO_SHORT_GAP: Final = "too_short"
"""Name for values that many texts hold by chance: not to see them again says nothing."""


class ExpressionError(ValueError):
    """A text that is no expression: says where and what was expected."""


@dataclass(frozen=True, slots=True)
class Hidden:
    """A value that a gap hides."""

    gap: str
    position: int | None = None


@dataclass(frozen=True, slots=True)
class NoSource:
    """No earlier successful result could be read."""

    name: str
    of_another: int | None = field(default=None, compare=False)
    """Row of the nearest call that succeeded, of another entity than the step's."""


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

    redacted: Hidden | None = None
    """Secrets were taken out of it: a value with a marker in it is not what the call had."""

    unnamed: Hidden | None = None
    """The names of arguments were lost: what has no name may be the one that is not there."""

    def hides(self, *values: JsonValue) -> Hidden | None:
        """Why what was recorded of these values is not what they were; None: it is."""
        if self.cut is not None and any(map(is_cut, values)):
            return self.cut
        if self.redacted is not None and any(map(is_redacted, values)):
            return self.redacted
        return None

    @property
    def lost(self) -> Hidden | None:
        """Why a member that is not there may have been; None: none was cut away or lost its name.

        Marks say what was cut: where there are some and all stand at the ends of texts, every
        member is there.
        """
        whole = is_cut(self.value) and not loses_members(self.value)
        return self.unnamed or (None if whole else self.cut)

    def at(self, path: str) -> Reading:
        """Read a path: one value, or the list of them where the path may yield several."""
        values = reader(path)(self.value)
        if not is_singular(path):
            return self.hides(*values) or [value for value in values if value]
        if not values:
            return self.lost or ABSENT
        return self.hides(values[0]) or values[0]


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
