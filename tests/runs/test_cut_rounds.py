"""A round that a limit of the run cuts off is not judged; every reader says so, and how the run goes on (rule B8)."""

from __future__ import annotations

import pytest

import verifyplan as vp
from tests.runs.crossing import AGREE, BURDEN, Playing, finding
from verifyplan.protocol.call import Reply, Usage, WorkerRequest

WHY = "max_tokens cut off the last round, so "
FINISH = "To finish the round, resume the run with retry_failed=True and a higher max_tokens."
FOUND = [finding(f"F-{n}", worker, truth=True) for n, worker in ((1, "ann"), (2, "bob"), (3, "ann"), (4, "bob"))]


def costly(request: WorkerRequest) -> Reply:
    """Answers of ten tokens; F-2 is not proved."""
    votes = {item.finding_id: BURDEN if item.finding_id == "F-2" else AGREE for item in request.items}
    return Reply(value={"votes": votes}, usage=Usage(input_tokens=10))


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run whose last of four calls is held back: the votes of cy on F-3 and F-4."""
    return vp.crossverify(
        FOUND,
        ["ann", "bob", "cy"],
        backend=Playing(costly),
        items_per_call=2,
        max_tokens=25,
        matcher=None,
        log_dir=tmp_path_factory.mktemp("cut"),
    )


def test_run_and_report_say_that_the_round_was_not_judged_and_how_to_go_on(run):
    resume = f"vp.resume({str(run.log_path)!r}, backend=..., retry_failed=True, max_tokens=TOKENS)"
    line = f"{WHY}it was not judged: 4 findings are worker-unique only because nothing classed them."
    calls, cut, sizes = str(run).splitlines()[:3]
    assert calls.startswith("1 of 4 calls failed: 1 budget (held back by a limit); ")
    assert cut == f"{line} To finish the round: {resume}"
    assert sizes.endswith("aborted-non-result after 1 round"), "no note says what share of votes the classes rest on"
    assert line in run.report().replace("\\", "").replace("**", "")
    assert run.shortfall == f"{WHY}it was not judged"
    assert f"note: {line} {FINISH}" in str(run.frames).splitlines()


@pytest.mark.parametrize("of", ["log", "artifact"])
def test_explain_says_so_and_what_the_votes_would_give(run, of):
    runs = run if of == "log" else vp.load(run.path)
    for name, derived in (("F-1", "full-consensus"), ("F-2", "worker-unique"), ("F-3", "full-consensus")):
        assert str(vp.explain(runs, name)).splitlines()[-1] == (
            f"  {WHY}the run did not judge it, and recorded worker-unique only because nothing classed the finding. "
            f"Under its own rules, the votes that were cast give {derived}. {FINISH}"
        )


@pytest.mark.parametrize("of", ["log", "artifact"])
def test_a_comparison_notes_that_it_judges_what_the_run_did_not(run, of):
    runs = run.frames if of == "log" else vp.load(run.path)
    compared = vp.compare(runs, resamples=5)
    note = (
        f"{WHY}the run did not judge it. Here its 4 findings are judged by the votes that were cast, and may have "
        f"other classes than the recorded ones. {FINISH}"
    )
    assert compared.notes[of == "log"] == note, "the first, but for the calls that failed"
    assert f"note: {note}" in str(compared)
    assert "other than the recorded" not in str(compared)
    twice = vp.compare({"x": runs, "y": runs.select(lambda r: r["kind"] == "cross")}, resamples=5)
    assert {f"x: {note}", f"y: {note}"} <= set(twice.notes)


def test_a_replay_judges_the_votes_that_were_cast(run):
    replayed = vp.replay(run).set_index("finding_id")
    assert replayed["classification"].tolist() == [*["full-consensus", "worker-unique"], *["full-consensus"] * 2]
    assert replayed["censored"].tolist() == [False, False, True, True], "the limit held back the votes of cy"
    assert replayed["low"].tolist() == ["full-consensus", "worker-unique", "worker-unique", "worker-unique"]
    assert replayed["high"].tolist() == replayed["classification"].tolist()
    assert replayed["recorded"].eq("worker-unique").all()


def test_a_later_round_that_is_cut_off_leaves_what_was_settled(tmp_path):
    def answer(request: WorkerRequest) -> Reply:
        half = BURDEN if request.worker == "bob" else AGREE
        votes = {item.finding_id: half if item.finding_id == "F-1" else AGREE for item in request.items}
        return Reply(value={"votes": votes}, usage=Usage(input_tokens=10))

    found = [finding("F-1", "ann"), finding("F-2", "ann")]
    run = vp.crossverify(
        found, ["ann", "bob", "cy"], backend=Playing(answer), max_tokens=25, matcher=None, log_dir=tmp_path
    )
    assert run.status == "aborted-non-result"
    assert f"{WHY}it was not judged: 1 finding is contested only because nothing classed it." in str(run)
    assert WHY in str(vp.explain(run, "F-1"))
    assert WHY not in str(vp.explain(run, "F-2"))
    assert vp.load(run.path).findings["n_rounds"].tolist() == [2, 1]


def test_a_run_that_goes_on_no_longer_has_the_round(run, tmp_path):
    log = tmp_path / run.log_path.name
    log.write_bytes(run.log_path.read_bytes())
    done = vp.resume(log, backend=Playing(costly), retry_failed=True, max_tokens=1000)
    assert done.status == "converged"
    for words in (str(done), str(done.frames), str(vp.explain(done, "F-1")), str(vp.compare(done, resamples=5))):
        assert "cut off" not in words


def test_the_round_of_a_plan_body_may_be_cut_off_alone(tmp_path):
    run = vp.crossverify(
        [finding("F-1", "ann")],
        ["ann", "bob", "cy"],
        backend=Playing(costly),
        task_type="implementation-planning",
        plan_items=[{"finding_id": name, "summary": name} for name in ("P-001", "P-002")],
        items_per_call=1,
        max_tokens=45,
        matcher=None,
        log_dir=tmp_path,
    )
    assert f"{WHY}it was not judged: 2 plan items are worker-unique only because nothing classed them." in str(run)
    assert run.shortfall == f"{WHY}it was not judged"
    assert WHY in str(vp.explain(run, "P-001"))
    assert WHY not in str(vp.explain(run, "F-1"))
    assert WHY not in str(vp.compare(run, resamples=5)), "which leaves the plan body out"
