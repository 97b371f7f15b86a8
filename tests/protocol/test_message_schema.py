"""Messages held to their schema: every error at once in Ajv's shapes; the Python type takes the same (rule C1)."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import ValidationError

from verifyplan.errors import MESSAGE_ERROR_PREFIX, InputError, MessageError
from verifyplan.protocol.message import (
    DEBATE_ROLES,
    MESSAGE_TYPES,
    BudgetTrace,
    Message,
    answer_schema,
    check_answer,
    check_message,
    message_schema,
)
from verifyplan.protocol.role_call import ArchitectAnswer, BuilderAnswer
from verifyplan.rules.debate import closing

GOOD = {"role": "builder", "type": "implement", "content": "Done.", "turn": 1}


def errors(data):
    with pytest.raises(MessageError) as caught:
        check_message(data)
    text = str(caught.value)
    assert text.startswith("MESSAGE_SCHEMA_VALIDATION_FAILED::{")
    told = json.loads(text.removeprefix(MESSAGE_ERROR_PREFIX))
    assert list(told) == ["errors"]
    assert all(list(one) == ["keyword", "instancePath", "params"] for one in told["errors"])
    return [(one["keyword"], one["instancePath"], one["params"]) for one in told["errors"]]


def test_the_schema_is_draft_2020_12_and_closed_everywhere():
    schema = message_schema()
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["$id"] == "https://example.com/orchestrator/message.schema.json"
    assert schema["title"] == "AgentMessage"
    assert schema["additionalProperties"] is False
    assert schema["properties"]["budgetTrace"]["additionalProperties"] is False
    assert schema["required"] == ["role", "type", "content", "turn"]


def test_the_type_has_the_fields_and_the_enumerations_of_the_schema():
    fields = message_schema()["properties"]
    assert list(Message.model_fields) == list(fields)
    assert list(BudgetTrace.model_fields) == list(fields["budgetTrace"]["properties"])
    assert list(DEBATE_ROLES) == fields["role"]["enum"]
    assert list(MESSAGE_TYPES) == fields["type"]["enum"]
    required = [name for name, field in Message.model_fields.items() if field.is_required()]
    assert required == message_schema()["required"]


def test_an_unknown_field_a_wrong_role_and_turn_0_are_one_error_that_lists_all_three():
    assert errors(GOOD | {"role": "judge", "turn": 0, "mood": "fine"}) == [
        ("additionalProperties", "", {"additionalProperty": "mood"}),
        ("enum", "/role", {"allowedValues": ["architect", "builder"]}),
        ("minimum", "/turn", {"comparison": ">=", "limit": 1}),
    ]


def test_the_text_of_the_error_is_compact_json():
    with pytest.raises(MessageError) as caught:
        check_message(GOOD | {"content": ""})
    assert str(caught.value) == (
        'MESSAGE_SCHEMA_VALIDATION_FAILED::{"errors":[{"keyword":"minLength","instancePath":"/content",'
        '"params":{"limit":1}}]}'
    )
    assert isinstance(caught.value, InputError)
    assert caught.value.errors[0]["keyword"] == "minLength"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"role": 5}, [("type", "/role", "string"), ("enum", "/role", ["architect", "builder"])]),
        ({"type": "judge"}, [("enum", "/type", ["propose", "critique", "implement", "verify"])]),
        ({"content": None}, [("type", "/content", "string")]),
        ({"turn": True}, [("type", "/turn", "integer")]),
        ({"turn": 0.5}, [("type", "/turn", "integer"), ("minimum", "/turn", 1)]),
        ({"reasons": "x"}, [("type", "/reasons", "array")]),
        ({"evidence": ["x", 1, None]}, [("type", "/evidence/1", "string"), ("type", "/evidence/2", "string")]),
        ({"risks": [["x"]]}, [("type", "/risks/0", "string")]),
        ({"budgetTrace": None}, [("type", "/budgetTrace", "object")]),
        (
            {"budgetTrace": {"inputTokens": -1, "cost": 1, "outputTokens": "2"}},
            [
                ("additionalProperties", "/budgetTrace", "cost"),
                ("minimum", "/budgetTrace/inputTokens", 0),
                ("type", "/budgetTrace/outputTokens", "integer"),
            ],
        ),
    ],
)
def test_each_way_to_break_the_schema_is_told_in_ajvs_shape(change, told):
    shapes = {"type": "type", "enum": "allowedValues", "minimum": "limit", "additionalProperties": "additionalProperty"}
    assert [(keyword, path, params[shapes[keyword]]) for keyword, path, params in errors(GOOD | change)] == told


def test_each_missing_and_each_extra_field_is_an_error_of_its_own():
    assert errors({"b/c~": 1, "a": 2}) == [
        *(("required", "", {"missingProperty": name}) for name in ("role", "type", "content", "turn")),
        *(("additionalProperties", "", {"additionalProperty": name}) for name in ("b/c~", "a")),
    ]


@pytest.mark.parametrize("data", [None, [], "x", 1, True])
def test_what_is_no_object_is_told_so(data):
    assert errors(data) == [("type", "", {"type": "object"})]


def test_nesting_size_and_halves_of_surrogates_are_no_crash():
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    assert errors(GOOD | {"content": deep, "x": deep}) == [
        ("additionalProperties", "", {"additionalProperty": "x"}),
        ("type", "/content", {"type": "string"}),
    ]
    assert errors(GOOD | {"turn": -(10**5000)}) == [("minimum", "/turn", {"comparison": ">=", "limit": 1})]
    assert errors(GOOD | {"\ud800": 1}) == [("additionalProperties", "", {"additionalProperty": "\ud800"})]
    check_message(GOOD | {"turn": 10**5000})


def test_a_key_that_stands_for_a_field_is_not_shown():
    assert errors(GOOD | {"ghp_" + "a1B2" * 9: 1}) == [
        ("additionalProperties", "", {"additionalProperty": "[redacted]"})
    ]


def test_the_closing_message_of_a_stagnation_fits():
    check_message(closing(2).as_json())
    assert closing(2).as_json()["turn"] == 2


def test_what_is_left_out_stays_out_wherever_a_message_is_written():
    plain = Message(**GOOD)
    assert "budgetTrace" not in plain.as_json()
    assert "budgetTrace" not in plain.model_dump()
    assert "null" not in plain.model_dump_json()
    part = Message(**GOOD, budgetTrace={"inputTokens": 3.0})
    assert part.as_json()["budgetTrace"] == {"inputTokens": 3}
    assert re.search(r'"budgetTrace":\{"inputTokens":3\}', part.model_dump_json())
    assert Message.model_validate_json(part.model_dump_json()) == part


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 3) | st.floats() | st.sampled_from([1.0, 0.0, 2.5, -0.0]) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)
TEXTS = st.lists(st.text(max_size=3) | JSON, max_size=3)
TRACE = st.fixed_dictionaries({}, optional={"inputTokens": JSON, "outputTokens": JSON, "x": JSON})
NEAR = st.fixed_dictionaries(
    {},
    optional={
        "role": st.sampled_from(["architect", "builder", "judge"]) | JSON,
        "type": st.sampled_from([*MESSAGE_TYPES, "x"]) | JSON,
        "content": st.text(max_size=3) | JSON,
        "turn": st.sampled_from([0, 1, 1.0, 2, True]) | JSON,
        "reasons": TEXTS | JSON,
        "evidence": TEXTS,
        "risks": TEXTS,
        "budgetTrace": TRACE | JSON,
        "x": JSON,
    },
)
ALMOST = st.builds(lambda more: GOOD | more, NEAR)


@given(JSON | NEAR | ALMOST)
@example(GOOD | {"turn": 1.0, "budgetTrace": {"inputTokens": 2.0}})
@example(GOOD | {"budgetTrace": {}})
@example(GOOD | {"budgetTrace": {"inputTokens": None}})
@example(GOOD | {"turn": float("inf")})
def test_the_schema_takes_what_the_type_takes_and_refuses_what_it_refuses(data):
    try:
        message = Message.model_validate(data)
    except ValidationError:
        assert errors(data)
    else:
        check_message(data)
        check_message(message.as_json())


@pytest.mark.parametrize(("role", "model"), [("architect", ArchitectAnswer), ("builder", BuilderAnswer)])
def test_an_answer_is_held_to_the_fields_of_a_message_that_a_role_writes(role, model):
    schema = answer_schema(role)
    assert set(schema["properties"]) == set(model.model_fields)
    assert schema["required"] == [name for name in ("content", "diff") if name in model.model_fields]
    for name in ("content", "reasons", "evidence", "risks"):
        assert schema["properties"][name] is message_schema()["properties"][name]


@given(
    st.dictionaries(
        st.sampled_from(["content", "reasons", "diff", "turn"]), st.sampled_from(["", "x", 3, ["x"], [3], None])
    )
)
def test_an_answer_that_the_type_refuses_breaks_the_schema_and_no_other(data):
    for role, model in (("architect", ArchitectAnswer), ("builder", BuilderAnswer)):
        try:
            model.model_validate(data)
        except ValidationError:
            with pytest.raises(MessageError, match="MESSAGE_SCHEMA_VALIDATION_FAILED::"):
                check_answer(data, role)
        else:
            check_answer(data, role)
