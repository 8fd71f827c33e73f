"""Which calls does a rule mean by the name of a tool?

1. Those whose tool has this name, or whose name before the model it is (`tool_alias`).
2. A tool of an MCP server bears one name there and `mcp__server__name` before the model: a rule may
   use either. Two full names of different servers are two tools.
3. `*` stands for any characters. A call that fits several names of one rule is meant by the one
   that says most: its own name, the name that the model saw, the same without a server, the longest
   with a `*`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from functools import lru_cache
from typing import Final

_OF_A_SERVER: Final = re.compile(r"mcp__.+?__(.+)")


def has_star(name: str) -> bool:
    """Whether a name stands for several."""
    return "*" in name


def meant_by(names: Collection[str], tool: str | None, alias: str | None) -> str | None:
    """The one of these names by which a rule means a call; None: it does not."""
    own = [name for name in (tool, alias) if name is not None]
    for name in own:
        if name in names:
            return name
    plain = (name for name in sorted(names) if not has_star(name))
    found = next((name for name in plain if any(_same(name, of) for of in own)), None)
    if found is not None:
        return found
    stars = sorted(filter(has_star, names), key=lambda name: (-len(name), name))
    return next((name for name in stars if fits(name, {*own, *map(bare, own)})), None)


def fits(name: str, own: Iterable[str]) -> bool:
    """Whether one of a call's own names is this one, with whatever its `*` stand for."""
    pattern = _pattern(name)
    return any(map(pattern.fullmatch, own))


def _same(one: str, other: str) -> bool:
    """Whether two names differ by the server alone, which one of them does not name."""
    return bare(one) == other or one == bare(other)


def bare(name: str) -> str:
    """A name without the MCP server that it is of."""
    found = _OF_A_SERVER.fullmatch(name)
    return name if found is None else found[1]


@lru_cache(4096)
def _pattern(name: str) -> re.Pattern[str]:
    return re.compile(re.escape(name).replace(r"\*", ".*"), re.DOTALL)
