"""A policy: rules, and what they may take for granted of tools.

1. What the policy says of tools and what its sequences say is merged; two kinds for one tool are an
   error.
2. Rules that no run could keep together are an error: a tool that is forbidden and required, tools
   of which each must come before the other, two values for one argument (`contradictions`).
3. `check` settles a batch once and lets every rule look at it. A run that is in no row of the
   findings keeps all rules.
4. A sequence that allows extra reads brings a warning of its own for extras of unknown kind.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from itertools import combinations
from os import PathLike
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from trackway_analyzer.batch import RunBatch
from trackway_analyzer.engine.looks import Looks
from trackway_analyzer.rules.contradictions import contradiction
from trackway_analyzer.rules.evidence import Evidence
from trackway_analyzer.rules.finding import FINDING_SCHEMA, Finding, Result, State, detail_of
from trackway_analyzer.rules.located import PolicyError
from trackway_analyzer.rules.looked_at import everywhere, successes
from trackway_analyzer.rules.misread import (
    misnamed,
    misnamed_categories,
    misnamed_types,
    misread,
    open_windows,
)
from trackway_analyzer.rules.policy_file import read_policy
from trackway_analyzer.rules.rule import Rule
from trackway_analyzer.rules.sentences import nearest_name
from trackway_analyzer.rules.tools import Tools, merged_tools
from trackway_analyzer.tool_names import bare, has_star, meant_by

_NEARLY: Final = 0.85
"""From 0 to 1: how alike two names of tools are of which one may be the other misspelt."""


class PolicyWarning(UserWarning):
    """A policy that can be used, and in which something may be misspelt."""


class Policy:
    """Rules that a run must keep. Raises PolicyError where they contradict each other."""

    def __init__(
        self,
        *rules: Rule,
        tools: Tools | None = None,
        lines: Sequence[int] = (),
        tool_lines: Mapping[str, int] | None = None,
        file: str = "policy",
    ) -> None:
        for rule in rules:
            if not isinstance(rule, Rule):
                raise TypeError(
                    f"expected rules, found {rule!r}: write Policy(Before(...), Claim(...)), or"
                    " read a policy file with Policy.from_yaml"
                )
        self._tool_lines = tool_lines or {}
        self._declared: Tools = tools or {}
        self._lines = dict(zip(map(id, rules), lines, strict=False))
        self._file = file
        everything = [(r, r is rule) for rule in rules for r in (rule, *rule.companions())]
        self.rules: tuple[Rule, ...] = tuple(rule for rule, _ in everything)
        self.implied = frozenset(i for i, (_, written) in enumerate(everything) if not written)
        """Numbers of the rules that nobody wrote: another rule brought them along."""
        self.tools: Tools = self._merged(rules, tools or {})
        self._refuse_contradictions(rules)

    @classmethod
    def from_yaml(cls, source: str | PathLike[str]) -> Policy:
        """Read a policy file, or its text. Raises PolicyError with the line.

        Warns with PolicyWarning of what may be misspelt in it (`doubts`).
        """
        text, file = _text_of(source)
        parts = read_policy(text, file)
        policy = cls(
            *parts.rules,
            tools=parts.tools,
            lines=parts.lines,
            tool_lines=parts.tool_lines,
            file=file,
        )
        for doubt in policy.doubts():
            warnings.warn(doubt, PolicyWarning, stacklevel=2)
        return policy

    def __repr__(self) -> str:
        return f"Policy({', '.join(rule.title for rule in self.rules)})"

    def looks(self) -> Looks | None:
        """What all rules together look at; None where one of them has no bounds."""
        if any(map(has_star, self.tools)):
            return None
        found = Looks.union([successes(self.tools), *map(self._looks_of, self.rules)])
        if found is None:
            return None
        named = {value.tool for value in found.same | found.exact if value.tool is not None}
        if len({*map(bare, named)}) < len(named):
            return None  # a call may be meant by several of them
        return everywhere(found, self.tools)

    def _looks_of(self, rule: Rule) -> Looks | None:
        """What a rule looks at; None also where values are those of tools named with a `*`."""
        found = rule.looks(self.tools)
        values = found is not None and bool(found.same | found.exact)
        return None if values and any(map(has_star, rule.means())) else found

    def check(self, batch: RunBatch) -> pa.Table:
        """Return the findings of a batch, as `finding.FINDING_SCHEMA`, sorted by run and rule."""
        if not isinstance(batch, RunBatch):
            raise TypeError(
                f"expected a RunBatch, found {type(batch).__name__}: check many runs with "
                "load(source).check(policy), one with rule.assert_holds(trajectory)"
            )
        evidence = Evidence.of(batch, self.tools)
        tables = [rule.found(index, evidence) for index, rule in enumerate(self.rules)]
        found = pa.concat_tables(tables) if tables else FINDING_SCHEMA.empty_table()
        return found.unify_dictionaries().sort_by([("run", "ascending"), ("rule", "ascending")])

    def explain(self, batch: RunBatch, row: Mapping[str, Any]) -> Finding:
        """Return the finding of one row of `check`, given as a dict."""
        evidence = Evidence.of(batch.take([row["run"]]), self.tools)
        detail = detail_of(row["detail"])
        result = Result(0, State(row["state"]), row["position"], detail)
        rule: Rule = self.rules[row["rule"]]
        return rule.explain(evidence, result)

    def findings(self, batch: RunBatch) -> list[Finding]:
        """All findings of a batch, each with its sentence: for small batches."""
        return [self.explain(batch, row) for row in self.check(batch).to_pylist()]

    def notes(self, batch: RunBatch) -> list[str]:
        """What may be wrong with the policy itself, seen from this data.

        Names a tool that a rule speaks of and no run calls, with the recorded name that looks most
        like it; a rule of whose tools none is called, so that it can never fire here; and a rule
        about an agent that took no step.
        """
        columns = ("tool", "agent", "tool_alias")
        names = (batch.steps.column(name).unique().to_pylist() for name in columns)
        return self.notes_on(*names)

    def notes_on(
        self,
        tools: Iterable[str | None],
        agents: Iterable[str | None],
        aliases: Iterable[str | None] = (),
    ) -> list[str]:
        """The same, of tools and agents that were recorded, and of names that models saw."""
        recorded = sorted(name for name in tools if name)
        seen = {name for name in aliases if name}.difference(recorded)
        acting = sorted(name for name in agents if name)
        notes = [
            f"{self._place(name)}tools: {name} is called in no run{_nearest(name, recorded)}"
            for name in self.tools
            if name not in recorded and _nearest(name, recorded)
        ]
        notes += self._doubts_on_tools()
        for rule in self.rules:
            told = rule.speaks_of() | {n for n in rule.names_tools() if _nearest(n, recorded)}
            told = told.difference(recorded)
            notes += [text for name, text in self._doubts_on(rule) if name not in told]
            notes += self._notes_on(rule, recorded, seen)
            notes += self._agent_notes(rule, acting)
        return list(dict.fromkeys(notes))

    def doubts(self) -> list[str]:
        """What may be wrong with the policy, whatever the data.

        Names a tool that a rule speaks of, that is not declared under `tools`, and that is spelt
        nearly as one that is; likewise what a rule reads, which may be an entity type as well, the
        argument that names an entity, its type, and the category of the last action. Names a
        `between` as well of which nothing says whether its end must come.
        """
        found = [text for rule in self.rules for _, text in self._doubts_on(rule)]
        found += [
            f"{self._where(rule)}{rule.title}: {text}" for rule, text in open_windows(self.rules)
        ]
        return list(dict.fromkeys([*self._doubts_on_tools(), *found]))

    def _doubts_on_tools(self) -> Iterator[str]:
        for name, (_, text) in misnamed_types(self._declared):
            yield f"{self._place(name)}tools: {name}: {text}"

    def _doubts_on(self, rule: Rule) -> Iterator[tuple[str, str]]:
        """(tool, what may be wrong with its name)."""
        for name in sorted(rule.names_tools() - self.tools.keys()):
            if has_star(name):
                continue
            near = get_close_matches(name, list(self.tools), n=1, cutoff=_NEARLY)
            if near:
                yield (
                    name,
                    f"{self._where(rule)}{rule.title}: {name} is not declared under tools,"
                    f" did you mean {near[0]}?",
                )
        for name, near_name in misread(rule, [*self.tools, *self._types()]):
            what = "is no tool and no entity type that is declared"
            text = f"{name} {what}, did you mean {near_name}?"
            yield name, f"{self._where(rule)}{rule.title}: {text}"
        for name, text in misnamed(rule, self.tools):
            yield name, f"{self._where(rule)}{rule.title}: {text}"

    def _types(self) -> set[str]:
        return {spec.entity.type for spec in self.tools.values() if spec.entity.type is not None}

    def _notes_on(self, rule: Rule, recorded: list[str], seen: set[str]) -> Iterator[str]:
        recorded = sorted({*recorded, *seen})
        tools = sorted(rule.speaks_of())
        missing = [n for n in tools if not any(meant_by([n], of, None) for of in recorded)]
        about = f"{self._where(rule)}{rule.title}"
        if missing and len(missing) == len(tools):
            hint = next(filter(None, (_nearest(name, recorded) for name in missing)), "")
            yield f"{about} can never fire here: no run calls {' or '.join(missing)}{hint}"
            return
        for name in missing:
            yield f"{about}: no run calls {name}{_nearest(name, recorded)}"
        for name in sorted(rule.names_tools() - rule.speaks_of()):
            if name not in recorded and (hint := _nearest(name, recorded)):
                yield f"{about}: no run calls {name}{hint}"
        for _, text in misnamed_categories(rule, [*recorded, *self.tools]):
            yield f"{about}: {text}"
        for name, near in misread(rule, [*recorded, *self._types(), *self.tools]):
            if near in recorded and near not in self.tools:
                yield f"{about}: no run calls {name}, did you mean {near}?"

    def _agent_notes(self, rule: Rule, agents: list[str]) -> Iterator[str]:
        agent = getattr(rule, "agent", None)
        if agent is not None and agent not in agents:
            yield (
                f"{self._where(rule)}{rule.title} fits no run: no step is of agent {agent}"
                f"{_nearest(agent, agents)}"
            )

    def _where(self, rule: Rule) -> str:
        line = self._lines.get(id(rule))
        return "" if line is None else f"{self._file}:{line}: "

    def _place(self, name: str) -> str:
        line = self._tool_lines.get(name)
        return "" if line is None else f"{self._file}:{line}: "

    def _merged(self, rules: tuple[Rule, ...], tools: Tools) -> Tools:
        merged: Tools = merged_tools(tools, {})
        for rule in rules:
            try:
                merged = merged_tools(merged, rule.declares())
            except ValueError as error:
                raise self._error(str(error), rule) from error
        return merged

    def _refuse_contradictions(self, rules: tuple[Rule, ...]) -> None:
        for first, second in combinations(rules, 2):
            reason = first.contradicts(second) or second.contradicts(first)
            if reason is not None:
                raise self._contradiction((first, second), reason)
        found = contradiction(rules, self.tools)
        if found is not None:
            raise self._contradiction(found.rules, found.why)

    def _contradiction(self, rules: Sequence[Rule], why: str) -> PolicyError:
        *others, last = rules
        named = " and ".join(f"{rule.title}{self._line(rule)}" for rule in others) or "itself"
        return self._error(f"{last.title} contradicts {named}: {why}", last)

    def _line(self, rule: Rule) -> str:
        line = self._lines.get(id(rule))
        return "" if line is None else f" (line {line})"

    def _error(self, message: str, rule: Rule) -> PolicyError:
        return PolicyError(message, self._lines.get(id(rule)), self._file)


def _nearest(name: str, recorded: list[str]) -> str:
    near = nearest_name(name, recorded)
    return "" if near is None else f", did you mean {near}?"


def _text_of(source: str | PathLike[str]) -> tuple[str, str]:
    if isinstance(source, str) and "\n" in source:
        return source, "policy"
    if isinstance(source, str) and not source.strip():
        raise PolicyError("expected a policy or the path of its file, found an empty text")
    path = Path(source)
    if path.is_dir():
        raise PolicyError("expected the file of a policy, found a folder", None, str(source))
    try:
        return path.read_text(encoding="utf-8"), str(source)
    except FileNotFoundError:
        raise FileNotFoundError(f"no policy file at {path}") from None
    except UnicodeDecodeError as error:
        raise PolicyError(f"expected UTF-8 text: {error.reason}", None, str(source)) from error
