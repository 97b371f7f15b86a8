"""A run of models that was broken off goes on from its log: the backend is made again, budgets count what was used."""

from __future__ import annotations

import pytest

from tests.live.live_faults import SCORED
from tests.live.live_runs import MODEL, Played, derived, facts, speaking_to, times, turns
from tests.live.scripted_replies import calls, says, searches
from tests.live.scripted_server import ScriptedServer
from tests.runs.crossing import AGREE, COUNTER, finding
from tests.runs.plan.breaking import StopError, stopping
from tests.runs.plan.planning import PLAN, REPO, answer, challenge, unknown
from verifyplan import datasets
from verifyplan.agents.anthropic.changed_prompts import changed_prompts
from verifyplan.agents.anthropic.rendering import prompt_versions
from verifyplan.errors import LogError
from verifyplan.plans.plan import parse_plan
from verifyplan.protocol.call import Usage
from verifyplan.runs.cross.crossverify import crossverify
from verifyplan.runs.plan.verify import verify
from verifyplan.runs.resume import read_run, resume

DEAR = {MODEL: {"input": 1.5, "output": 2, "cache_write": 0, "cache_read": 0, "web_search": 10}}
SEARCH = calls("WebSearch", query="orders api", serves="U1")
FIRST = {
    "i1/challenger/t1": calls("Read", path="store.py"),
    "i1/challenger/t2": says("Let me think."),
    "i1/resolver/t1": SEARCH,
    "i1/resolver/t1/w1": searches("orders api", ("https://a.example", "A"), text="It is so."),
}
ANSWERS = SCORED | {
    "i1/challenger": {"challenges": [challenge("locks", "MINOR")], "unknowns": [unknown("store")]},
    "i1/resolver": {"answers": [answer("U1", "CONFIRMED")]},
    "i1/panel/r1/ann": {"C1": AGREE},
    "i1/panel/r1/bob": {"C1": COUNTER},
}


def begun(server, folder, sink=None, backend=None, **settings):
    given = {"team": "base", "panel": ["ann", "bob"], "max_iterations": 1, "progress": False} | settings
    speaker = speaking_to(server, web=True, prices=DEAR, **(backend or {}))
    return verify(parse_plan(PLAN), folder, backend=speaker, log_dir=folder / "runs", sink=sink, **given)


def log_of(folder):
    [path] = folder.rglob("*.jsonl")
    return path


def broken_off(server, folder, kind, count, **more):
    with pytest.raises(StopError):
        begun(server, folder, stopping(kind, count), **more)
    return log_of(folder)


def played():
    return Played(ANSWERS, FIRST, silent=True)


@pytest.fixture
def whole(tmp_path):
    """The undisturbed run, and the turns that it took."""
    (tmp_path / "whole").mkdir()
    with ScriptedServer(played()) as server:
        run = begun(server, tmp_path / "whole")
    return run, turns(server)


@pytest.mark.parametrize(("kind", "count"), [("turn-replied", n) for n in (1, 2, 4, 5, 6, 8, 12)] + [("turn-sent", 5)])
def test_a_run_goes_on_within_a_call_and_asks_for_nothing_twice(whole, tmp_path, kind, count):
    (tmp_path / "broken").mkdir()
    with ScriptedServer(played()) as server:
        path = broken_off(server, tmp_path / "broken", kind, count)
        run = resume(path, progress=False)
    assert derived(run) == derived(whole[0])
    assert set(times(server).values()) == {1}
    assert sorted(turns(server)) == sorted(whole[1])
    [resumed] = facts(run, "run-resumed")
    assert resumed.repeated == (("i1/resolver/t1/w1",) if kind == "turn-sent" else ())


def test_a_resumption_warns_of_the_roles_whose_prompts_changed(tmp_path, monkeypatch, capsys):
    with ScriptedServer(played()) as server:
        path = broken_off(server, tmp_path, "turn-replied", 1)
        begun_log = path.read_bytes()
        resume(path, progress=False)
        assert "prompts" not in capsys.readouterr().err, "nothing changed"
        path.write_bytes(begun_log)
        edited = prompt_versions()
        for name in (
            "probe",
            "builder",
            "labels-collaborative",
            f"labels-{read_run(path).started.plan.settings.panel.mode}",
        ):
            edited[name] = {"version": 9, "sha256": "0" * 64}
        monkeypatch.setattr("verifyplan.agents.anthropic.backend.prompt_versions", lambda: edited)
        resume(path, progress=False)
    said = capsys.readouterr().err
    assert "Warning: the prompts of probe, ann, bob are not those that the log records (version " in said


@pytest.mark.parametrize("log", sorted(datasets.path("live-example").rglob("*.jsonl")), ids=lambda path: path.stem)
def test_no_prompt_of_the_bundled_logs_has_changed(log):
    started = read_run(log).started
    assert started.backend["prompts"]
    assert changed_prompts(started.backend, started.backend | {"prompts": prompt_versions()}, started.inputs) == []
    edited = prompt_versions() | {"common": {"version": 9, "sha256": "0" * 64}}
    assert changed_prompts(started.backend, started.backend | {"prompts": edited}, started.inputs)


def test_the_backend_is_made_again_as_it_was(tmp_path):
    backend = {
        "models": {"synthesizer": {"model": "claude-opus-5-5", "effort": "low"}},
        "workers": {"bob": {"temperature": 0.5, "style": "collaborative"}},
        "thinking": 2048,
        "max_concurrency": 3,
        "cache": False,
        "timeout": 20.0,
    }
    with ScriptedServer(played()) as server:
        path = broken_off(server, tmp_path, "turn-replied", 1, backend=backend)
        described = read_run(path).started.backend
        run = resume(path, progress=False)
        assert type(speaking_to(server)).described(described).describe() == described
    assert run.verdict == "PROCEED"
    bodies = {turn: asked.body for turn, asked in zip(turns(server), server.requests, strict=True)}
    assert bodies["i1/synthesizer/t1"]["model"] == "claude-opus-5-5"
    assert bodies["i1/panel/r1/bob/t1"]["temperature"] == 0.5
    assert bodies["i1/score/t1"]["thinking"] == {"type": "enabled", "budget_tokens": 2048}


def test_what_was_used_before_counts(tmp_path):
    with ScriptedServer(played()) as server:
        run = begun(server, tmp_path)
        used = {event.call_id: event.usage for event in facts(run, "turn-replied")}
    first = ["i1/challenger/t1", "i1/challenger/t2", "i1/challenger/t3", "i1/resolver/t1", "i1/resolver/t1/w1"]
    limit = sum((used[turn] for turn in first), Usage())
    (tmp_path / "broken").mkdir()
    with ScriptedServer(played()) as server:
        path = broken_off(server, tmp_path / "broken", "turn-replied", 5, max_tokens=limit.total)
        run = resume(path, progress=False)
    assert (turns(server), run.outcome.ended_by) == (first, "budget")
    told = f"{limit.total:,} tokens of {limit.total:,} were used before i1/resolver/t2 was called"
    assert run.outcome.exit_reason == f"max_tokens: {told}"
    [failure] = facts(run, "call-failed")
    assert failure.usage == used["i1/resolver/t1"] + used["i1/resolver/t1/w1"]


def test_the_tool_calls_that_were_made_before_count(tmp_path):
    for number in range(9):
        (tmp_path / f"m{number}.py").write_text(f"lock = {number}\n")
    first = {f"i1/challenger/t{n + 1}": calls("Read", path=f"m{n}.py") for n in range(9)}
    with ScriptedServer(Played(ANSWERS, first, silent=True)) as server:
        path = broken_off(server, tmp_path, "turn-sent", 6)
        run = resume(path, progress=False)
    [reply] = [event for event in facts(run, "call-replied") if event.call_id == "i1/challenger"]
    assert [bool(use.refused) for use in reply.tools] == [False] * 8 + [True]
    assert set(times(server).values()) == {1}


def test_the_usage_of_a_call_is_the_same_however_often_it_was_broken_off(whole, tmp_path):
    (tmp_path / "broken").mkdir()
    with ScriptedServer(played()) as server:
        path = broken_off(server, tmp_path / "broken", "turn-sent", 6)
        run = resume(path, progress=False)
    usages = [{event.call_id: uncached(event.usage) for event in facts(one, "call-replied")} for one in (whole[0], run)]
    assert usages[0] == usages[1]
    assert usages[1]["i1/resolver"][-1] == 1


def uncached(usage):
    """A usage whichever of the workers asked at once filled the cache, and which read it."""
    return usage.total_input, usage.output_tokens, usage.web_searches


def test_a_cross_run_goes_on_with_each_of_its_calls(tmp_path):
    found = [finding(f"F-{n}", "ann") for n in (1, 2, 3)]
    votes = {number: {"bob": {f"F-{n}": AGREE for n in (1, 2, 3)}} for number in (1, 2)}
    votes[1]["cy"] = {f"F-{n}": COUNTER for n in (1, 2, 3)}
    given = {"matcher": None, "repo": REPO, "items_per_call": 1, "progress": False}
    with ScriptedServer(Played(votes, {"r1/bob/p2/t1": says("Let me think.")})) as server:
        roster = ["ann", "bob", "cy"]
        whole = crossverify(found, roster, backend=speaking_to(server), log_dir=None, **given)
        asked = times(server)
        with pytest.raises(StopError):
            crossverify(
                found, roster, backend=speaking_to(server), log_dir=tmp_path, sink=stopping("turn-replied", 3), **given
            )
        run = resume(log_of(tmp_path), matcher=None, progress=False)
    assert derived(run) == derived(whole)
    [resumed] = facts(run, "run-resumed")
    again = times(server) - asked - asked
    assert set(again) <= set(resumed.repeated)
    assert set(again.values()) <= {1}


def test_a_log_that_was_changed_asks_for_nothing(tmp_path):
    with ScriptedServer(played()) as server:
        path = broken_off(server, tmp_path, "turn-replied", 1)
        path.write_text(path.read_text().replace("store.py", "stare.py", 1))
        with pytest.raises(LogError):
            resume(path, progress=False)
    assert turns(server) == ["i1/challenger/t1"]
