"""What `trackway.toml` says of tools that nobody decorated."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest

import trackway
from other_tracer import ARGUMENTS, RESULT, span, tool
from trackway.declaration import DeclarationError, DeclaredTool, read_declaration
from trackway.schema import StepKind, Trackway
from trackway.testing import MemorySpans

FILE = """\
[tools.lookup_order]
kind = "lookup"
entity = { type = "order" }

[tools.refund_create]
kind = "mutate"
entity = { type = "order", argument = "order_id" }
operation_id = "key"

[tools."send_*"]
kind = "notify"

[tools."send_draft*"]
kind = "other"
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "trackway.toml"
    path.write_text(FILE)
    return path


@pytest.fixture
def declared(file: Path) -> Any:
    spans = MemorySpans()
    spans.configure(tools=file)
    yield spans
    trackway.shutdown()


def call(
    name: str,
    arguments: Any = None,
    result: Any = None,
    keys: tuple[str, str] = (ARGUMENTS, RESULT),
) -> None:
    with trackway.run("t"), tool(name) as started:
        if arguments is not None:
            started.set_attribute(keys[0], json.dumps(arguments))
        if result is not None:
            started.set_attribute(keys[1], json.dumps(result))


def test_a_mutation_acts_on_the_entity_of_its_argument(declared: Any) -> None:
    call("refund_create", {"order_id": "A-1", "key": "k-7"})
    found = declared.one("tool refund_create").attributes
    assert found[Trackway.STEP_KIND] == "mutate"
    assert found[Trackway.ENTITY_REFS] == ("order:A-1",)
    assert found[Trackway.OPERATION_ID] == "k-7"


def test_a_lookup_establishes_the_entity_of_its_result(declared: Any) -> None:
    call("lookup_order", {"q": "latest"}, [{"id": "A-1"}, {"id": "A-2"}])
    found = declared.one("tool lookup_order").attributes
    assert found[Trackway.STEP_KIND] == "lookup"
    assert found[Trackway.ENTITY_REFS] == ("order:A-1", "order:A-2")


@pytest.mark.parametrize(
    "keys",
    [("input.value", "output.value"), ("tool_arguments", "tool_response")],
)
def test_arguments_are_found_in_other_dialects(declared: Any, keys: tuple[str, str]) -> None:
    call("lookup_order", None, {"id": "A-1"}, keys)
    call("refund_create", {"order_id": "A-1"}, None, keys)
    refs = [s.attributes.get(Trackway.ENTITY_REFS) for s in declared.all if "tool" in s.name]
    assert refs == [("order:A-1",), ("order:A-1",)]


def test_the_kind_is_there_when_the_span_starts(declared: Any) -> None:
    with trackway.run("t"), tool("refund_create") as started:
        assert started.attributes[Trackway.STEP_KIND] == "mutate"


def test_a_tool_outside_any_run_is_told_of_too(declared: Any) -> None:
    with tool("refund_create") as started:
        started.set_attribute(ARGUMENTS, '{"order_id": "A-1"}')
    assert declared.one("tool refund_create").attributes[Trackway.STEP_KIND] == "mutate"


def test_what_the_span_says_already_stays(declared: Any) -> None:
    with trackway.run("t"), tool("refund_create") as started:
        started.set_attributes({ARGUMENTS: '{"order_id": "A-1"}', Trackway.ENTITY_REFS: ["x:1"]})
    assert declared.one("tool refund_create").attributes[Trackway.ENTITY_REFS] == ("x:1",)


def test_arguments_that_are_not_recorded_name_no_entity(declared: Any) -> None:
    call("refund_create")
    assert Trackway.ENTITY_REFS not in declared.one("tool refund_create").attributes


def test_what_is_no_tool_call_is_left_alone(declared: Any) -> None:
    with trackway.run("t"), span("x", gen_ai__tool__name="refund_create"):
        pass
    assert Trackway.STEP_KIND not in declared.one("x").attributes


def test_a_decorated_tool_keeps_what_its_decorator_says(declared: Any) -> None:
    @trackway.tool(kind="other")
    def refund_create(order_id: str) -> None: ...

    with trackway.run("t"):
        refund_create("A-1")
    assert declared.tool("refund_create").attributes[Trackway.STEP_KIND] == "other"


def test_a_longer_pattern_wins(file: Path) -> None:
    declaration = read_declaration(file)
    assert declaration.tool("send_email") == DeclaredTool(StepKind.NOTIFY)
    assert declaration.tool("send_draft_email") == DeclaredTool(StepKind.OTHER)
    assert declaration.tool("resend") is None


def test_an_entity_may_be_its_type_alone(tmp_path: Path) -> None:
    path = tmp_path / "trackway.toml"
    path.write_text("tools.find = { kind = 'lookup', entity = 'order' }\n")
    said = read_declaration(path).tool("find")
    assert said is not None
    assert (said.entity_type, said.acts_on, said.establishes) == ("order", (), ("id",))


def test_a_bare_decorator_leaves_it_to_the_declaration(declared: Any) -> None:
    @trackway.tool
    def refund_create(order_id: str, key: str) -> None: ...

    with trackway.run("t"):
        refund_create("A-1", key="k-7")
    found = declared.tool("refund_create").attributes
    assert found[Trackway.STEP_KIND] == "mutate"
    assert found[Trackway.ENTITY_REFS] == ("order:A-1",)
    assert found[Trackway.OPERATION_ID] == "k-7"


def test_the_tools_of_a_policy_file_are_read(tmp_path: Path) -> None:
    path = tmp_path / "policy.yaml"
    path.write_text(
        "version: 1\n"
        "tools:\n"
        "  lookup_order: {kind: lookup, entity: {type: order, result: $.id}}\n"
        "  refund_api.create: {kind: mutate, success: $.status == 'succeeded'}\n"
        "rules:\n  - forbid: [delete]\n"
    )
    declaration = read_declaration(path)
    assert declaration.tool("lookup_order") == DeclaredTool(
        StepKind.LOOKUP, entity_type="order", result="$.id"
    )
    assert declaration.tool("refund_api.create") == DeclaredTool(StepKind.MUTATE)


WRONG = [
    ("[tools.a]\nkind = 'mutat'\n", "2: a.kind: expected lookup, mutate, notify, other; found "
     "'mutat'; did you mean 'mutate'?"),
    ("[tools.a]\nkind='lookup'\n[tools.b]\nknd = 'lookup'\n", "4: b: expected kind, entity, "
     "operation_id; found 'knd'; did you mean 'kind'?"),
    ("[tools.a]\nentity = { typ = 'order' }\n", "2: a.entity: expected type, argument, result; "
     "found 'typ'; did you mean 'type'?"),
    ("[tools.a]\nentity = { type = 'o', argument = 'x..y' }\n", "2: a.entity.argument: entity "
     "path 'x..y': expected names and indexes such as 'order.id' or 'items[*].id', found '..y'"),
    ("\n[tools]\na = 3\n", "3: a: expected a table such as kind = 'lookup', found 3"),
    ("[tools.a]\nentity = 3\n", "2: a.entity: expected a type, or a table of type, argument, "
     "result; found 3"),
    ("tools = 3\n", "1: tools: expected a table of tools, found 3"),
    ("\n[tool.a]\nkind = 'lookup'\n", "2: expected tools, found 'tool'; did you mean 'tools'?"),
    ("[tools.a]\nkind =\n", "2: no TOML: Invalid value (at line 2, column 7)"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "problem"), WRONG, ids=range(len(WRONG)))
def test_a_wrong_file_is_told_with_its_line(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "trackway.toml"
    path.write_text(text)
    with pytest.raises(DeclarationError) as raised:
        read_declaration(path)
    assert str(raised.value) == f"{path}:{problem}"


MIXED = """\
[tools.lookup_order]
kind = "lookup"
entity = { type = "order", result = "x..y" }

[tools.refund_create]
kind = "mutat"
operation_id = "key"

[tools.send_email]
kind = "notify"
priority = 3

[tool.misplaced]
kind = "lookup"
"""
KEPT = {
    "lookup_order": DeclaredTool(StepKind.LOOKUP, "order"),
    "refund_create": DeclaredTool(operation_id="key"),
    "send_email": DeclaredTool(StepKind.NOTIFY),
}


def test_what_is_wrong_costs_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "trackway.toml"
    path.write_text(MIXED)
    declaration = read_declaration(path, strict=False)
    assert declaration.tools == KEPT
    said = [problem.partition("toml:")[2] for problem in declaration.problems]
    assert [problem.partition(": ")[0] for problem in said] == ["3", "6", "11", "13"]
    with pytest.raises(DeclarationError) as raised:
        read_declaration(path)
    assert str(raised.value).splitlines() == list(declaration.problems)


def test_what_is_wrong_in_a_policy_file_costs_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "policy.yaml"
    path.write_text("tools:\n  a: 3\n  b: {kind: lookup}\n  c: {kind: mutat, operation_id: k}\n")
    declaration = read_declaration(path, strict=False)
    assert declaration.tools == {
        "b": DeclaredTool(StepKind.LOOKUP),
        "c": DeclaredTool(operation_id="k"),
    }
    assert [problem.partition("yaml:")[2][:4] for problem in declaration.problems] == [
        "2: a", "4: c",
    ]  # fmt: skip


def test_a_table_that_is_no_toml_costs_that_table(tmp_path: Path) -> None:
    path = tmp_path / "trackway.toml"
    path.write_text(FILE.replace('kind = "mutate"', "kind = mutate") + "\n[tools.z]\nkind = -\n")
    declaration = read_declaration(path, strict=False)
    assert list(declaration.tools) == ["lookup_order", "send_*", "send_draft*"]
    assert [problem.partition("toml:")[2] for problem in declaration.problems] == [
        "6: no TOML: Invalid value (at line 6, column 8)",
        "17: no TOML: Invalid value (at line 17, column 8)",
    ]  # fmt: skip


def test_of_a_tool_that_is_declared_twice_the_first_holds(tmp_path: Path) -> None:
    path = tmp_path / "trackway.toml"
    path.write_text("[tools.a]\nkind = 'lookup'\n[tools.a]\nkind = 'mutate'\n[tools.b]\n")
    declaration = read_declaration(path, strict=False)
    assert declaration.tools == {"a": DeclaredTool(StepKind.LOOKUP), "b": DeclaredTool()}
    assert [problem.partition("toml:")[2] for problem in declaration.problems] == [
        "3: tools.a.kind is declared twice: the first one holds"
    ]


def test_a_wrong_policy_file_is_told_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "policy.yaml"
    path.write_text("version: 1\ntools:\n  a: {kind: lookup}\n  b:\n    kind: mutat\n")
    with pytest.raises(DeclarationError, match=r"policy\.yaml:5: b\.kind: expected lookup"):
        read_declaration(path)


def test_a_wrong_file_that_the_program_names_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "tools.toml"
    path.write_text("[tools.a]\nkind = 'mutat'\n")
    with pytest.raises(DeclarationError):
        trackway.configure(export="console", tools=path)
    trackway.shutdown()


@pytest.mark.parametrize("named", [True, False])
def test_a_wrong_file_of_the_surroundings_is_told_and_stops_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, named: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    name = "tools.toml" if named else "trackway.toml"
    Path(name).write_text("[tools.a]\nkind = 'mutat'\n[tools.b]\nkind = 'lookup'\n")
    if named:
        monkeypatch.setenv("TRACKWAY_TOOLS", name)
    caplog.set_level(logging.ERROR, "trackway")
    spans = MemorySpans()
    spans.configure()
    with trackway.run("t"), tool("a"), tool("b"):
        pass
    trackway.shutdown()
    assert [r.getMessage().partition(": expected")[0] for r in caplog.records] == [
        f"trackway: left out of the declared tools: {name}:2: a.kind"
    ]
    kinds = {span.name: span.attributes.get(Trackway.STEP_KIND) for span in spans.all}
    assert kinds == {"tool a": None, "tool b": "lookup", "run t": None}


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("t.yaml", b"tools: [", "t.yaml:1: no YAML"),
        ("t.toml", b"\xff\xfe", "t.toml:1: no UTF-8: invalid start byte"),
        ("absent.toml", None, "[Errno 2]"),
    ],
)
def test_a_file_that_cannot_be_read_at_all_stops_nothing(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    name: str,
    content: bytes | None,
    problem: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TRACKWAY_TOOLS", name)
    if content is not None:
        Path(name).write_bytes(content)
    MemorySpans().configure()
    trackway.shutdown()
    (record,) = caplog.records
    assert record.getMessage().startswith(f"trackway: tools are not declared: {problem}")


def test_the_file_in_the_working_directory_is_found(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(file.parent)
    spans = MemorySpans()
    spans.configure()
    call("refund_create")
    trackway.shutdown()
    assert spans.one("tool refund_create").attributes[Trackway.STEP_KIND] == "mutate"


def test_secrets_under_denied_names_are_no_entities(tmp_path: Path) -> None:
    path = tmp_path / "t.toml"
    path.write_text("[tools.login]\nentity = { type = 'user', argument = 'password' }\n")
    spans = MemorySpans()
    spans.configure(tools=path)
    call("login", {"password": "hunter2"})
    trackway.shutdown()
    assert Trackway.ENTITY_REFS not in spans.one("tool login").attributes
