"""No name, id, version or fingerprint lets a secret out: they are searched like values."""

from __future__ import annotations

import json
from typing import Any

import pytest

import trackway
from trackway.testing import MemorySpans as Recorded

SECRET = "Zq7Xk029LmPw4Tb8V"
KEY = "sk-ant" + "-api03-AbCdEfGhIjKlMnOpQrSt_UvWx-yz"
HIDDEN = "[redacted:key_name]"


@trackway.tool
def look() -> int:
    return 1


def all_of(recorded: Recorded) -> str:
    return "\n".join(span.to_json() for span in recorded.all)


def test_what_a_fingerprint_keeps_under_a_denied_name_is_hidden(recorded: Recorded) -> None:
    with trackway.run("t", api_key=SECRET, password=SECRET, prompt="v3", token=None):
        pass
    (run,) = recorded.all
    found = {k: v for k, v in (run.attributes or {}).items() if "fingerprint" in k}
    assert found == {
        "trackway.fingerprint.api_key": HIDDEN,
        "trackway.fingerprint.password": HIDDEN,
        "trackway.fingerprint.prompt": "v3",
    }
    assert (run.attributes or {})["trackway.redacted"] == (
        "fingerprint.api_key",
        "fingerprint.password",
    )


def test_no_name_of_a_fingerprint_is_a_secret(recorded: Recorded) -> None:
    odd: dict[str, Any] = {KEY: 1}
    with trackway.run("t", **odd):
        pass
    assert KEY not in all_of(recorded)


@pytest.mark.parametrize("call_id", [f"password={SECRET}", KEY])
def test_no_id_of_a_requested_call_is_a_secret(recorded: Recorded, call_id: str) -> None:
    with trackway.run("t"), trackway.requested(call_id):
        look()
    assert SECRET not in all_of(recorded)
    assert KEY not in all_of(recorded)
    assert "[redacted:" in str((recorded.tool("look").attributes or {})["gen_ai.tool.call.id"])


def test_ids_of_requested_calls_stay_apart_and_others_stay(recorded: Recorded) -> None:
    ids = [f"password={SECRET}", f"password={SECRET}2", "call_7dX", "4111111111111111"]
    with trackway.run("t"):
        for call_id in ids:
            with trackway.requested(call_id):
                look()
    found = [(s.attributes or {}).get("gen_ai.tool.call.id") for s in recorded.all]
    written = [one for one in found if one is not None]
    assert len(set(written)) == 4
    assert written[2:] == ["call_7dX", "4111111111111111"]


def test_no_name_of_a_model_tool_or_agent_is_a_secret(recorded: Recorded) -> None:
    answer: dict[str, Any] = {
        "id": f"r?token={SECRET}",
        "model": f"gpt?api_key={SECRET}",
        "choices": [{"message": {"role": "assistant", "content": "hi"}, "finish_reason": "stop"}],
    }

    @trackway.agent(f"helper?token={SECRET}", version=f"1?token={SECRET}")
    def helper() -> str:
        with trackway.step("c", kind="llm", model=f"gpt?api_key={SECRET}") as step:
            step.result(answer)
        with trackway.step(f"x?token={SECRET}", kind="mutate"):
            pass
        trackway.tool(alias=f"y?token={SECRET}", description=f"token={SECRET}")(lambda: 1)()
        return "done"

    helper()
    assert len(recorded.all) == 4
    assert SECRET not in all_of(recorded)
    assert "chat gpt?api_key=[redacted:assignment]" in all_of(recorded)


def test_no_version_is_a_secret() -> None:
    recorded = Recorded()
    recorded.configure(version=f"1?token={SECRET}", variant=f"b?token={SECRET}")
    with trackway.run("t"):
        pass
    trackway.shutdown()
    (run,) = recorded.all
    assert json.loads(run.to_json())["attributes"]["trackway.agent.version"] == (
        "1?token=[redacted:assignment]"
    )
    assert SECRET not in all_of(recorded)


def test_without_redaction_names_stay() -> None:
    recorded = Recorded()
    recorded.configure(redact=False)
    with trackway.run("t", api_key=SECRET):
        trackway.tool(f"x?token={SECRET}")(lambda: 1)()
    trackway.shutdown()
    assert all_of(recorded).count(SECRET) == 3
