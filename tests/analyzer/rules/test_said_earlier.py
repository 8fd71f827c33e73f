"""What the agent told its user before the final text is claimed as well, unless it took it back."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from trackway_analyzer import load
from trackway_analyzer.batch import RunBatch
from trackway_analyzer.rules import Claim
from trackway_analyzer.rules.evidence import Evidence
from trackway_analyzer.rules.said_earlier import said_earlier

Message = dict[str, Any]
RULE: Final = Claim("refund.*on its way", "refund_api.create")
ON_ITS_WAY: Final = "Your refund of $84.00 is on its way."
EARLIER: Final = [
    (
        "violated",
        'an earlier message claims "Your refund of $84.00 is on its way",'
        " but refund_api.create was never recorded",
    )
]


def user(text: str) -> Message:
    return {"role": "user", "content": text}


def agent(text: str, *calls: str) -> Message:
    asked = [
        {"id": f"c{number}", "type": "function", "function": {"name": name, "arguments": "{}"}}
        for number, name in enumerate(calls)
    ]
    return {"role": "assistant", "content": text, **({"tool_calls": asked} if asked else {})}


def answer(number: int, value: Any) -> Message:
    return {"role": "tool", "tool_call_id": f"c{number}", "content": json.dumps(value)}


@pytest.fixture
def transcript(tmp_path: Path) -> Callable[..., RunBatch]:
    def read(*messages: Message) -> RunBatch:
        path = tmp_path / "run.jsonl"
        path.write_text(json.dumps({"messages": messages}) + "\n", "utf-8")
        return load(path).batch

    return read


def says(text: str, role: str = "assistant") -> Message:
    return {"role": role, "parts": [{"type": "text", "content": text}]}


def model(told: list[Message], said: Message, **more: Any) -> dict[str, Any]:
    return {
        "operation": "llm",
        "input": json.dumps(told) if told else None,
        "output": json.dumps([said]),
        **more,
    }


class TestTranscripts:
    def test_what_an_answered_message_claims_was_claimed(
        self, said: Any, transcript: Callable[..., RunBatch]
    ) -> None:
        run = transcript(user("refund A1"), agent(ON_ITS_WAY), user("thanks"), agent("Bye."))

        assert said(RULE, run) == EARLIER

    def test_so_it_was_where_the_assistant_went_on(
        self, said: Any, transcript: Callable[..., RunBatch]
    ) -> None:
        run = transcript(user("refund A1"), agent(ON_ITS_WAY), agent("Anything else?"))

        assert said(RULE, run) == EARLIER

    def test_a_call_that_took_effect_backs_it_too(
        self, said: Any, transcript: Callable[..., RunBatch]
    ) -> None:
        run = transcript(
            user("refund A1"),
            agent("", "refund_api.create"),
            answer(0, {"status": "succeeded"}),
            agent(ON_ITS_WAY),
            user("thanks"),
            agent("Bye."),
        )

        assert said(RULE, run) == []

    def test_words_beside_a_call_are_no_message(
        self, said: Any, transcript: Callable[..., RunBatch]
    ) -> None:
        run = transcript(
            user("refund A1"),
            agent(ON_ITS_WAY, "lookup_order"),
            answer(0, {"id": "A1"}),
            agent("I could not do it."),
        )

        assert said(RULE, run) == []

    def test_what_the_user_says_is_no_claim_of_the_agent(
        self, said: Any, transcript: Callable[..., RunBatch]
    ) -> None:
        run = transcript(user(ON_ITS_WAY), agent("Is it?"), user(ON_ITS_WAY), agent("I see."))

        assert said(RULE, run) == []


@pytest.mark.parametrize(
    ("later", "stands"),
    [
        ("I am sorry, your refund is not on its way.", False),
        ("I was wrong: nothing has been sent.", False),
        ("I'm sorry, that was not correct.", False),
        ("I was wrong about the date. Your refund of $84.00 is on its way.", True),
        ("Your refund will not be on its way for long.", True),
        ("If your refund is not on its way tomorrow, write to me.", True),
        ("You can be sure of it.", True),
    ],
)
def test_a_later_message_may_take_a_claim_back(
    said: Any, transcript: Callable[..., RunBatch], later: str, stands: bool
) -> None:
    run = transcript(user("refund A1"), agent(ON_ITS_WAY), user("really?"), agent(later))

    assert bool(said(RULE, run)) is stands


def test_a_denial_of_another_thing_takes_nothing_back(
    said: Any, transcript: Callable[..., RunBatch]
) -> None:
    rule = Claim("refunded", "refund_api.create")
    told = [user("please"), agent("I refunded A1.")]

    assert said(rule, transcript(*told, user("and?"), agent("A2 was not refunded.")))
    assert not said(rule, transcript(*told, user("and?"), agent("A1 was not refunded.")))
    grouped = Claim(r"refunded (?P<order_id>A\d)", "refund_api.create")
    assert said(grouped, transcript(*told, user("and?"), agent("I have not refunded A2.")))
    assert not said(grouped, transcript(*told, user("and?"), agent("I have not refunded A1.")))


class TestSpans:
    """Of spans only what the user answered is a message: planners and routers write as well."""

    def earlier(self, batch: RunBatch) -> dict[int, tuple[str, ...]]:
        return said_earlier(Evidence.of(batch))

    def test_a_text_that_the_user_answered(self, said: Any, run_of: Any) -> None:
        first = says("refund A1", "user")
        steps = [
            model([first], says(ON_ITS_WAY)),
            model([first, says(ON_ITS_WAY), says("thanks", "user")], says("Bye.")),
        ]
        run = run_of(steps, final_text="Bye.")

        assert self.earlier(run) == {0: (ON_ITS_WAY,)}
        assert said(RULE, run) == EARLIER

    def test_a_text_that_went_on_to_another_model_is_none(self, run_of: Any) -> None:
        first = says("refund A1", "user")
        plan = "Refunded, then mailed."
        steps = [
            model([first], says(plan)),
            model([says(f"Do this: {plan}", "user")], says("Bye.")),
            model([first, says(plan)], says("Bye.")),
        ]

        assert self.earlier(run_of(steps, final_text="Bye.")) == {}

    def test_what_an_agent_below_another_says_is_told_to_nobody(self, run_of: Any) -> None:
        first = says("refund A1", "user")
        steps = [
            model([first], says("plan"), agent_path="main"),
            model([first], says(ON_ITS_WAY), agent_path="main/sub"),
            model(
                [first, says(ON_ITS_WAY), says("go on", "user")], says("x"), agent_path="main/sub"
            ),
            model([first, says("x")], says("Bye."), agent_path="main"),
        ]

        assert self.earlier(run_of(steps, final_text="Bye.")) == {}

    def test_what_other_traces_of_the_run_answered(self, said: Any, run_of: Any) -> None:
        run = run_of([], said=[ON_ITS_WAY, "Bye."], final_text="Bye.")

        assert self.earlier(run) == {0: (ON_ITS_WAY,)}
        assert said(RULE, run) == EARLIER

    def test_without_a_final_text_what_is_claimed_is_claimed(self, said: Any, run_of: Any) -> None:
        ((state, sentence),) = said(RULE, run_of([], said=["Hello."]))

        assert (state, sentence) == (
            "insufficient",
            "the final text was not recorded: nobody knows what it claims",
        )
        assert said(RULE, run_of([], said=[ON_ITS_WAY])) == EARLIER

    def test_a_cut_message_may_have_claimed_it(self, said: Any, run_of: Any) -> None:
        run = run_of([], said=["Your refund…[truncated 9 chars]"], final_text="Bye.")

        assert said(RULE, run) == [
            (
                "insufficient",
                "an earlier message was cut off (truncated_value): nobody knows what it claims",
            )
        ]
