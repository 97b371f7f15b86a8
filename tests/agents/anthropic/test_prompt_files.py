"""The files of words: whole, versioned, hashed, and at one with the rules and schemas that they speak of."""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

import pytest

from verifyplan.agents.anthropic.answer_parsing import parse_answer
from verifyplan.agents.anthropic.answer_schemas import answer_schema
from verifyplan.agents.anthropic.rendering import ROLE_PROMPTS, prompt, prompt_names, prompt_versions, render
from verifyplan.errors import SettingsError
from verifyplan.protocol.call import Item, WorkerRequest
from verifyplan.protocol.message import DEBATE_ROLES, DebateRole
from verifyplan.protocol.records import STATUSES
from verifyplan.protocol.role_call import ROLES, DebateRequest, Role, RoleRequest
from verifyplan.protocol.vote import MODES, VERIFICATION_MODES, Mode, VerificationMode
from verifyplan.rules.budgets import limits_of
from verifyplan.rules.directives import TRIGGERS_OF
from verifyplan.rules.guards import MAX_ACTIVE

FOLDER = files("verifyplan.agents.anthropic") / "prompts"


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


def of_worker(mode: Mode, view: VerificationMode) -> WorkerRequest:
    items = (Item(finding_id="F-1", summary="A claim.", evidence="src/a.py:3"),)
    return WorkerRequest(call_id="r1/a", worker="a", round=1, mode=mode, verification_mode=view, items=items)


def of_debate(role: DebateRole) -> DebateRequest:
    kind = "implement" if role == "builder" else "verify"
    return DebateRequest(call_id=f"t1/{kind}", role=role, type=kind, turn=1, max_turns=3, task="Do it.")


REQUESTS = [
    *map(of_role, ROLES),
    *map(of_debate, DEBATE_ROLES),
    *(of_worker(mode, view) for mode in MODES for view in VERIFICATION_MODES),
]
NAMES = [request.role if request.role != "worker" else f"{request.mode}-{n}" for n, request in enumerate(REQUESTS)]
each_request = pytest.mark.parametrize("request_", REQUESTS, ids=NAMES)


def test_every_file_begins_with_its_version_and_is_hashed_whole():
    listed = {file.name.removesuffix(".md"): file.read_bytes() for file in FOLDER.iterdir()}
    assert sorted(listed) == list(prompt_names())
    for name, data in listed.items():
        one = prompt(name)
        assert data.startswith(f"version: {one.version}\n".encode())
        assert one.version >= 1
        assert one.sha256 == hashlib.sha256(data).hexdigest()
        assert one.text
        assert "version:" not in one.text
        assert one.text in data.decode()


def test_the_log_gets_version_and_hash_of_every_prompt():
    versions = prompt_versions()
    assert list(versions) == list(prompt_names())
    assert versions["common"] == {"version": prompt("common").version, "sha256": prompt("common").sha256}


def test_every_file_is_used_by_some_request():
    styles: list[Mode] = list(MODES)
    used = {
        name
        for request in REQUESTS
        for style in styles
        for short in (True, False)
        for name in render(request, style=style, short=short).prompts
    }
    assert used | {"repair", "json-form"} == set(prompt_names())


@pytest.mark.parametrize("name", ["challenge", "../rendering", "", "common.md"])
def test_an_unknown_name_is_refused_with_the_known_ones(name):
    with pytest.raises(
        SettingsError, match=r"there is no prompt .*Fix: use one of architect, audit, builder, challenger"
    ):
        prompt(name)


def example(request_: Any) -> str:
    system = render(request_).system
    return system[system.index("# Answer") :].partition("\n")[2]


@each_request
def test_the_example_of_an_answer_is_one_and_has_every_key(request_):
    text = example(request_)
    assert parse_answer(request_, text)
    written = {key for key in keys_of(answer_schema(request_)) if f'"{key}"' not in text}
    assert written == set()


@pytest.mark.parametrize("mode", MODES)
def test_a_short_prompt_says_all_that_an_answer_needs_in_a_third_of_the_words(mode):
    request_ = of_worker(mode, "full-reanalysis")
    system = render(request_, short=True).system
    assert len(system) < len(render(request_).system) / 3
    assert parse_answer(request_, system[system.index("# Answer") :].partition("\n")[2])
    schema = answer_schema(request_)
    assert [key for key in keys_of(schema) if f'"{key}"' not in system] == []
    assert [one for one in choices_in(schema) if not re.search(rf"(?<![\w-]){one}(?![\w-])", system)] == []
    assert "never an instruction" in system


def keys_of(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        yield from schema.get("properties", {})
        for one in schema.values():
            yield from keys_of(one)


def choices_in(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        yield from schema.get("enum", [])
        for one in schema.values():
            yield from choices_in(one)
    elif isinstance(schema, list):
        for one in schema:
            yield from choices_in(one)


@each_request
def test_every_choice_of_an_answer_is_spoken_of(request_):
    system = render(request_).system
    silent = [one for one in choices_in(answer_schema(request_)) if not re.search(rf"(?<![\w-]){one}(?![\w-])", system)]
    assert silent == []


@each_request
def test_only_one_answer_is_asked_for_and_it_comes_last(request_):
    system = render(request_).system
    assert system.count("# Answer") == 1
    assert "{problems}" not in system


def test_severity_confidence_and_status_are_defined_for_every_role_of_a_plan_run():
    for role in ROLES:
        system = render(of_role(role)).system
        for word in ("BLOCKING", "SIGNIFICANT", "MINOR", "HIGH", "MED", "LOW", *STATUSES):
            assert f"- `{word}`: " in system, (role, word)


def test_the_synthesizer_is_told_the_rules_as_they_are():
    text = " ".join(prompt("synthesizer").text.split())
    assert f"fewer than {MAX_ACTIVE} challenges are active" in text
    for kind, triggers in TRIGGERS_OF.items():
        mine = text[text.index(f"`{kind}`") :]
        assert all(mine.index(f"`{trigger}`") < mine.index("`CONSULT`") for trigger in triggers)
    for role in ROLES:
        granted = text[text.index(f"`{role}`", text.index("- `GRANT`")) :].split(";")[0].split(". ")[0]
        told = dict(part.strip(" ,.;").rsplit(" ", 2)[-2:] for part in granted.split(",") if part.strip()[-1].isdigit())
        assert {tool: int(calls) for tool, calls in told.items()} == limits_of(role), role


def test_what_must_be_raised_and_what_may_not_is_said():
    assert (
        "`contradicts_plan`: the plan as written cannot stand beside it. It must come with a `challenge`"
        in " ".join(prompt("surface").text.split())
    )
    assert "must be there where the severity is `BLOCKING` or `SIGNIFICANT`" in prompt("probe").text
    assert "others are refused" in prompt("devils-advocate").text
    assert all("challenges" in ROLE_PROMPTS[role] for role in ("challenger", "surface", "probe", "domain-expert"))


def test_words_load_no_sdk():
    modules = "answer_parsing, answer_schemas, json_text, rendering, run_record"
    code = f"import sys\nfrom verifyplan.agents.anthropic import {modules}\nassert 'anthropic' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
