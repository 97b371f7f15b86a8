"""What a model may write in a call, and that nothing else makes a tool fail."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.longer import examples
from verifyplan.agents.tools import ModelToolkit, ToolResult, WebCall, WebRules, sources, tool_definitions
from verifyplan.agents.tools.definitions import ARGUMENTS
from verifyplan.agents.untrusted_text import MAX_ANSWER_CHARACTERS
from verifyplan.protocol.call import TOOLS, ToolUse
from verifyplan.repository.listing import Listing
from verifyplan.repository.records import FileEntry
from verifyplan.repository.repository import Repository
from verifyplan.rules.budgets import Budget

PLENTY = Budget(dict.fromkeys(TOOLS, 10_000))


def test_definitions_are_what_the_api_takes():
    found = tool_definitions(TOOLS)
    assert [one["name"] for one in found] == list(TOOLS)
    for one in found:
        assert set(one) == {"name", "description", "input_schema"}
        assert "budget" in one["description"]
        schema = one["input_schema"]
        assert schema["type"] == "object"
        assert schema["additionalProperties"] is False
        assert set(schema["required"]) <= set(schema["properties"])
        assert all(about["description"] for about in schema["properties"].values())
        assert "title" not in json.dumps(schema)
    assert tool_definitions(["Grep", "Read"])[0]["name"] == "Grep"
    assert tool_definitions(TOOLS) == found


def test_arguments_are_those_of_the_design():
    schemas = {one["name"]: one["input_schema"] for one in tool_definitions(TOOLS)}
    assert {name: list(schema["properties"]) for name, schema in schemas.items()} == {
        "Read": ["path", "first", "last"],
        "Grep": ["pattern", "path", "serves"],
        "git_log": ["paths", "serves"],
        "memory_search": ["query", "serves"],
        "WebSearch": ["query", "serves"],
        "WebFetch": ["url", "serves"],
    }
    assert schemas["WebSearch"]["required"] == ["query", "serves"]


def test_descriptions_tell_the_limits_that_are_enforced():
    told = {one["name"]: one["description"] for one in tool_definitions(TOOLS)}
    assert f"at most {sources.MAX_LINES} lines" in told["Read"]
    assert f"at most {MAX_ANSWER_CHARACTERS:,} characters" in told["Read"]
    assert f"at most {sources.MAX_HITS} lines" in told["Grep"]
    assert f"latest {sources.MAX_COMMITS} commits" in told["git_log"]
    assert f"the {sources.MAX_PASSAGES} passages" in told["memory_search"]


@pytest.mark.parametrize(
    ("tool", "arguments", "wrong"),
    [
        ("Read", {}, "path: Field required. It takes path, first (optional), last (optional)."),
        ("Read", {"path": 7}, "path: Input should be a valid string"),
        ("Read", {"path": ""}, "path: String should have at least 1 character"),
        ("Read", {"path": "a", "first": 0}, "first: Input should be greater than or equal to 1"),
        ("Read", {"path": "a", "first": "1"}, "first: Input should be a valid integer"),
        ("Read", {"path": "a", "first": True}, "first: Input should be a valid integer"),
        ("Read", {"path": "a", "first": 9, "last": 3}, "last (3) is before first (9)"),
        ("Read", {"file_path": "a"}, "path: Field required; file_path: Extra inputs are not permitted"),
        ("Read", ["a"], "the arguments are no JSON object"),
        ("Read", None, "the arguments are no JSON object"),
        ("Grep", {"pattern": "x" * 1001}, "pattern: String should have at most 1000 characters"),
        ("Grep", {"pattern": "\ud800"}, "pattern: Input should be a valid string"),
        ("git_log", {"paths": "a"}, "paths: Input should be a valid list"),
        ("git_log", {"paths": ["a"] * 21}, "paths: List should have at most 20 items"),
        ("git_log", {"paths": ["a", None]}, "paths.1: Input should be a valid string"),
        ("WebSearch", {"query": "a"}, "serves: Field required"),
        ("WebFetch", {"url": "file:///etc/passwd", "serves": "U1"}, "url: String should match pattern"),
    ],
)
def test_arguments_outside_the_schema_are_told_what_is_allowed(kit, tool, arguments, wrong):
    tools = kit()
    result = tools.run(tool, arguments)
    assert result.text.startswith(f"{tool} was not run: ")
    assert wrong in result.text
    assert "It takes " in result.text
    assert result.failed
    assert result.use == tools.uses[-1]
    assert result.use.refused == result.text


def test_the_schemas_and_the_checks_are_one():
    for tool, model in ARGUMENTS.items():
        (definition,) = tool_definitions([tool])
        assert list(definition["input_schema"]["properties"]) == list(model.model_fields)


ANY_TEXT = st.text(alphabet=st.characters(exclude_categories=()), max_size=40)  # lone surrogates, too
ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(ANY_TEXT, inner, max_size=4),
    max_leaves=10,
)
FIELDS = ("path", "first", "last", "pattern", "paths", "query", "url", "serves")
LIKELY = st.dictionaries(
    st.sampled_from(FIELDS),
    ANY_JSON
    | st.sampled_from(["a.txt", ".", "", "b/../a.txt", "../x", "plan", "https://a.example/", "U1", "a" * 999, "(", "["])
    | st.lists(ANY_TEXT, max_size=3),
    max_size=4,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("any")
    (folder / "a.txt").write_text("one\ntwo\n")
    return folder


@settings(max_examples=examples(300))
@given(st.sampled_from(TOOLS) | ANY_TEXT, ANY_JSON | LIKELY)
def test_whatever_a_model_writes_one_bounded_text_comes_back(folder, name, arguments):
    repository = Repository(folder, Listing(files={"a.txt": FileEntry("a.txt", 8)}))
    tools = ModelToolkit(
        repository, {"plan": "x"}, PLENTY, web=WebRules("resolve", {"U1": "API_BEHAVIOR"}, enabled=True)
    )
    sources_search, sources.search = sources.search, lambda *_: []  # each search starts a process
    try:
        result = tools.run(name, arguments)
        web = tools.check_web("WebSearch", arguments)
    finally:
        sources.search = sources_search
    assert isinstance(result, ToolResult)
    assert 0 < len(result.text.encode()) <= 4 * MAX_ANSWER_CHARACTERS
    assert isinstance(web, str | WebCall)
    assert (result.use is None) == (name not in TOOLS or (result.text.startswith("plan: ") and not result.failed))
    for use in tools.uses:
        assert ToolUse.model_validate_json(use.model_dump_json()) == use
        assert len(use.argument) < 4_000
