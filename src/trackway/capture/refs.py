"""Which entities a value names: `type:id`, read at a path.

1. A path is names and indexes: `id`, `order.id`, `items[*].id`, `items[0].id`, `['odd name'].id`.
   Without a leading `$`, a name that meets a list goes through its elements (`id` finds the ids of
   a list of orders), and a text that holds JSON is read as JSON. With `$`: RFC 9535, `$[*].id`.
2. An id is a string, an integer, or what stands for one (UUID, enum, Decimal, date). A list at the
   end of a path gives one reference an element; an object gives its canonical JSON. None, booleans
   and empty strings name nothing.
3. A reference is `type:id`; without a type it is `:id`, so that the first colon always ends the
   type, whatever the id holds. References come in order, each once, at most 1,000, from at
   most 2,000 members looked at, 64 levels deep; an id of more than 4,096 characters is cut.
4. What stands under a denied key is no reference: it would show what must not be recorded.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import Any, Final, TypeAlias

from trackway.capture.convert import parts_of
from trackway.capture.encode import tree_of
from trackway.capture.errors import record_capture_error
from trackway.capture.limits import Limits
from trackway.capture.parts import Elements, Inner, Members, Opaque
from trackway.capture.redact import DEFAULT_REDACTOR, Redactor
from trackway.capture.text import encodable, json_text
from trackway.faults import goes_on

Step: TypeAlias = str | int | None
"""A name, an index, or None for every element."""

MOST_REFS: Final = 1000
_MOST_VISITED: Final = 2_000
_LONGEST_JSON: Final = 1 << 20
_LONGEST_ID: Final = 512
_LONGEST_WALK: Final = 32
_MOST_LEVELS: Final = 64
_MOST_NAMES: Final = 256
_STEP: Final = re.compile(
    r"\.?(?P<name>[^.\[\]'\"*\s]+)|\[(?P<index>-?[0-9]+)\]|(?P<all>\[\*\]|\.?\*)"
    r"|\[(?P<quote>['\"])(?P<quoted>.*?)(?P=quote)\]"
)
_ID_LIMITS: Final = Limits(value_bytes=4096, hash_bytes=4096, depth=8)


@lru_cache(maxsize=512)
def parse_path(path: str) -> tuple[bool, tuple[Step, ...]]:
    """Return whether a path is strict (begins with `$`), and its steps.

    Raises ValueError where the text is no path.
    """
    strict = path.startswith("$")
    place = 1 if strict else 0
    steps: list[Step] = []
    while place < len(path):
        match = _STEP.match(path, place)
        if match is None:
            raise ValueError(
                f"entity path {path!r}: expected names and indexes such as 'order.id' or "
                f"'items[*].id', found {path[place:]!r}"
            )
        if match["name"] is not None:
            steps.append(match["name"])
        elif match["index"] is not None:
            steps.append(int(match["index"]))
        else:
            steps.append(match["quoted"])
        place = match.end()
    if not steps and not strict:
        raise ValueError("entity path: expected a name such as 'id', found an empty text")
    return strict, tuple(steps)


def entity_refs(
    value: object,
    path: str,
    entity_type: str | None,
    redactor: Redactor | None = DEFAULT_REDACTOR,
) -> tuple[str, ...]:
    """Return the entities at `path` in `value` as `type:id`; `:id` without a type.

    Empty where nothing is there. Never raises on a value; ValueError on a path that is none.
    """
    prefix = f"{entity_type or ''}:"
    steps = parse_path(path)
    found = value
    # The usual case, names that lead through dicts to a text, without a walk.
    for step in steps[1]:
        if type(found) is not dict or type(step) is not str:
            break
        found = found.get(step)
        if redactor is not None and step not in redactor.safe_keys and not redactor.learn(step):
            return ()
    else:
        if type(found) is str and found and len(found) <= _LONGEST_ID and found.isascii():
            return (prefix + found,)
    try:
        return tuple(prefix + text for text in _ids(value, steps, redactor))
    except Exception as error:  # a value of the user must not break their call
        if goes_on(error):
            raise
        record_capture_error("capture.entity_refs", error)
        return ()


def identifiers(
    value: object, paths: frozenset[str], redactor: Redactor | None
) -> dict[str, frozenset[str]]:
    """Return the ids at several paths, as they stand in a value, by the member they are in."""
    found: dict[str, frozenset[str]] = {}
    for path in paths:
        try:
            steps = parse_path(path)
        except ValueError:
            steps = (False, (path,))
        member = next((step for step in steps[1] if isinstance(step, str)), "")
        found[member] = found.get(member, frozenset()).union(_ids(value, steps, redactor))
    return found


def id_text(value: object) -> str:
    """Return the text of an id: of a number, UUID, enum, date …, the canonical JSON of containers.

    Raises TypeError for an object of which nothing is known but its class: all would have one id.
    """
    if isinstance(_parts(value), Opaque):
        raise TypeError("expected an id: a text, a number, a UUID or what holds such; found none")
    plain = tree_of(value, _ID_LIMITS, None).root
    return plain if isinstance(plain, str) else json_text(plain)


def missing_step(value: object, path: str) -> tuple[str, list[str]] | None:
    """Return the name at which a path finds nothing, and the names there are instead.

    None where it leads on, or where no names are. Of a list the first element is looked at.
    """
    _, steps = parse_path(path)
    pending = list(reversed(steps))
    for _ in range(_LONGEST_WALK):
        parts = _parts(value)
        if not pending or not isinstance(parts, (Members, Elements)):
            return None
        if isinstance(parts, Elements):
            value = next(iter(parts.items), None)
            if not isinstance(pending[-1], str):
                pending.pop()
            continue
        step = pending.pop()
        members = {key: item for key, item in islice(parts.pairs, _MOST_NAMES) if type(key) is str}
        if not isinstance(step, str):
            return None
        if step not in members:
            return step, list(members)
        value = members[step]
    return None


def _ids(
    value: object, parsed: tuple[bool, tuple[Step, ...]], redactor: Redactor | None
) -> list[str]:
    strict, steps = parsed
    if any(isinstance(step, str) and redactor and redactor.denies(step) for step in steps):
        return []
    if not strict and type(value) is str:
        value = _read_json(value)
    # One budget for all levels: lists in lists would multiply.
    budget = iter(range(_MOST_VISITED))
    ids = (text for item in _at(value, steps, strict, budget) for text in _texts(item, budget))
    return list(islice(dict.fromkeys(ids), MOST_REFS))


def _read_json(text: str) -> object:
    if text[:1] not in ("{", "[") or len(text) > _LONGEST_JSON:
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _at(
    value: Any,
    steps: tuple[Step, ...],
    strict: bool,
    budget: Iterator[int],
    levels: int = _MOST_LEVELS,
) -> Iterator[Any]:
    """Yield what stands at a path; user code does not run (`convert.py`)."""
    if not steps:
        yield value
        return
    if not levels:
        return
    step, rest = steps[0], steps[1:]
    if type(value) is dict and isinstance(step, str):
        if step in value:
            yield from _at(value[step], rest, strict, budget, levels - 1)
        return
    kind = type(value)
    if kind is str or kind is int or kind is float or kind is bool or value is None:
        return
    parts = _parts(value)
    if isinstance(parts, Members):
        for _, (key, member) in zip(budget, parts.pairs, strict=False):
            if step is None or (type(key) is str and key == step):
                yield from _at(member, rest, strict, budget, levels - 1)
    elif isinstance(parts, Elements):
        if isinstance(step, str):
            if strict:
                return
            rest = steps
        for _, (place, item) in zip(budget, enumerate(parts.items), strict=False):
            if type(step) is not int or place == step or place - parts.count == step:
                yield from _at(item, rest, strict, budget, levels - 1)


def _parts(value: Any) -> Any:
    parts = parts_of(value)
    for _ in range(8):
        if not isinstance(parts, Inner):
            break
        parts = parts_of(parts.value)
    return parts


def _texts(value: Any, budget: Iterator[int]) -> Iterator[str]:
    """Yield the ids that stand at the end of a path: one, or those of a list."""
    parts = value if type(value) is str else _parts(value)
    if isinstance(parts, Elements):
        for _, item in zip(budget, parts.items, strict=False):
            if not isinstance(_parts(item), Elements):
                yield from _texts(item, budget)
    elif type(value) is str and len(value) <= _LONGEST_ID:
        if value:
            yield encodable(value)
    else:
        plain = tree_of(value, _ID_LIMITS, None).root
        if plain is not None and not isinstance(plain, bool) and plain != "":
            yield plain if isinstance(plain, str) else json_text(plain)
