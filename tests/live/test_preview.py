"""A preview shows, before anything leaves, what a server then receives first; it needs no key and sends nothing."""

from __future__ import annotations

import json

import pytest

import verifyplan as vp
from tests.live.live_runs import MODEL, Played, speaking_to, turns
from tests.live.scripted_server import ScriptedServer
from tests.runs.crossing import AGREE, finding
from tests.runs.plan.planning import PLAN, answered
from verifyplan.errors import SettingsError

PASSWORD = "falcon-5580"
ROSTER = ("ann", "bob", "cy")


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "app.py").write_text(f'DB_PASSWORD = "{PASSWORD}"\n')
    (tmp_path / ".env").write_text("A=1\n")
    return tmp_path


def received(server):
    return dict(zip(turns(server), (asked.body for asked in server.requests), strict=True))


def test_of_votes_it_shows_the_requests_of_the_first_round(folder):
    votes = {1: {name: {"F-1": AGREE} for name in ROSTER}}
    arguments = [finding(worker="ann", evidence="app.py:1")], ROSTER
    with ScriptedServer(Played(votes)) as server:
        backend = speaking_to(server)
        shown = vp.preview(vp.crossverify, *arguments, backend=backend, repo=folder, mode="adversarial")
        assert server.requests == []
        vp.crossverify(*arguments, backend=backend, repo=folder, mode="adversarial", log_dir=None, progress=False)
        sent = received(server)
    for call, body in zip(shown.requests["call_id"], shown.bodies, strict=True):
        assert sent[f"{call}/t1"] == body
    assert list(shown.requests["call_id"]) == ["r1/bob", "r1/cy"]
    assert list(shown.requests["redactions"]) == [1, 1]
    assert shown.withheld == ((".env", "it looks like settings of an environment"),)
    text = str(shown)
    assert PASSWORD not in text
    assert 'DB_PASSWORD = "[redacted]"' in text
    assert "system prompt: as in r1/bob" in text
    schema = shown.bodies[0]["output_config"]["format"]["schema"]
    assert text.count(json.dumps(schema)) == 1
    assert "\ntools: none\n" in text
    assert "\nmax_tokens: 16000\n" in text
    assert list(shown.requests["max_tokens"]) == [16_000, 16_000]
    assert list(shown.requests["schema_characters"]) == [len(json.dumps(schema))] * 2
    assert shown.notes[-1].startswith("No request has tools: ")
    assert "2 first requests, 2 redactions; nothing was sent." in text
    assert "<pre" in shown._repr_html_()


def test_of_a_plan_run_it_shows_the_first_request_of_each_role(folder):
    plan = vp.plans.parse_plan(PLAN)
    with ScriptedServer(Played(answered())) as server:
        backend = speaking_to(server)
        shown = vp.preview(vp.verify, plan, folder, backend=backend, team="scaled")
        assert server.requests == []
        vp.verify(plan, folder, backend=backend, team="scaled", log_dir=None, progress=False)
        first = received(server)["i1/challenger/t1"]
    assert shown.bodies[0] == first
    assert set(shown.requests["role"]) >= {"challenger", "domain-expert", "resolver", "synthesizer", "score", "audit"}
    assert str(shown).count(json.dumps(shown.bodies[0]["tools"][0])) == 1
    assert shown.notes[-1].startswith("Roles with tools may read")


def test_cited_places_that_are_withheld_are_named_in_preview_prompt_log_and_print(folder):
    votes = {1: {name: {"F-1": AGREE} for name in ROSTER}}
    arguments = [finding(worker="ann", evidence=".env:1, app.py:1 and app.py:2")], ROSTER
    why = "it looks like settings of an environment"
    with ScriptedServer(Played(votes)) as server:
        given = {"backend": speaking_to(server), "repo": folder, "mode": "adversarial"}
        shown = vp.preview(vp.crossverify, *arguments, **given)
        run = vp.crossverify(*arguments, **given, log_dir=None, progress=False)
    assert f"Workers see nothing of cited places whose files are withheld: .env:1 ({why})." in str(shown)
    assert f'name=".env:1">\n(cannot be opened: .env is not opened: {why})' in str(shown)
    assert str(shown).count("DB_PASSWORD") == 1
    assert f"Workers did not see .env:1 (.env is not opened: {why})." in str(run)
    opened = run.frames.tools[run.frames.tools["call_id"].eq("r1/bob")]
    assert list(opened["argument"]) == [".env:1", "app.py:1, app.py:2"]
    assert opened["opened"].all()
    assert run.frames.calls[["n_tools", "n_opened"]].to_numpy().tolist() == [[0, 2], [0, 2]]
    assert run.frames.turns[["n_tools", "n_opened"]].to_numpy().tolist() == [[0, 2], [0, 2]]


def test_of_a_debate_it_shows_the_first_of_the_architect(folder):
    with ScriptedServer(Played({"t1/propose": "error"})) as server:
        backend = speaking_to(server)
        shown = vp.preview(vp.debate, f"log in with password = '{PASSWORD}'", backend, repo=folder)
        vp.debate(f"log in with password = '{PASSWORD}'", backend, repo=folder, log_dir=None, progress=False)
        sent = received(server)
    assert list(sent.values()) == list(shown.bodies)
    assert PASSWORD not in str(shown)


def test_static_agents_send_nothing(folder):
    shown = vp.preview(vp.crossverify, [finding(worker="ann")], {"ann": "window", "bob": "search"}, repo=folder)
    assert shown.bodies == ()
    assert "Nothing is sent" in str(shown)


def test_it_takes_the_functions_of_runs_alone():
    with pytest.raises(SettingsError, match=r"run: must be the function of a run, got 'PLAN\.md'"):
        vp.preview("PLAN.md")


def test_files_that_look_secret_are_opened_where_the_run_allows_it_and_the_log_says_so(folder, tmp_path):
    models = vp.agents.Anthropic.keyless(model=MODEL, allow_files=[".env"])
    arguments = [finding(worker="ann", evidence=".env:1")], ROSTER
    shown = vp.preview(vp.crossverify, *arguments, backend=models, repo=folder, mode="adversarial")
    assert shown.withheld == ()
    assert models.describe()["allow_files"] == [".env"]
    assert models.at(tmp_path).describe()["allow_files"] == [".env"]
    for wrong in (".env", [1], [" "]):
        with pytest.raises(SettingsError, match="allow_files: must be a list of patterns, got"):
            vp.agents.Anthropic.keyless(model=MODEL, allow_files=wrong)
