"""The plan check as a whole: what it is given, what it says, its report, and what is left to judge (rule D4)."""

# ruff: noqa: E501  (a case a line is read best)

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.longer import examples
from verifyplan.charts.plan_graph import plan_graph
from verifyplan.documents.dimensions.phase_documents import ContextItem, read_context, read_requirements
from verifyplan.documents.dimensions.plan_check import plan_check
from verifyplan.documents.kinds.plan import PlanDocument
from verifyplan.documents.kinds.plan_check_report import PlanCheckReport
from verifyplan.documents.reading.source import read_source
from verifyplan.errors import InputError


def report_of(check) -> PlanCheckReport:
    return PlanCheckReport.read(read_source(check.report(), "PLAN-CHECK.md"))


def test_the_report_is_in_the_contracts_form(broken):
    check, _ = broken("02-02-PLAN", '["02-01"]', '["02-07"]')
    lines = check.report().splitlines()
    assert lines[:2] == ["ISSUES FOUND", "Plans: 2 | Tasks: 4 | Blockers: 1 | Warnings: 0 | Info: 0"]
    assert lines[5] == "## Blockers"
    assert lines[7] == (
        '- [02-02] D3 blocker: it depends on "02-07", and there is no such plan -> Fix: correct the id, or add the plan'
    )
    assert str(check) == check.report()
    read = report_of(check)
    assert (read.passed, read.counts.blockers, read.unread) == (False, 1, ())
    assert [(issue.plan_id, issue.dimension, issue.severity) for issue in read.issues] == [("02-02", "D3", "blocker")]


def test_a_report_without_blockers_has_passed_and_says_what_is_left_to_judge(phase):
    check = plan_check(phase())
    assert check.report().startswith("VERIFICATION PASSED\nPlans: 2 | Tasks: 4 | Blockers: 0 | Warnings: 0 | Info: 0\n")
    assert (
        "\n\nLooked up in the plans' text, without a judge; a plan without issues is not thereby verified."
        " Not judged: D1 requirement coverage, D6 must-haves, D7 context compliance.\n"
    ) in check.report()
    assert "\n## Needs judgment\n\n- D1 requirement coverage: whether the tasks meet the 2 requirements" in str(check)
    assert 'whether 2 locked decisions are honoured: "A token expires after one hour" (line 5)' in str(check)
    assert len(check.judge) == 5
    assert report_of(check).passed is True


def test_what_does_not_apply_is_not_called_checked(documents):
    check = plan_check(documents('---\nplan: "02-01"\n---\n')[0])
    states = {one.number: one.state for one in check.dimensions}
    assert [n for n, state in states.items() if state == "not-applicable"] == [1, 4, 7, 9]
    assert "- D7 context compliance: not applicable (there is no CONTEXT.md)" in check.report()


@pytest.mark.parametrize(
    "text", ['a "-> Fix: b', "x\n## Blockers\n- [9] D1 blocker: y", "[z] -> fix: w", "\x1b[2J\u202e"]
)
def test_a_plans_words_cannot_forge_the_report(broken, text):
    check, _ = broken("02-02-PLAN", "A user who gives the right password gets a token", "T", "T")
    plan = check.plans[1].text.replace("<name>Test the login endpoint</name>", f"<name>{text}</name>")
    plan = plan.replace("<verify>pytest -q tests/test_login.py</verify>", f"<verify>{text}</verify>")
    plan = plan.replace('["02-01"]', '["02-01", "02-09"]')
    forged = plan_check([check.plans[0], type(check.plans[1]).read(read_source(plan, check.plans[1].path))])
    read = report_of(forged)
    assert len(read.issues) == len(forged.issues)
    assert read.counts.blockers == len(forged.blockers) >= 1
    assert all(issue.fix for issue in read.issues)


def test_one_plan_is_checked_among_those_beside_it(phase):
    folder = phase(**{"02_01_PLAN": (phase() / "02-01-PLAN.md").read_text().replace("wave: 1", "wave: 4")})
    second = plan_check(folder / "02-02-PLAN.md")
    assert [issue.rule for issue in second.issues] == ["wave-too-early", "consumed-too-early"]
    assert [plan.plan for plan in second.plans] == ["02-02"]
    assert [issue.rule for issue in plan_check(folder / "02-01-PLAN.md").issues] == ["wave-too-late"]
    assert len(plan_check(folder).issues) == 3


def test_of_a_plan_alone_nothing_is_said_about_others(phase, documents):
    (alone,) = documents((phase() / "02-02-PLAN.md").read_text())
    check = plan_check(alone)
    assert check.passed
    assert [told for told in check.judge if "no other plan was given" in told] == [
        'D3 dependency correctness: whether the plans exist that this one depends on ("02-01"): no other plan was given',
        "D9 contracts across plans: whether an earlier plan provides what this one consumes: no other plan was given",
    ]


def test_a_whole_tree_knows_all_phases(phase, tmp_path):
    folder = phase(
        **{"02_01_PLAN": (phase() / "02-01-PLAN.md").read_text().replace("depends_on: []", 'depends_on: ["01-01"]')}
    )
    assert [(i.rule, i.severity) for i in plan_check(folder).issues] == [("dependency-elsewhere", "warning")]
    assert [(i.rule, i.severity) for i in plan_check(tmp_path).issues] == [("dependency-unknown", "blocker")]
    other = tmp_path / ".planning" / "phases" / "01-setup"
    other.mkdir()
    text = (folder / "02-01-PLAN.md").read_text().replace('["01-01"]', "[]").replace("02-01", "01-01")
    (other / "01-01-PLAN.md").write_text(text)
    assert plan_check(folder).issues == ()  # the plan lies in the folder of another phase
    check = plan_check(tmp_path)
    assert check.issues == ()
    assert [(node.plan_id, node.wave) for node in check.graph.nodes] == [("01-01", 1), ("02-01", 1), ("02-02", 2)]
    assert [edge.across for edge in check.graph.edges] == [True, False]


def test_a_context_that_is_given_stands_for_the_one_beside_the_plans(phase, tmp_path):
    given_ = tmp_path / "decided.md"
    given_.write_text("## Decisions\n- Invoices balance\n\n## Deferred\n- The login endpoint\n")
    assert [issue.rule for issue in plan_check(phase(), context=given_).issues] == ["deferred-spoken"]


def test_plans_with_tests_first_are_checked_by_what_they_have(documents):
    text = (
        '---\nplan: "02-01"\ntype: tdd\nmust_haves:\n  truths: ["Bodies that were changed are refused"]\n---\n<objective>\n'
        "Sign.\n</objective>\n<feature>\n<name>Signature</name>\n<files>src/sign.py</files>\n<behavior>Bodies that were"
        " changed are refused</behavior>\n<implementation>Compare digests.</implementation>\n</feature>\n"
    )
    check = plan_check(documents(text)[0])
    assert check.issues == ()
    assert 'D8 verifiability: 02-01: how task "1. Signature" is to be checked; it states no command' in check.judge
    cut = plan_check(documents(text.replace("<implementation>Compare digests.</implementation>\n", ""))[0])
    assert [(issue.rule, issue.line) for issue in cut.issues] == [("element-missing", 10)]


@pytest.mark.parametrize("given_", [[], ["a"], 3, None])
def test_what_is_no_plan_is_refused(given_):
    with pytest.raises(InputError, match="plans: must be plan documents"):
        plan_check(given_)


def test_folders_and_files_that_hold_no_plan_are_refused(tmp_path):
    (tmp_path / "01-01-SUMMARY.md").write_text("# Summary\n")
    for place, message in (
        (tmp_path, "holds no plans"),
        (tmp_path / "01-01-SUMMARY.md", "is not a plan"),
        (tmp_path / "x", "cannot be read"),
    ):
        with pytest.raises(InputError, match=message):
            plan_check(place)
    with pytest.raises(InputError, match=r"repo: .* is not a folder"):
        plan_check(tmp_path, repo=tmp_path / "none")


def test_decisions_of_either_form_are_read():
    text = "## Decisions\n\n### 1. Zero\n\n**Decision:** Stay silent.\n\n- detail\n\n### Claude's Discretion\n- free\n\n## Implementation Decisions\n### Repo\n- Private\n  - nested\n"
    assert read_context(text).decisions == (ContextItem("Stay silent.", 5), ContextItem("Private", 14))
    text = "<decisions>\n## Implementation Decisions\n- A\n</decisions>\n<deferred>\n## Deferred Ideas\n- B\n\nNone\n</deferred>\n"
    assert read_context(text).decisions == (ContextItem("A", 3),)
    assert read_context(text).deferred == (ContextItem("B", 7),)
    assert read_context("## Deferred Ideas\n- None\n").deferred == ()


def test_requirements_are_read_from_headings_and_tables():
    text = (
        "### Phase 2: A\n**Requirements**: A-01, B-v1.1-02\n### Phase 12.1: B\nRequirements: A-02 → reassigned to Phase 3\n"
        "\n| Requirement | Phase | Status |\n|---|---|---|\n| C-01..C-03 | Phase 03 | x |\n| D-01 | none | x |\n"
    )
    read = read_requirements([read_source(text, "ROADMAP.md")])
    assert read.of_phase == {"2": ("A-01", "B-v1.1-02"), "3": ("C-01", "C-02", "C-03")}
    assert {"C-02", "D-01"} <= read.known
    assert "D-02" not in read.known


PIECES = st.sampled_from(
    ["---\n", "plan: 1\n", "wave: x\n", "depends_on: [1, 2]\n", "must_haves:\n", "  truths: [a, {b: c}]\n", "  key_links: 3\n",
     "  artifacts: [{path: [a]}]\n", "  key_links: [{from: [1], to: {}}, '', null]\n", "<task>\n", "</task>\n", "<name>", "</name>\n",
     "<verify>", "</verify>\n", "`", "'", '"', "&& | ; & ||", "sleep 9", "<files>a, b</files>\n", "<action>1.\n2.</action>", "\\\n",
     "provides: [a]\n", "consumes: ['a (from 01)']\n", "<feature>\n", "</feature>\n", "é\0", "```\n", "- [x] y\n"]
)  # fmt: skip


@settings(max_examples=examples(60))
@given(st.lists(st.lists(PIECES, max_size=25), min_size=1, max_size=3))
def test_any_plans_are_checked(documents, parts):
    check = plan_check(documents(*("".join(pieces) for pieces in parts)))
    assert len(check.dimensions) == 9
    assert report_of(check).counts.plans == len(parts)
    assert all(issue.line >= 1 and issue.fix and issue.description for issue in check.issues)


@pytest.mark.parametrize(
    "text",
    [
        "<task>\n<verify>" + "'\n" * 10_000 + "</verify>\n</task>\n" + "x" * 4_900_000,
        "<task>\n<action>" + "_" * 50_000 + "</action>\n<verify>" + "_" * 50_000 + "</verify>\n</task>",
        ("<task>\n<name>a</name>\n<files>src/a.py</files>\n<action>1. Do src/b.py\n2. Test</action>\n<verify>pytest a | tail</verify>\n</task>\n" * 8_000),
        "<task>\n" + "<action>" + "a.b." * 1_000_000 + "</action>\n</task>",
    ],
    ids=["quotes", "underscores", "tasks", "one action"],
)  # fmt: skip
def test_a_plan_of_five_megabytes_takes_no_time(documents, text):
    links = "".join(f"    - src/a{n}.py imports src/b{n}.py\n" for n in range(300))
    (plan,) = documents(f"---\nplan: 1\nmust_haves:\n  key_links:\n{links}---\n{text}")
    started = time.process_time()
    plan_check(plan)
    assert time.process_time() - started < 4  # 1 s here; machines differ


def test_the_graph_of_a_plan_check_is_drawn_from_the_check_itself_and_of_a_plan_not():
    plan = PlanDocument.read(read_source('---\nphase: 01-a\nplan: "01-01"\nwave: 1\n---\n', "PLAN-01.md"))
    check = plan_check(plan)
    assert plan_graph(check).caption == plan_graph(check.graph).caption
    with pytest.raises(InputError, match=r"must be a graph of plans, got a PlanDocument.* give the check"):
        plan_graph(plan)
