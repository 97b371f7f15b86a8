"""A plan's fields, in document 003's form and in the older ones; new plans pass their own check."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.longer import examples
from verifyplan.documents.checks.check import check_document
from verifyplan.documents.kinds.plan import MustHave
from verifyplan.documents.kinds.write_plan import PlannedTask, write_plan
from verifyplan.documents.loading import load_text
from verifyplan.errors import InputError

OLDER = """---
phase: 13-backend
plan: 01
requirements: [A-1]
must_haves:
  truths:
    - "It runs"
  artifacts:
    - path: "src/a.py"
      provides: "a thing"
    - "src/b.py exists"
    - {x: 1}
  key_links:
    - from: "src/a.py"
      to: "table"
      via: "an import"
gap_closure: true
---
<objective>
Do it.
</objective>
"""

TASK = PlannedTask("Fix it", ("src/a.py",), ("Open it", "Fix it"), "pytest -q", "Tests pass")


def written(**changed):
    given_ = {
        "phase": "02-auth",
        "plan": "02-03",
        "objective": "Close the gap",
        "tasks": [TASK],
        "must_haves": {"truths": ["it works"], "artifacts": ["src/a.py: the fix"]},
    }
    return write_plan(**{**given_, **changed})


def test_an_older_form_is_named_and_read_under_its_own_names():
    document = load_text(OLDER, "13-01-PLAN.md")
    assert (document.form, document.phase, document.plan) == ("objective", "13-backend", "13-01")
    assert document.requirement_ids == ("A-1",)
    assert document.gap_closure is True
    assert document.objective == "Do it."
    assert document.must_haves.all() == (
        MustHave("It runs", "truth", 7),
        MustHave("src/a.py: a thing", "artifact", 9, "src/a.py"),
        MustHave("src/b.py exists", "artifact", 11, "src/b.py"),
        MustHave("x: 1", "artifact", 12),
        MustHave("src/a.py -> table: an import", "key_link", 14, "src/a.py"),
    )
    assert document.as_contract().requirement_ids == ()


@pytest.mark.parametrize(
    ("phase", "plan", "read"),
    [
        ("13-b", "01", "13-01"),
        ("12.1-b", "2", "12.1-2"),
        ("auth", "01", "01"),
        ("1", "auth-01", "auth-01"),
        ("2", '"02-01"', "02-01"),
    ],
)
def test_a_plans_id_takes_its_phase_where_it_is_a_number_alone(phase, plan, read):
    assert load_text(f"---\nphase: {phase}\nplan: {plan}\n---\n", "PLAN.md").plan == read


def test_what_a_plan_holds_wrongly_is_empty():
    document = load_text("---\nphase: [x]\nwave: two\nmust_haves: a\nprovides: {a: 1}\n---\n", "PLAN.md")
    assert (document.phase, document.plan, document.wave, document.provides) == (None, None, None, ())
    assert document.must_haves.all() == ()
    assert document.tasks == ()


def test_a_new_plan_reads_as_it_was_given_and_breaks_no_rule():
    text = written(gap_closure=True, depends_on=["02-01"], provides=["a"], consumes=["b"], requirement_ids=["R-1"])
    document = load_text(text, "02-03-PLAN.md")
    assert list(check_document(document)) == []
    assert (document.form, document.plan, document.gap_closure, document.wave) == ("contract", "02-03", True, 1)
    assert (document.files_modified, document.depends_on) == (("src/a.py",), ("02-01",))
    assert (document.objective, document.requirement_ids) == ("Close the gap", ("R-1",))
    assert [(t.id, t.name, t.files, t.text("verify")) for t in document.tasks] == [
        ("02-03-T1", "Fix it", ("src/a.py",), "pytest -q")
    ]
    assert document.tasks[0].text("action") == "1. Open it\n2. Fix it"


def test_a_plan_that_cannot_be_is_refused_with_all_reasons():
    bad = PlannedTask(" ", (), ("x",), "v", "d", complexity="easy")
    with pytest.raises(InputError) as caught:
        written(phase=" ", plan="3", wave=0, tasks=[bad], must_haves={"artifacts": ["it"], "truths": [""], "x": []})
    assert [problem.place for problem in caught.value.problems] == [
        "phase",
        "plan",
        "wave",
        "must_haves",
        "must_haves: artifact 1",
        "must_haves: truths",
        "task 1: name",
        "task 1: files",
        "task 1: complexity",
    ]
    with pytest.raises(InputError, match="tasks: there are none"):
        written(tasks=[])
    with pytest.raises(InputError, match="longer than"):
        written(provides=["x" * 50_000])


TEXTS = st.text(max_size=30) | st.lists(
    st.sampled_from(
        ["`", "```", "~~~", "</task>", "</name>", "<task>", "<!--", "-->", "#", "|", "\n", "- ", "a", " ", ":", '"']
    ),
    max_size=8,
).map("".join)


@given(TEXTS, TEXTS, TEXTS, st.lists(TEXTS, max_size=3))
@settings(max_examples=examples(80))
def test_whatever_its_texts_a_new_plan_is_refused_or_breaks_no_rule(name, verify, objective, items):
    task = PlannedTask(name, ("src/a.py",), (name, verify), verify, name)
    try:
        text = written(objective=objective, tasks=[task, TASK], must_haves={"truths": items}, provides=items)
    except InputError:
        return
    document = load_text(text, "02-03-PLAN.md")
    of_words = {"plan/task-name", "plan/task-verify"}  # what its names and checks say is the caller's
    assert [str(one) for one in check_document(document) if one.rule not in of_words] == []
    assert [task.id for task in document.tasks] == ["02-03-T1", "02-03-T2"]
    assert [item.text for item in document.must_haves.truths] == items
