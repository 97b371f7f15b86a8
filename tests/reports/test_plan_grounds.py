"""The head of a plan's report says what its verdict rests on, and what nobody looked at (rule A13)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.reports.plan_events import PlanEvents, full
from tests.reports.plan_pages import plan_report, plan_report_html
from tests.runs.plan.planning import PLAN, run_of
from tests.runs.plan.planning import challenge as raised
from verifyplan.agents.scripted import ScriptedBackend
from verifyplan.plans.plan import parse_plan
from verifyplan.protocol.event_plan import SectionRead
from verifyplan.reports.plan import plan_summary
from verifyplan.reports.plan_grounds import CANNOT_SEE, challenge_groups, unchallenged_sections, warnings
from verifyplan.runlog.plan_state import PlanState
from verifyplan.runs.plan.verify import verify


def head(state: PlanState) -> str:
    return plan_report(state).split("\n## ")[0].replace("\\", "")


def of(run: PlanEvents, backend: dict[str, Any] | None = None, **repository: Any) -> PlanState:
    """The state of a run whose backend and repository say something else of themselves."""
    started = run.events[0]
    inputs = started.inputs.model_copy(update={"repository": started.inputs.repository | repository})  # type: ignore[union-attr]
    run.events[0] = started.model_copy(update={"inputs": inputs} | ({"backend": backend} if backend else {}))
    return run.state


def test_challenges_are_counted_by_what_became_of_them():
    told = head(full().state)
    assert "- Raised: 6 challenges." in told
    assert "- Settled with a citation: 2 (C1, C5)." in told
    assert "- Settled without a citation: 1 (C3)." in told
    assert "- Disputed by the panel: 2 (C2, C3)." in told
    assert "- Raised again, against a settled one: 1 (C6)." in told
    assert "In overflow" not in told, "it was promoted"
    assert "raised by challenger, against C3, which was settled" in plan_report(full().state)
    line = "6 challenges raised: 2 settled with a citation, 1 without, 3 disputed, 0 in overflow"
    assert line in plan_summary(full().state)


def test_a_person_s_decision_is_a_citation_and_overflow_is_named():
    run = PlanEvents().assess().begin().challenge("C1", "BLOCKING").challenge("C2", overflow="DEFERRED_CHALLENGED")
    run.move("C1", "RESOLVED", "we accept it", by="user", uncited=True)
    assert challenge_groups(run.state) == (["C1"], [], [], [], ["C2"])
    assert "- In overflow, so that nobody looked into it: 1 (C2)." in head(run.state)


def test_agents_that_failed_in_part_and_entries_that_were_refused_stand_at_the_head():
    told = head(full().state)
    assert (
        "A part of an agent failed while the rest answered: i1/challenger: check stale_paths failed: ValueError" in told
    )
    assert "\n  Failed in part: i1/challenger; the report says what\n" in plan_summary(full().state)
    many = PlanEvents().assess().begin().call("challenger", partial_failures=tuple(f"check {n}" for n in range(8)))
    assert "3 more parts of agents failed." in head(many.state)
    assert "Failed in part" not in plan_summary(PlanEvents().assess().begin().call("challenger").state)


def sections(*titles: str) -> PlanEvents:
    """A run over a plan whose sections have five lines each."""
    run = PlanEvents().assess()
    read = tuple(SectionRead(title=t, level=2, first=5 * n + 1, last=5 * n + 5) for n, t in enumerate(titles))
    run.events[-1] = run.events[-1].model_copy(update={"sections": read})
    return run.begin()


def test_sections_that_nobody_challenged_are_named():
    run = sections("Goal", "Steps", "Rollout").challenge("C1", evidence="cache.md:7-9\nother.md:12")
    assert [one.title for one in unchallenged_sections(run.state)[0]] == ["Goal", "Rollout"]
    assert "- Sections that nobody challenged, 2 of 3: Goal, Rollout." in head(run.state)
    assert "; 2 of 3 sections were not challenged" in plan_summary(run.state)
    assert "Nobody challenged any of the 2 sections." in head(sections("A", "B").state)
    whole = sections("A", "B").challenge("C1", evidence="cache.md:2-7").state
    assert "- Every section was challenged." in head(whole)
    assert "0 in overflow; every section was challenged\n" in plan_summary(whole)
    many = sections(*(f"S{n}" for n in range(15))).challenge("C1", evidence="cache.md:1")
    assert "S12 and 2 more." in head(many.state)


@pytest.mark.parametrize("citing", ["cache.md:2", "other.md:2"])
def test_a_plan_of_one_section_says_nothing_of_sections(citing):
    state = sections("A").challenge("C1", evidence=citing).state
    assert "nobody challenged" not in head(state).lower()
    assert "section" not in head(state)
    assert "section" not in plan_summary(state)


@pytest.mark.parametrize("name", sorted(CANNOT_SEE))
def test_what_agents_cannot_see_is_said_for_each_backend(name):
    state = of(PlanEvents().assess().begin(), {"name": name})
    assert CANNOT_SEE[name] in head(state)
    assert CANNOT_SEE[name] in plan_summary(state)


def test_what_static_agents_miss_is_said_with_the_figures_of_the_limits_page():
    page = " ".join((Path(__file__).parents[2] / "docs" / "limits.md").read_text("utf-8").split())
    assert "find 1 of the 13 held-out defects and say nothing about 59 of the 60 real plans" in page
    assert "of 13 defects seeded into held-out plans they found 1, and about 59 of 60" in CANNOT_SEE["static"]


def test_a_backend_says_itself_what_its_agents_cannot_see_and_one_that_does_not_is_said_to_be_unknown():
    own = of(PlanEvents().assess().begin(), {"name": "static", "cannot_see": "Nothing but <b>typos</b>."})
    assert "What these agents cannot see: Nothing but" in head(own)
    assert "&lt;b&gt;typos" in plan_report_html(own)
    for told in ({"name": "mine"}, {"name": ["x"]}, {"name": "mine", "cannot_see": 3}):
        assert "cannot see is not known: it does not say." in head(of(PlanEvents().assess().begin(), told))


@pytest.mark.parametrize(
    ("repository", "warning"),
    [
        ({"files": 0}, "The repository is empty"),
        (
            {"files": 9, "files_named": 4, "files_found": 0},
            "None of the 4 files that the plan names is in",
        ),
        ({"files": 9, "files_named": 4, "files_found": 1}, ""),
        ({"files": 9, "files_named": 0, "files_found": 0}, ""),
        ({"files": 9}, ""),
    ],
)
def test_a_repository_that_silences_the_checks_of_files_is_said_loudly(repository, warning):
    state = of(PlanEvents().assess().begin(), **repository)
    assert [one[: len(warning)] for one in warnings(state)] == ([warning] if warning else [])
    shown = warning or "The repository is empty"
    assert (f"**{shown}" in head(state)) == bool(warning)
    assert (f"\n  WARNING: {shown}" in plan_summary(state)) == bool(warning)


def test_a_run_counts_the_files_that_the_plan_names_and_that_are_there(tmp_path):
    plan = parse_plan(
        "# T\n\nGoal: it.\n\n1. Change `src/a.py`\n2. Delete `b.py`\n3. Create `c.py`\n4. Edit `~/d.py`\n"
    )
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "b.py").write_text("x = 1\n")
    backend = ScriptedBackend({}, silent=True)
    told = verify(plan, tmp_path, backend=backend, log_dir=None, progress=False, team="base").started.plan.repository
    assert (told["files"], told["files_named"], told["files_found"]) == (1, 2, 1)
    (tmp_path / "lib" / "b.py").unlink()
    empty = verify(plan, tmp_path, backend=backend, log_dir=None, progress=False, team="base")
    assert "WARNING: The repository is empty" in str(empty)
    assert "**The repository is empty" in empty.report()


def test_that_nothing_was_looked_at_is_said_of_a_score():
    run = PlanEvents().assess().begin().scores()
    own = run.events[-1]
    run.events[-1] = own.model_copy(update={"evidence": "Nothing was looked at: no place was cited.", "score": 5})
    told = plan_report(run.state)
    assert "**Nothing was looked at:** " + own.dimension.replace("_", " ") in told
    assert "Nothing was looked at" not in plan_report(PlanEvents().assess().begin().scores().state)


def test_each_sentence_of_the_panel_and_of_a_resolution_is_said_once():
    run = PlanEvents().assess()
    for iteration in range(3):
        run.begin().challenge("C1") if not iteration else run.begin()
        run.vote("C1", "full-consensus", "survived", "agree", "agree", "agree")
    run.move("C1", "UNRESOLVED", "It stands. The store has no lock, see src/store.py:9.")
    told = plan_report(run.state)
    assert told.count("the panel found full-consensus") == 1
    assert "- Iterations 1, 2, 3: the panel found full-consensus" in told
    assert told.count("The store has no lock") == 1
    assert "| It stands. |" in told


def test_a_live_run_has_no_prose_without_news():
    run = run_of(
        {"i1/challenger": {"challenges": [raised("locks", "SIGNIFICANT")]}}, plan=PLAN, silent=True, panel=None
    )
    told = run.report()
    assert "- No panel voted: it was switched off." in told
    assert "setting panel" in told
    assert "setting policy" not in told
    assert "## Disputed challenges" not in told


def test_a_verdict_that_nothing_was_raised_against_does_not_just_say_carry_it_out():
    silent = run_of({}, plan=PLAN, silent=True)
    assert silent.verdict == "PROCEED"
    assert "**Next step:** Nothing was raised against the plan: see what that rests on" in silent.report()
    assert "- No challenge was raised." in silent.report()
    minor = run_of({"i1/challenger": {"challenges": [raised("locks", "MINOR")]}}, plan=PLAN, silent=True)
    assert "**Next step:** Carry the plan out." in minor.report()
