"""Failed calls are asked again: what followed from them is decided anew, and the log holds both (rule E6)."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import verifyplan as vp
from tests.longer import examples
from tests.runs.crossing import AGREE, BURDEN, COUNTER, finding
from tests.runs.debate_scripts import CONVERGES
from tests.runs.plan.breaking import StopError, stopping
from tests.runs.plan.planning import PLAN, REPO, challenge, scores, script
from verifyplan.errors import InputError, LogError, SettingsError
from verifyplan.frames.run_tables import log_columns
from verifyplan.protocol.call import Usage
from verifyplan.protocol.event import EXTERNAL_EVENTS
from verifyplan.protocol.event_run import RunReopened, RunResumed
from verifyplan.protocol.settings import Limits
from verifyplan.reports.log import log_text
from verifyplan.runlog import reader, recorder
from verifyplan.runlog.current import current
from verifyplan.runlog.reader import parse_log
from verifyplan.runs.batch.journal import BatchedExchange, journal_run_name, open_journal

WORKERS = ["ann", "bob", "cy"]
VOTES = {
    number: {
        worker: {f"F-{n}": (AGREE, BURDEN, COUNTER)[(n * number + place) % 3] for n in range(6)}
        for place, worker in enumerate(WORKERS)
    }
    for number in (1, 2)
}
FAILURES = ("error", "timeout")


class Failing(vp.agents.ScriptedBackend):
    """Answers from a script, but for the calls that fail."""

    def __init__(self, answers: Mapping[Any, Any], fails: Mapping[str, str] | None = None, tokens: int = 0) -> None:
        super().__init__(answers, silent=True)
        self.fails, self.calls, self.tokens = fails or {}, list[str](), tokens

    async def answer(self, request: Any) -> Any:
        self.calls.append(request.call_id)
        if (how := self.fails.get(request.call_id)) is not None:
            raise TimeoutError("no answer") if how == "timeout" else RuntimeError("the endpoint is down")
        await asyncio.sleep(0)
        reply = await super().answer(request)
        return reply.model_copy(update={"usage": Usage(input_tokens=self.tokens)}) if self.tokens else reply


def crossed(folder: Path, fails: Mapping[str, str] | None = None, tokens: int = 0, **more: Any) -> Any:
    found = [finding(f"F-{n}", WORKERS[n % 3]) for n in range(6)]
    given: dict[str, Any] = {"mode": "adversarial", "max_rounds": 2, "items_per_call": 2, "matcher": None}
    backend = Failing(VOTES, fails, tokens)
    return vp.crossverify(found, WORKERS, backend=backend, log_dir=folder, progress=False, **given | more)


def planned(folder: Path, fails: Mapping[str, str] | None = None, answers: Any = None, **more: Any) -> Any:
    backend = Failing(answers or script(), fails, more.pop("tokens", 0))
    return vp.verify(vp.plans.parse_plan(PLAN), REPO, backend=backend, log_dir=folder, progress=False, **more)


def derived(run: Any) -> list[Any]:
    """What the rules made of the replies that count; how long calls took left out."""
    events = [event for event in run.events if not isinstance(event, EXTERNAL_EVENTS)]
    return [event.model_dump(exclude={"duration_ms"}) for event in events]


def words(run: Any) -> str:
    """What is printed of a run, but for the place of its log."""
    return str(run).replace(str(run.log_path), "RUN")


def ids(run: Any) -> list[str]:
    return list(dict.fromkeys(event.call_id for event in run.events if event.type == "call-requested"))


def holds(run: Any) -> None:
    """Hold of every log: it replays, and its tables are the same from its file and from memory."""
    again = vp.replay_run(run.log_path)
    assert (again.differences, again.censored) == ((), None)
    columns = log_columns(parse_log(run.log_path.read_bytes(), "run").records, "run")
    assert columns["calls"]["superseded"].count(False) == len(ids(run))
    assert [event for _, _, event in current(list(current(run.records)))] == list(run.events)
    loaded = vp.load(run.log_path)
    for name in ("calls", "votes", "findings", "challenges"):
        own, theirs = (getattr(tables, name).drop(columns="run_id") for tables in (run.frames, loaded))
        assert own.equals(theirs), name


@pytest.fixture(autouse=True)
def _fast_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("verifyplan.runlog.writer.os.fsync", lambda _: None)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The runs that nothing disturbed."""
    folder = tmp_path_factory.mktemp("whole")
    return {"cross": crossed(folder / "cross"), "plan": planned(folder / "plan")}


FEW: dict[str, Any] = {
    "max_examples": examples(12),
    "deadline": None,
    "suppress_health_check": [HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
}


@settings(**FEW)
@given(st.data())
def test_a_cross_run_whose_calls_failed_at_first_becomes_the_undisturbed_run(whole, data):
    calls = st.sampled_from(ids(whole["cross"]))
    fails = data.draw(st.dictionaries(calls, st.sampled_from(FAILURES), min_size=1))
    again = {name: how for name, how in fails.items() if data.draw(st.booleans())}
    with TemporaryDirectory() as name:
        folder = Path(name)
        run = crossed(folder, fails)
        first = vp.resume(run, backend=Failing(VOTES, again), retry_failed=True, progress=False)
        holds(first)
        last = vp.resume(first, backend=Failing(VOTES), retry_failed=True, progress=False)
        holds(last)
        assert derived(last) == derived(whole["cross"])
        assert last.path.read_bytes() == vp.resume(last.log_path).path.read_bytes()
        assert vp.read_artifact(last.path) == last.artifact


@settings(**FEW)
@given(st.data())
def test_a_plan_run_whose_calls_failed_at_first_becomes_the_undisturbed_run(whole, data):
    calls = st.sampled_from(ids(whole["plan"]))
    fails = data.draw(st.dictionaries(calls, st.sampled_from(FAILURES), min_size=1, max_size=5))
    again = {name: how for name, how in fails.items() if data.draw(st.booleans())}
    with TemporaryDirectory() as name:
        folder = Path(name)
        run = planned(folder, fails)
        first = vp.resume(run, backend=Failing(script(), again), retry_failed=True, progress=False)
        holds(first)
        last = vp.resume(first, backend=Failing(script()), retry_failed=True, progress=False)
        holds(last)
        assert derived(last) == derived(whole["plan"])
        assert words(last) == words(whole["plan"])


@settings(**FEW)
@given(st.data())
def test_killed_while_it_is_reopened_a_run_is_resumed_to_the_same_end(whole, data):
    kind = data.draw(st.sampled_from(["cross", "plan"]))
    make, answers = (crossed, VOTES) if kind == "cross" else (planned, script())
    fails = data.draw(st.dictionaries(st.sampled_from(ids(whole[kind])), st.just("error"), min_size=1, max_size=4))
    with TemporaryDirectory() as name:
        folder = Path(name)
        run = make(folder, fails)
        before = len(run.log_path.read_bytes())
        reopened = vp.resume(run, backend=Failing(answers), retry_failed=True, progress=False)
        lines = reopened.log_path.read_bytes()[before:].splitlines(keepends=True)
        # lines are longer where calls took longer, so shares are drawn: the same draws in every run of an example
        place, cut = (data.draw(st.integers(0, 999)) / 1000 for _ in range(2))
        kept = 1 + int(place * (len(lines) - 1))
        torn = lines[kept][: int(cut * len(lines[kept]))]
        log = folder / "killed.jsonl"
        log.write_bytes(run.log_path.read_bytes()[:before] + b"".join(lines[:kept]) + torn)
        assert vp.replay_run(log).differences == ()
        assert not vp.read_run(log).has_ended
        backend = Failing(answers)
        resumed = vp.resume(log, backend=backend, progress=False)
        holds(resumed)
        assert derived(resumed) == derived(reopened) == derived(whole[kind])
        ends = ("call-replied", "call-failed")  # the script itself lets a worker of the panel fail
        ended = {event.call_id for event in vp.read_run(log).events if event.type in ends}
        assert len(backend.calls) == len(set(backend.calls))
        assert set(backend.calls) <= ended


def test_a_reply_whose_request_changed_is_asked_again_and_both_are_in_the_table(tmp_path):
    fails = {"i1/challenger": "error"}
    run = planned(tmp_path, fails)
    last = vp.resume(run, backend=(backend := Failing(script())), retry_failed=True, progress=False)
    calls = last.frames.calls
    first, second = (calls[calls["call_id"].eq("i1/surface")].iloc[place] for place in (0, 1))
    assert (first["reopening"], first["superseded"], first["status"]) == (0, True, "completed")
    assert (second["reopening"], second["superseded"], second["status"]) == (1, False, "completed")
    assert first["request_sha256"] != second["request_sha256"]
    assert "i1/surface" in backend.calls
    assert last.frames.runs["n_reopened"].tolist() == [1]
    failed = calls[calls["call_id"].eq("i1/challenger")]
    assert failed[["status", "superseded"]].to_numpy().tolist() == [["error", True], ["completed", False]]


def test_replies_whose_requests_stay_equal_are_not_asked_again(tmp_path):
    run = crossed(tmp_path, {"r1/bob/p1": "error"})
    backend = Failing(VOTES)
    last = vp.resume(run, backend=backend, retry_failed=True, progress=False)
    assert backend.calls[0] == "r1/bob/p1"
    assert not {"r1/ann/p1", "r1/ann/p2", "r1/cy/p1"} & set(backend.calls)
    kept = last.frames.calls[last.frames.calls["call_id"].eq("r1/ann/p1")]
    assert kept[["reopening", "superseded"]].to_numpy().tolist() == [[0, False]]


def test_what_calls_cost_adds_up_over_all_and_failures_count_once(tmp_path):
    run = crossed(tmp_path, {"r1/bob/p1": "error"}, tokens=10)
    backend = Failing(VOTES, tokens=10)
    last = vp.resume(run, backend=backend, retry_failed=True, progress=False)
    paid = len([event for _, _, event in last.records if event.type == "call-replied"])
    figures = vp.analysis.cost(last.frames).set_index("measure")["value"]
    assert figures["input-tokens"] == 10 * paid
    assert figures["failed-calls"] == 0
    assert vp.analysis.cost(run.frames).set_index("measure")["value"]["failed-calls"] == 1
    assert vp.workers(last.frames).table["failed_calls"].sum() == 0


# What a limit kept back


@pytest.mark.parametrize("limit", [15, 100, 155, 400, 715, 725, 735])
def test_a_plan_run_that_a_limit_ended_becomes_the_run_without_it(tmp_path, limit):
    whole = planned(tmp_path / "whole", tokens=40)
    spent = sum(event.usage.total for event in whole.events if event.type == "call-replied")
    run = planned(tmp_path, tokens=40, max_tokens=limit)
    assert spent > limit
    with pytest.raises(SettingsError, match=r"is used up: max_tokens: .* Fix: give a larger max_tokens="):
        vp.resume(run, backend=Failing(script(), tokens=40), retry_failed=True, progress=False)
    assert vp.read_run(run.log_path).events == run.events
    last = vp.resume(run, backend=Failing(script(), tokens=40), retry_failed=True, max_tokens=10**6, progress=False)
    holds(last)
    assert derived(last) == derived(whole)
    [reopened] = [event for event in last.events if isinstance(event, RunReopened)]
    assert reopened.limits == Limits(max_tokens=10**6)


def test_a_run_cut_off_twice_keeps_to_each_limit_in_its_time(tmp_path):
    whole = planned(tmp_path / "whole", tokens=40)
    run = planned(tmp_path, tokens=40, max_tokens=100)
    for limit in (300, 500, 10**6):
        run = vp.resume(run, backend=Failing(script(), tokens=40), retry_failed=True, max_tokens=limit, progress=False)
        holds(run)
    assert derived(run) == derived(whole)
    assert run.frames.runs["n_reopened"].tolist() == [3]


def test_a_cross_run_that_a_limit_cut_off_goes_on_with_what_is_left(tmp_path):
    whole = crossed(tmp_path / "whole", tokens=10)
    run = crossed(tmp_path, tokens=10, max_tokens=45)
    assert run.status == "aborted-non-result"
    backend = Failing(VOTES, tokens=10)
    last = vp.resume(run, backend=backend, retry_failed=True, max_tokens=10**6, progress=False)
    holds(last)
    assert derived(last) == derived(whole)
    replied = {event.call_id for event in run.events if event.type == "call-replied"}
    assert not replied & set(backend.calls)


def test_a_new_limit_holds_for_a_run_that_was_broken_off_and_the_log_says_so(tmp_path):
    with pytest.raises(StopError):
        planned(tmp_path, tokens=40, sink=stopping("iteration-closed"))
    [log] = tmp_path.glob("*.jsonl")
    run = vp.resume(log, backend=Failing(script(), tokens=40), max_tokens=600, timeout=7.0, progress=False)
    assert isinstance(run, vp.results.PlanRun)
    assert run.outcome.ended_by == "budget"
    [resumed] = [event for event in run.events if isinstance(event, RunResumed)]
    assert (resumed.limits.max_tokens, resumed.timeout) == (600, 7.0)
    assert vp.replay_run(run).same


# Debates, pauses


@pytest.mark.parametrize(
    "call", ["t1/propose", "t1/implement", "t1/verify", "t2/critique", "t2/implement", "t2/verify"]
)
def test_a_debate_whose_call_failed_becomes_the_undisturbed_one(tmp_path, call):
    def debated(folder: Path, backend: Any) -> Any:
        return vp.debate("Greet.", backend, backend, repo=tmp_path, log_dir=folder, progress=False)

    tmp_path.joinpath("a").mkdir()
    whole = debated(tmp_path / "whole", Failing(CONVERGES))
    run = debated(tmp_path / "a", Failing(CONVERGES, {call: "error"}))
    assert run.reason == "AGENT_FAILED"
    last = vp.resume(run, backend=Failing(CONVERGES), retry_failed=True, progress=False)
    holds(last)
    assert (last.status, last.log) == (whole.status, whole.log)
    assert derived(last) == derived(whole)


BLOCKS = {
    "i1/challenger": {"challenges": [challenge("locks", "BLOCKING")]},
    "i1/score": scores(6),
    "i1/audit": scores(6),
}


def test_an_answer_counts_where_the_pause_is_the_same(tmp_path):
    asked: list[str] = []

    def person(pause: Any) -> str:
        asked.append(pause.pause_id)
        return f"acknowledge:{pause.challenges[0].id}"

    given: dict[str, Any] = {"answers": BLOCKS, "panel": None, "on_blocked": person}
    run = planned(tmp_path, {"i1/surface": "timeout"}, **given)
    assert asked == ["i1/pause-1"]
    last = vp.resume(run, backend=Failing(BLOCKS), retry_failed=True, on_blocked=person, progress=False)
    holds(last)
    assert asked == ["i1/pause-1"]
    assert derived(last) == derived(planned(tmp_path / "whole", **given))


def test_an_answer_to_another_question_is_asked_for_again(tmp_path):
    answers = BLOCKS | {"i1/domain-expert": {"challenges": [challenge("journal", "BLOCKING")]}}
    given: dict[str, Any] = {"answers": answers, "panel": None, "on_blocked": "pause", "team": "scaled"}
    run = planned(tmp_path, {"i1/domain-expert": "error"}, **given)
    run = vp.resume(run, "acknowledge:C1", backend=Failing(answers), progress=False)
    assert run.verdict is not None
    last = vp.resume(run, backend=Failing(answers), retry_failed=True, progress=False)
    assert last.waiting is not None
    assert [each.id for each in last.waiting.challenges] == ["C1", "C2"]
    with pytest.raises(InputError, match="answer: cannot be given with retry_failed"):
        vp.resume(last, "context", note="x", retry_failed=True)


# What is said, what is refused


def test_an_ended_run_comes_back_as_it_is_and_says_how_its_calls_are_asked_again(tmp_path, cli, capsys):
    run = crossed(tmp_path, {"r1/bob/p1": "error"})
    before = run.log_path.read_bytes()
    assert vp.resume(run, progress=True).events == run.events
    assert "as 1 call failed, `verifyplan resume" in capsys.readouterr().err.replace("\n", " ")
    done = cli("resume", run.log_path)
    assert "has ended: nothing is asked again; as 1 call failed, `verifyplan resume" in done.err
    assert run.log_path.read_bytes() == before


def test_where_nothing_failed_it_says_so(tmp_path, cli):
    run = crossed(tmp_path)
    before = run.log_path.read_bytes()
    backend = Failing(VOTES)
    assert vp.resume(run, backend=backend, retry_failed=True).events == run.events
    done = cli("resume", run.log_path, "--retry-failed")
    assert "nothing to retry: no call failed, and no limit kept one back" in done.err
    assert (backend.calls, run.log_path.read_bytes()) == ([], before)


def test_the_shell_reopens_a_run(tmp_path, cli):
    run = planned(tmp_path, {"i1/challenger": "error"})
    answers = tmp_path / "answers.json"
    answers.write_text(json.dumps(script()))
    failed = tuple(event.call_id for event in run.events if event.type == "call-failed")
    changed = ("--timeout", "30", "--max-tokens", "9000000")
    done = cli("resume", run.log_path, "--retry-failed", "--script", answers, *changed)
    assert "RETHINK" in done.out
    [reopened] = [event for event in vp.read_run(run.log_path).events if isinstance(event, RunReopened)]
    assert (reopened.retried, reopened.timeout, reopened.limits.max_tokens) == (failed, 30.0, 9000000)
    shown = cli("log", run.log_path).out
    assert f"Run reopened; asked again: {', '.join(failed)}; what line" in shown


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"max_retries": 3}, "max_retries: applies only to models that the log names"),
        ({"max_cost": -1}, "max_cost: cannot be"),
        ({"timeout": 0}, "timeout: must be a finite number above 0, got 0"),
        ({"max_retries": 1.5}, "max_retries: must be a whole number, got 1.5"),
    ],
)
def test_what_cannot_be_changed_is_refused_and_nothing_is_written(tmp_path, given, words):
    run = crossed(tmp_path, {"r1/bob/p1": "error"})
    before = run.log_path.read_bytes()
    with pytest.raises(SettingsError, match=words):
        vp.resume(run, backend=Failing(VOTES), retry_failed=True, **given)
    assert run.log_path.read_bytes() == before


def test_a_run_of_message_batches_is_asked_again_one_by_one_and_says_so(tmp_path, capsys):
    log = crossed(tmp_path, {"r1/bob/p1": "error"}).log_path
    name = journal_run_name(log, vp.read_run(log).records)
    with open_journal(log.parent) as journal:
        journal.intend(None, None, [BatchedExchange(run=name, turn="r1/ann/p1/t1", sha256="")])
    backend = Failing(VOTES)
    run = vp.resume(log, backend=backend, retry_failed=True, progress=True)
    assert backend.calls[0] == "r1/bob/p1"
    assert "call-failed" not in [record.event.type for record in current(run.records)]
    said = " ".join(capsys.readouterr().err.split())
    assert "went in message batches: its failed calls are asked one by one here, at the full price" in said


def test_a_long_run_is_reopened_as_it_is_in_memory(tmp_path, monkeypatch, whole):
    for module in (reader, recorder):
        monkeypatch.setattr(module, "MAX_RECORDS_IN_MEMORY", 10)
    run = crossed(tmp_path, {"r1/bob/p1": "error", "r1/cy/p2": "timeout"})
    last = vp.resume(run, backend=Failing(VOTES), retry_failed=True, progress=False)
    holds(last)
    assert derived(last) == derived(whole["cross"])


def test_a_reopened_run_is_compiled_as_it_is_loaded(tmp_path, whole):
    run = crossed(tmp_path / "runs", {"r1/bob/p1": "error"})
    vp.resume(run, backend=Failing(VOTES), retry_failed=True, progress=False)
    vp.compile_dataset(tmp_path / "runs", tmp_path / "dataset")
    own, compiled = vp.load(run.log_path), vp.load(tmp_path / "dataset").in_memory()
    assert own.findings["classification"].tolist() == whole["cross"].frames.findings["classification"].tolist()
    columns = ["call_id", "reopening", "superseded", "status"]
    assert compiled.calls[columns].astype(str).to_numpy().tolist() == own.calls[columns].astype(str).to_numpy().tolist()


def test_a_log_that_was_changed_after_a_reopening_is_found(tmp_path):
    run = crossed(tmp_path, {"r1/bob/p1": "error"})
    last = vp.resume(run, backend=Failing(VOTES), retry_failed=True, progress=False)
    copy = Path(shutil.copy(last.log_path, tmp_path / "copy.jsonl"))
    copy.write_bytes(copy.read_bytes().replace(b'"superseded_from"', b'"superseded_fron"', 1))
    with pytest.raises(LogError, match="is damaged"):
        vp.read_run(copy)


def test_a_log_in_words_marks_what_a_reopening_superseded(tmp_path):
    run = crossed(tmp_path, {"r1/bob/p1": "error"})
    assert not any("[superseded]" in line for line in log_text(run.records))
    again = vp.resume(run, backend=Failing(VOTES), retry_failed=True, progress=False)
    records = parse_log(again.log_path.read_bytes(), "run").records
    marked = {int(line.split()[0]) for line in log_text(records) if "[superseded] " in line}
    assert marked == {record.seq for record in records} - {record.seq for record in current(records)}
    assert len(marked) > 1
