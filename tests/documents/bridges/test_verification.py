"""A cross run as a verification: what each must-have is, by which votes, and what the next attempt makes of it."""

from __future__ import annotations

import pytest

import verifyplan as vp
from tests.labels_project import (
    ABSENT,
    CODE,
    DEFINED,
    HOLDS,
    LINK,
    PLAN,
    PLAN_TEXT,
    REFUTED,
    SUMMARY,
    UNREADABLE,
    adversarially,
    labels_project,
)
from verifyplan.agents.scripted import ScriptedBackend
from verifyplan.documents import check, claims, load, load_text, must_have_findings, verification
from verifyplan.documents.checks.changes import check_change
from verifyplan.documents.checks.check import check_document
from verifyplan.errors import InputError
from verifyplan.protocol.artifact import Artifact

MENDED = {
    "src/spool.py": CODE["src/spool.py"].replace(
        "        self.items.append(item)\n",
        "        if len(self.items) == 100:\n            raise OverflowError(item)\n        self.items.append(item)\n",
    )
}


@pytest.fixture
def project(tmp_path):
    return labels_project(tmp_path)


def verified(root, **more):
    """The verification of the plan's own must-haves by static workers."""
    return verification(
        adversarially(must_have_findings(root / PLAN), root, worker="planner"), load(root / PLAN), **more
    )


def statuses(made):
    return {result.text: result.status for result in made.results}


def voted(plan, verdicts, **more):
    """A run in which two workers vote on the first must-have of a plan as told."""
    votes = dict(zip(("ann", "bob"), verdicts, strict=True))
    finding = must_have_findings(plan)[0]
    script = {
        number: {worker: {finding.finding_id: answer} for worker, answer in votes.items()} for number in (1, 2, 3)
    }
    return vp.crossverify(
        [finding],
        ["planner", *votes],
        settings={"adversarial": True, **more},
        backend=ScriptedBackend(script),
        log_dir=None,
    )


ONE = '---\nphase: 01-x\nplan: "01-01"\nmust_haves:\n  truths: ["logs are kept"]\n---\n'


def plan_of(text=ONE, name="PLAN-01.md"):
    return load_text(text, name)


def test_must_haves_are_the_plans_and_each_has_its_status_from_the_votes(project):
    made = verified(project)
    assert statuses(made) == {
        HOLDS: "VERIFIED",
        REFUTED: "FAILED",
        UNREADABLE: "HUMAN NEEDED",
        DEFINED: "VERIFIED",
        ABSENT: "FAILED",
        LINK: "HUMAN NEEDED",
    }
    assert (made.status, made.attempt, made.must_haves_total, made.must_haves_passed) == ("gaps_found", 1, 6, 2)
    assert made.gaps == (REFUTED, ABSENT)
    assert made.path == str(project / ".planning/phases/01-labels/VERIFICATION.md")


def test_the_evidence_is_votes_citations_and_explanations(project):
    rows = {result.text: result.evidence for result in verified(project).results}
    assert rows[HOLDS].startswith("full-consensus, cites src/labels.py:1-200 tests/test_labels.py:1-200, ")
    assert "syntax-tree: agree, render_label raises ValueError at src/labels.py:4" in rows[HOLDS]
    assert "syntax-tree: disagree (counter-evidence), The body of push at src/spool.py:8" in rows[REFUTED]
    assert rows[UNREADABLE].startswith("nobody could show that it holds, or that it does not: worker-unique")


def test_a_gap_has_its_evidence_and_a_fix_that_names_task_and_files(project):
    gap, absent = verified(project).gap_details
    assert "there is no such file" in absent.evidence
    assert gap.title == REFUTED
    assert "counter-evidence" in gap.evidence
    assert gap.fix == (f"Make it hold (task 01-01-T2), in src/spool.py, src/printer.py, tests/test_spool.py: {REFUTED}")


def test_what_no_finding_speaks_of_is_not_verified_by_silence(project):
    run = adversarially(claims(project / SUMMARY, project / PLAN), project)
    row = verification(run, load(project / PLAN)).results[5]
    assert (row.text, row.status) == (LINK, "HUMAN NEEDED")
    assert row.evidence == "not verified: no finding of the run speaks of it"


def test_findings_without_ids_are_known_by_what_they_say(project):
    run = adversarially(claims(project / SUMMARY), project)
    assert all(finding.ticketIds == () for finding in run.artifact.findings)
    made = verification(run, load(project / PLAN))
    assert statuses(made)[HOLDS] == "VERIFIED"
    assert statuses(made)[DEFINED] == "VERIFIED"
    assert statuses(made)[REFUTED] == "FAILED"


def test_a_verification_passes_its_own_check(project):
    made = verified(project)
    assert list(check_document(made)) == []
    made.save(made.path)
    assert check(project).ok


DOUBT = {"verdict": "disagree", "disagree_basis": "burden-not-met", "explanation": "not shown"}
REFUTES = {"verdict": "disagree", "disagree_basis": "counter-evidence", "explanation": "log.py:3 drops it"}
AGREES = {"verdict": "agree", "explanation": "log.py:3 keeps it"}
CAVEAT = {"verdict": "supplement", "explanation": "only on disk"}


@pytest.mark.parametrize(
    ("verdicts", "status", "document"),
    [
        ((AGREES, AGREES), "VERIFIED", "passed"),
        ((AGREES, CAVEAT), "VERIFIED", "passed"),
        ((CAVEAT, CAVEAT), "HUMAN NEEDED", "human_needed"),  # neither names a place, and the plan none either
        ((AGREES, DOUBT), "VERIFIED", "passed"),  # lone-doubt: it held
        ((AGREES, REFUTES), "FAILED", "gaps_found"),
        ((REFUTES, REFUTES), "FAILED", "gaps_found"),
        ((DOUBT, DOUBT), "HUMAN NEEDED", "human_needed"),
    ],
)
def test_held_is_verified_refuted_is_failed_doubted_is_for_a_person(verdicts, status, document):
    plan = plan_of()
    made = verification(voted(plan, verdicts), plan)
    assert [result.status for result in made.results] == [status]
    assert made.status == document


def test_workers_that_open_no_file_verify_nothing():
    plan = plan_of()
    script = {1: {"bob": {"01-01/must-have-1": AGREES}}}
    run = vp.crossverify(must_have_findings(plan), ["planner", "bob"], backend=ScriptedBackend(script), log_dir=None)
    assert run.artifact.findings[0].classification == "full-consensus"
    (row,) = verification(run, plan).results
    assert row.status == "HUMAN NEEDED"
    assert row.evidence.startswith("held, but nobody opened the evidence: run it adversarially")


def test_an_artifact_is_enough(project):
    run = adversarially(must_have_findings(project / PLAN), project, worker="planner")
    plan = load(project / PLAN)
    assert verification(run.artifact, plan).text == verification(run, plan).text


def test_the_next_attempt_counts_up_and_tells_what_regressed(project):
    first = verified(labels_project(project, code=MENDED))
    assert statuses(first)[REFUTED] == "VERIFIED"
    second = verified(labels_project(project), before=first)
    assert second.attempt == 2
    assert statuses(second)[REFUTED] == "FAILED (REGRESSED)"
    assert second.results[1].evidence.startswith("a regression, it passed in attempt 1: ")
    assert check_change(first, second) == []
    assert list(check_document(second)) == []


def test_what_a_person_must_look_at_again_may_be_a_regression():
    plan = plan_of()
    before = verification(voted(plan, (AGREES, AGREES)), plan)
    after = verification(voted(plan, (DOUBT, DOUBT)), plan, before=before)
    assert after.results[0].evidence.startswith("possibly a regression, it passed in attempt 1: ")
    assert check_change(before, after) == []


def test_what_failed_stays_a_gap_until_it_is_shown_to_hold():
    plan = plan_of()
    before = verification(voted(plan, (REFUTES, REFUTES)), plan)
    doubted = verification(voted(plan, (DOUBT, DOUBT)), plan, before=before)
    assert (doubted.status, doubted.gaps) == ("gaps_found", ("logs are kept",))
    assert doubted.results[0].evidence.startswith("it failed in attempt 1 (worker-unique, ann, bob: disagree")
    assert doubted.gap_details[0].fix == before.gap_details[0].fix
    assert verification(voted(plan, (AGREES, AGREES)), plan, before=doubted).status == "passed"


def test_overrides_by_text_number_or_id_count_as_passed_and_last(project):
    made = verified(project, overrides=[REFUTED, "#3", "01-01/must-have-5", LINK])
    assert made.status == "passed"
    assert made.must_haves_passed == 6
    assert made.overrides == (REFUTED, UNREADABLE, ABSENT, LINK)
    assert statuses(made)[REFUTED] == "OVERRIDE"
    assert statuses(made)[HOLDS] == "VERIFIED"
    assert made.results[1].evidence.startswith("let pass by a user; failed: worker-unique")
    assert list(check_document(made)) == []
    again = verified(project, before=made)
    assert (again.status, again.attempt, again.overrides) == ("passed", 2, made.overrides)


def test_an_override_that_names_nothing_and_an_attempt_that_does_not_grow_are_refused(project):
    with pytest.raises(InputError, match="override 'no such thing'"):
        verified(project, overrides=["no such thing"])
    before = verified(project, attempt=4)
    with pytest.raises(InputError, match="is 4, and the attempt before was 4"):
        verified(project, before=before, attempt=4)
    assert verified(project, before=before).attempt == 5


def test_a_plan_without_must_haves_cannot_be_verified():
    plan = plan_of('---\nphase: 01-x\nplan: "01-01"\n---\n')
    run = voted(plan_of(), (AGREES, AGREES))
    with pytest.raises(InputError, match="has no must-haves to verify"):
        verification(run, plan)
    with pytest.raises(InputError, match="no plan is given"):
        verification(run, [])


def test_several_plans_of_a_phase_keep_their_must_haves_apart():
    plans = [plan_of(), plan_of(ONE.replace("01-01", "01-02"), "PLAN-02.md")]
    findings = must_have_findings(plans)
    script = {1: {"bob": {findings[0].finding_id: AGREES, findings[1].finding_id: REFUTES}}}
    run = vp.crossverify(
        findings,
        ["planner", "bob"],
        settings={"adversarial": True, "maxRounds": 1},
        backend=ScriptedBackend(script),
        log_dir=None,
    )
    made = verification(run, plans)
    assert [(result.text, result.status) for result in made.results] == [
        ("logs are kept", "VERIFIED"),
        ("logs are kept", "FAILED"),
    ]


HOSTILE = [
    "a | b `c | d` \\| e",
    "# no heading\n\n## Gaps\n\n### x",
    "<!-- never closed",
    "```\nfence",
    "<script>alert(1)</script> [x](javascript:1)",
    "---",
    "Suggested fix: none. **Evidence:** none",
    "[ ] a box: FAILED",
    "\u202eright to left\u2028next",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_whatever_a_must_have_says_it_stays_one_row_and_one_gap(text):
    plan = plan_of().with_front(must_haves={"truths": [text], "artifacts": [], "key_links": []})
    made = verification(voted(plan, ({**REFUTES, "explanation": f"m.py:3 {text}"}, REFUTES)), plan)
    assert [result.status for result in made.results] == ["FAILED"]
    assert len(made.gaps) == len(made.gap_details) == 1
    assert made.gap_details[0].evidence
    assert made.gap_details[0].fix
    assert list(check_document(made)) == []
    assert check_change(made, verification(voted(plan, (AGREES, AGREES)), plan, before=made)) == []


def test_the_plan_text_of_the_sample_breaks_no_rule():
    assert list(check_document(load_text(PLAN_TEXT, "PLAN-01.md"))) == []


def test_what_is_no_cross_run_is_refused_with_what_to_give():
    plan = load_text(PLAN_TEXT, "PLAN-01.md")
    for wrong in (plan, vp.RunSet(), "run.jsonl", None):
        with pytest.raises(InputError, match=r"run: must be a cross run, got .*\. Fix: give a cross run"):
            verification(wrong, plan)


FILED = ONE.replace('truths: ["logs are kept"]', 'artifacts: ["log.py: keeps logs"]')


def recorded(*rounds, classification="full-consensus", adversarial=True, **more):
    """An artifact of one finding on the must-have of a plan, with these votes by round."""
    finding = {
        "findingId": "01-01/must-have-1",
        "summary": "The file `log.py` exists, and it is so: keeps logs.",
        "originWorker": "planner",
        "originEvidence": "log.py:1-200",
        "classification": classification,
        "rounds": [{"round": at, "votes": votes} for at, votes in enumerate(rounds, 1)],
        **more,
    }
    return Artifact.model_validate(
        {"schemaVersion": "1.2", "config": {"adversarial": adversarial, "enabled": True}, "findings": [finding]}
    )


def vote(verdict, why="", basis=None):
    return {"verdict": verdict, "explanation": why, "disagreeBasis": basis}


SAW = vote("agree", "log.py:3 keeps it")
GONE = vote("verification-error", "timeout")


@pytest.mark.parametrize(
    ("artifact", "status", "why"),
    [
        (recorded({"ann": SAW, "bob": SAW}), "VERIFIED", "full-consensus"),
        (recorded(), "HUMAN NEEDED", "nobody voted on it"),
        (recorded({"planner": SAW}), "HUMAN NEEDED", "held, but nobody else voted on it"),
        (recorded({"ann": GONE, "bob": GONE}), "HUMAN NEEDED", "nobody voted on it"),
        (
            recorded({"ann": vote("agree", "nothing looked at: x"), "bob": vote("agree", "Nothing was looked at.")}),
            "HUMAN NEEDED",
            "held, but no vote for it looked at anything",
        ),
        (
            recorded({"ann": vote("agree", "fine"), "bob": vote("agree", "")}, originEvidence=""),
            "HUMAN NEEDED",
            "held, but no vote for it looked at anything",
        ),
        (recorded({"ann": vote("agree", "nothing looked at"), "bob": SAW}), "VERIFIED", "full-consensus"),
        (recorded({"ann": SAW, "bob": GONE, "cy": GONE}), "HUMAN NEEDED", "held, but 2 of 3 votes were lost to errors"),
        (recorded({"ann": SAW, "bob": SAW, "cy": GONE}), "VERIFIED", "full-consensus"),
        (
            recorded({"ann": SAW, "bob": vote("disagree", "log.py:9", "counter-evidence")}, {"ann": SAW, "bob": GONE}),
            "HUMAN NEEDED",
            "held, but the refutation by bob was lost to an error",
        ),
        (recorded({"ann": SAW, "bob": vote("supplement", "only on disk")}), "VERIFIED", "held with a caveat: "),
        (recorded({"ann": SAW, "bob": SAW}, adversarial=False), "HUMAN NEEDED", "held, but nobody opened the evidence"),
    ],
)  # fmt: skip
def test_nothing_is_verified_by_silence(artifact, status, why):
    (row,) = verification(artifact, plan_of(FILED)).results
    assert row.status == status
    assert row.evidence.startswith(why)


def test_a_caveat_is_told_before_the_votes():
    (row,) = verification(recorded({"ann": SAW, "bob": vote("supplement", "only on disk")}), plan_of(FILED)).results
    assert row.evidence.endswith("ann: agree, log.py:3 keeps it; bob: supplement, only on disk")


def test_a_plan_of_several_that_states_no_must_haves_or_cannot_be_read_is_refused():
    run = recorded({"ann": SAW, "bob": SAW})
    silent = plan_of('---\nphase: 01-x\nplan: "01-02"\n---\n', "PLAN-02.md")
    with pytest.raises(InputError, match=r"PLAN-02.md: has no must-haves to verify"):
        verification(run, [plan_of(FILED), silent])
    damaged = plan_of('---\nplan: "01-02"\nmust_haves: ["\\."]\n---\n', "PLAN-02.md")
    with pytest.raises(InputError, match=r"PLAN-02.md:\d+: the frontmatter cannot be read"):
        verification(run, [plan_of(FILED), damaged])


def test_a_summary_whose_frontmatter_cannot_be_read_claims_nothing_and_is_refused():
    damaged = load_text('---\nplan: "01-01"\nmust_haves: ["\\."]\n---\n', "SUMMARY-01-01.md")
    with pytest.raises(InputError, match="the frontmatter cannot be read"):
        claims(damaged)
