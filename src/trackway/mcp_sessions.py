"""Sessions of the Model Context Protocol, whose tool calls are recorded under the tools' names.

1. A session (an object with `call_tool`) comes back as a view of it; a session class has its method
   replaced. A call that a layer above records already is left.
2. What the tool answered is recorded out of the protocol's envelope, and its word for an error.
3. A name in `kinds` that no tool of the server has shows when the tools are listed to the end: the
   log says so once. Nobody is asked for a list that the program does not want.
"""

from __future__ import annotations

import functools
import json
import logging
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from typing import Any, Final

from trackway.driving import Opened
from trackway.fields import get, items_of, word
from trackway.lifecycle import wrap
from trackway.plans import ToolPlan
from trackway.run import current_place
from trackway.schema import StepKind, Trackway
from trackway.spans import Live
from trackway.views import View

_LOGGER: Final = logging.getLogger("trackway")
_MOST_PLANS: Final = 1024
_MOST_TOOLS: Final = 10_000


def unknown_kind(name: str, names: Iterable[str]) -> str:
    """Return the sentence for a name in `kinds` that no tool has."""
    known = sorted(names)
    near = get_close_matches(name, known, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(known) or 'none'}"
    return f"kinds names {name!r}, which is no tool of the registry; {hint}"


class Session(View):
    """An MCP session whose tool calls are recorded under the tools' names."""

    _OWN = View._OWN | {"_kinds", "_callers", "_listed", "_unsaid"}

    def __init__(self, session: Any, kinds: Mapping[str, StepKind]) -> None:
        super().__init__(session, {})
        self._kinds = kinds
        self._callers: dict[str, Callable[..., Any]] = {}
        self._listed: set[str] = set()
        self._unsaid = set(kinds)
        if kinds and callable(getattr(session, "list_tools", None)):
            self.__dict__["list_tools"] = self._listing(session.list_tools)

    async def call_tool(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """Call the tool, recorded; takes what the session's own `call_tool` takes."""
        if name not in self._callers:
            plan = McpPlan(name, self._kinds.get(name))
            self._callers[name] = wrap(self._viewed.call_tool, plan.open)
        return await self._callers[name](name, *args, **kwargs)

    def _listing(self, list_tools: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(list_tools)
        async def listed(*args: Any, **kwargs: Any) -> Any:
            page = await list_tools(*args, **kwargs)
            for tool in items_of(get(page, "tools", page), _MOST_TOOLS):
                self._listed.add(word(get(tool, "name")) or "")
            if _mcp_field(page, "next_cursor", "nextCursor") is None:
                self._say_what_is_unknown()
            return page

        return listed

    def _say_what_is_unknown(self) -> None:
        unknown, self._unsaid = self._unsaid - self._listed, set()
        for name in sorted(unknown):
            _LOGGER.warning("trackway: %s", unknown_kind(name, self._listed))


def recorded_call_tool(call_tool: Callable[..., Any]) -> Callable[..., Any]:
    """Return the method `call_tool(session, name, arguments)` of a session class, recorded."""
    plans: dict[str, McpPlan] = {}

    def open_span(args: Any, kwargs: Any) -> Opened | None:
        name = str(kwargs["name"] if "name" in kwargs else args[1])
        plan = plans.get(name)
        if plan is None:
            plan = McpPlan(name)
            if len(plans) < _MOST_PLANS:
                plans[name] = plan
        return plan.open(args[1:], kwargs)

    return wrap(call_tool, open_span)


class McpPlan(ToolPlan):
    """A call of a tool over the Model Context Protocol; one that a layer above records is left."""

    def __init__(self, name: str, kind: StepKind | None = None) -> None:
        super().__init__(name, _mcp_arguments, kind=kind)

    def open(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Opened | None:
        """Start the span, unless the same call has one: a session wrapped by hand in a client."""
        above = getattr(current_place(), "plan", None)
        if isinstance(above, McpPlan) and above.name == self.name:
            return None
        return super().open(args, kwargs)

    def result_attributes(self, live: Live, result: Any) -> dict[str, Any]:
        """Return what the tool answered, out of the protocol's envelope, and its word for it."""
        attributes = super().result_attributes(live, _mcp_answer(result))
        attributes[Trackway.STEP_OK] = ok = not _mcp_field(result, "is_error", "isError")
        if not ok:
            self.failed(live)
        return attributes


def _mcp_arguments(
    name: str,
    arguments: Mapping[str, Any] | None = None,
    *_: Any,
    **__: Any,
) -> dict[str, Any]:
    return dict(arguments or {})


def _mcp_answer(result: Any) -> Any:
    """The structured content, else the only text (servers send values as JSON), else all blocks."""
    structured = _mcp_field(result, "structured_content", "structuredContent")
    if structured is not None:
        return structured
    content = get(result, "content", result)
    if type(content) is list and len(content) == 1:
        return _decoded(get(content[0], "text", content))
    return content


def _decoded(text: Any) -> Any:
    if type(text) is str and text[:1] in ("{", "["):
        try:
            return json.loads(text)
        except ValueError:
            return text
    return text


def _mcp_field(result: Any, *spellings: str) -> Any:
    """A field of a result; the protocol's camel case became snake case in the SDK's version 2."""
    return next((found for name in spellings if (found := get(result, name)) is not None), None)
