"""A gateway that keeps replies, answers by another model or ignores a request is told to the researcher (G5)."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pandas as pd
import pytest

import verifyplan as vp
from tests.live.live_runs import MODEL, Played, findings_of, listed, speaking_to, turn_of
from tests.live.scripted_http import json_reply
from tests.live.scripted_replies import calls, says_json, status
from tests.live.scripted_server import ScriptedServer
from tests.runs.crossing import AGREE, finding
from tests.runs.plan.planning import PLAN, answered

ROSTER = ("ann", "bob", "cy", "dee")
FOUND = [finding("F-1", "ann"), finding("F-2", "ann")]
LONG = "the loop takes each row of the table exactly once and never looks back at it, as its index shows"


def voted(server, repetition=1, **settings):
    given = {"log_dir": None, "progress": False, "max_rounds": 1, "mode": "collaborative"} | settings
    return vp.crossverify(FOUND, ROSTER, backend=speaking_to(server), repetition=repetition, **given)


def saying(word_of):
    """A script whose votes agree, with what `word_of` makes of the worker and the finding."""

    def reply(asked):
        worker = turn_of(asked).split("/")[1]
        votes = {name: AGREE | {"explanation": word_of(worker, name)} for name in findings_of(asked)}
        return says_json({"votes": listed(votes, "collaborative")})

    return reply


class Gateway(ScriptedServer):
    """Answers a request that it has seen, but for its metadata, with the reply that it gave then."""

    def __init__(self, script, *, by_metadata=False):
        super().__init__(script)
        self.by_metadata, self.kept, self.upstream = by_metadata, {}, 0
        self.one_by_one = asyncio.Lock()

    async def _message(self, request, body):
        key = json.dumps({name: part for name, part in body.items() if self.by_metadata or name != "metadata"})
        async with self.one_by_one:
            if key not in self.kept:
                self.upstream += 1
                self.kept[key] = await super()._message(request, body)
        return self.kept[key]


class Renamed(ScriptedServer):
    """Names another model in its replies than it was asked for."""

    def __init__(self, script, model):
        super().__init__(script)
        self.model = model

    async def _message(self, request, body):
        reply = await super()._message(request, body)
        return json_reply(json.loads(reply.body) | {"model": self.model})


def flags(runs, name):
    return runs.frames.calls[name].astype("object").where(runs.frames.calls[name].notna(), None).tolist()


def test_workers_that_get_one_reply_of_a_gateway_are_flagged_and_said_everywhere():
    with Gateway(saying(lambda _, name: f"{name}: {LONG}")) as server:
        run = voted(server)
    assert server.upstream == 1
    assert flags(run, "id_repeated") == flags(run, "words_repeated") == [True] * 3
    assert flags(run, "run_repeated") == [None] * 3
    assert flags(run, "other_model") == [False] * 3
    ids = "3 of 3 calls have a reply with the same message id as another call (originals included): a cache answered"
    words = (
        "3 of 3 calls answer in the words of another worker on the same findings (12 words or more; originals included)"
    )
    assert str(run).split("\n")[0].startswith(ids)
    assert f"{words}: such votes are copies" in str(run)
    compared = vp.compare(run, resamples=10)
    assert sum(note.startswith(ids) for note in compared.notes) == 1
    assert any(note.startswith(words) for note in compared.notes)
    notes = vp.agreement(run)["note"]
    assert [ids in note for note in notes] == [True] + [False] * (len(notes) - 1)
    judged = run.frames.with_truth({"F-1": True, "F-2": False})
    assert any(note.startswith(ids) for note in vp.panel(judged).notes)


def test_a_second_repetition_from_a_cache_is_flagged_in_the_set_of_both(tmp_path):
    words = {"bob": "holds", "cy": "holds, too", "dee": "as cited"}
    with Gateway(saying(lambda worker, _: words[worker])) as server:
        first = voted(server, log_dir=tmp_path)
        again = voted(server, repetition=2, log_dir=tmp_path)
    assert flags(first, "run_repeated") == [None] * 3
    both = vp.load(tmp_path)
    note = "6 of 6 calls have the reply of the same call in another run (originals included): a cache answered, and the"
    assert both.calls["run_repeated"].tolist() == [True] * 6
    assert note in vp.agreement(both).loc[0, "note"]
    between = "6 of 6 calls have the reply of the same call in another set (originals included): a cache answered"
    assert any(text.startswith(between) for text in vp.compare(first, again, resamples=10).notes)
    assert vp.concat([replace_id(first, "a"), replace_id(again, "b")]).calls["run_repeated"].all()
    vp.compile_dataset(tmp_path, tmp_path / "set")
    dataset = vp.load(tmp_path / "set")
    assert dataset.calls["run_repeated"].isna().all()
    assert note in vp.agreement(dataset).loc[0, "note"]


def replace_id(run, name):
    return replace(run, run_id=name).frames


def test_a_cache_by_the_whole_request_answers_nobody_twice(tmp_path):
    with Gateway(saying(lambda worker, name: f"{worker} on {name}: {LONG}"), by_metadata=True) as server:
        for repetition in (1, 2):
            voted(server, repetition, log_dir=tmp_path)
    assert server.upstream == 6
    table = vp.load(tmp_path).calls
    assert not table["id_repeated"].any()
    assert table["run_repeated"].all()  # word for word the same, from a model that never varies


def test_independent_replies_and_short_answers_alike_are_not_flagged(tmp_path):
    short = "the cited line says so"
    with ScriptedServer(saying(lambda *_: short)) as server:
        for repetition in (1, 2):
            voted(server, repetition, log_dir=tmp_path)
    table = vp.load(tmp_path).calls
    assert not table[["id_repeated", "words_repeated", "run_repeated", "other_model"]].any(axis=None)
    assert table["run_repeated"].notna().all()
    notes = vp.compare(tmp_path, resamples=10).notes
    assert not any("cache" in note or "words of another" in note for note in notes)


def test_static_agents_that_answer_alike_are_not_flagged(tmp_path):
    (tmp_path / "m.py").write_text("def f(x=1):\n    return g(x)\n")
    found = [finding("F-1", "ann", evidence="m.py:1") | {"summary": "The function `f` calls `g`."}]
    for repetition in (1, 2):
        workers = dict.fromkeys(("ann", "bob", "cy"), "search")
        given = {"repo": tmp_path, "log_dir": tmp_path / "runs", "progress": False, "repetition": repetition}
        run = vp.crossverify(found, workers, **given)
        assert "note" not in str(run)
    loaded = vp.load(tmp_path / "runs")
    assert loaded.votes["explanation"].nunique() < len(loaded.votes)
    assert loaded.calls[["id_repeated", "words_repeated", "run_repeated", "other_model"]].isna().all(axis=None)


@pytest.mark.parametrize(("model", "other"), [(f"{MODEL}-20260101", False), ("tiny-1b", True)])
def test_another_model_in_the_reply_is_flagged_and_a_dated_snapshot_is_not(model, other):
    with Renamed(saying(lambda worker, _: worker), model) as server:
        run = voted(server)
    assert flags(run, "other_model") == [other] * 3
    assert set(run.frames.turns["model_replied"]) == {model}
    note = f"3 of 3 calls were answered by a model other than the one asked: {MODEL} was asked, {model} replied."
    assert (note in str(run)) is other


def test_failed_calls_are_said_first_with_why_and_how_to_ask_again(tmp_path):
    faults = {"r1/bob/t1": status(429), "r1/cy/t1": status(529)}
    votes = {1: {"dee": {"F-1": AGREE, "F-2": AGREE}}}
    with ScriptedServer(Played(votes, faults)) as server:
        run = voted(server, log_dir=tmp_path, rules={"quorum": 2})
    first, *lines = str(run).split("\n")
    again = f"to ask them again: verifyplan resume {run.log_path} --retry-failed --base-url {server.url}"
    assert first == f"2 of 3 calls failed: 1 rate limit, 1 overloaded; {again}"
    assert run.frames.calls.set_index("worker")["failure"].dropna().to_dict() == {
        "bob": "rate limit",
        "cy": "overloaded",
    }
    assert "cost: $" in str(run)
    below = "The classes of 2 findings rest on fewer valid votes than the quorum (2 of 6 votes asked for): F-1, F-2."
    assert below in lines
    assert "votes: 4 verification-error, 2 agree; 2 of 6 asked for are valid" in lines
    found = run.frames.findings
    assert found[["votes_asked", "votes_valid"]].to_numpy().tolist() == [[3, 1]] * 2
    assert found["below_quorum"].tolist() == [True, True]
    words = "2 of 3 calls failed: 1 rate limit, 1 overloaded."
    for draw in (vp.charts.usage, vp.charts.vote_matrix, vp.charts.class_mix, vp.charts.transitions):
        assert draw(run).caption.startswith(f"{words} "), draw
    compared = vp.compare(run, resamples=10)
    assert compared.notes[0] == words
    ruled = vp.compare(run, rules={"as run": {}, "two": {"quorum": 2}}, resamples=10)
    assert any("the classes of 2 findings rest on fewer votes than the quorum." in note for note in ruled.notes)
    assert words in vp.report(compared, tmp_path / "report").read_text()


def test_without_a_quorum_nothing_is_below_it_and_an_imported_table_cannot_tell():
    votes = {1: {"dee": {"F-1": AGREE, "F-2": AGREE}}}
    with ScriptedServer(Played(votes, {"r1/bob/t1": status(429)}, silent=True)) as server:
        found = voted(server).frames.findings
    assert found["below_quorum"].tolist() == [False, False]
    table = pd.DataFrame({"finding_id": ["F"] * 2, "worker": ["a", "b"], "verdict": ["agree", "verification-error"]})
    imported = vp.from_votes(table, item="finding_id", worker="worker", verdict="verdict").findings
    assert imported[["votes_asked", "votes_valid"]].to_numpy().tolist() == [[2, 1]]
    assert imported["below_quorum"].isna().all()


def test_prose_in_place_of_json_is_told_to_the_researcher_alone():
    def prose(asked):
        if asked.turn:
            return saying(lambda worker, _: worker)(asked)
        return "Sure! I looked at both claims, and I would say that they hold."

    with ScriptedServer(prose) as server:
        run = voted(server)
        free = vp.crossverify(
            FOUND,
            ROSTER,
            backend=speaking_to(server, structured=False),
            mode="collaborative",
            log_dir=None,
            max_rounds=1,
            progress=False,
        )
    assert flags(run, "schema_ignored") == [True] * 3
    assert "3 of 3 calls were answered in prose, though they asked for JSON by a schema: " in str(run)
    assert flags(free, "schema_ignored") == [None] * 3
    assert not any("ignore" in asked.prompt for asked in server.requests)


def test_json_in_a_code_fence_is_told_from_prose():
    def answer(asked):
        worker = turn_of(asked).split("/")[1]
        if worker == "bob" and not asked.turn:
            return "Sure! Both claims hold."
        votes = [{"finding_id": name, "verdict": "AGREE", "explanation": worker} for name in findings_of(asked)]
        return f"Here is my answer:\n```json\n{json.dumps({'votes': votes})}\n```"

    with ScriptedServer(answer) as server:
        run = voted(server)
    assert flags(run, "schema_ignored") == [True] * 3
    assert flags(run, "json_fenced") == [False, True, True]
    note = "3 of 3 calls were answered in prose (1) and by JSON in a code fence (2), though they asked for bare JSON"
    assert note in str(run)


def test_tools_that_nobody_calls_in_a_whole_run_are_said_and_one_call_is_enough_to_say_nothing(tmp_path):
    (tmp_path / "a.py").write_text("x = 1\n")
    plan = vp.plans.parse_plan(PLAN)
    given = {"repo": tmp_path, "log_dir": None, "progress": False}
    with ScriptedServer(Played(answered())) as server:
        silent = vp.verify(plan, backend=speaking_to(server), **given)
    unused = silent.frames.calls["tools_unused"].dropna()
    note = f"tools were offered in {len(unused)} calls and never called"
    assert len(unused) >= 3
    assert unused.all()
    assert note in str(silent)
    assert note in silent.report().replace("\\", "")
    with ScriptedServer(Played(answered(), {"i1/challenger/t1": calls("Read", path="a.py")})) as server:
        looked = vp.verify(plan, backend=speaking_to(server), **given)
    used = looked.frames.calls.set_index("call_id")["tools_unused"]
    assert not used["i1/challenger"]
    assert "never called" not in str(looked)


def test_failed_calls_that_were_asked_again_are_said_no_more(tmp_path):
    faults = {"r1/bob/t1": [status(429)]}
    votes = {1: {name: {"F-1": AGREE, "F-2": AGREE} for name in ("bob", "cy", "dee")}}
    with ScriptedServer(Played(votes, faults)) as server:
        run = voted(server, log_dir=tmp_path)
        assert str(run).startswith("1 of 3 calls failed: 1 rate limit; to ask them again: ")
        again = vp.resume(run.log_path, backend=speaking_to(server), retry_failed=True, progress=False)
    assert again.failed_calls == ""
    assert " failed" not in str(again)
    assert again.frames.findings["votes_valid"].tolist() == [3, 3]
    table = again.frames.calls
    assert table["failure"].notna().sum() == 1  # it is in the log, and counts no more
    assert not table[["id_repeated", "words_repeated", "other_model"]].any(axis=None)
    both = vp.compare({"cut": run, "whole": again}, resamples=10)
    assert not any("a cache answered" in note for note in both.notes)  # the resumption kept these replies
