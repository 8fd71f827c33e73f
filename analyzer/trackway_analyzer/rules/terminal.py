"""With what did the run end?

1. The terminal action is the recorded final action, else the last executed tool; calls of one last
   model turn end it together, and all of them must be right.
2. Its category is the part of its name before the first dot, the whole name where it has none.
3. `claimed` compares it with the final text: true, the text must claim the action, and truly: a
   last call of it that failed is a violation; false, it must not. A text in another language, or
   one that may say it in other words (`paraphrases`), leaves open whether it claims it.
4. Where nothing was recorded as final, a gap after the last call may hide the last one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from trackway_analyzer.rules.actions import action_claim
from trackway_analyzer.rules.evidence import PENDING_GAP, Evidence
from trackway_analyzer.rules.finding import Layer, Result
from trackway_analyzer.rules.necessary import Fact, Least, OneOf
from trackway_analyzer.rules.refusal import no_effect, open_end
from trackway_analyzer.rules.rule import Rule, RunRule, Said, insufficient, violated
from trackway_analyzer.rules.sentences import cannot_judge
from trackway_analyzer.rules.tools import LOOKUP, Tools
from trackway_analyzer.rules.unread import left_out

_OTHER_WORDS: Final = "other_words"
"""The text may claim the action in words that nobody can tell for sure."""


@dataclass(frozen=True)
class Terminal(RunRule):
    """The run ends with one of these actions, or an action of one of these categories."""

    action: str | Iterable[str] = ()
    category: str | Iterable[str] = ()
    claimed: bool | None = None

    layer = Layer.OUTCOME
    short = ("action",)

    def __post_init__(self) -> None:
        for name in ("action", "category"):
            value = getattr(self, name)
            object.__setattr__(self, name, (value,) if isinstance(value, str) else tuple(value))
        if not (self.action or self.category or self.claimed is not None):
            raise ValueError("say what the run must end with: action, category or claimed")

    def names_tools(self) -> frozenset[str]:
        """The actions, of which each is a tool or what the run itself recorded."""
        return frozenset(self.action)

    def necessary(self, tools: Tools) -> Iterator[Fact]:
        """A call of one of them, where all are declared tools: who ends with a tool called it."""
        known = [[name for name in tools if category_of(name) == of] for of in self.category]
        named = [name for name in self.action if name in tools]
        if named != [*self.action] or not all(known):
            return
        wanted = tuple(dict.fromkeys([*named, *(name for names in known for name in names)]))
        if len(wanted) == 1:
            yield Least(wanted[0], took_effect=False)
        elif wanted:
            yield OneOf(wanted)

    def contradicts(self, other: Rule) -> str | None:
        """No action that both would end with, or a claim that one asks for and one forbids."""
        if not isinstance(other, Terminal):
            return None
        if None not in (self.claimed, other.claimed) and self.claimed is not other.claimed:
            return "the final text must claim the last action, and must not"
        both = (*filter(self._right, other.action), *filter(other._right, self.action))
        free = not (self.action or self.category) or not (other.action or other.category)
        if free or both or set(self.category) & set(other.category):
            return None
        return f"the run must end with {self._expected()} and with {other._expected()}"

    def judge(self, evidence: Evidence, run: int) -> Result | None:
        """Judge the end of one run."""
        recorded = evidence.text(run, "final_action")
        last = last_turn(evidence, run)
        actions = terminal_actions(evidence, run)
        position = evidence.position(last[-1]) if last and recorded is None else None
        if recorded is None:
            after = evidence.group[last[-1]] if last else -1  # of its turn, any may be the last
            gap = evidence.hides_step(run, after=after)
            if gap is not None:
                return insufficient(run, gap.gap)
        if not actions:
            return violated(run, what="none")
        wrong = [action for action in actions if not self._right(action)]
        if wrong:
            return violated(run, position, what="action", action=wrong[0])
        return self._judge_text(evidence, run, actions[-1], position)

    def _right(self, action: str) -> bool:
        if not self.action and not self.category:
            return True
        return action in self.action or category_of(action) in self.category

    def _judge_text(
        self, evidence: Evidence, run: int, action: str, position: int | None
    ) -> Result | None:
        if self.claimed is None:
            return None
        text = evidence.text(run, "final_text")
        if text is None:
            return insufficient(run, evidence.why_not_recorded(run).gap)
        claim = action_claim(text, action)
        gap = left_out(text)
        if claim is None and gap is not None:
            return insufficient(run, gap)
        if claim is None and self.claimed:
            from trackway_analyzer.rules.paraphrases import may_say_it  # as `action_claim` does

            if may_say_it(evidence, run, text, action):
                return insufficient(run, _OTHER_WORDS)
        if (claim is not None) is not self.claimed:
            return violated(run, position, what="claimed", action=action)
        return self._judge_success(evidence, run, action) if self.claimed else None

    @staticmethod
    def _judge_success(evidence: Evidence, run: int, action: str) -> Result | None:
        """Judge whether the action that the text claims was done; its last call decides."""
        rows = evidence.rows(action).get(run, [])
        last = [row for row in rows if evidence.group[row] == evidence.group[rows[-1]]]
        reads = [evidence.kind[row] == LOOKUP for row in last]
        done = [
            evidence.succeeded(row) if only_reads else evidence.ok[row]
            for row, only_reads in zip(last, reads, strict=True)
        ]
        position = evidence.position(last[-1]) if last else None
        if not last or True in done:
            later = evidence.hides_step(run, -1 if position is None else position, tools=(action,))
            return None if later is None else insufficient(run, later.gap)
        assert position is not None
        if None in done:
            hidden = evidence.why_unknown(last[done.index(None)])
            return insufficient(run, hidden.gap, position, at=hidden.position)
        gap = evidence.hides_step(run, after=position, tools=(action,))
        if gap is not None:
            return insufficient(run, gap.gap)
        return violated(run, position, what="failed", action=action)

    def say(self, evidence: Evidence, result: Result) -> Said:
        """Make the sentence of one result."""
        if "gap" in result.detail:
            if result.detail["gap"] == _OTHER_WORDS:
                return Said(sentence="its words may claim the last action, and may not")
            if result.detail["gap"] == PENDING_GAP and result.position is not None:
                why = open_end(evidence, evidence.first_row(result.run) + result.position)
                return Said(sentence=f"the end of the run cannot be judged: {why}")
            return Said(sentence=cannot_judge(evidence, result, "the end of the run"))
        if result.detail["what"] == "none":
            wanted = self._expected()
            text = f"the run ended without any action, expected {wanted}"
            return Said(sentence=text, expected=wanted)
        action = result.detail["action"]
        if result.detail["what"] == "action":
            return Said(
                sentence=f"the run ended with {action}, expected {self._expected()}",
                expected=self._expected(),
                got=action,
            )
        claim = action_claim(evidence.text(result.run, "final_text"), action)
        if result.detail["what"] == "failed" and result.position is not None:
            row = evidence.first_row(result.run) + result.position
            return Said(
                sentence=f'{no_effect(evidence, row)}, but the final text claims it: "{claim}"',
                got=claim,
            )
        if claim is None:
            return Said(sentence=f"the run ended with {action}, which the final text does not say")
        return Said(sentence=f'the final text claims {action}: "{claim}", where it must not')

    def _expected(self) -> str:
        categories = [f"the category {name}" for name in self.category]
        return " or ".join([*self.action, *categories]) or "some action"


def category_of(action: str) -> str:
    """Category of an action: its name up to the first dot."""
    return action.partition(".")[0]


def terminal_actions(evidence: Evidence, run: int) -> list[str]:
    """The recorded final action, else the last executed tools."""
    recorded = evidence.text(run, "final_action")
    if recorded is not None:
        return [recorded]
    return [evidence.tool[row] or "" for row in last_turn(evidence, run)]


def last_turn(evidence: Evidence, run: int) -> list[int]:
    """Rows of the last calls of a run: one, or those of its last model turn."""
    calls = evidence.calls(run)
    return [row for row in calls if evidence.group[row] == evidence.group[calls[-1]]]
