"""`revise`: what is open is debated into a diff, applied and verified again; what may proceed is never touched."""

from __future__ import annotations

from dataclasses import replace

import pytest

import verifyplan as vp
from verifyplan.agents.scripted import ScriptedBackend
from verifyplan.agents.static.debate.diffs import diff_of
from verifyplan.agents.static.debate.patch import apply
from verifyplan.datasets.plans import labelled_plans, plan_path
from verifyplan.datasets.plans_repository import sample_repository
from verifyplan.documents import parse_plan
from verifyplan.errors import InputError
from verifyplan.loops.revise.revise import revise

SUBSET = ("scan-country", "purge-window", "scan-source", "readiness")
"""Of the plans that get REVISE and are not held out; some of them take a decision."""


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    return sample_repository(tmp_path_factory.mktemp("sample") / "waybill")


def revised(plan, repository, **more):
    return revise(plan, repository, **{"log_dir": None, "progress": False, **more})


def verified(name, repository, **more):
    return vp.verify(plan_path(name), repository, log_dir=None, progress=False, **more)


def proposing(diff, content="Verified: as I say."):
    """Roles that settle on a diff at once."""
    said = {"content": content}
    return ScriptedBackend({"t1/propose": said, "t1/implement": said | {"diff": diff}, "t1/verify": said})


def test_at_least_half_of_the_revise_plans_may_then_proceed(repository):
    held_out = {plan.name for plan in labelled_plans(held_out=True)}
    revisions = {name: revised(plan_path(name), repository) for name in SUBSET}
    assert not held_out & revisions.keys()
    assert {one.first.verdict for one in revisions.values()} == {"REVISE"}
    passed = [name for name, one in revisions.items() if one.verdict == "PROCEED"]
    assert len(passed) * 2 >= len(SUBSET), passed
    for name, one in revisions.items():
        plan_name = one.first.started.plan.plan_name
        assert one.diff == "" or apply(one.diff, {plan_name: one.original}.get) == {plan_name: one.plan}, name
        assert len(parse_plan(one.plan).steps) >= len(parse_plan(one.original).steps), name


def test_a_step_is_not_lost_unless_the_architect_verified_it(repository):
    run = verified("readiness", repository)
    text, name = run.started.plan.plan_text, run.started.plan.plan_name
    last = next(line for line in text.split("\n") if line.startswith("9. "))
    cut = diff_of({name: (text, text.replace("deploy.sh revert", "deploy.sh rollback").replace(f"{last}\n", ""))})
    for said, adopted in (("Not verified.", False), ("Verified: as I say.", True)):
        roles = proposing(cut, said)
        revision = revised(run, repository, architect=roles, builder=roles, max_turns=1, max_rounds=1)
        assert (revision.plan != text) == adopted, said
    roles = proposing(cut, "Not verified.")
    assert "1 step out of the plan" in revised(run, repository, architect=roles, builder=roles, max_turns=1).why


def test_verdicts_of_other_agents_than_before_come_with_a_caution(repository):
    revision = revised(verified("readiness", repository), repository)
    assert revision.caution == ""
    backend = revision.first.started.model_copy(update={"backend": {"name": "anthropic"}})
    first = replace(
        revision.first, records=(revision.first.records[0]._replace(event=backend), *revision.first.records[1:])
    )
    other = replace(revision, first=first)
    assert str(other).endswith(
        "caution: anthropic verified the plan before, and static after: they may see other things"
    )


def test_a_plan_that_may_proceed_is_never_touched(repository, tmp_path):
    run = verified("export-date-range", repository)
    silent = ScriptedBackend({})  # fails whatever it is asked
    out = tmp_path / "exists.md"
    out.write_text("mine\n")
    revision = revised(run, repository, architect=silent, builder=silent, backend=silent, out=out)
    assert (revision.verdict, revision.rounds, revision.diff, revision.revised) == ("PROCEED", (), "", False)
    assert out.read_text() == "mine\n"
    assert revision.plan == run.started.plan.plan_text
    assert revision.why == "the plan may proceed: nothing was changed"
    assert revision.table.empty


def test_a_plan_to_rethink_is_left_to_whoever_decides(repository):
    revision = revised(plan_path("mail-job"), repository)
    assert (revision.verdict, revision.rounds) == ("RETHINK", ())
    assert "thought over by whoever decides" in str(revision)


def test_the_table_tells_what_each_round_settled(repository):
    revision = revised(verified("scan-source", repository), repository)
    told = revision.table[["round", "challenge", "severity", "outcome", "debate", "adopted"]]
    assert told.to_numpy().tolist() == [
        [1, "C1", "SIGNIFICANT", "settled", "FAILED NO_IMPROVEMENT", True],
        [1, "C2", "SIGNIFICANT", "open again", "FAILED NO_IMPROVEMENT", True],
        [2, "C1", "SIGNIFICANT", "not tried", "FAILED NO_IMPROVEMENT", False],
    ]
    assert "ALTER TABLE scans DROP COLUMN source;" in revision.plan
    assert revision.verdict == "REVISE"
    assert "what is open takes a decision" in revision.why
    assert "<pre>--- a/scan-source.md" in revision._repr_html_()


def test_the_same_run_is_revised_the_same_way(repository):
    run = verified("readiness", repository)
    assert revised(run, repository).plan == revised(run, repository).plan


def test_every_debate_and_run_has_a_log_and_only_out_is_written(tmp_path, repository):
    plan, out = tmp_path / "PLAN.md", tmp_path / "new/PLAN.md"
    plan.write_bytes(plan_path("readiness").read_bytes())
    revision = revise(plan, repository, log_dir=tmp_path / "runs", out=out, progress=False)
    assert out.read_text() == revision.plan != plan.read_text()
    assert plan.read_bytes() == plan_path("readiness").read_bytes()
    logs = {path.name for path in (tmp_path / "runs").glob("*.jsonl")}
    assert logs == {"PLAN-001.jsonl", "PLAN-revised-001.jsonl", "debate-001.jsonl"}
    again = vp.read_run(tmp_path / "runs/PLAN-revised-001.jsonl")
    assert again.started.task_key.endswith("(revision 1)")
    assert again.started.plan.settings == revision.first.started.plan.settings
    assert vp.read_run(tmp_path / "runs/debate-001.jsonl").log == revision.debates[0].log
    assert revise(tmp_path / "runs/PLAN-001.jsonl", log_dir=None, progress=False).plan == revision.plan


def test_the_plan_that_lies_in_the_repository_does_not_vouch_for_its_revision(tmp_path):
    (tmp_path / "prices.py").write_text("def round_price(amount):\n    return amount\n")
    text = "# Plan\n\n1. Change `prices.py`: use `round_pricee` in `prices.py`.\n2. Run `pytest`.\n3. Tell the shop.\n"
    (tmp_path / "PLAN.md").write_text(text)
    (tmp_path / "NOTES.md").write_text("Prices.\n")
    for plan in (text, text.replace("Tell the shop", "Tell the shop and the till")):
        run = vp.verify(parse_plan(plan, "PLAN.md"), tmp_path, log_dir=None, progress=False)
        assert [one.claim for one in run.state.challenges.values() if "round_pricee" in one.claim], plan


def test_a_round_after_which_no_less_is_open_is_not_adopted_whatever_the_architect_says(repository):
    run = verified("readiness", repository)
    diff = "--- a/readiness.md\n+++ b/readiness.md\n@@ -1 +1 @@\n-# Readiness route for the load balancer\n+# Ready\n"
    revision = revised(run, repository, architect=proposing(diff), builder=proposing(diff))
    assert revision.debates[0].status == "CONVERGED"
    assert (len(revision.rounds), revision.rounds[0].adopted) == (1, False)
    assert (revision.plan, revision.diff) == (revision.original, "")
    assert "no less is open after the last round" in revision.why


HUNK = "@@ -1 +1 @@\n-a\n+b\n"


@pytest.mark.parametrize(
    "diff", ["nonsense", f"--- a/x.md\n+++ b/x.md\n{HUNK}", f"--- a/readiness.md\n+++ b/readiness.md\n{HUNK}"]
)
def test_a_diff_that_does_not_fit_changes_nothing(repository, diff):
    revision = revised(
        verified("readiness", repository), repository, architect=proposing(diff), builder=proposing(diff)
    )
    assert (revision.plan, len(revision.runs)) == (revision.original, 1)
    assert "the debate changed nothing" in revision.why


def test_a_debate_whose_agent_fails_ends_the_revision(repository):
    silent = ScriptedBackend({})
    revision = revised(verified("readiness", repository), repository, architect=silent, builder=silent)
    assert revision.debates[0].reason == "AGENT_FAILED"
    assert revision.why.startswith("the debate has no result (t1/propose: error")
    assert revision.plan == revision.original


def test_bad_arguments_are_told_before_anybody_is_asked(tmp_path, repository):
    with pytest.raises(InputError, match="max_rounds"):
        revised(plan_path("readiness"), repository, max_rounds=0)
    with pytest.raises(InputError, match=r"out: .* cannot be written \(is a folder\)"):
        revised(plan_path("readiness"), repository, out=tmp_path)
    with pytest.raises(InputError, match="is a int, not a plan run"):
        revised(3, repository)
    waiting = verified("mail-job", repository, on_blocked="pause")
    with pytest.raises(InputError, match="has not ended: it waits"):
        revised(waiting, repository)
    with pytest.raises(InputError, match="is no folder"):
        revised(verified("readiness", repository), tmp_path / "nowhere")
