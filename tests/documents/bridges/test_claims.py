"""Claims of summaries as findings: which, with what evidence, and how they end in a cross run against the code."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import verifyplan as vp
from tests.labels_project import (
    ABSENT,
    DEFINED,
    HOLDS,
    PLAN,
    PLAN_TEXT,
    REFUTED,
    SUMMARY,
    SUMMARY_TEXT,
    UNREADABLE,
    adversarially,
    labels_project,
)
from tests.longer import examples
from verifyplan.documents import claims, load, load_text, must_have_findings
from verifyplan.documents.bridges.summary_claims import CATEGORIES
from verifyplan.documents.kinds.execution_summary import ExecutionSummary
from verifyplan.errors import InputError

OLDER = """---
phase: 13-backend
plan: 01
provides:
  - LambdaConfig with one name
requirements-completed: [INFRA-01]
key-files:
  created:
    - iac/main.tf
  modified: [./src/config.py, not a path]
---

# Summary

## Accomplishments

- Rewrote config.py for one name
- Everything is fast

## Task Commits

1. **Task 1: Create the project** - `1c5991d` (feat)

## Files Created/Modified

- `iac/main.tf` - the function
"""

SHORT = """---
phase: 1
plan: setup-01
status: complete
provides: ["base project structure"]
key_files: ["src/index.js"]
deferred: []
---

# Summary: setup-01
"""


@pytest.fixture
def project(tmp_path):
    return labels_project(tmp_path)


def of(text, name="01-01-SUMMARY.md", **more):
    return claims(load_text(text, name), **more)


def test_each_thing_that_is_said_to_be_done_is_a_finding_by_the_executor(project):
    found = claims(project / SUMMARY, project / PLAN)
    assert [(one.finding_id, one.category) for one in found] == [
        *((f"01-01/claim-{number}", "must-have") for number in range(1, 6)),
        ("01-01/claim-6", "provides"),
        ("01-01/claim-7", "commit"),
        ("01-01/claim-8", "task"),
    ]
    assert {one.worker for one in found} == {"executor"}
    assert {one.category for one in found} <= set(CATEGORIES)
    assert [one.summary for one in found[:2]] == [HOLDS, REFUTED]
    assert found[7].summary == "Task 01-01-T1 is done: `render_label` raises `ValueError` for an unknown size"


def test_what_is_skipped_or_partial_is_no_claim(project):
    said = " ".join(one.summary for one in claims(project / SUMMARY))
    assert "spooled parcel" not in said
    assert "T2" not in said


def test_a_claim_carries_the_must_have_that_it_is_and_cites_its_files_never_the_summary(project):
    found = claims(project / SUMMARY, project / PLAN)
    assert [one.ticket_ids for one in found[:5]] == [(f"01-01/must-have-{number}",) for number in range(1, 6)]
    assert found[1].evidence == "src/spool.py:1-200 src/printer.py:1-200 tests/test_spool.py:1-200"
    assert found[4].evidence == "src/printer.py:1-200"
    assert not any("SUMMARY" in one.evidence for one in found)
    assert all(one.ticket_ids == () for one in claims(project / SUMMARY))


def test_older_forms_claim_accomplishments_files_and_commits():
    found = [(one.finding_id, one.category, one.summary, one.evidence) for one in of(OLDER)]
    assert found == [
        ("13-01/claim-1", "accomplishment", "Rewrote config.py for one name", "src/config.py:1-200"),
        ("13-01/claim-2", "accomplishment", "Everything is fast", "iac/main.tf:1-200 src/config.py:1-200"),
        (
            "13-01/claim-3",
            "provides",
            "It provides: LambdaConfig with one name",
            "iac/main.tf:1-200 src/config.py:1-200",
        ),
        (
            "13-01/claim-4",
            "file-created",
            "The file `iac/main.tf` exists, and it was created.",
            "iac/main.tf:1-200",
        ),
        (
            "13-01/claim-5",
            "file-modified",
            "The file `src/config.py` exists, and it was modified.",
            "src/config.py:1-200",
        ),
        ("13-01/claim-6", "commit", "Commit 1c5991d is part of the history of the repository.", ""),
    ]


def test_a_short_form_claims_its_files_and_what_it_provides():
    found = of(SHORT, "SUMMARY-setup-01.md")
    assert [(one.finding_id, one.category) for one in found] == [
        ("setup-01/claim-1", "provides"),
        ("setup-01/claim-2", "file-modified"),
    ]


def test_ids_do_not_change_from_one_reading_to_the_next(project):
    assert claims(project / SUMMARY, project / PLAN) == claims(load(project / SUMMARY), load(project / PLAN))


def test_a_summary_that_claims_nothing_gives_no_findings():
    assert of("---\nplan: '01-01'\nstatus: partial\nmust_haves: ['a: SKIPPED']\n---\n") == ()


def test_another_document_is_refused_by_name(project):
    with pytest.raises(InputError, match=r"PLAN-01\.md: is a plan, not a summary"):
        claims(project / PLAN)
    with pytest.raises(InputError, match=r"SUMMARY-01-01\.md: is a summary, not a plan"):
        claims(project / SUMMARY, project / SUMMARY)
    with pytest.raises(InputError, match="is a folder, not a summary"):
        claims(project)


def classes(run):
    return {one.summary: one.classification for one in run.artifact.findings}


def test_a_true_claim_is_held_a_false_one_and_one_of_a_file_that_is_not_there_are_not(project):
    found = classes(adversarially(claims(project / SUMMARY, project / PLAN), project))
    assert found[HOLDS] == "full-consensus"
    assert found[REFUTED] == "worker-unique"
    in_a_file = {text: end for text, end in found.items() if " is defined in " in text}
    assert {text.split(",")[0]: end for text, end in in_a_file.items()} == {
        "`render_label` is defined in `src/labels.py`": "partial-consensus",
        "`send` is defined in `src/printer.py`": "worker-unique",
    }
    assert found[UNREADABLE] == "worker-unique"


def test_the_same_claim_is_held_once_its_file_is_there(tmp_path):
    root = labels_project(tmp_path, code={"src/printer.py": "def send(label):\n    return label\n"})
    found = classes(adversarially(claims(root / SUMMARY, root / PLAN), root))
    ends = [end for text, end in found.items() if text.startswith("`send` is defined in")]
    assert ends == ["partial-consensus"]


def test_claims_are_written_to_files_that_crossverify_reads(project, tmp_path):
    rows = [one.model_dump(mode="json") for one in claims(project / SUMMARY, project / PLAN)]
    (tmp_path / "findings.json").write_text(json.dumps(rows))
    again = adversarially(tmp_path / "findings.json", project)
    assert classes(again) == classes(adversarially(claims(project / SUMMARY, project / PLAN), project))
    assert again.artifact.findings[0].ticketIds == ("01-01/must-have-1",)


def test_must_haves_of_a_plan_are_findings_by_the_planner(project):
    found = must_have_findings(project / PLAN)
    assert [one.finding_id for one in found] == [f"01-01/must-have-{number}" for number in range(1, 7)]
    assert [one.category for one in found] == ["truth", "truth", "truth", "artifact", "artifact", "key_link"]
    assert {one.worker for one in found} == {"planner"}
    assert found[5].evidence == "src/spool.py:1-200 src/labels.py:1-200"
    assert len(adversarially(found, project, worker="planner").artifact.findings) == 6


def test_two_plans_of_one_id_are_refused():
    twice = [load_text(PLAN_TEXT, name) for name in ("PLAN-01.md", "copies/PLAN-01.md")]
    with pytest.raises(InputError, match=r"has the id '01-01' of PLAN-01\.md"):
        must_have_findings(twice)


MUST_HAVES = st.lists(st.text(min_size=1, max_size=60), max_size=4)


@settings(max_examples=examples(40))
@given(MUST_HAVES, st.sampled_from(["", "| a | b |\n", "<!-- x", "```\n"]), st.text(max_size=30))
def test_whatever_a_summary_says_its_claims_are_findings(must_haves, body, provided):
    front = json.dumps(
        {"plan": "01-01", "must_haves": [f"{text}: DONE" for text in must_haves], "provides": [provided]}
    )
    summary = load_text(f"---\n{front}\n---\n{body}", "SUMMARY-01-01.md")
    assert isinstance(summary, ExecutionSummary)
    found = claims(summary, load_text(PLAN_TEXT, "PLAN-01.md"))
    assert len({one.finding_id for one in found}) == len(found)
    assert all(one.summary.strip() and "\n" not in one.summary + one.evidence for one in found)


@pytest.mark.parametrize("name", ["ferry", "fake-project"])
def test_real_summaries_give_claims_of_their_files(real_tree, name):
    silent = []
    for phase in real_tree(name).phases:
        for summary in phase.summaries:
            found = claims(summary, phase.plan_of(summary))
            assert found == claims(summary, phase.plan_of(summary))
            silent += [summary.path] if not found else []
        for plan in phase.plans:
            assert len(must_have_findings(plan)) == len(plan.must_haves.all())
    assert len(silent) <= 3, silent


def test_claims_in_the_public_api(project):
    assert vp.documents.claims(project / SUMMARY)[0].summary == HOLDS
    assert DEFINED in SUMMARY_TEXT
    assert ABSENT in PLAN_TEXT
