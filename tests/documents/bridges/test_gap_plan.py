"""Gaps as the next plan: a task for each, which passes the checks of plans; and the whole way round."""

from __future__ import annotations

import pytest

from tests.labels_project import (
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
from verifyplan.documents import check, claims, gap_plan, load, load_text, verification
from verifyplan.documents.checks.check import check_document
from verifyplan.documents.dimensions.plan_check import plan_check
from verifyplan.documents.kinds.verification import Gap, MustHaveResult, write_verification
from verifyplan.errors import InputError

PRINTER = "src/printer.py: `send` sends a label to the printer"


@pytest.fixture
def plan():
    return load_text(PLAN_TEXT, "01-labels/PLAN-01.md")


def found(*failed, gaps=None, attempt=1):
    """A verification in which the given must-haves failed."""
    rows = [MustHaveResult("", text, "FAILED", "src/spool.py:8 does not") for text in failed]
    rows.append(MustHaveResult("", HOLDS, "VERIFIED", "src/labels.py:4"))
    return load_text(write_verification(rows, gaps, attempt=attempt), "VERIFICATION.md")


def test_each_gap_is_a_task_with_the_files_and_the_check_of_the_one_that_had_it(plan):
    made = gap_plan(found(REFUTED, PRINTER), plan)
    first, second = made.tasks
    assert first.files == ("src/spool.py", "src/printer.py", "tests/test_spool.py")
    assert second.files == ("src/printer.py",)
    for task in made.tasks:
        assert task.text("verify") == "python -m pytest tests/test_spool.py && python -m src.printer --dry-run"
    assert first.text("done") == REFUTED
    assert "1. Look at what was found: src/spool.py:8 does not" in first.text("action")
    assert f"2. make it hold: {REFUTED}" in first.text("action")


def test_the_plan_comes_after_its_plan_and_must_have_what_failed(plan):
    made = gap_plan(found(REFUTED, PRINTER, LINK), plan)
    assert (made.plan, made.phase, made.wave, made.depends_on) == ("01-02", "01-labels", 2, ("01-01",))
    assert made.gap_closure
    assert made.requirement_ids == ("LBL-01",)
    assert [[one.text for one in group] for group in made.must_haves] == [[REFUTED], [PRINTER], [LINK]]
    assert made.path == "01-labels/PLAN-02.md"


def test_it_passes_its_own_check_and_the_plan_check_finds_nothing_to_block(plan):
    made = gap_plan(found(REFUTED, PRINTER, LINK), plan)
    assert list(check_document(made)) == []
    done = plan_check([plan, made])
    assert [str(issue) for issue in done.blockers] == []
    assert [(edge.before, edge.after) for edge in done.graph.edges] == [(0, 1)]


def test_a_gap_in_other_words_is_closed_where_its_fix_says(plan):
    gap = Gap("Labels are printed twice", "seen on the printer", "Drop the second call in `src/printer.py`")
    made = gap_plan(found(REFUTED, gaps=[gap]), plan)
    assert made.tasks[0].files == ("src/printer.py",)
    assert [one.text for one in made.must_haves.truths] == ["Labels are printed twice"]
    assert list(check_document(made)) == []


def test_gaps_that_are_only_listed_are_closed_too(plan):
    text = f'---\nstatus: gaps_found\nattempt: 2\ngaps: ["{REFUTED}"]\n---\n# Verification\n'
    made = gap_plan(load_text(text, "VERIFICATION.md"), plan)
    assert made.tasks[0].text("done") == REFUTED
    assert made.objective.startswith("Close what attempt 2 of the verification found open in 01-01")


def test_the_number_is_the_one_after_the_last_plan_or_the_one_that_is_given(plan):
    second = load_text(PLAN_TEXT.replace("01-01", "01-07").replace("wave: 1", "wave: 3"), "01-labels/PLAN-07.md")
    verified = found(REFUTED)
    made = gap_plan(verified, [plan, second])
    assert (made.plan, made.wave) == ("01-08", 4)
    assert gap_plan(verified, plan, number="05").plan == "01-05"
    assert gap_plan(verified, plan, number="01-05").plan == "01-05"
    for wrong in ("02-05", "auth", "01-x"):
        with pytest.raises(InputError, match="no id can be made"):
            gap_plan(verified, plan, number=wrong)
    named = load_text(PLAN_TEXT.replace("phase: 01-labels", "phase: labels"), "labels/PLAN-01.md")
    with pytest.raises(InputError, match="number: no id can be made for the plan of phase 'labels'"):
        gap_plan(verified, named)


def test_without_gaps_there_is_nothing_to_plan(plan):
    with pytest.raises(InputError, match="verification: has no gap to close: its status is passed"):
        gap_plan(found(), plan)
    waiting = load_text(write_verification([MustHaveResult("", HOLDS, "HUMAN NEEDED", "")]), "VERIFICATION.md")
    with pytest.raises(InputError, match=r"its status is human_needed.* a person must first look"):
        gap_plan(waiting, plan)


def test_the_file_without_gaps_is_named_where_a_file_was_given(plan, tmp_path):
    found().save(tmp_path / "VERIFICATION.md")
    with pytest.raises(InputError, match=r"VERIFICATION\.md: has no gap to close"):
        gap_plan(tmp_path / "VERIFICATION.md", plan)


def test_the_closing_summary_counts_in_words(plan):
    made = gap_plan(found(REFUTED), plan)
    assert "- Must-haves: 1 truth, 0 artifacts, 0 key links" in made.text


def test_a_gap_for_which_nobody_names_a_file_is_refused():
    bare = load_text('---\nphase: 01-x\nplan: "01-01"\nmust_haves:\n  truths: ["logs are kept"]\n---\n', "PLAN-01.md")
    gap = Gap("logs are kept", "nobody saw one", "keep them")
    with pytest.raises(InputError, match="gap 'logs are kept': names no file, and neither does its task"):
        gap_plan(found("logs are kept", gaps=[gap]), bare)


@pytest.mark.parametrize(
    "text",
    ["</task><task>", "```\nrm -rf", "<done>", "a | b", "# heading", "<!-- x", "`one", "- [x] box", "---"],
)
def test_markup_in_a_gap_stays_text(plan, text):
    gap = Gap(f"x {text}", f"src/spool.py:8 {text}", f"mend src/spool.py {text}")
    made = gap_plan(found(REFUTED, gaps=[gap, gap]), plan)
    assert len(made.tasks) == 2
    assert all(task.closed and len(task.elements) == 5 for task in made.tasks)
    assert list(check_document(made)) == []


def test_from_plan_and_summary_over_a_cross_run_to_the_plan_that_closes_the_gap(tmp_path):
    root = labels_project(tmp_path)
    run = adversarially(claims(root / SUMMARY, root / PLAN), root)
    verified = verification(run, load(root / PLAN))
    verified.save(verified.path)
    closing = gap_plan(verified.path, root / PLAN)
    closing.save(closing.path)
    assert verified.gaps == (REFUTED, PRINTER)
    report = check(root)
    assert [(one.rule, one.path) for one in report.violations if one.severity == "error"] == []
    assert [document.kind for document in report.documents] == ["plan", "plan", "summary", "verification"]
    assert plan_check(root / ".planning/phases/01-labels").passed

    mended = labels_project(
        tmp_path, code={"src/spool.py": SPOOL, "src/printer.py": "def send(): ...\n"}, plan=(root / PLAN).read_text()
    )
    again = verification(
        adversarially(claims(mended / SUMMARY, mended / PLAN), mended),
        load(mended / PLAN),
        before=load(verified.path),
    )
    assert (again.attempt, again.gaps) == (2, ())
    assert again.status == "human_needed"
    assert UNREADABLE in [result.text for result in again.results if result.outcome == "human"]


SPOOL = "class Spool:\n    def push(self, item):\n        if self.full:\n            raise OverflowError(item)\n"


LISTED = f'gaps: ["{REFUTED}", "{PRINTER}"]\n'


def test_gaps_that_the_frontmatter_or_the_table_alone_tells_are_planned_too(plan):
    text = found(REFUTED, PRINTER).text
    assert LISTED in text
    rows = text.partition("## Gaps")[0]
    for told in (rows, rows.replace(LISTED, "gaps: []\n"), text.replace(LISTED, "gaps: []\n")):
        document = load_text(told, "VERIFICATION.md")
        assert [task.text("done") for task in gap_plan(document, plan).tasks] == [REFUTED, PRINTER]
    half = text.replace(f"### {PRINTER}", "### None").partition("### None")[0]
    document = load_text(half, "VERIFICATION.md")
    assert [gap.title for gap in document.gap_details] == [REFUTED]
    assert [task.text("done") for task in gap_plan(document, plan).tasks] == [REFUTED, PRINTER]


def test_a_gap_that_is_resolved_is_not_planned_again(plan):
    front = f"gaps:\n  - truth: '{REFUTED}'\n    status: resolved\n  - truth: '{PRINTER}'\n    status: failed\n"
    document = load_text(found(REFUTED, PRINTER).text.replace(LISTED, front), "VERIFICATION.md")
    assert document.gaps == (PRINTER,)
    assert [task.text("done") for task in gap_plan(document, plan).tasks] == [PRINTER]


def test_a_gap_without_a_check_of_its_own_is_checked_by_what_the_plan_runs():
    text = PLAN_TEXT.replace("python -m pytest tests/test_spool.py && python -m src.printer --dry-run", "test -f a")
    plan = load_text(text, "01-labels/PLAN-01.md")
    other = Gap("Labels are sorted by date", "src/labels.py:3 does not", "sort them in src/labels.py")
    (task,) = gap_plan(found(gaps=[other]), plan).tasks
    assert task.text("verify")
    assert not task.text("verify").startswith("test -")
