"""`revise`: what is open is debated into a diff, applied and verified again; what may proceed is never touched."""

from __future__ import annotations

import html
from dataclasses import replace

import pytest

import verifyplan as vp
from tests.runs.revising import NAME, PLAN, Objecting, repository, revised, settling, to, verified
from verifyplan.agents.scripted import ScriptedBackend
from verifyplan.datasets.bundled import debate_script
from verifyplan.datasets.plans import plan_path
from verifyplan.datasets.sample import sample_repository
from verifyplan.diffs import apply
from verifyplan.errors import InputError
from verifyplan.plans.plan import parse_plan

REVERT = Objecting(revert="SIGNIFICANT")
"""Agents that object to `deploy.sh revert`."""

MENDED = PLAN.replace("deploy.sh revert", "deploy.sh rollback")


@pytest.fixture
def folder(tmp_path):
    return repository(tmp_path)


def test_what_is_open_is_settled_and_the_plan_may_proceed(folder):
    revision = revised(verified(REVERT, repo=folder), settling(to(MENDED)), REVERT)
    assert (revision.first.verdict, revision.verdict) == ("REVISE", "PROCEED")
    assert revision.plan == MENDED
    assert apply(revision.diff, {NAME: PLAN}.get) == {NAME: MENDED}
    assert revision.why == "the revised plan may proceed"
    assert revision.debates[0].started.debate.challenges == tuple(revision.first.state.challenges.values())


def test_static_agents_verify_what_a_script_revised(tmp_path):
    """Whatever they find: the diff is applied to the plan that got REVISE, and the result is verified by them again."""
    plan, sample = plan_path("excel-export"), sample_repository(tmp_path / "waybill")
    run = vp.verify(plan, sample, log_dir=None, progress=False)
    writer = ScriptedBackend(debate_script("excel-export"))
    revision = vp.revise(run, architect=writer, log_dir=None, progress=False)
    if run.verdict == "REVISE":
        assert revision.debates[0].status == "CONVERGED"
        again = revision.rounds[0].after
        assert "openpyxl>=3.1" in again.started.plan.plan_text
        assert again.started.backend["name"] == "static"
    else:
        assert revision.rounds == ()


def test_a_step_is_not_lost_unless_the_architect_verified_it(folder):
    run = verified(REVERT, repo=folder)
    cut = to(PLAN.replace("4. Go back with `deploy.sh revert`.\n", ""))
    for said, adopted in (("Not verified.", False), ("Verified: as I say.", True)):
        revision = revised(run, settling(cut, said), REVERT, max_turns=1, max_rounds=1)
        assert (revision.plan != PLAN) == adopted, said
    assert "1 step out of the plan" in revised(run, settling(cut, "Not verified."), REVERT, max_turns=1).why


def test_verdicts_of_other_agents_than_before_come_with_a_caution(folder):
    revision = revised(verified(REVERT, repo=folder), settling(to(MENDED)), REVERT)
    assert revision.caution == ""
    backend = revision.first.started.model_copy(update={"backend": {"name": "anthropic"}})
    first = replace(
        revision.first, records=(revision.first.records[0]._replace(event=backend), *revision.first.records[1:])
    )
    other = replace(revision, first=first)
    assert str(other).endswith(
        "caution: anthropic verified the plan before, and objecting after: they may see other things"
    )


def test_a_plan_that_may_proceed_is_never_touched(folder):
    run = verified(Objecting(), repo=folder)
    silent = ScriptedBackend({})  # fails whatever it is asked
    out = folder / "exists.md"
    out.write_text("mine\n")
    revision = revised(run, silent, silent, out=out)
    assert (revision.verdict, revision.rounds, revision.diff, revision.revised) == ("PROCEED", (), "", False)
    assert out.read_text() == "mine\n"
    assert revision.plan == PLAN
    assert revision.why == "nothing was raised, so nothing was revised"
    assert str(revision).startswith(f"{NAME}: PROCEED: nothing was raised, so nothing was revised\n  ")
    assert revision.table.empty


def test_a_plan_that_nothing_was_raised_about_is_told_with_what_that_rests_on(folder):
    plan = parse_plan("# Clean up\n\nGoal: less.\n\n1. Drop the table users\n2. Tell all\n", "danger.md")
    revision = revised(vp.verify(plan, folder, log_dir=None, progress=False), ScriptedBackend({}), "static")
    assert revision.notes[0].startswith("no look-up was made")
    assert revision.notes[1].startswith("1 word of destruction (line 5: drop) and no agent raised anything")
    assert revision.notes[-1].startswith("Static agents see what a look-up shows")
    head = "danger.md: PROCEED: nothing was raised, so nothing was revised"
    assert str(revision).splitlines() == [head, *(f"  {note}" for note in revision.notes)]
    assert revision.notes[-1] in html.unescape(revision._repr_html_())


def test_a_trivial_plan_was_not_checked_and_one_whose_challenges_are_settled_was(folder):
    small = vp.verify(parse_plan("# Fix a typo\n\nCorrect it."), folder, log_dir=None, progress=False)
    told = str(revised(small, ScriptedBackend({}), "static"))
    assert ": PROCEED: nothing was checked, so nothing was revised\n  the plan is too small for a team" in told
    minor = revised(verified(Objecting(revert="MINOR"), repo=folder), ScriptedBackend({}), "static")
    assert minor.why == "what was raised is settled or MINOR, so nothing was revised"


def test_a_plan_to_rethink_is_left_to_a_person(folder):
    blocked = Objecting(revert="BLOCKING")
    revision = revised(verified(blocked, repo=folder), settling(to(MENDED)), blocked)
    assert (revision.verdict, revision.rounds) == ("RETHINK", ())
    assert "is left to a person" in str(revision)


def test_the_table_tells_what_each_round_settled(folder):
    both = Objecting(revert="SIGNIFICANT", RUNBOOK="SIGNIFICANT")
    revision = revised(verified(both, repo=folder), settling(to(MENDED)), both)
    told = revision.table[["round", "challenge", "severity", "outcome", "debate", "adopted"]]
    assert told.to_numpy().tolist() == [
        [1, "C1", "SIGNIFICANT", "settled", "CONVERGED VERIFIED", True],
        [1, "C2", "SIGNIFICANT", "open again", "CONVERGED VERIFIED", True],
        [2, "C1", "SIGNIFICANT", "not tried", "CONVERGED VERIFIED", False],
    ]
    assert (revision.plan, revision.verdict) == (MENDED, "REVISE")
    assert "what is open takes a decision" in revision.why
    assert f"<pre>--- a/{NAME}" in revision._repr_html_()


def test_the_same_run_is_revised_the_same_way(folder):
    run = verified(REVERT, repo=folder)
    assert revised(run, settling(to(MENDED)), REVERT).plan == revised(run, settling(to(MENDED)), REVERT).plan == MENDED


def test_every_debate_and_run_has_a_log_and_only_out_is_written(folder):
    plan, out, logs = folder / NAME, folder / "new" / NAME, folder / "runs"
    plan.write_text(PLAN)
    run = vp.verify(plan, folder, backend=REVERT, panel=None, max_iterations=1, log_dir=logs, progress=False)
    revision = revised(run, settling(to(MENDED)), REVERT, log_dir=logs, out=out)
    assert out.read_text() == revision.plan == MENDED
    assert plan.read_text() == PLAN
    assert {path.name for path in logs.glob("*.jsonl")} == {
        "lock-001.jsonl",
        "lock-revised-001.jsonl",
        "debate-001.jsonl",
    }
    again = vp.read_run(logs / "lock-revised-001.jsonl")
    assert again.started.task_key.endswith("(revision 1)")
    assert again.started.plan.settings == revision.first.started.plan.settings
    assert vp.read_run(logs / "debate-001.jsonl").log == revision.debates[0].log
    assert revised(logs / "lock-001.jsonl", settling(to(MENDED)), REVERT).plan == revision.plan


def test_the_plan_that_lies_in_the_repository_does_not_vouch_for_its_revision(tmp_path):
    (tmp_path / "prices.py").write_text("def round_price(amount):\n    return amount\n")
    text = "# Plan\n\n1. Change `prices.py`: use `round_pricee` in `prices.py`.\n2. Run `pytest`.\n3. Tell the shop.\n"
    (tmp_path / "PLAN.md").write_text(text)
    (tmp_path / "NOTES.md").write_text("Prices.\n")
    for plan in (text, text.replace("Tell the shop", "Tell the shop and the till")):
        run = vp.verify(parse_plan(plan, "PLAN.md"), tmp_path, log_dir=None, progress=False)
        assert [one.claim for one in run.state.challenges.values() if "round_pricee" in one.claim], plan


def test_a_round_after_which_no_less_is_open_is_not_adopted_whatever_the_architect_says(folder):
    diff = to(PLAN.replace("# Name the lock of the deploy script", "# The lock"))
    revision = revised(verified(REVERT, repo=folder), settling(diff), REVERT)
    assert revision.debates[0].status == "CONVERGED"
    assert (len(revision.rounds), revision.rounds[0].adopted) == (1, False)
    assert (revision.plan, revision.diff) == (revision.original, "")
    assert "left no fewer challenges open" in revision.why


HUNK = "@@ -1 +1 @@\n-a\n+b\n"


@pytest.mark.parametrize("diff", ["nonsense", f"--- a/x.md\n+++ b/x.md\n{HUNK}", f"--- a/{NAME}\n+++ b/{NAME}\n{HUNK}"])
def test_a_diff_that_does_not_fit_changes_nothing(folder, diff):
    revision = revised(verified(REVERT, repo=folder), settling(diff), REVERT)
    assert (revision.plan, len(revision.runs)) == (revision.original, 1)
    assert "the debate changed nothing" in revision.why


def test_a_debate_whose_agent_fails_ends_the_revision(folder):
    revision = revised(verified(REVERT, repo=folder), ScriptedBackend({}), REVERT)
    assert revision.debates[0].reason == "AGENT_FAILED"
    assert revision.why.startswith("the debate has no result (t1/propose: error")
    assert revision.plan == revision.original


def test_bad_arguments_are_told_before_anybody_is_asked(folder):
    roles, run = settling(to(MENDED)), verified(REVERT, repo=folder)
    with pytest.raises(InputError, match="max_rounds"):
        revised(run, roles, REVERT, max_rounds=0)
    with pytest.raises(InputError, match=r"out: .* cannot be written \(is a folder\)"):
        revised(run, roles, REVERT, out=folder)
    with pytest.raises(InputError, match="is a int, not a plan run"):
        revised(3, roles, REVERT)
    blocked = Objecting(revert="BLOCKING")
    with pytest.raises(InputError, match="has not ended: it waits"):
        revised(verified(blocked, repo=folder, on_blocked="pause", max_iterations=2), roles, blocked)
    with pytest.raises(InputError, match="is not a folder"):
        revised(run, roles, REVERT, repo=folder / "nowhere")


@pytest.mark.parametrize("roles", [None, "static"])
def test_a_revision_needs_somebody_who_can_write_and_says_so_before_the_plan_is_verified(folder, roles):
    (folder / NAME).write_text(PLAN)
    with pytest.raises(InputError, match=r"architect: .* Fix: give agents.Anthropic\(model\), a ScriptedBackend"):
        vp.revise(folder / NAME, folder, architect=roles, log_dir=folder / "runs")
    assert not (folder / "runs").exists()
