"""No key in any file, log, repr, traceback or HTML: planted wherever one could leak, and searched in all that came out.

`spilled` (spilling.py) makes the runs, once; the first tests search all that they write, send, print and raise.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
from datetime import date
from pathlib import Path

import anthropic
import pytest
import typer
from pydantic_core import to_json

import verifyplan as vp
from tests.live.leaking import (
    GATEWAY,
    LINES,
    LITTER,
    LIVE,
    OTHERS,
    PASSWORD,
    RING,
    SECOND,
    Listening,
    coded,
    escaped,
    leaks,
    written,
)
from tests.live.live_runs import MODEL
from tests.live.scripted_http import LoopbackServer, Reply, Request
from tests.live.scripted_replies import says
from tests.live.spilling import spilled
from tests.runs.plan.planning import PLAN, script
from verifyplan import redaction
from verifyplan.agents.anthropic.backend import Anthropic
from verifyplan.agents.anthropic.key import check_address
from verifyplan.agents.scripted import ScriptedBackend
from verifyplan.cli import app
from verifyplan.errors import AgentError, InputError, Problem, SettingsError
from verifyplan.redaction import redact, redacted, remember
from verifyplan.repository.repository import Repository
from verifyplan.widgets.panel import failure_html


@pytest.fixture(scope="module")
def spill(tmp_path_factory):
    return spilled(tmp_path_factory.mktemp("leaks"), tmp_path_factory.mktemp("planted"))


def test_no_file_holds_a_key(spill):
    found = {name: leaks(data) for name, data in written(spill.folder) if name != "PLAN.md"}
    assert {name: keys for name, keys in found.items() if keys} == {}
    assert {Path(name).suffix for name in found} >= {".jsonl", ".json", ".html", ".md", ".csv", ".parquet"}


def test_nothing_that_is_told_holds_a_key(spill):
    names = {"the commands": ("github",)}  # the name of a file is no secret to those who see what runs here
    found = {where: leaks(text, names.get(where, ())) for where, text in spill.told.items()}
    assert {where: keys for where, keys in found.items() if keys} == {}
    assert {"all logs", "a plan run", "a live run", "an endpoint that refuses, traced"} <= set(found)
    for deep in ("conversation.py", "calls.py", "verify.py"):
        assert deep in spill.told["a run broken at turn-replied, traced"]


def test_what_was_planted_was_met_on_the_way(spill):
    """Each place where the mark of a key stands is one where a key stood."""
    heard = {name: b"".join(request.body for request in server.heard) for name, server in spill.servers.items()}
    assert {name for name, sent in heard.items() if b"[redacted]" not in sent} == {"alone"}
    [log] = (spill.folder / "plan").glob("*.jsonl")
    run = vp.read_run(log)
    kinds = {event.type for event in run.events if "[redacted]" in event.model_dump_json()}
    assert kinds >= {
        "run-started",
        "turn-sent",
        "turn-replied",
        "call-replied",
        "call-failed",
        "challenge-raised",
        "vote-cast",
    }
    used = {use.tool for event in run.events if event.type == "call-replied" for use in event.tools if use.results}
    assert used == {"Read", "Grep", "git_log", "memory_search", "WebFetch"}
    assert run.outcome.ended_by == "ruling"
    assert "anthropic" in spill.told["all logs"] or "Request options" in spill.told["all logs"]


def test_the_key_goes_out_in_its_header_and_nowhere_else(spill):
    for name, server in spill.servers.items():
        key = SECOND if name.endswith("second") else LIVE
        assert {request.headers.get("authorization") for request in server.heard} == {f"Bearer {key}"}
        for request in server.heard:
            others = {field: value for field, value in request.headers.items() if field != "authorization"}
            if key == LIVE:  # the first endpoint is the one that the headers of the environment are for
                assert others.pop("x-gateway-key") == GATEWAY
            assert leaks(f"{request.path} {request.query} {others}") == []
            assert leaks(request.body) == []
            assert ("x-team" in others) == (key == LIVE)


def test_a_request_that_is_sent_again_has_no_more_keys_than_the_first(spill):
    for mode in ("lightweight", "full-reanalysis"):
        turns = [request.headers["x-verifyplan-turn"] for request in spill.servers[f"{mode}, second"].heard]
        assert turns[:2] == ["r1/bob/t1", "r1/bob/t1"]


class Elsewhere(LoopbackServer):
    """Leads everybody on to another address, whatever is asked."""

    def __init__(self, code: int, to: str) -> None:
        super().__init__()
        self.code, self.to, self.asked = code, to, 0

    async def answer(self, request: Request) -> Reply:  # noqa: ARG002  (all are led on)
        self.asked += 1
        return Reply(b"", self.code, {"location": f"{self.to}/v1/messages"})


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
def test_no_redirect_is_followed(code):
    with Listening(lambda _: says("hello"), models=()) as goal, Elsewhere(code, goal.url) as server:
        backend = Anthropic(MODEL, base_url=server.url, api_key="key-of-the-first", max_retries=0)
        with pytest.raises(
            AgentError, match=f"answered {code}: it leads to another address, which is not given its key"
        ):
            asyncio.run(backend.endpoints.send(None, "t", {"model": MODEL, "max_tokens": 9, "messages": []}))
        assert (server.asked, goal.heard) == (1, [])


def test_an_address_that_an_endpoint_names_is_not_asked_with_its_key():
    """As results of a batch are: a reply says where they lie."""

    async def asked(backend, url):
        async with backend.session():
            return await backend.endpoints.at(None).sdk.get(url, cast_to=object)

    with Listening(lambda _: says("hello"), models=()) as one, Listening(lambda _: says("hello"), models=()) as other:
        backend = Anthropic(MODEL, base_url=one.url, api_key="key-of-the-first", max_retries=0)
        for url in (f"{other.url}/v1/models", one.url.replace("127.0.0.1", "localhost") + "/v1/models"):
            with pytest.raises(anthropic.AnthropicError, match="names another address"):
                asyncio.run(asked(backend, url))
        asyncio.run(asked(backend, f"{one.url}/v1/models"))
        assert (len(one.heard), other.heard) == (1, [])


def test_the_key_of_one_endpoint_is_not_that_of_another(monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "key-of-the-first")
    at_other = {"base_url": "https://other.example"}
    with pytest.raises(SettingsError, match=r"https://other\.example has no key"):
        Anthropic("m", workers={"ann": at_other})
    with pytest.raises(SettingsError, match="api_keys: is a NoneType, not a text"):
        Anthropic("m", workers={"ann": at_other}, api_keys={"https://other.example": os.environ.get("NOT_SET")})
    with pytest.raises(SettingsError, match="api_keys: is blank"):
        Anthropic("m", workers={"ann": at_other}, api_keys={"https://other.example": ""})


@pytest.mark.parametrize("workers", [{}, {"ann": {"base_url": "https://evil.example"}}])
def test_a_log_that_names_another_endpoint_is_not_given_the_key(workers, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "key-of-the-first")
    logged = Anthropic("m").describe()
    assert Anthropic.described(logged).endpoints.key_origin == "ANTHROPIC_API_KEY"
    address = {} if workers else {"base_url": "https://evil.example"}
    with pytest.raises(SettingsError, match=r"https://evil\.example"):
        Anthropic.described(logged | address | {"workers": workers})
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "https://evil.example")  # a person says that it is none
    assert workers or Anthropic.described(logged | address)


def test_a_price_comes_back_from_a_log():
    price = dict.fromkeys(("input", "output", "cache_write", "cache_read", "web_search"), 0.1)
    long = dict.fromkeys(("input", "output", "cache_write", "cache_read"), 2) | {"above": 200_000}
    backend = Anthropic("m", api_key="key-of-the-first", prices={"m": price | {"long": long, "date": "2026"}})
    logged = json.loads(json.dumps(backend.describe()))
    again = Anthropic.described(logged | {"base_url": "http://localhost:1"})
    assert again.prices == backend.prices


def test_an_address_that_is_none_may_hold_a_password():
    with pytest.raises(SettingsError, match="must be an http address") as caught:
        check_address("user:never-seen-before@localhost")
    assert "never-seen" not in repr(caught.value.problems)


def test_no_command_takes_a_key():
    """What a command is given stands in the list of processes, and in the shell's history."""
    commands = [typer.main.get_command(app.app)]
    while commands:
        command = commands.pop()
        commands += getattr(command, "commands", {}).values()
        commands += [command.loaded(name) for name in getattr(command, "LISTED", {})]
        names = {name for parameter in command.params for name in (*parameter.opts, parameter.name or "")}
        assert not [
            name for name in names if "key" in name or "secret" in name or ("token" in name and "max" not in name)
        ]


@pytest.mark.parametrize(
    "value",
    [Path(f"/srv/{LIVE}"), {LIVE}, frozenset([LIVE]), LIVE.encode(), bytearray(LIVE.encode()), Problem(LIVE, "", "")],
)
def test_values_of_other_kinds_are_redacted_as_json_has_them(value, monkeypatch):
    monkeypatch.setattr(redaction, "_forms", redaction._forms)
    remember(LIVE)
    assert leaks(to_json(redacted({"of somebody": [value]}))) == []
    assert redacted(object) is object
    assert redacted([date(2026, 1, 1), Path("a"), {"a"}]) == [date(2026, 1, 1), Path("a"), {"a"}]


@pytest.mark.parametrize("form", sorted(escaped(LIVE) | coded(LIVE)))
def test_the_search_finds_every_form_of_a_key(form):
    assert leaks(f"a {form} b") == ["live"]


def test_no_form_of_a_key_in_use_is_left_by_redaction(monkeypatch):
    monkeypatch.setattr(redaction, "_forms", redaction._forms)
    remember(LIVE)
    in_base64 = {base64.b64encode(b" " * n + LIVE.encode() + b" ").decode() for n in range(3)}
    for form in escaped(LIVE) | in_base64:
        assert leaks(f"a {form} b") == ["live"]
        assert leaks(redact(f"a {form} b")) == []


def test_the_search_finds_each_key_that_is_planted():
    planted = leaks(LINES)
    assert {*OTHERS, "live", "line 0 of the private key", "line 59 of the private key"} <= set(planted)
    assert leaks(f"{SECOND} {RING} {GATEWAY} {PASSWORD}") == ["second", "ring", "gateway", "password"]
    assert leaks("nothing") == []


def test_what_a_person_answers_is_logged_without_keys(tmp_path):
    given = {"backend": ScriptedBackend(script()), "team": "scaled", "progress": False}
    waiting = vp.verify(vp.plans.parse_plan(PLAN), tmp_path, on_blocked="pause", log_dir=tmp_path / "runs", **given)
    run = vp.resume(waiting.log_path, "context", note=LINES, backend=given["backend"], progress=False)
    assert leaks(run.log_path.read_bytes(), ("live",)) == []
    assert leaks(run.report(form="html"), ("live",)) == []
    asked = vp.verify(
        vp.plans.parse_plan(PLAN), tmp_path, on_blocked=lambda _: vp.Answer("abort", note=LINES), log_dir=None, **given
    )
    assert asked.outcome.ended_by == "user"
    assert leaks(asked.outcome.exit_reason, ("live",)) == []


def test_a_live_run_shows_its_settings_without_keys(tmp_path):
    live = vp.widgets.LiveRun(vp.plans.parse_plan(PLAN), tmp_path, max_iterations=LITTER, log_dir=None)
    with pytest.raises(SettingsError):
        live.start().wait(60)
    assert leaks(live.static(), ("live",)) == []
    assert leaks(failure_html(ValueError(LITTER)), ("live",)) == []


def test_what_names_workers_findings_and_folders_is_no_key(tmp_path):
    one, other = OTHERS["github"], OTHERS["anthropic"]
    found = [{"finding_id": "F-1", "summary": "a claim", "worker": "ann"}]
    for settings in (
        {"workers": ["ann", one, other]},
        {"task_type": one},
        {"findings": [*found, {"finding_id": other, "summary": "a claim", "worker": "ann"}]},
    ):
        given = {
            "findings": found,
            "workers": ["ann", "bob"],
            "backend": ScriptedBackend({}),
            "log_dir": tmp_path,
        } | settings
        with pytest.raises(InputError, match="contains what looks like a key") as caught:
            vp.crossverify(**given)
        assert leaks(str(caught.value)) == []
        assert list(tmp_path.iterdir()) == []
    with pytest.raises(InputError, match="panel: contains what looks like a key"):
        vp.verify(vp.plans.parse_plan(PLAN), tmp_path, backend=ScriptedBackend({}), panel=["ann", one], log_dir=None)


def test_git_is_not_handed_the_key(tmp_path, monkeypatch):
    """What a repository makes git run, should it find a way to, finds no key."""
    program = tmp_path / "git"
    program.write_text(f"#!/bin/sh\nenv >> {tmp_path}/environment\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("ANTHROPIC_API_KEY", SECOND)
    Repository.open(tmp_path, PLAN)
    assert leaks((tmp_path / "environment").read_text()) == []
