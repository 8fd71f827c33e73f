"""Sentences of a sequence: what was expected, what was recorded instead, and what was claimed."""

from __future__ import annotations

from trackway_analyzer.model import JsonValue
from trackway_analyzer.rules.actions import action_claim
from trackway_analyzer.rules.entities import Ground, established, sources, subjects
from trackway_analyzer.rules.evidence import PENDING_GAP, UNKNOWN_KIND, Evidence
from trackway_analyzer.rules.finding import Result
from trackway_analyzer.rules.pattern import StepSpec
from trackway_analyzer.rules.reading import Reading
from trackway_analyzer.rules.refusal import no_effect, open_end
from trackway_analyzer.rules.rule import Said
from trackway_analyzer.rules.sentences import (
    at_step,
    because,
    hidden_value,
    nearest_name,
    number,
    step,
)
from trackway_analyzer.rules.terms import Hidden, NoSource, Source, Truth
from trackway_analyzer.rules.tools import MUTATE
from trackway_analyzer.rules.values import Absent, likeness, shown, shown_apart


class Telling:
    """The sentence of one result of one run."""

    def __init__(self, reading: Reading, result: Result) -> None:
        self.reading = reading
        self.evidence = reading.evidence
        self.result = result

    def say(self) -> Said:
        """Choose the sentence by what was found."""
        tellers = {
            "no_trace": self._no_trace,
            "spec": self._spec,
            "extra": self._extra,
            "value": self._value,
            "hidden": self._hidden,
            "order": self._order,
            "extra_hidden": self._extra_hidden,
        }
        return tellers[self.result.detail["what"]]()

    def _no_trace(self) -> Said:
        return Said(sentence="nothing was recorded of this run: no step, no final text")

    def _order(self) -> Said:
        return Said(
            sentence="the order of the steps cannot be judged: clock_skew, and nothing else orders"
            " them"
        )

    def _extra_hidden(self) -> Said:
        gap = self.result.detail["gap"]
        return Said(sentence=f"no extra step was seen, but {gap} may hide one")

    def _hidden(self) -> Said:
        spec = self.reading.specs[self.result.detail["spec"]]
        gap = self.result.detail["gap"]
        return Said(sentence=f"{spec.name} was not seen, but {gap} may hide it", expected=spec.tool)

    def _row(self) -> int:
        return int(self.reading.first + self.result.detail["row"])

    def _value(self) -> Said:
        row = self._row()
        gap = self.reading.hidden(row)
        if gap.gap in (PENDING_GAP, UNKNOWN_KIND):
            return Said(sentence=self._open_end(row, gap.gap))
        where = gap.position is not None and gap.position + 1
        what = f"a value of step {where}" if where else "a value"
        reason = hidden_value(gap, what)
        return Said(sentence=f"{step(self.evidence, row)} cannot be judged: {reason}")

    def _open_end(self, row: int, gap: str) -> str:
        if gap == PENDING_GAP and self.evidence.kind[row] is not None:
            return open_end(self.evidence, row)
        result, name = self.evidence.result(row), step(self.evidence, row)
        if not (isinstance(result, Source) and isinstance(result.value, dict)):
            return open_end(self.evidence, row)
        return (
            f"{name} cannot be judged: status {shown(result.value.get('status'))} may be that of"
            f" the call or of what it found; declare the kind of {self.evidence.tool[row]}"
        )

    def _extra(self) -> Said:
        row, reading, evidence = self._row(), self.reading, self.evidence
        twins = [twin for twin in reading.twins(row) if twin < row]
        if twins and evidence.kind[row] == MUTATE and evidence.ok[row]:
            return self._twice(twins[0], row)
        listed = self._listed(row)
        if listed is not None:
            return listed
        if reading.extra == "forbid":
            sentence = f'{step(evidence, row)} is not in the pattern, and extra="forbid"'
            return Said(sentence=sentence, got=evidence.tool[row])
        kind = "mutation" if evidence.kind[row] == MUTATE else "notification"
        entity = self._entity(row)
        about = f" on {entity}" if entity else ""
        return Said(
            sentence=f"{step(evidence, row)} is a {kind}{about} that the pattern does not list",
            got=evidence.tool[row],
        )

    def _listed(self, row: int) -> Said | None:
        """Say why a call fulfils no step although the pattern lists it, and no other call took it.

        None: no step that is still free speaks of it.
        """
        reading, evidence = self.reading, self.evidence
        taken = dict(reading.placement.taken)
        for index, spec in enumerate(reading.specs):
            if index in taken or not reading.means(spec, row):
                continue
            if reading.fit(spec, row) is False:
                return self._unfit(spec, row)
            before = [other for place, other in taken.items() if place < index]
            after = [other for place, other in taken.items() if place > index]
            for other in [*reversed(before), *after]:
                if evidence.group[other] == evidence.group[row]:
                    return self._beside(row, other, "after" if other in before else "before")
            if before and row < before[-1]:
                return self._elsewhere(row, f"expected after {at_step(evidence, before[-1])}")
            if after and row > after[0]:
                return self._elsewhere(row, f"expected before {at_step(evidence, after[0])}")
        return None

    def _beside(self, row: int, other: int, side: str) -> Said:
        name, place = step(self.evidence, row), at_step(self.evidence, other)
        return Said(
            sentence=f"{name} was called in the same model turn as {place}: expected {side} it, in"
            " a turn of its own",
            got=self.evidence.tool[row],
            nearest=place,
        )

    def _elsewhere(self, row: int, expected: str) -> Said:
        name = step(self.evidence, row)
        return Said(sentence=f"{name} is out of order: {expected}", got=self.evidence.tool[row])

    def _twice(self, first: int, second: int) -> Said:
        evidence = self.evidence
        entity = self._entity(second)
        on = f" on {entity}" if entity else ""
        sentence = (
            f"{evidence.tool[second]} took effect twice{on}, at steps {number(evidence, first)} and"
            f" {number(evidence, second)}{self._operations(first, second)}: duplicate effect"
        )
        claim = action_claim(
            evidence.text(self.reading.run, "final_text"), evidence.tool[second] or ""
        )
        if claim:
            sentence += f', while the final text claims: "{claim}"'
        return Said(sentence=sentence, expected=1, got=2, nearest=at_step(evidence, first))

    def _operations(self, first: int, second: int) -> str:
        """Name the operation ids, unless the recorder made them up for want of declared ones."""
        run_id = self.evidence.batch.runs.column("run_id")[self.reading.run].as_py()
        ids = [self.evidence.operation(row) for row in (first, second)]
        if not any(ids) or all(found and found.startswith(f"{run_id}:") for found in ids):
            return ""
        one, two = (found or "none recorded" for found in ids)
        return f" (operation id {one}, both)" if one == two else f" (operation ids {one}, {two})"

    def _entity(self, row: int) -> str | None:
        argument = self.reading.entity_argument(row)
        if argument is None:
            return None
        named = subjects(self.evidence, row, argument)
        if isinstance(named, Hidden) or not named:
            return None
        return f"{argument} {shown(named[0])}"

    def _spec(self) -> Said:
        spec = self.reading.specs[self.result.detail["spec"]]
        row = self.reading.culprit(spec)
        if row is None:
            return self._never(spec)
        if not self.reading.after(row):
            return self._misplaced(spec, row)
        return self._unfit(spec, row)

    def _never(self, spec: StepSpec) -> Said:
        evidence, reading = self.evidence, self.reading
        taken = {row for _, row in reading.placement.taken}
        count = sum(reading.means(spec, row) for row in taken)
        sentence = (
            f"{spec.name} was never recorded"
            if not count
            else (f"{spec.name} was recorded {count} time{'s' * (count > 1)}, expected {count + 1}")
        )
        text = evidence.text(reading.run, "final_text")
        claim = action_claim(text, spec.tool) if spec.tool and not count else None
        if claim:
            sentence += f', but the final text claims it: "{claim}"'
        free = [row for row in reading.calls if row not in taken]
        names = [name for row in free if (name := evidence.tool[row]) is not None]
        near = nearest_name(spec.name, names)
        where = next((at_step(evidence, r) for r in free if evidence.tool[r] == near), None)
        if near is not None:
            sentence += f"; nearest: {where}"
        return Said(sentence=sentence, expected=spec.name, nearest=where)

    def _misplaced(self, spec: StepSpec, row: int) -> Said:
        evidence = self.evidence
        last = max(taken for _, taken in self.reading.placement.taken)
        if evidence.group[row] == evidence.group[last]:
            sentence = (
                f"{at_step(evidence, row)} was called in the same model turn as"
                f" {at_step(evidence, last)}: it could not build on its result"
            )
        else:
            sentence = (
                f"{spec.name} was recorded too early, at step {number(evidence, row)}:"
                f" expected after {at_step(evidence, last)}"
            )
        return Said(
            sentence=sentence,
            expected=f"after step {number(evidence, last)}",
            got=f"step {number(evidence, row)}",
            nearest=at_step(evidence, row),
        )

    def _unfit(self, spec: StepSpec, row: int) -> Said:
        evidence, reading = self.evidence, self.reading
        name, scope = step(evidence, row), reading.scope(spec, row)
        if reading.effect(spec, row) is False:
            return self._no_effect(spec, row)
        if reading.kind_of(spec) == MUTATE:
            found = reading.ground(spec, row)
            if found.holds is False:
                return self._ungrounded(spec, row, found)
            for other, source, truth in reading.forbidding(row, reading.entity_of(spec, row)):
                guard = other.guard_expression
                if isinstance(truth, NoSource) and source is not None:
                    return Said(
                        sentence=f"{name} ran although {at_step(evidence, source)}, whose guard"
                        " must allow it, was of another"
                    )
                if truth is not True and source is not None and guard is not None:
                    reason = because(evidence, guard.because(reading.scope(other, source)))
                    return Said(
                        sentence=f"{name} ran although {at_step(evidence, source)} forbids"
                        f" it: {reason}"
                    )
            guard = spec.guard_expression
            if guard is not None and not _fulfilled(guard.truth(scope)):
                reason = because(evidence, guard.because(scope))
                return Said(sentence=f"{name} ran although its guard forbids it: {reason}")
        where = spec.where_expression
        if where is not None and not _fulfilled(where.truth(scope)):
            why = where.because(scope)
            return Said(
                sentence=f"{name}: {because(evidence, why)}",
                expected=None if why.right is None else _json(why.right.value),
                got=_json(why.left.value),
            )
        return self._too_few(spec, row)

    def _too_few(self, spec: StepSpec, row: int) -> Said:
        """The call fits: too many others are missing, hidden ones counted."""
        reading = self.reading
        for other in reading.specs:
            if not other.optional and not any(reading.means(other, r) for r in reading.calls):
                return self._never(other)
        return Said(
            sentence=f"{step(self.evidence, row)} may be {spec.name}, but more steps of the pattern"
            " are missing than the gaps of the run can hide",
            expected=spec.name,
        )

    def _no_effect(self, spec: StepSpec, row: int) -> Said:
        text = self.evidence.text(self.reading.run, "final_text")
        claim = action_claim(text, spec.tool) if spec.tool else None
        but = f', but the final text claims it: "{claim}"' if claim else ""
        return Said(sentence=no_effect(self.evidence, row, spec.success_expression) + but)

    def _ungrounded(self, spec: StepSpec, row: int, found: Ground) -> Said:
        evidence = self.evidence
        name = step(evidence, row)
        argument = spec.entity_arg or evidence.spec_of(row).entity.argument
        if argument is None:
            return Said(sentence=f"{name} has no earlier successful lookup")
        if isinstance(found.value, Absent):
            return Said(sentence=f"{name}: argument {argument} is absent", expected=argument)
        value = f"{name}: {argument} {shown(found.value)}"
        if found.source is not None:
            return Said(
                sentence=f"{value} {self._too_late(row, found.source)}",
                got=found.value,
                nearest=at_step(evidence, found.source),
            )
        near = nearest_id(evidence, row, found.value)
        sentence = f"{value} was returned by no earlier successful lookup"
        return Said(
            sentence=f"{sentence}; nearest: {near}" if near else sentence,
            got=found.value,
            nearest=near,
        )

    def _too_late(self, row: int, source: int) -> str:
        evidence = self.evidence
        place = at_step(evidence, source)
        if evidence.group[row] == evidence.group[source]:
            return f"was looked up in the same model turn, by {place}: its result was not seen"
        if source > row:
            return f"was looked up only afterwards, by {place}"
        return f"was looked up by {place}, which did not succeed"


def nearest_id(evidence: Evidence, row: int, value: JsonValue) -> str | None:
    """The nearest id that an earlier lookup did return: `"A1" from lookup_order at step 1`."""
    calls = [
        call
        for call in reversed(sources(evidence, row, None))
        if evidence.earlier(call, row) is True and evidence.answered(call) is True
    ]
    found = [(i, call) for call in calls for i in established(evidence, call).values]
    if found:
        nearest, call = max(found, key=lambda pair: likeness(pair[0], value))
        return f"{shown_apart(nearest, value)[0]} from {at_step(evidence, call)}"
    declaring = [call for call in calls if _declares_ids(evidence, call)]
    if declaring:
        return f"{at_step(evidence, declaring[0])}, whose result has no id at its declared place"
    return f"{at_step(evidence, calls[0])}, whose result has no id" if calls else None


def _declares_ids(evidence: Evidence, call: int) -> bool:
    """Whether it is said of a tool that it returns entities."""
    entity = evidence.spec_of(call).entity
    return entity.type is not None or entity.result is not None


def _fulfilled(truth: Truth) -> bool:
    return truth is True or isinstance(truth, Hidden)


def _json(value: object) -> JsonValue:
    return None if isinstance(value, (Absent, Hidden, NoSource)) else value
