"""A line of shell runs the commands that stand in it, wherever they stand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import trackway_analyzer as ta
from trackway_analyzer.read.transcripts.shell_commands import commands_of
from trackway_analyzer.rules import Called, Forbidden, State

LINES = {
    "cd /x && rm -rf y": ["cd", "rm"],
    "ls -F\n": ["ls"],
    "cd x\nrm y": ["cd", "rm"],
    "for f in *; do rm $f; done": ["rm"],
    "if [ -f a ]; then rm a; fi": ["[", "rm"],
    "FOO=1 python x 2>&1 | tee a": ["python", "tee"],
    "A='b c' ls &> out": ["ls"],
    'echo "a; b" && (cd x; rm y)': ["echo", "cd", "rm"],
    "x=$(rm y)": ["rm"],
    "python -c 'a;b'": ["python"],
    "echo 'unclosed; rm x": ["echo", "rm"],
    "edit 1:2\nfoo; rm\nend_of_edit": ["edit"],
    "cat <<EOF\nrm\nEOF": ["cat"],
    "cat > a <<'EOF'\nrm\nEOF\nls": ["cat", "ls"],
    "cat <<EOF && ls\nrm\nEOF\n": ["cat", "ls"],
    "bash <<EOF\nrm x\nEOF": ["bash", "rm"],
    "cat <<< word; rm x": ["cat", "rm"],
    "echo $((1<<2))\nrm x": ["echo", "rm"],
    "timeout 5 rm x": ["timeout", "rm"],
    "timeout -k 3 --signal=9 5s rm x": ["timeout", "rm"],
    "FOO=1 env -u A X=1 rm x": ["env", "rm"],
    "env -S 'rm x'": ["env", "rm"],
    "nohup rm x > out 2>&1 &": ["nohup", "rm"],
    "nice -n 5 ionice -c 2 stdbuf -o L rm x": ["nice", "ionice", "stdbuf", "rm"],
    "find . -name '*.a' -exec rm {} \\; -exec ls {} +": ["find", "rm", "ls"],
    "ls | xargs -n 1 -I {} rm {}": ["ls", "xargs", "rm"],
    "sudo -u bob -- rm x": ["sudo", "rm"],
    "sudo sh -c 'cd x && rm y'": ["sudo", "sh", "cd", "rm"],
    'bash -c "rm x"': ["bash", "rm"],
    "bash -lc 'rm x; ls'": ["bash", "rm", "ls"],
    "bash ./run.sh 2>&1": ["bash", "run.sh"],
    "bash 2> err": ["bash"],
    "watch -n 1 'rm x'": ["watch", "rm"],
    "parallel -j 4 rm ::: a b": ["parallel", "rm"],
    "setsid rm x": ["setsid", "rm"],
    "chroot /x rm y": ["chroot", "rm"],
    "ssh -p 22 host 'rm x | ls'": ["ssh", "rm", "ls"],
    "su - bob -c 'rm x'": ["su", "rm"],
    "eval 'rm x'": ["eval", "rm"],
    "poetry run rm x": ["poetry", "rm"],
    "docker exec -u root box rm x": ["docker", "rm"],
    "kubectl exec pod -c c -- rm x": ["kubectl", "rm"],
    "command -v rm": ["command"],
    "command rm x": ["command", "rm"],
    'echo "now $(rm x) and `ls`"': ["echo", "rm", "ls"],
    "echo '\"$(rm x)\"'": ["echo"],
    'bash -c "echo $(rm x)"': ["bash", "echo", "rm"],
    "./rm x; /bin/ls; \\cp a b; 'mv' c d": ["rm", "ls", "cp", "mv"],
    "git rm x": ["git"],
    "submit": ["submit"],
    "": [],
    ";;": [";;"],
}


@pytest.mark.parametrize("line", LINES)
def test_a_line_is_cut_into_its_commands(line: str) -> None:
    assert [command.name for command in commands_of(line)] == LINES[line]


@given(st.text("ab '\"\\;&|()$=\n<>{}`", max_size=60))
def test_a_line_with_a_word_has_a_command_of_its_text(line: str) -> None:
    found = commands_of(line)
    assert bool(found) == bool(line.strip())
    assert all(command.name for command in found)


@given(
    st.lists(
        st.sampled_from(["timeout 5", "sudo -u x", "nice", "env A=1", "xargs -n 1"]), max_size=9
    )
)
def test_any_chain_of_wrappers_is_looked_through(chain: list[str]) -> None:
    found = commands_of(" ".join([*chain, "rm x"]))
    names = [each.split()[0] for each in chain]
    assert [command.name for command in found] == [*names, "rm"]


def test_a_command_behind_another_is_a_call_of_its_own(tmp_path: Path) -> None:
    steps = [
        {"action": "cd /x && rm -rf y", "observation": "no such folder", "response": "I clean up."},
        {"action": "submit", "observation": "diff", "response": "Done."},
    ]
    path = tmp_path / "task.traj"
    path.write_text(json.dumps({"trajectory": steps, "history": [], "info": {}}))
    (run,) = ta.load(path)
    calls = [step for step in run.steps if step.operation == "tool"]
    assert [(c.tool, c.arguments) for c in calls] == [
        ("cd", {"command": "cd /x"}),
        ("rm", {"command": "rm -rf y"}),
        ("submit", {"command": "submit"}),
    ]
    assert [call.requested for call in calls] == [True, True, True]
    assert [finding.state for finding in Forbidden(["rm"]).check(run.batch)] == [State.VIOLATED]
    # What came of it, the file does not say.
    assert calls[0].result == "no such folder"
    assert calls[1].ok is None
    assert [finding.state for finding in Called("rm").check(run.batch)] == [State.INSUFFICIENT]


MINI = {
    "trajectory_format": "mini-swe-agent-1",
    "info": {"exit_status": "Submitted"},
    "messages": [
        {"role": "system", "content": "s"},
        {"role": "user", "content": "Mend it."},
        {"role": "assistant", "content": "Look.\n```bash\nls\n```"},
        {"role": "user", "content": "<returncode>0</returncode>\n<output>a</output>"},
        {"role": "assistant", "content": "```bash\na\n```\n```bash\nb\n```"},
        {"role": "user", "content": "Give exactly one action."},
        {"role": "assistant", "content": "```bash\nrm a\n```"},
        {"role": "user", "content": "<returncode>1</returncode>\n<output>no</output>"},
        {"role": "assistant", "content": "```mswea_bash_command\nsleep 9\n```"},
        {"role": "user", "content": "The last command <command>sleep 9</command> timed out."},
        {"role": "assistant", "content": "```bash\necho COMPLETE\n```"},
        {"role": "user", "content": "diff"},
    ],
}


def test_commands_of_mini_swe_agent_are_calls(tmp_path: Path) -> None:
    path = tmp_path / "task.traj.json"
    path.write_text(json.dumps(MINI))
    (run,) = ta.load(path)
    calls = [step for step in run.steps if step.operation == "tool"]
    assert [(c.tool, c.arguments, c.ok) for c in calls] == [
        ("bash", {"command": "ls"}, True),
        ("bash", {"command": "rm a"}, False),
        ("bash", {"command": "sleep 9"}, False),
        ("bash", {"command": "echo COMPLETE"}, True),
    ]
    assert run.input == "Mend it.\nGive exactly one action."
