"""One step that a pattern expects: `StepSpec`, typed or as a dict or a tool's name.

1. `tool` or `kind` says which steps are meant; with both, `kind` also declares the tool's kind.
2. `entity_arg` is the argument in which a mutation names its entity, `entity_result_key` where a
   lookup returns the id, `entity_type` what sort of thing it is.
3. `success` tells when a call took effect; `where` must hold of the step; `guard` on a mutation
   must hold when it runs, on another step it must hold of its own result for every later
   mutation.
4. `optional` steps may be left out. Unknown keys are errors that name the nearest key.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from functools import cached_property
from typing import Any, Final, Literal, TypeAlias

from trackway.schema import StepKind
from trackway_analyzer.rules.expression import Expression, compiled
from trackway_analyzer.rules.field_kinds import check_fields
from trackway_analyzer.rules.tools import EntitySpec, Tools, ToolSpec, merged_tools
from trackway_analyzer.rules.values import reader

Extra = Literal["forbid", "reads", "allow"]
"""What calls may come that a pattern does not list."""
EXTRAS: Final = ("forbid", "reads", "allow")
Spec: TypeAlias = "StepSpec | Mapping[str, Any] | str"


@dataclass(frozen=True)
class StepSpec:
    """One expected step. Raises ValueError on a wrong kind, path or expression."""

    tool: str | None = None
    kind: str | None = None
    entity_arg: str | None = None
    entity_result_key: str | None = None
    entity_type: str | None = None
    success: str | None = None
    guard: str | None = None
    where: str | None = None
    optional: bool = False

    def __post_init__(self) -> None:
        check_fields(self)
        if self.tool is None and self.kind is None:
            raise ValueError("a step needs `tool` or `kind`")
        if self.kind is not None:
            one_of(self.kind, [kind.value for kind in StepKind], "kind")
        for path in (self.entity_arg, self.entity_result_key):
            if path is not None:
                reader(path)
        for text in (self.success, self.guard, self.where):
            if text is not None:
                compiled(text)

    @classmethod
    def of(cls, spec: Spec) -> StepSpec:
        """Read a dict or a tool's name. Raises ValueError on an unknown key."""
        if isinstance(spec, StepSpec):
            return spec
        if isinstance(spec, str):
            return cls(tool=spec)
        if not isinstance(spec, Mapping):
            raise TypeError(f"expected a step as a dict or a tool's name, found {spec!r}")
        known = [field.name for field in fields(cls)]
        for key in spec:
            one_of(key, known, "key")
        return cls(**spec)

    @property
    def name(self) -> str:
        """How a sentence names the step."""
        return self.tool or f"a {self.kind}"

    @cached_property
    def success_expression(self) -> Expression | None:
        """Compiled `success`; likewise below."""
        return _compiled(self.success)

    @cached_property
    def guard_expression(self) -> Expression | None:
        """Compiled `guard`."""
        return None if self.guard is None else compiled(self.guard, permission=True)

    @cached_property
    def where_expression(self) -> Expression | None:
        """Compiled `where`."""
        return _compiled(self.where)

    def declares(self) -> dict[str, ToolSpec]:
        """What the step says of its tool."""
        if self.tool is None:
            return {}
        entity = EntitySpec(self.entity_type, self.entity_arg, self.entity_result_key)
        return {self.tool: ToolSpec(self.kind, entity, self.success_expression)}


def declared(specs: Iterable[StepSpec]) -> Tools:
    """What a pattern says of its tools. Raises ValueError where two steps contradict each other."""
    tools: Tools = {}
    for spec in specs:
        tools = merged_tools(tools, spec.declares())
    return tools


def steps_of(specs: Iterable[Spec]) -> tuple[StepSpec, ...]:
    """Read a list of steps. Raises TypeError for what is none, such as a text."""
    if isinstance(specs, (str, Mapping)) or not isinstance(specs, Iterable):
        raise TypeError(f"expected a list of steps, found {specs!r}")
    return tuple(StepSpec.of(spec) for spec in specs)


def _compiled(text: str | None) -> Expression | None:
    return None if text is None else compiled(text)


def one_of(word: object, known: Iterable[str], what: str) -> None:
    """Raise ValueError that names the nearest known word where `word` is not known."""
    names = list(known)
    if word in names:
        return
    near = get_close_matches(str(word), names, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]!r}?" if near else f"expected one of {', '.join(names)}"
    raise ValueError(f"unknown {what} {word!r}, {hint}")
