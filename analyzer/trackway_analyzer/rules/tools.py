"""What a person says about a tool: its kind, its entity, and when a call of it took effect.

1. The kind is the pattern's or policy's word, else the span's; nobody's word: the kind is
   unknown.
2. `entity.argument` is where a mutation names its entity, `entity.result` where a lookup returns
   the ids that it found, `entity.type` what sort of thing it is. A thing without a type fits any
   type.
3. A call took effect if the declared `success` is true of it. Without one `happened` decides; for
   a lookup it leaves `status` aside: that is the status of what was found.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from trackway.schema import StepKind
from trackway_analyzer.rules.expression import Expression
from trackway_analyzer.rules.field_kinds import check_fields

Tools = Mapping[str, "ToolSpec"]

LOOKUP = StepKind.LOOKUP.value
MUTATE = StepKind.MUTATE.value
NOTIFY = StepKind.NOTIFY.value

DEFAULT_KEY = "id"


@dataclass(frozen=True, slots=True)
class EntitySpec:
    """Where a call says which thing it is about."""

    type: str | None = None
    argument: str | None = None
    """Path or name of the argument that names the entity of a mutation."""
    result: str | None = None
    """Path or name of the ids in a lookup's result; None: `id`."""

    def __post_init__(self) -> None:
        check_fields(self)


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """What is known of a tool beforehand."""

    kind: str | None = None
    entity: EntitySpec = field(default_factory=EntitySpec)
    success: Expression | None = None

    def __post_init__(self) -> None:
        check_fields(self)

    def merged(self, other: ToolSpec, name: str) -> ToolSpec:
        """Add what `other` says. Raises ValueError where the two contradict each other."""
        return ToolSpec(
            _one(self.kind, other.kind, f"kind of {name}"),
            EntitySpec(
                self.entity.type or other.entity.type,
                self.entity.argument or other.entity.argument,
                self.entity.result or other.entity.result,
            ),
            self.success or other.success,
        )


def _one(first: str | None, second: str | None, what: str) -> str | None:
    if first is not None and second is not None and first != second:
        raise ValueError(f"the {what} is said to be both {first!r} and {second!r}")
    return first or second


def merged_tools(first: Tools, second: Tools) -> dict[str, ToolSpec]:
    """Merge two declarations tool by tool; the first wins but for kinds, which must agree.

    Raises ValueError on two kinds for a tool, TypeError on what is no ToolSpec.
    """
    for name, spec in (*first.items(), *second.items()):
        if not isinstance(spec, ToolSpec):
            raise TypeError(
                f"tools: expected a ToolSpec for {name!r}, found {spec!r}:"
                ' write ToolSpec(kind="mutate"), or read a policy file with Policy.from_yaml'
            )
    names = [*first, *(name for name in second if name not in first)]
    blank = ToolSpec()
    return {name: first.get(name, blank).merged(second.get(name, blank), name) for name in names}
