"""`OTEL_PYTHON_DISTRO=trackway opentelemetry-instrument python agent.py` gives trajectories."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import trackway_analyzer as ta
from scripted_model import ANSWER, scripted_model

HERE = Path(__file__).parent
INSTRUMENT = Path(sys.executable).parent / "opentelemetry-instrument"
TOOLS_FILE = """\
[tools.lookup_order]
kind = "lookup"
entity = { type = "order" }

[tools."refund_*"]
kind = "mutate"
entity = { type = "order", argument = "order_id" }
"""


def run(
    agent: str, directory: Path, command: tuple[str, ...] = (str(INSTRUMENT),), **variables: str
) -> subprocess.CompletedProcess[str]:
    with scripted_model() as url:
        environment = {
            **{name: value for name, value in os.environ.items() if name[:5] != "OTEL_"},
            "OPENAI_API_KEY": "none",
            "OPENAI_BASE_URL": url,
            "OTEL_PYTHON_DISTRO": "trackway",
            "OTEL_SERVICE_NAME": "refunds",
            "TRACKWAY_EXPORT": "traces",
            **variables,
        }
        done = subprocess.run(
            [*command, sys.executable, str(HERE / agent)],
            cwd=directory,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip().endswith(ANSWER)
    return done


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Any:
    directory = tmp_path_factory.mktemp("zero")
    (directory / "trackway.toml").write_text(TOOLS_FILE)
    run("framework_agent.py", directory, OTEL_RESOURCE_ATTRIBUTES="team=support")
    return ta.load(directory / "traces")


def test_one_run_with_its_tools_in_order(recorded: Any) -> None:
    (trajectory,) = recorded
    assert trajectory.tools == ["lookup_order", "refund_create"]
    assert trajectory.gaps == ()


def test_arguments_results_and_call_ids_are_there(recorded: Any) -> None:
    (trajectory,) = recorded
    refund = trajectory.steps[3]
    assert refund.arguments == {"order_id": "A9128", "amount": 84.0}
    assert refund.result["status"] == "succeeded"
    assert refund.call_id == "call_1"
    assert [step.operation for step in trajectory.steps] == ["llm", "tool", "llm", "tool", "llm"]


def test_the_declaration_beside_the_program_holds(recorded: Any) -> None:
    (trajectory,) = recorded
    tools = [step for step in trajectory.steps if step.operation == "tool"]
    assert [step.kind for step in tools] == ["lookup", "mutate"]
    assert [step.entity_refs for step in tools] == [("order:A9128",)] * 2


def test_a_rule_about_order_and_entities_holds_on_it(recorded: Any) -> None:
    (trajectory,) = recorded
    ta.assert_step_sequence(
        trajectory,
        [
            {"tool": "lookup_order", "kind": "lookup", "entity_type": "order"},
            {
                "tool": "refund_create",
                "kind": "mutate",
                "entity_arg": "order_id",
                "entity_type": "order",
            },
        ],
    )


def test_service_and_resource_are_what_opentelemetry_s_variables_say(recorded: Any) -> None:
    frame = recorded.spans()
    assert set(frame["service"]) == {"refunds"}
    assert all('"team":"support"' in text.replace(" ", "") for text in frame["resource"])


def test_the_same_agent_decorated_by_hand_gives_an_equal_trajectory(
    recorded: Any, tmp_path: Path
) -> None:
    run("hand_agent.py", tmp_path, command=())
    (by_hand,) = ta.load(tmp_path / "traces")
    (by_framework,) = recorded
    diff = ta.diff_trajectories(by_hand, by_framework)
    assert diff.status == "ok", str(diff)
    assert diff.differences == (), str(diff)
    assert [step.entity_refs for step in by_hand.tool_steps] == [
        step.entity_refs for step in by_framework.tool_steps
    ]


def test_content_off_keeps_order_and_hides_values(tmp_path: Path) -> None:
    run(
        "framework_agent.py",
        tmp_path,
        OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT="NO_CONTENT",
    )
    (trajectory,) = ta.load(tmp_path / "traces")
    assert trajectory.tools == ["lookup_order", "refund_create"]
    assert "A9128" not in ta.load(tmp_path / "traces").spans().to_csv()


def test_a_loop_of_one_s_own_is_one_run_where_the_process_is(tmp_path: Path) -> None:
    run("loop_agent.py", tmp_path, TRACKWAY_RUN="refund-happy")
    (trajectory,) = ta.load(tmp_path / "traces")
    assert trajectory.task_id == "refund-happy"
    assert trajectory.tools == ["lookup_order", "refund_create"]


def test_a_process_that_it_starts_belongs_to_the_run(tmp_path: Path) -> None:
    run("launching_agent.py", tmp_path, TRACKWAY_RUN="refund-happy")
    (trajectory,) = ta.load(tmp_path / "traces")
    assert trajectory.task_id == "refund-happy"
    assert trajectory.tools == ["lookup_order", "refund_create"]
    assert trajectory.gaps == ()


@pytest.mark.parametrize(
    "variables",
    [
        {"OTEL_SDK_DISABLED": "true"},
        {"OTEL_PYTHON_DISTRO": "none-of-that-name"},
        {"OTEL_TRACES_EXPORTER": "none", "TRACKWAY_EXPORT": ""},
    ],
    ids=lambda variables: next(iter(variables)),
)
def test_who_did_not_choose_it_or_turned_it_off_has_no_record(
    tmp_path: Path, variables: dict[str, str]
) -> None:
    run("loop_agent.py", tmp_path, **variables)
    assert not list(tmp_path.iterdir())


def test_a_disabled_instrumentation_stays_off(tmp_path: Path) -> None:
    run("loop_agent.py", tmp_path, OTEL_PYTHON_DISABLED_INSTRUMENTATIONS="openai")
    assert not list((tmp_path / "traces").rglob("*.parquet"))
