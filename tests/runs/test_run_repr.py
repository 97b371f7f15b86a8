"""What the repr of a run says: which run it is, how it ended, and how much there is of it."""

from __future__ import annotations

import pytest

import verifyplan as vp
from tests.runs.crossing import AGREE, BURDEN, finding
from tests.runs.crossing import run_of as cross_run
from tests.runs.plan.planning import run_of as plan_run
from verifyplan.agents.scripted import ScriptedBackend
from verifyplan.errors import InputError
from verifyplan.runs.run import Run

FOUND = [finding("F-1"), finding("F-2")]
VOTES = {1: {"bob": {"F-1": AGREE, "F-2": AGREE}, "cy": {"F-1": AGREE, "F-2": BURDEN}}}
DEBATE = {"t1/propose": {"content": "Say hello."}, "t1/verify": {"content": "Verified: it does."}}
DEBATE["t1/implement"] = {"content": "Done.", "diff": "--- /dev/null\n+++ b/hello\n@@ -0,0 +1 @@\n+hello\n"}


def cut(run: Run, events: int) -> Run:
    """The same run, broken off after so many events."""
    return type(run)(run.records[:events], run.log_path, run.run_id)


def test_a_cross_run_says_its_status_and_its_classes(tmp_path):
    run = cross_run(VOTES, FOUND, log_dir=tmp_path, max_rounds=1)
    name, events = "ad-hoc/state/convergence-ad-hoc-001", len(run.records)
    assert repr(run) == f"<CrossRun {name}: max-rounds-reached, 1 full-consensus, 1 contested, {events} events>"
    assert repr(cut(run, 3)) == f"<CrossRun {name}: broken off, 3 events>"


def test_a_plan_run_says_its_verdict_and_its_iterations():
    run = plan_run({}, silent=True)
    assert repr(run) == f"<PlanRun run: PROCEED, 1 iteration, {len(run.records)} events>"
    assert repr(plan_run({})).startswith("<PlanRun run: ended by failures, ")
    assert repr(cut(run, 1)) == "<PlanRun run: broken off, 0 iterations, 1 event>"
    plan = vp.plans.parse_plan("# Fix a typo\n\nCorrect the spelling in `README.md`.")
    assert repr(vp.verify(plan, log_dir=None)).startswith("<PlanRun run: PROCEED, 0 iterations, ")


def test_a_debate_says_its_status_and_its_turns():
    run = vp.debate("greet", ScriptedBackend(DEBATE), log_dir=None)
    assert repr(run) == f"<Debate run: CONVERGED VERIFIED, 1 turn, {len(run.records)} events>"
    assert repr(cut(run, 1)) == "<Debate run: broken off, 0 turns, 1 event>"


def test_a_report_returns_its_path_and_without_one_its_text(tmp_path):
    run = plan_run({}, silent=True)
    assert run.report(tmp_path / "report.md") == tmp_path / "report.md"
    assert (tmp_path / "report.md").read_text() == run.report()
    assert run.report(str(tmp_path / "page"), form="html") == tmp_path / "page"
    assert (tmp_path / "page").read_text() == run.report(form="html")
    with pytest.raises(InputError, match=r"report.txt' does not say the form.*Fix: name a .md or .html file"):
        run.report(tmp_path / "report.txt")


def test_runs_in_one_folder_cannot_be_paired_and_the_error_says_to_give_each_its_own(tmp_path):
    for mode in ("collaborative", "adversarial", "adversarial"):
        cross_run(VOTES, FOUND, log_dir=tmp_path / mode, mode=mode)
    logs = tmp_path / "adversarial" / "ad-hoc" / "state"
    with pytest.raises(InputError, match=r"'F-1' is in several runs .*Fix: give each run its own log_dir"):
        vp.compare(tmp_path / "collaborative", logs, resamples=5)
