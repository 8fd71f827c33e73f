"""What a policy file says, key by key, and what it is refused with, word by word."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator

from trackway_analyzer.rules import (
    Allowed,
    Approved,
    Before,
    Budget,
    EntitySpec,
    Exact,
    Forbidden,
    Grounded,
    NoSecrets,
    PartialOrder,
    Policy,
    PolicyError,
    Rule,
    Sequence,
    Severity,
    StepSpec,
    ToolSpec,
)
from trackway_analyzer.rules.expression import compiled
from trackway_analyzer.rules.policy_file import read_policy
from trackway_analyzer.rules.policy_schema import policy_schema


def test_each_key_of_a_tool_is_read() -> None:
    parts = read_policy(
        "version: 1\n"
        "tools:\n"
        "  find: {kind: lookup, entity: {type: order, result: $.id}}\n"
        "  pay:\n"
        "    kind: mutate\n"
        "    entity: {type: order, argument: order.id}\n"
        "    success: $.status == 'done'\n"
        "  plain: {}\n"
        "  other: {kind: other, entity:}\n"
        "rules: [{forbid: x}]\n"
    )

    assert parts.tools == {
        "find": ToolSpec("lookup", EntitySpec("order", None, "$.id")),
        "pay": ToolSpec(
            "mutate", EntitySpec("order", "order.id", None), compiled("$.status == 'done'")
        ),
        "plain": ToolSpec(),
        "other": ToolSpec("other"),
    }
    assert parts.tool_lines == {"find": 3, "pay": 4, "plain": 8, "other": 9}
    assert read_policy("version: 1\nrules: [{forbid: x}]\n").tool_lines == {}


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("forbid: a", Forbidden("a")),
        ("forbidden: [a, b]", Forbidden(["a", "b"])),
        ("allow: {tools: [a], agent: x}", Allowed(["a"], agent="x")),
        ("before: [a, b]", Before("a", "b")),
        ("before: {first: a, second: b, required: true}", Before("a", "b", required=True)),
        ("{before: [a, b], severity: warning}", Before("a", "b", severity=Severity.WARNING)),
        ("approved: [a, b]", Approved("a", "b")),
        ("grounded: {tool: a, argument: b, from: c.d}", Grounded("a", "b", "c.d")),
        ("no_secrets:", NoSecrets()),
        ("budget: {steps: 3, severity: warning}", Budget(steps=3, severity=Severity.WARNING)),
        ("sequence: [a, {tool: b, optional: true}]", Sequence(("a", StepSpec("b", optional=True)))),
        ("sequence: {steps: [a], extra: forbid}", Sequence((StepSpec("a"),), "forbid")),
        (
            "exact: [{tool: a, arguments: {x: [1]}}]",
            Exact([{"tool": "a", "arguments": {"x": [1]}}]),
        ),
    ],
)
def test_a_rule_in_yaml_is_the_rule_in_python(text: str, rule: Rule) -> None:
    parts = read_policy(f"version: 1\nrules:\n  - {text}\n")

    assert [repr(found) for found in parts.rules] == [repr(rule)] or parts.rules == (rule,)
    assert parts.lines == (3,)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[]", "1: expected a mapping with version, tools and rules"),
        ("", "1: expected a mapping with version, tools and rules"),
        ("rules: [{forbid: a}]\nversion: 2", "2: expected version: 1, found 2"),
        ("version: true\nrules: [{forbid: a}]", "1: expected version: 1, found True"),
        ("\nversion: '1'\nrules: [{forbid: a}]", "2: expected version: 1, found '1'"),
        (
            "version: 1\ntools: [a]\nrules: [{forbid: a}]",
            "2: tools: expected a mapping, found ['a']",
        ),
        ("version: 1\ntools:\n  x: 3\nrules: [{forbid: a}]", "3: x: expected a mapping, found 3"),
        (
            "version: 1\ntools:\n  x:\n    entity: order\nrules: [{forbid: a}]",
            "4: entity: expected a mapping, found 'order'",
        ),
        (
            "version: 1\ntools:\n  x:\n    entity: {result: '$.a['}\nrules: [{forbid: a}]",
            "4: x: '$.a[' is no JSONPath: ",
        ),
        ("version: 1\nrules:\n", "2: a policy needs at least one rule"),
        ("version: 1\nrules: {forbid: a}", "2: rules: expected a list, found {'forbid': 'a'}"),
        ("version: 1\nrules: [{severity: error}]", "2: expected one rule, found none"),
        ("version: 1\nrules: [{before: }]", "2: before: expected first, second or a mapping of "),
        ("version: 1\nrules: [{before: {first: a}}]", "2: before: expected second"),
        ("version: 1\nrules: [{before: {}}]", "2: before: expected first and second"),
        ("version: 1\nrules: [{before: a}]", "2: before: expected [first, second], found 'a'"),
        (
            "version: 1\nrules:\n  - sequence:\n    - 3",
            "4: expected a step as a dict or a tool's name",
        ),
        ("version: 1\nrules:\n  - exact: [{tol: a}]", "3: unknown key 'tol', did you mean"),
        ("version: 1\nrules:\n  - a: b: c", "3: no YAML: mapping values are not allowed here"),
        (
            "version: 1\nrules: [{forbid: \x01}]",
            "2: no YAML: the character U+0001 may not stand here",
        ),
    ],
)
def test_what_a_file_is_refused_with(text: str, message: str) -> None:
    with pytest.raises(PolicyError) as raised:
        read_policy(text, "p.yaml")

    assert str(raised.value).startswith(f"p.yaml:{message}" if message[0] in "1234" else "p.yaml: ")
    assert message in str(raised.value)


@pytest.mark.parametrize("empty", ["", "  "])
def test_an_empty_text_is_no_policy(empty: str) -> None:
    with pytest.raises(PolicyError) as error:
        Policy.from_yaml(empty)
    assert str(error.value) == (
        "policy: expected a policy or the path of its file, found an empty text"
    )


def test_a_folder_is_no_policy(tmp_path: Path) -> None:
    with pytest.raises(PolicyError) as error:
        Policy.from_yaml(tmp_path)
    assert str(error.value) == f"{tmp_path}: expected the file of a policy, found a folder"


def test_a_file_is_read_from_its_path_and_named_in_errors(tmp_path: Path) -> None:
    path = tmp_path / "policy.yaml"
    path.write_text("version: 1\nrules:\n  - forbid: é\n", encoding="utf-8")
    assert Policy.from_yaml(path).rules == (Forbidden("é"),)
    assert Policy.from_yaml(str(path)).rules == (Forbidden("é"),)

    path.write_text("version: 1\nrules: [{forbd: a}]", encoding="utf-8")
    with pytest.raises(PolicyError) as wrong:
        Policy.from_yaml(path)
    assert str(wrong.value) == f"{path}:2: unknown rule 'forbd', did you mean 'forbid'?"

    path.write_bytes(b"version: 1 # \xff")
    with pytest.raises(PolicyError) as unread:
        Policy.from_yaml(path)
    assert str(unread.value) == f"{path}: expected UTF-8 text: invalid start byte"

    with pytest.raises(FileNotFoundError) as missing:
        Policy.from_yaml(tmp_path / "none.yaml")
    assert str(missing.value) == f"no policy file at {tmp_path / 'none.yaml'}"


def test_a_rule_that_brings_others_along_is_written_and_they_are_implied() -> None:
    policy = Policy(Sequence(("a",)), Forbidden("b"))

    assert [rule.key for rule in policy.rules] == ["sequence", "unknown_kind", "forbidden"]
    assert policy.implied == {1}
    assert Policy(Forbidden("b")).implied == frozenset()


def test_a_policy_shows_its_rules() -> None:
    assert repr(Policy(Forbidden("b"), Before("a", "c"))) == "Policy(forbidden, before: a, c)"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("tools:\n  a:\n    kind: mutat\nrules:\n  - never: b\n", 4),
        ("tools:\n  a:\n    kind: mutate\n    success:\n      a =\nrules:\n  - never: b\n", 5),
        ("rules:\n  - arguments:\n      tool: a\n      regex:\n        x: '('\n", 6),
        ("rules:\n  - never: b\n    severity: warn\n", 4),
        ("rules:\n  - count:\n      tool: a\n      min: 1\n      max: -1\n", 6),
        ("rules:\n  - count:\n      tool: a\n      min: 7\n      max: 1\n", 5),
        ("rules:\n  - sequence:\n      steps:\n        - tool: a\n          kind: mutat\n", 6),
        ("rules:\n  - before: [a,\n      b,\n      7]\n", 3),
        (
            "rules:\n  - arguments:\n      tool: a\n      within:\n        x: [9, 2]\n"
            "        y: [1, 2]\n",
            7,
        ),
    ],
)
def test_a_wrong_value_is_told_with_its_own_line(text: str, line: int) -> None:
    with pytest.raises(PolicyError) as error:
        Policy.from_yaml(f"version: 1\n{text}")
    assert error.value.line == line, str(error.value)


@pytest.mark.parametrize(
    ("form", "rule"),
    [
        ("[[a, b], [b, c]]", PartialOrder([("a", "b"), ("b", "c")])),
        ("[[[a, b], [b, c]]]", PartialOrder([("a", "b"), ("b", "c")])),
        ("[[[a, b]], [c]]", PartialOrder([("a", "b")], ["c"])),
        ("{edges: [[a, b]], tools: [c]}", PartialOrder([("a", "b")], ["c"])),
    ],
)
def test_a_partial_order_in_brackets(form: str, rule: PartialOrder) -> None:
    text = f"version: 1\nrules:\n  - partial_order: {form}\n"

    assert Policy.from_yaml(text).rules == (rule,)
    Draft202012Validator(policy_schema()).validate(yaml.safe_load(text))


def test_a_partial_order_takes_no_third_list() -> None:
    text = "version: 1\nrules:\n  - partial_order: [[[a, b]], [c], [d]]\n"

    with pytest.raises(PolicyError):
        Policy.from_yaml(text)


@pytest.mark.parametrize("name", ["first", "last", "never", "called", "executed", "result_used"])
def test_a_short_form_of_one_text_stands_in_brackets_or_without(name: str) -> None:
    bare, bracketed = (f"version: 1\nrules:\n  - {name}: {form}\n" for form in ("a", "[a]"))

    assert Policy.from_yaml(bracketed).rules == Policy.from_yaml(bare).rules
    Draft202012Validator(policy_schema()).validate(yaml.safe_load(bracketed))
    with pytest.raises(PolicyError):
        Policy.from_yaml(bracketed.replace("[a]", "[a, b]"))
