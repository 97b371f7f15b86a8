"""From a model's text to an answer: schemas that the API takes, answers read whole, and refusals told all at once."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Literal, get_args

import pytest
from anthropic import transform_schema
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from tests.longer import examples
from verifyplan.agents.anthropic.answer_parsing import AnswerError, check_ids, merge_repair, parse_answer
from verifyplan.agents.anthropic.answer_schemas import (
    MAX_LISTED_IDS,
    VERDICT_LABELS,
    answer_model,
    answer_schema,
    api_schema,
    short_form,
)
from verifyplan.errors import AgentError
from verifyplan.protocol.call import TOOLS, Item, WorkerRequest, WorkerVote
from verifyplan.protocol.records import (
    CONFIDENCES,
    CONTEXT_IMPACTS,
    CONTEXT_SOURCES,
    CONVERGENCE_STATUSES,
    DIMENSIONS,
    PLAN_VERDICTS,
    PROBABILITIES,
    SEVERITIES,
    STATUSES,
    UNKNOWN_TYPES,
    Directive,
    DirectiveKind,
    Trigger,
)
from verifyplan.protocol.role_call import (
    ANSWER_OF_ROLE,
    ROLES,
    ChallengerAnswer,
    ChallengesAnswer,
    GivenScore,
    ProbeAnswer,
    RaisedChallenge,
    RaisedContext,
    RaisedRisk,
    RaisedUnknown,
    ResolverAnswer,
    Role,
    RoleRequest,
    ScoreAnswer,
    StatusChange,
    SurfaceAnswer,
    SynthesizerAnswer,
    UnknownAnswer,
)
from verifyplan.protocol.vote import BASES, MODES, VERDICT_OF_LABEL, Mode
from verifyplan.rules.answers import read_entries, read_vote, read_votes


def of_role(role: Role) -> RoleRequest:
    return RoleRequest(
        call_id=f"i1/{role}",
        role=role,
        iteration=1,
        max_iterations=3,
        plan_name="plan.md",
        plan_text="# Plan",
        plan_quality="THIN",
        domains=(),
    )


def of_worker(mode: Mode) -> WorkerRequest:
    items = tuple(Item(finding_id=f"F-{n}", summary="A claim.", evidence="") for n in (1, 2))
    return WorkerRequest(
        call_id="r1/a", worker="a", round=1, mode=mode, verification_mode="full-reanalysis", items=items
    )


REQUESTS = [*map(of_role, ROLES), *map(of_worker, MODES)]
each_request = pytest.mark.parametrize("request_", REQUESTS, ids=[*ROLES, *MODES])

# Answers of every kind

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
parts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="|\n"), min_size=1, max_size=8)


def some(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(values, max_size=3).map(tuple)


raised = st.builds(
    RaisedChallenge,
    claim=texts,
    concern=texts,
    failure_scenario=texts,
    alternative=texts,
    severity=st.sampled_from(SEVERITIES),
    confidence=st.sampled_from(CONFIDENCES),
    evidence=texts,
)
unknowns = st.builds(
    RaisedUnknown,
    description=texts,
    type=st.sampled_from(UNKNOWN_TYPES),
    affects=st.none() | texts,
    suggested_query=texts,
)
verified = st.tuples(parts, parts, parts).map(lambda three: f"[VERIFIED:{'|'.join(three)}]")
found = st.builds(
    UnknownAnswer, id=texts, resolution=st.sampled_from(["CONFIRMED", "REFUTED"]), finding=verified
) | st.builds(UnknownAnswer, id=texts, resolution=st.just("UNRESOLVABLE"), finding=st.none())
contexts = st.builds(
    RaisedContext,
    source=st.sampled_from(CONTEXT_SOURCES),
    location=texts,
    relevance=texts,
    impact=st.sampled_from(CONTEXT_IMPACTS),
    challenge=st.none() | raised,
)
risks = st.builds(
    RaisedRisk,
    risk=texts,
    trigger=texts,
    cascade=texts,
    probability=st.sampled_from(PROBABILITIES),
    severity=st.sampled_from(SEVERITIES),
    evidence=texts,
    challenge=st.none() | raised,
)
directives = st.builds(
    Directive,
    kind=st.sampled_from(get_args(DirectiveKind)),
    trigger=st.none() | st.sampled_from(get_args(Trigger)),
    items=some(texts),
    role=st.none() | texts,
    tools=st.dictionaries(st.sampled_from(TOOLS), st.integers(-9, 9), max_size=3),
    note=texts,
)
changes = st.builds(StatusChange, challenge=texts, status=st.sampled_from(STATUSES), resolution=texts)
synthesis = st.builds(
    SynthesizerAnswer,
    changes=some(changes),
    promotions=some(texts),
    directives=some(directives),
    status=st.none() | st.sampled_from(CONVERGENCE_STATUSES),
    verdict=st.none() | st.sampled_from(PLAN_VERDICTS),
    question=texts,
)
score = st.builds(GivenScore, score=st.integers(1, 10), evidence=texts.map(lambda text: f"{text}C1"))
scores = st.builds(ScoreAnswer, scores=st.fixed_dictionaries(dict.fromkeys(DIMENSIONS, score)))
votes = st.builds(
    WorkerVote,
    verdict=st.sampled_from(["agree", "supplement"]),
    disagree_basis=st.none() | st.sampled_from(BASES),
    explanation=texts,
) | st.builds(WorkerVote, verdict=st.just("disagree"), disagree_basis=st.sampled_from(BASES), explanation=texts)


class WorkerAnswer(BaseModel):
    votes: dict[str, WorkerVote]


ANSWERS: dict[str, st.SearchStrategy[BaseModel]] = {
    "challenger": st.builds(ChallengerAnswer, challenges=some(raised), unknowns=some(unknowns)),
    "resolver": st.builds(ResolverAnswer, answers=some(found)),
    "surface": st.builds(SurfaceAnswer, contexts=some(contexts)),
    "probe": st.builds(ProbeAnswer, risks=some(risks)),
    "domain-expert": st.builds(ChallengesAnswer, challenges=some(raised)),
    "devils-advocate": st.builds(ChallengesAnswer, challenges=some(raised)),
    "synthesizer": synthesis,
    "score": scores,
    "audit": scores,
    "worker": st.builds(WorkerAnswer, votes=st.dictionaries(texts, votes, max_size=3)),
}


def as_asked(request: RoleRequest | WorkerRequest, value: dict[str, Any]) -> dict[str, Any]:
    """A protocol's answer as a model writes it: lists for mappings, labels for verdicts."""
    value = json.loads(json.dumps(value))
    if isinstance(request, WorkerRequest):
        label = {VERDICT_OF_LABEL[one.lower()]: one for one in VERDICT_LABELS[request.mode]}
        return {
            "votes": [
                {"finding_id": name, **vote, "verdict": label[vote["verdict"]]} for name, vote in value["votes"].items()
            ]
        }
    for one in value.get("directives", ()):
        one["tools"] = [{"tool": tool, "calls": calls} for tool, calls in one["tools"].items()]
    return value


@each_request
@settings(max_examples=examples(100, 8))  # of each of eleven requests
@given(data=st.data())
def test_an_answer_that_is_written_as_asked_is_read_as_the_protocols(request_, data):
    answer = data.draw(ANSWERS[request_.role])
    value = answer.model_dump(mode="json")
    assert parse_answer(request_, json.dumps(as_asked(request_, value))) == value
    schema = WorkerAnswer if isinstance(request_, WorkerRequest) else ANSWER_OF_ROLE[request_.role]
    assert schema.model_validate(value) == answer


@each_request
@settings(max_examples=examples(100, 8))  # of each of eleven requests
@given(data=st.data())
def test_the_protocols_own_shape_is_read_too(request_, data):
    value = data.draw(ANSWERS[request_.role]).model_dump(mode="json")
    assert parse_answer(request_, json.dumps(value, ensure_ascii=False)) == value


@each_request
@settings(max_examples=examples(100, 8))  # of each of eleven requests
@given(data=st.data(), before=st.text(max_size=9), after=st.text(max_size=9), fence=st.booleans())
def test_an_answer_is_found_in_the_midst_of_prose(request_, data, before, after, fence):
    value = data.draw(ANSWERS[request_.role]).model_dump(mode="json")
    text = json.dumps(as_asked(request_, value), indent=data.draw(st.none() | st.just(2)))
    text = f"```json\n{text}\n```" if fence else text
    assert parse_answer(request_, f"{before}\n{text}\n{after}") == value


# Schemas


def parts_of(schema: Any) -> Iterator[dict[str, Any]]:
    if isinstance(schema, dict):
        yield schema
        for one in [*schema.get("properties", {}).values(), *schema.get("$defs", {}).values()]:
            yield from parts_of(one)
        for one in [schema.get("items"), *schema.get("anyOf", [])]:
            yield from parts_of(one)


@each_request
def test_a_schema_is_one_that_the_api_takes(request_):
    schema = answer_schema(request_)
    known = {"$ref", "$defs", "anyOf", "enum", "type", "items", "properties", "required", "description", "minItems"}
    for part in parts_of(schema):
        assert part.keys() <= known | {"additionalProperties"}
        if part.get("type") == "object":
            assert part["additionalProperties"] is False
            assert part["required"] == list(part["properties"])
            assert part["properties"]
        if "$ref" in part:
            assert part["$ref"].removeprefix("#/$defs/") in schema["$defs"]
    assert schema["type"] == "object"
    assert sum("anyOf" in part for part in parts_of(schema)) <= 16  # the API's limit of unions in a request


@each_request
def test_the_sdk_has_nothing_to_change_in_a_schema(request_):
    schema = answer_schema(request_)
    assert transform_schema(json.loads(json.dumps(schema))) == schema


@each_request
def test_the_sdk_would_make_the_same_of_the_model_but_for_words_and_order(request_):
    def bare(schema: Any) -> Any:
        if isinstance(schema, dict):
            left = {key: bare(one) for key, one in schema.items() if key not in ("description", "title", "required")}
            return {key: one for key, one in left.items() if not (key == "type" and "enum" in left)}
        return [bare(one) for one in schema] if isinstance(schema, list) else schema

    assert bare(transform_schema(answer_model(request_))) == bare(answer_schema(request_, "shape"))


class Inner(BaseModel):
    """A part."""

    name: str = Field(default="x", max_length=3, description="Its name.")
    number: int | None = Field(default=None, ge=3)


class Outer(BaseModel):
    """What the API's schemas cannot say, all in one."""

    inner: Inner = Field(description="A part with words beside its reference.")
    fixed: Literal["one"]
    more: tuple[Inner, ...] = Field(default=(), max_length=2)


def test_limits_defaults_and_words_beside_references_are_left_out():
    schema = api_schema(Outer)
    assert transform_schema(json.loads(json.dumps(schema))) == schema
    assert schema["properties"]["inner"] == {"$ref": "#/$defs/Inner"}
    assert schema["properties"]["fixed"] == {"const": "one"}
    assert schema["$defs"]["Inner"]["properties"]["name"] == {"type": "string", "description": "Its name."}
    assert schema["required"] == ["inner", "fixed", "more"]


@pytest.mark.parametrize("role", ROLES)
def test_a_schema_asks_for_every_field_of_the_protocols_answer(role):
    schema = answer_schema(of_role(role))
    assert schema["properties"].keys() == ANSWER_OF_ROLE[role].model_fields.keys()
    if "RaisedChallenge" in schema.get("$defs", {}):
        assert schema["$defs"]["RaisedChallenge"]["properties"].keys() == RaisedChallenge.model_fields.keys()


def test_reasons_are_written_before_what_follows_from_them():
    def keys(request: RoleRequest | WorkerRequest, part: str) -> list[str]:
        return list(answer_schema(request)["$defs"][part]["properties"])

    assert keys(of_role("score"), "DimensionScore") == ["evidence", "score"]
    assert keys(of_role("synthesizer"), "StatusChange") == ["challenge", "resolution", "status"]
    assert keys(of_role("synthesizer"), "ListedDirective")[0] == "kind"
    adversarial = keys(of_worker("adversarial"), "AdversarialVote")
    assert adversarial == ["finding_id", "explanation", "verdict", "disagree_basis"]
    assert keys(of_role("challenger"), "RaisedChallenge")[-2:] == ["severity", "confidence"]


@pytest.mark.parametrize("mode", MODES)
def test_a_worker_is_offered_the_labels_of_its_mode_and_a_basis_only_where_it_counts(mode):
    [part] = answer_schema(of_worker(mode))["$defs"].values()
    assert part["properties"]["verdict"] == {"enum": list(VERDICT_LABELS[mode])}
    assert ("disagree_basis" in part["properties"]) == (mode == "adversarial")
    assert [VERDICT_OF_LABEL[label.lower()] for label in VERDICT_LABELS[mode]] == ["agree", "supplement", "disagree"]


def test_a_schema_lists_the_findings_of_a_call_and_as_a_shape_is_the_same_for_all():
    both = of_worker("adversarial")
    fewer = both.model_copy(update={"items": both.items[:1], "round": 2})
    [vote] = answer_schema(both)["$defs"].values()
    assert vote["properties"]["finding_id"] == {"enum": ["F-1", "F-2"]}
    assert list(vote["properties"]) == vote["required"]
    assert answer_schema(both)["properties"]["votes"]["minItems"] == 1
    counted = answer_schema(both, "counts")["properties"]["votes"]
    assert (counted["minItems"], counted["maxItems"]) == (2, 2)
    assert json.dumps(answer_schema(fewer, "shape")) == json.dumps(answer_schema(both, "shape"))
    assert answer_schema(fewer) != answer_schema(both)


@pytest.mark.parametrize("n", [0, MAX_LISTED_IDS + 1])
def test_of_no_findings_or_too_many_none_is_listed(n):
    items = tuple(Item(finding_id=f"F-{k}", summary="", evidence="") for k in range(n))
    request = of_worker("adversarial").model_copy(update={"items": items})
    assert answer_schema(request, "counts") == answer_schema(request, "shape")


def test_the_form_in_words_names_ids_labels_and_keys_in_the_order_of_the_schema():
    assert short_form(answer_schema(of_worker("adversarial"))) == (
        '{"votes": [{"finding_id": "F-1" | "F-2", "explanation": text, '
        '"verdict": "SURVIVES" | "SURVIVES-WITH-CAVEAT" | "REFUTED", '
        '"disagree_basis": "counter-evidence" | "burden-not-met" | null}, ...]}'
    )


@each_request
def test_the_form_in_words_has_every_key_of_the_schema(request_):
    schema = answer_schema(request_)
    form = short_form(schema)
    assert [key for part in parts_of(schema) for key in part.get("properties", {}) if f'"{key}": ' not in form] == []


# What is kept, and what is refused


def problems(request: RoleRequest | WorkerRequest, text: str) -> list[str]:
    with pytest.raises(AnswerError) as told:
        parse_answer(request, text)
    assert isinstance(told.value, AgentError)
    assert str(told.value) == "\n".join(str(one) for one in told.value.problems)
    return [f"{one.place}: {one.message}" for one in told.value.problems]


ADVERSARIAL = of_worker("adversarial")


def test_votes_on_other_findings_are_kept_left_out_ones_left_out_and_any_spelling_read():
    text = """{"votes": [{"FindingId": "F-9", "Verdict": "refuted ", "disagreeBasis": "Counter Evidence",
        "explanation": "no"}]}"""
    vote = {"verdict": "disagree", "disagree_basis": "counter-evidence", "explanation": "no"}
    assert parse_answer(ADVERSARIAL, text) == {"votes": {"F-9": vote}}


def voting(**votes: Any) -> str:
    return json.dumps({"votes": [{"finding_id": name, **vote} for name, vote in votes.items()]})


def test_a_refutation_without_a_basis_is_asked_for_it_in_adversarial_runs_alone():
    text = voting(F1={"verdict": "REFUTED", "explanation": "no"})
    with pytest.raises(AnswerError, match=r"votes\[0\]: refutes without a basis. Fix: keep it, and add") as told:
        parse_answer(ADVERSARIAL, text)
    assert "counter-evidence or burden-not-met" in str(told.value)
    assert parse_answer(of_worker("collaborative"), text)["votes"]["F1"]["verdict"] == "disagree"


REFUTED = {"verdict": "REFUTED", "explanation": "no"}
SURVIVES = {"verdict": "SURVIVES", "explanation": "so"}
BASED = REFUTED | {"disagree_basis": "counter-evidence"}


@pytest.mark.parametrize(
    ("first", "second", "verdicts"),
    [
        (voting(F1=REFUTED), voting(F1=BASED), {"F1": BASED}),
        (voting(F1=REFUTED), voting(F1=REFUTED), {"F1": REFUTED}),
        (voting(F1=REFUTED), voting(F1=SURVIVES), {"F1": REFUTED}),
        (voting(F1=REFUTED), "Sorry, what?", {"F1": REFUTED}),
        (voting(F1=REFUTED, F2=SURVIVES), voting(F1=BASED), {"F1": BASED, "F2": SURVIVES}),
        (voting(F1=SURVIVES, F2={"verdict": "?"}), voting(F1=BASED, F2={"verdict": "?"}), {"F1": BASED}),
        ("no JSON", voting(F1=BASED, F2={}), {"F1": BASED}),
    ],
)
def test_what_a_repair_leaves_of_the_votes_is_kept(first, second, verdicts):
    value = merge_repair(ADVERSARIAL, first, second)
    assert value is not None
    read = read_votes(value)
    assert isinstance(read, dict)
    readable = {name: vote for name, vote in read.items() if isinstance(vote, WorkerVote)}
    assert readable == {name: read_vote(vote) for name, vote in verdicts.items()}


def test_two_votes_on_a_finding_that_differ_are_none_and_cost_no_other():
    both = json.dumps({"votes": [{"finding_id": "F1", **BASED}, {"finding_id": "F1", **SURVIVES},
                                 {"finding_id": "F2", **SURVIVES}]})  # fmt: skip
    value = merge_repair(ADVERSARIAL, both, both)
    read = read_votes(value)
    assert isinstance(read, dict)
    assert read["F1"] == "its verdict 'given twice, and not alike' is no verdict"
    assert read["F2"] == WorkerVote(verdict="agree", explanation="so")


def test_made_up_ids_are_asked_for_once_where_findings_have_no_vote():
    with pytest.raises(AnswerError, match=r"'1' is no finding of this request. Fix: .* no vote yet: 'F-1', 'F-2'"):
        check_ids(ADVERSARIAL, {"votes": {"1": SURVIVES}})
    check_ids(ADVERSARIAL, {"votes": {"F-1": SURVIVES, "F-2": SURVIVES, "stray": SURVIVES}})
    check_ids(ADVERSARIAL, {"votes": {"F-1": SURVIVES}})
    check_ids(of_role("challenger"), {"challenges": []})


WHOLE = [{"finding_id": f"F{n}", **SURVIVES} for n in (1, 2, 3)]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (json.dumps({"votes": WHOLE})[:-40], ["F1", "F2"]),
        (json.dumps({"thoughts": "well", "votes": WHOLE})[:-2], ["F1", "F2", "F3"]),
        ("1. " + "\n2. ".join(map(json.dumps, WHOLE)), ["F1", "F2", "F3"]),
        ("<think>" + json.dumps(WHOLE) + "</think>" + json.dumps({"votes": WHOLE[:2]})[:-1], ["F1", "F2"]),
        ("<think>" + json.dumps(WHOLE)[:-1], []),
        (json.dumps({"votes": WHOLE})[:-40].replace("finding_id", "findingId"), ["F1", "F2"]),
        (json.dumps({"votes": [WHOLE[0], {**WHOLE[0], **BASED}, *WHOLE[1:]]})[:-1], ["F2", "F3"]),
    ],
    ids=["cut off", "no end", "one by one", "thought first", "only thought", "spelt otherwise", "two on one"],
)
def test_votes_of_a_damaged_answer_are_read_one_by_one(text, names):
    value = merge_repair(ADVERSARIAL, "", text)
    read = read_votes(value) if value else {}
    assert [name for name, vote in read.items() if isinstance(vote, WorkerVote)] == names


def test_commas_after_last_entries_are_passed_over_and_texts_stay_as_they_are():
    text = """Sure: ```json
    {"votes": [{"finding_id": "F-1", "explanation": "a list [1,] of \\"x,}\\"", "verdict": "AGREE",},],}
    ```"""
    vote = parse_answer(of_worker("collaborative"), text)["votes"]["F-1"]
    assert (vote["explanation"], vote["verdict"]) == ('a list [1,] of "x,}"', "agree")


@given(st.lists(texts, max_size=3), st.integers(0, 200))
def test_an_answer_that_is_cut_off_anywhere_loses_no_vote_that_came_whole(words, at):
    votes = [{"finding_id": f"F{n}", "explanation": text, "verdict": "SURVIVES"} for n, text in enumerate(words)]
    text = json.dumps({"votes": votes}, ensure_ascii=False)[: at + 11]
    whole = [vote for vote in votes if json.dumps(vote, ensure_ascii=False) in text]
    value = merge_repair(ADVERSARIAL, text, "")
    assert list(value["votes"] if value else {}) == [vote["finding_id"] for vote in whole]


@pytest.mark.parametrize("text", ["", "no JSON", '{"votes": []}', '{"votes": 7}', voting(F1={"verdict": "?"})])
def test_where_no_vote_can_be_read_nothing_is_kept(text):
    assert merge_repair(ADVERSARIAL, text, text) is None
    assert merge_repair(of_role("challenger"), voting(F1=BASED), "") is None


ENTRY = {"claim": "a", "concern": "b", "severity": "BLOCKING", "confidence": "HIGH"}
BAD_ENTRY = {"claim": "a"}


@pytest.mark.parametrize(
    ("first", "second", "kept"),
    [
        ([ENTRY, BAD_ENTRY], [ENTRY, BAD_ENTRY], [ENTRY, BAD_ENTRY]),
        ([ENTRY, BAD_ENTRY], [ENTRY, ENTRY], [ENTRY, ENTRY]),
        ([ENTRY, BAD_ENTRY, ENTRY], [ENTRY], [ENTRY, BAD_ENTRY, ENTRY]),
        ([ENTRY, BAD_ENTRY], None, [ENTRY, BAD_ENTRY]),
        ([BAD_ENTRY], [BAD_ENTRY, ENTRY], [BAD_ENTRY, ENTRY]),
    ],
)
def test_what_a_repair_leaves_of_the_entries_is_kept_with_the_bad_ones_in_place(first, second, kept):
    """rule A11: the loop refuses the bad entry and records why; the others count."""
    texts = [json.dumps({"challenges": one}) if one is not None else "Sorry" for one in (first, second)]
    value = merge_repair(of_role("challenger"), *texts)
    assert value is not None
    assert [{key: one[key] for key in one if key in ENTRY} for one in value["challenges"]] == kept
    read = read_entries(ChallengerAnswer, value)
    assert read is not None
    assert [one.position - 1 for one in read.refused] == [n for n, one in enumerate(kept) if one == BAD_ENTRY]


def test_where_no_entry_can_be_used_nothing_is_kept():
    text = json.dumps({"challenges": [BAD_ENTRY]})
    assert merge_repair(of_role("challenger"), text, text) is None


def test_a_bad_challenge_within_a_context_is_kept_for_the_loop_to_refuse():
    found = {"source": "codebase", "location": "a.py:1", "relevance": "x", "impact": "contradicts_plan"}
    text = json.dumps({"contexts": [found | {"challenge": BAD_ENTRY}]})
    value = merge_repair(of_role("surface"), text, text)
    assert value == {"contexts": [found | {"challenge": BAD_ENTRY}]}


def test_everything_that_is_wrong_is_told_at_once():
    text = """{"votes": [{"finding_id": "F-1", "verdict": "MAYBE"}, {"finding_id": "F-1", "verdict": "SURVIVES",
        "disagree_basis": "none", "sure": true}, 7, {"verdict": "SURVIVES", "explanation": ["x"]}], "notes": ""}"""
    assert sorted(problems(ADVERSARIAL, text)) == [
        "notes: is no key of this answer",
        "votes: 'F-1' stands 2 times",
        "votes[0].verdict: 'MAYBE' is not allowed",
        "votes[1].disagree_basis: 'none' is not allowed",
        "votes[1].sure: is no key of this answer",
        "votes[2]: is a number, not an object",
        "votes[3].explanation: is a list, not a text",
        "votes[3].finding_id: is missing",
    ]


def test_a_refusal_says_what_is_allowed_in_the_words_that_were_offered():
    with pytest.raises(AnswerError, match="Fix: write SURVIVES or SURVIVES-WITH-CAVEAT or REFUTED") as told:
        parse_answer(ADVERSARIAL, '{"votes": [{"finding_id": "F-1", "verdict": "MAYBE", "disagree_basis": "x"}]}')
    assert "Fix: write 'counter-evidence' or 'burden-not-met'" in str(told.value)


def test_a_tool_that_is_granted_twice_is_refused():
    grants = [{"tool": "Read", "calls": 1}, {"tool": "Read", "calls": 2}]
    text = json.dumps({"changes": [], "directives": [{"kind": "GRANT", "role": "probe", "tools": grants}]})
    assert problems(of_role("synthesizer"), text) == ["directives[0].tools: 'Read' stands 2 times"]


def test_findings_and_scores_are_held_to_their_form():
    answers = [{"id": "U1", "resolution": "CONFIRMED"}, {"id": "U2", "resolution": "REFUTED", "finding": "it is not"}]
    assert problems(of_role("resolver"), json.dumps({"answers": answers})) == [
        "answers[0]: CONFIRMED needs a finding",
        "answers[1].finding: does not have the form [VERIFIED: source | finding | impact]",
    ]
    given_scores = {key: {"score": 7, "evidence": "C1"} for key in DIMENSIONS}
    bad = given_scores | {
        "risk_coverage": {"score": 11, "evidence": " "},
        "approach_soundness": {"score": 7.5, "evidence": "C1"},
        "charm": {"score": 7, "evidence": "C1"},
    }
    del bad["unknowns_coverage"]
    assert problems(of_role("audit"), json.dumps({"scores": bad})) == [
        "scores.approach_soundness.score: is a number, not a whole number",
        "scores.risk_coverage.score: 11 does not fit",
        "scores.risk_coverage.evidence: is blank",
        "scores.unknowns_coverage: is missing",
        "scores.charm: is no key of this answer",
    ]


@pytest.mark.parametrize("text", ["", "I cannot help with that.", "[]", "null", "{", "{'votes': []}", "{votes: []}"])
def test_a_text_without_an_object_is_refused(text):
    assert problems(ADVERSARIAL, text) == ["the answer: there is no JSON object in it"]


@each_request
@pytest.mark.parametrize("text", ["{}", 'Use `{}`, as in {"a": 1}.'])
def test_an_object_that_says_nothing_is_no_answer(request_, text):
    main = next(iter(answer_schema(request_)["properties"]))
    assert f"{main}: is missing" in problems(request_, text)


def test_a_draft_is_not_taken_for_the_answer():
    vote = '{"votes": [{"finding_id": "F-1", "verdict": "%s"}]}'
    draft, answer = vote % "SURVIVES", vote % "SURVIVES-WITH-CAVEAT"
    text = f"<think>Perhaps {draft}, or {{}}?</think>\n{answer}\nThis follows from {{x}} and {{}}."
    assert parse_answer(ADVERSARIAL, text)["votes"]["F-1"]["verdict"] == "supplement"
    damaged = answer.replace('", "verdict', '" "verdict')
    assert problems(ADVERSARIAL, f"{draft} No: {damaged}") == [
        "the answer: the JSON is broken at line 1 of the object, column 33: Expecting ',' delimiter"
    ]
    assert problems(ADVERSARIAL, draft + answer[:-9])[0].startswith("the answer: the JSON is broken")
    assert problems(ADVERSARIAL, draft + '{"votes": [], "votes": []}') == ["the answer: has the key 'votes' twice"]


def test_what_is_no_json_is_named_with_its_place():
    text = (
        '{"challenges": [{"claim": NaN, "concern": "\\ud800", "severity": 1e999, "confidence": -Infinity,'
        ' "alternative": %s, "evidence": {"a": 1, "a": 2}, "failure_scenario": [["\\udc00"]]}]}' % ("9" * 5000)
    )
    assert sorted(problems(of_role("challenger"), text)) == [
        "challenges[0].alternative: is too large a number",
        "challenges[0].claim: is NaN, which is no JSON number",
        "challenges[0].concern: holds half a character",
        "challenges[0].confidence: is -Infinity, which is no JSON number",
        "challenges[0].evidence: has the key 'a' twice",
        "challenges[0].failure_scenario: is a list, not a text",
        "challenges[0].severity: is too large a number",
    ]


def test_half_a_character_in_a_list_is_named_with_its_place():
    text = '{"changes": [], "promotions": ["C1", "\\udc00"]}'
    assert problems(of_role("synthesizer"), text) == ["promotions[1]: holds half a character"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"votes": [], "votes": []}', "has the key 'votes' twice"),
        ('{"votes": [], "\\ud800": 1}', "has a key with half a character in it"),
        ('{"votes": ' + "[" * 100_000, "the JSON is nested without end"),
        ('{"votes": ' + '{"a":' * 100_000, "it holds too much that looks like JSON and is none"),
    ],
)
def test_an_object_that_is_no_object_is_refused_with_the_reason(text, message):
    assert problems(ADVERSARIAL, text) == [f"the answer: {message}"]


HOSTILE = {
    "keys": '{"' * 500_000,
    "nested": '{"votes":' * 110_000,
    "lists": '{"votes":[' * 100_000,
    "open strings": '{"votes":' * 900 + '"' + "é\\n" * 700_000,
    "unclosed": '{"votes":[' * 300 + '{"b":1},' * 80_000,
    "lines": '{"a"\n\n\n' * 140_000,
    "blanks": ("{" + " " * 1_000) * 1_000,
    "small objects": "{} " * 300_000,
    "quotes": "\\\"{'" * 250_000,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_text_of_megabytes_is_refused_in_time(text):
    began = time.process_time()
    with pytest.raises(AnswerError, match=r"the answer|votes"):
        parse_answer(ADVERSARIAL, text)
    assert time.process_time() - began < 10  # 0 to 2 s; what is quadratic takes minutes


@given(st.text(st.sampled_from('{}[]":,\\ \nvotes1'), max_size=60))
def test_any_text_is_an_answer_or_an_answer_error(text):
    for request in REQUESTS:
        with suppress(AnswerError):
            parse_answer(request, text)


def test_an_answer_with_endless_faults_is_told_of_the_first_ones():
    with pytest.raises(AnswerError, match="and 950 more problems") as told:
        parse_answer(ADVERSARIAL, json.dumps({"votes": [1] * 5_000}))
    assert len(told.value.problems) == 1_000
