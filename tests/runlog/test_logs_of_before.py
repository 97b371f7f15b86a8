"""Logs of verifyplans that were: they load, give their events again, are resumed, and give their artifacts.

`logs/` holds them: those of versions 1 and 2, and of versions 3 and 4 what `record_logs.py` recorded. `figures.json`
says what is in each. Only public names are used, so that the code may be moved about: what a run recorded is its
backend here. Where logs are broken off is said here, and not kept: each is cut at several places. Logs are resumed as
long as the version of the event model and of the rules is theirs; when one of them changes, they go to `OLD`.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

import verifyplan as vp
from tests.live.batch_served import QUICK, Posted, items
from tests.live.live_runs import KEY, speaking_to, turn_of, turns
from tests.live.scripted_replies import Answer, status
from tests.live.scripted_server import ScriptedServer
from tests.longer import part

LOGS = Path(__file__).parent / "logs"
OLD = sorted(LOGS.glob("v[12]-*.jsonl"))
TODAYS = sorted(LOGS.glob("v3-*.jsonl")) + sorted(LOGS.glob("v3-*/*.jsonl"))
LATER = sorted(LOGS.glob("v4-*.jsonl"))
"""Logs of version 4, of which few are kept: what they add to those of version 3 is how rules are written down."""
ALL = [*OLD, *TODAYS, *LATER]
FIGURES: dict[str, dict[str, Any]] = json.loads((LOGS / "figures.json").read_text())
CROSS = [path for path in (*TODAYS, *LATER) if path.with_suffix(".json").exists()]
LIVE = [LOGS / "v3-plan-live.jsonl", *sorted(LOGS.glob("v3-batch/*.jsonl"))]
CUTS = [(0.2, False), (0.4, True), (0.6, False), (0.75, True), (0.95, False)]
"""How much of a log is left where it was broken off, and whether half of the next line is, too."""
FACTS = (
    *("run-started", "run-resumed", "run-reopened", "call-requested", "call-replied", "call-failed"),
    *("turn-sent", "attempt", "turn-replied", "answer-given"),
)
"""What comes from outside; all other events are derived."""
STATED = ("kind", "plan_verdict", "plan_status", "score", "final_state", "debate_status", "debate_reason", "finished")


def name_of(path: Path) -> str:
    """The name of a log, with its folder if it is one of several that belong together."""
    return path.relative_to(LOGS).with_suffix("").as_posix()


def named(paths: Iterable[Path]) -> dict[str, Any]:
    """Arguments of `parametrize` for logs."""
    return {"argvalues": list(paths), "ids": name_of}


def figures(tables: vp.RunSet) -> dict[str, Any]:
    """What is in the tables of a run: how many rows each has, how it ended, and how the votes and classes fell."""
    frames = {field.name: getattr(tables, field.name) for field in fields(tables)}
    told = tables.runs[list(STATED)].astype(object).where(tables.runs[list(STATED)].notna(), None).iloc[0]
    columns = {"findings": "classification", "votes": "verdict", "challenges": "status", "messages": "type"}
    return {
        "rows": {name: len(frame) for name, frame in frames.items() if len(frame)},
        "ended": {name: value if value is None else str(value) for name, value in told.items()},
        "fell": {
            column: dict(sorted(Counter(frames[table][column].dropna().astype(str)).items()))
            for table, column in columns.items()
            if len(frames[table])
        },
    }


def lines_of(path: Path) -> list[dict[str, Any]]:
    """The lines of a log or journal, but for a torn last one."""
    return [json.loads(line) for line in path.read_bytes().split(b"\n")[:-1]]


def derived(run: vp.results.Run) -> list[str]:
    """What the rules made of the replies; how long calls took and how a backend worded its failures left out."""
    told = []
    for event in run.events:
        if event.type not in FACTS:
            values = event.model_dump(exclude={"duration_ms"})
            if event.type in ("agent-failed", "dispatch-closed"):
                values["reason"] = bool(values["reason"])
            if values.get("verdict") == "verification-error":
                values["explanation"] = bool(values["explanation"])
            told.append(str(values))
    return told


def chained(lines: Iterable[dict[str, Any]]) -> bytes:
    """A log of these lines, each with its digest, as somebody makes it who knows how."""
    data, digest = b"", "0" * 32
    for values in lines:
        text = json.dumps({k: v for k, v in values.items() if k != "digest"}, ensure_ascii=False, separators=(",", ":"))
        head = text[:-1].encode()
        digest = hashlib.blake2b(digest.encode() + head, digest_size=16).hexdigest()
        data += head + b',"digest":"' + digest.encode() + b'"}\n'
    return data


def cut(path: Path, share: float, torn: bool, to: Path) -> Path:
    """A copy of a log that was broken off: after a line, or within one."""
    lines = path.read_bytes().splitlines(keepends=True)
    at = max(1, min(len(lines) - 1, int(len(lines) * share)))
    to.write_bytes(b"".join(lines[:at]) + (lines[at][: len(lines[at]) // 2] if torn else b""))
    return to


class Recorded(vp.agents.ScriptedBackend):
    """Answers as the calls of a recorded run were answered, with what they used."""

    def __init__(self, path: Path) -> None:
        lines = lines_of(path)
        self.replies = {one["call_id"]: one for one in lines if one["type"] == "call-replied"}
        failed = {one["call_id"]: one["status"] for one in lines if one["type"] == "call-failed"}
        super().__init__(failed | {name: {"raw": one["value"]} for name, one in self.replies.items()})

    async def answer(self, request: Any) -> Any:
        reply = await super().answer(request)
        told = self.replies[request.call_id]
        told = {name: told[name] for name in ("usage", "duration_ms", "tools", "partial_failures")}
        return type(reply).model_validate(reply.model_dump() | told)


class Spoken:
    """Answers as the turns of a recorded run were answered; those without a reply were refused."""

    def __init__(self, path: Path) -> None:
        self.messages = {one["call_id"]: one["message"] for one in lines_of(path) if one["type"] == "turn-replied"}

    def __call__(self, asked: Any) -> Any:
        told = self.messages.get(turn_of(asked))
        return Answer(tuple(told["content"]), told["stop_reason"], told["usage"]) if told else status(400)


def person(path: Path) -> Any:
    """Answers pauses as they were answered in a recorded run."""
    given = {one["pause_id"]: one for one in lines_of(path) if one["type"] == "answer-given"}

    def answer(pause: vp.results.Pause) -> vp.Answer | None:
        told = given.get(pause.pause_id)
        return vp.Answer(told["answer"], told["challenge"], told["note"]) if told else None

    return answer


@pytest.fixture(autouse=True)
def _fast_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    """The folder that the runs were about, as it was; the logs that are gone on with lie beside it."""
    root = tmp_path / "plans"
    for name, text in json.loads((LOGS / "repository.json").read_text()).items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def test_each_kind_of_event_is_in_a_log_of_version_3():
    kinds = {one["type"] for path in TODAYS for one in lines_of(path)}
    assert len(kinds) == 42
    assert {lines_of(path)[0]["version"] for path in TODAYS} == {3}
    assert {name_of(path) for path in ALL} == set(FIGURES)


@pytest.mark.parametrize(
    "path", [path for path in sorted(LOGS.rglob("*")) if path.is_file()], ids=lambda path: path.name
)
def test_what_is_kept_names_no_place_of_the_machine_it_came_from(path):
    assert not re.findall(rb"/(?:home|root|tmp|work|Users|private)/", path.read_bytes())


@pytest.mark.parametrize("path", **named(ALL))
def test_it_loads_into_the_tables_that_it_gave(path):
    assert figures(vp.load(path)) == FIGURES[name_of(path)]
    assert figures(vp.read_run(path).frames) == FIGURES[name_of(path)]


def test_the_logs_load_together_and_say_how_they_ended():
    tables = vp.load(TODAYS)
    runs = tables.runs.set_index("run_id")
    assert len(runs) == len(TODAYS) == 17
    assert runs["plan_verdict"].dropna().to_dict() == {
        "v3-batch/one-001": "PROCEED",
        "v3-batch/two-001": "PROCEED",
        "v3-plan-acknowledged": "PROCEED",
        "v3-plan-forced": "RETHINK",
        "v3-plan-live": "RETHINK",
        "v3-plan-overridden": "RETHINK",
        "v3-plan-settled": "REVISE",
        "v3-plan-static": "RETHINK",
        "v3-plan-trivial": "PROCEED",
    }
    assert runs["debate_reason"].dropna().to_dict() == {
        "v3-debate-converged": "VERIFIED",
        "v3-debate-failed": "AGENT_FAILED",
    }
    assert runs["final_state"].dropna().to_dict() == {
        "v3-cross-adversarial": "max-rounds-reached",
        "v3-cross-collaborative": "max-rounds-reached",
        "v3-cross-static": "converged",
    }
    assert runs.index[~runs["finished"]].tolist() == ["v3-plan-waiting"]
    classes = tables.findings.set_index("run_id").loc["v3-plan-settled", "classification"].value_counts()
    assert classes[classes > 0].to_dict() == {"full-consensus": 6, "partial-consensus": 2, "worker-unique": 1}


def test_the_tables_of_plan_runs_say_by_which_rules_they_were_decided():
    runs = vp.load(LOGS).runs
    plans = runs[runs["kind"].eq("plan")]
    assert len(plans) >= 10
    for row in plans.itertuples():
        rules = vp.PlanRules.from_json(row.plan_rules)
        assert (rules.digest, rules.policy) == (row.plan_rules_digest, row.policy)
        assert rules.max_iterations == row.max_iterations
    assert runs.loc[~runs["kind"].eq("plan"), ["plan_rules", "plan_rules_digest"]].isna().all(axis=None)


@pytest.mark.parametrize("path", **named([*TODAYS, *LATER]))
def test_driven_again_from_its_replies_it_gives_its_events(path, cli):
    again = vp.replay_run(path)
    assert again.same
    assert (again.censored, again.asked_otherwise, again.rules_changed, again.changes) == (None, (), None, ())
    assert derived(again.run) == derived(vp.read_run(path))
    done = cli("replay", path, "--check")
    assert (done.code, "the recorded replies give the recorded events again" in done.out) == (0, True)


@pytest.mark.parametrize("path", **named(OLD))
def test_an_older_one_is_driven_again_by_todays_rules_and_says_so(path, cli):
    again = vp.replay_run(path)
    assert "version 1 decided this run" in again.rules_changed
    done = cli("replay", path, "--check")
    assert done.code == (0 if again.same else 1)
    assert again.rules_changed in done.out


@pytest.mark.parametrize("path", **named(CROSS))
def test_its_artifact_is_written_again_as_it_was(path, tmp_path):
    recorded = path.with_suffix(".json")
    log = Path(shutil.copy(path, tmp_path))
    assert vp.resume(log).path.read_bytes() == recorded.read_bytes()
    assert log.read_bytes() == path.read_bytes()
    vp.write_artifact(vp.replay_run(path).run.artifact, tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == recorded.read_bytes()
    assert vp.read_artifact(recorded) == vp.read_run(path).artifact
    columns = ["finding_id", "classification"]
    own = vp.load(path).findings
    own = own[own["category"].fillna("").astype(str) != "plan-body"]  # which artifacts do not hold
    assert own[columns].astype(str).to_numpy().tolist() == (
        vp.load(recorded).findings[columns].astype(str).to_numpy().tolist()
    )


def cuts(paths: Iterable[Path]) -> dict[str, Any]:
    """Arguments of `parametrize` for logs that were broken off: each at every second place, in turns, or at all."""
    chosen = [(path, *place) for number, path in enumerate(paths) for place in part(CUTS, 2, number)]
    return {"argvalues": chosen, "ids": [f"{name_of(path)}-{share}-{torn}" for path, share, torn in chosen]}


def whole_ones() -> list[Path]:
    return [path for path in (*TODAYS, *LATER) if path not in LIVE and lines_of(path)[-1]["type"] == "run-ended"]


@pytest.mark.parametrize(("path", "share", "torn"), **cuts(whole_ones()))
def test_broken_off_it_is_resumed_to_the_end_that_it_had(path, share, torn, place):
    log = cut(path, share, torn, place.parent / path.name)
    assert vp.load(log).runs["finished"].tolist() == [False]
    assert vp.replay_run(log).same
    static = lines_of(path)[0]["backend"]["name"] == "static"
    given: dict[str, Any] = {"repo": place, "progress": False}
    if not static:
        given["backend"] = Recorded(path)
    if lines_of(path)[0]["inputs"]["kind"] == "plan":
        given["on_blocked"] = person(path)
    run = vp.resume(log, **given)
    assert derived(run) == derived(vp.read_run(path))
    if path in CROSS:
        assert timeless(run.path) == timeless(path.with_suffix(".json"))
    assert vp.replay_run(log).same


def timeless(path: Path) -> Any:
    """An artifact but for how long calls took."""

    def left(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: left(one) for key, one in value.items() if key != "durationMs"}
        return [left(one) for one in value] if isinstance(value, list) else value

    return left(json.loads(path.read_text()))


def test_a_run_that_waits_takes_an_answer(place):
    log = Path(shutil.copy(LOGS / "v3-plan-waiting.jsonl", place.parent))
    whole = LOGS / "v3-plan-overridden.jsonl"
    assert vp.read_run(log).waiting.pause_id == "i1/pause-1"
    run = vp.resume(log, "override:C2", note="it is known", backend=Recorded(whole), repo=place, progress=False)
    assert derived(run) == derived(vp.read_run(whole))
    assert (run.verdict, run.outcome.overridden) == ("RETHINK", "C2")


@pytest.mark.parametrize(("path", "share", "torn"), **cuts(LIVE))
def test_broken_off_a_run_of_models_is_resumed_within_a_call(path, share, torn, place):
    log = cut(path, share, torn, place.parent / path.name)
    replied = {one["call_id"] for one in lines_of(log) if one["type"] == "turn-replied"}
    with ScriptedServer(Spoken(path)) as server:
        run = vp.resume(log, backend=speaking_to(server, web="live" in path.name), repo=place, progress=False)
    assert derived(run) == derived(vp.read_run(path))
    assert not replied & set(turns(server))
    assert vp.replay_run(log).same


def moved(lines: list[dict[str, Any]], root: Path, url: str) -> bytes:
    """The log of a batch whose folder and endpoint, by which the batch knows its runs, are elsewhere by now."""
    first = lines[0]
    first["inputs"]["repository"]["root"] = str(root)
    first["backend"]["base_url"] = url
    return chained(lines)


@pytest.mark.parametrize("batches", part(range(1, 8), 2))
def test_a_batch_that_was_broken_off_is_gone_on_with_and_sends_nothing_again(batches, place):
    """Both runs ended between two batches, of which as many were sent as `batches` says."""
    logs, folder = sorted(LOGS.glob("v3-batch/*.jsonl")), place.parent / "runs"
    folder.mkdir()
    journal = (LOGS / "v3-batch" / "batches.journal").read_bytes().splitlines(keepends=True)
    intents = [number for number, line in enumerate(journal) if json.loads(line)["type"] == "intent"]
    assert len(intents) == 8
    kept, later = journal[: intents[batches]], [json.loads(journal[number]) for number in intents[batches:]]
    (folder / "batches.journal").write_bytes(b"".join(kept))
    unsent = {(one["run"].split()[0], one["turn"]) for line in later for one in line["requests"].values()}
    play = Posted({path.stem: Spoken(path) for path in logs}, folder)
    with ScriptedServer(play) as server:
        for path in logs:
            lines = lines_of(path)
            turns_sent = [(path.stem, one.get("call_id")) if one["type"] == "turn-sent" else None for one in lines]
            at = next(number for number, turn in enumerate(turns_sent) if turn in unsent)
            (folder / path.name).write_bytes(moved(lines[:at], place, server.url))
        for name in ("one", "two"):
            (place / f"{name}.md").write_text(
                lines_of(LOGS / "v3-batch" / f"{name}-001.jsonl")[0]["inputs"]["plan_text"]
            )
        settings = {"team": "base", "panel": ["ann", "bob"], "max_iterations": 1}
        plans = [place / "one.md", place / "two.md"]
        backend = vp.agents.Anthropic(lines_of(logs[0])[0]["backend"]["model"], base_url=server.url, api_key=KEY)
        done = vp.batch_verify(plans, place, backend=backend, log_dir=folder, **settings, **QUICK)
        again = vp.batch_verify(plans, place, backend=backend, log_dir=folder, **settings, **QUICK)
    assert [derived(run) for run in done] == [derived(vp.read_run(path)) for path in logs]
    assert [derived(run) for run in again] == [derived(run) for run in done]
    assert sorted(items(server, folder)) == sorted(unsent)


def changed(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The lines with another reply: what a worker held before, it refutes."""
    text = json.dumps([one["value"] if one["type"] == "call-replied" else None for one in lines])
    values = json.loads(text.replace('"verdict": "agree"', '"verdict": "disagree"', 1))
    return [one | {"value": value} if value is not None else one for one, value in zip(lines, values, strict=True)]


@pytest.mark.parametrize("name", ["v3-cross-collaborative", "v3-plan-settled"])
def test_a_reply_that_was_changed_is_found(name, tmp_path, cli):
    path = LOGS / f"{name}.jsonl"
    lines, log = lines_of(path), tmp_path / "run.jsonl"
    assert chained(lines) == path.read_bytes()
    log.write_bytes(path.read_bytes().replace(b'"verdict":"agree"', b'"verdict":"admit"', 1))
    assert cli("replay", log, "--check").code != 0
    log.write_bytes(chained(changed(lines)))
    again = vp.replay_run(log)
    assert not again.same
    done = cli("replay", log, "--check")
    assert (done.code, "of the log differ" in done.out) == (1, True)
