"""Reports say first that nothing was looked up, and which destructive lines nobody challenged (rule A13)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import verifyplan as vp
from tests.reports.plan_pages import plan_report
from tests.runs.plan.planning import PLAN, change, run_of
from tests.runs.plan.planning import challenge as raised
from verifyplan.plans.plan import parse_plan
from verifyplan.protocol.event_plan import SignFound
from verifyplan.reports.plan import plan_summary
from verifyplan.reports.plan_facts import nothing_looked_up
from verifyplan.reports.plan_grounds import NO_LOOK_UP, line_ranges, unread_notes

DANGER = """# Clean up the old pages

We remove what is old.

1. Drop the old pages.
2. Wipe the old notes.
3. Delete every draft.
4. Purge the rest.
5. Tell nobody.
"""
WORDS = "4 words of destruction (lines 5-8: drop, wipe, delete, purge)"


@pytest.fixture(scope="module")
def danger(tmp_path_factory):
    """A run of the static agents on a plan of which they can look up nothing."""
    repository = tmp_path_factory.mktemp("repo")
    (repository / "app.py").write_text("x = 1\n")
    return vp.verify(parse_plan(DANGER, "danger.md"), repository, log_dir=None, progress=False)


def test_a_run_without_a_look_up_says_so_first_and_does_not_send_anybody_to_carry_it_out(danger):
    assert (danger.verdict, danger.score) == ("PROCEED", 5)
    lines = str(danger).splitlines()
    assert lines[1] == f"  {NO_LOOK_UP}"
    assert "  quality score 5 of 10, which rests on nothing, not used for the verdict" in lines
    assert lines[-1].endswith(
        "Nothing was looked up, and nothing was raised against the plan: before you carry it out, read it."
    )
    told = danger.report()
    first = told.split("**PROCEED**")[1].split("0 BLOCKING")[0]
    assert "**No look-up was made" in first
    assert "5 of 10, resting on nothing: no look-up was made.**" in told
    assert "audit differs" not in told


def test_words_of_destruction_that_nobody_challenged_stand_at_the_head_with_their_lines(danger):
    told = f"{WORDS} and no agent raised anything about them: read these lines yourself first"
    assert str(danger).splitlines()[2] == f"  {told}"
    assert told in danger.report().split("0 BLOCKING")[0].replace("\\", "")


def test_a_plan_of_which_something_was_looked_up_says_none_of_this():
    silent = run_of({}, plan=PLAN, silent=True)
    assert not nothing_looked_up(silent.state), "it has no scores"
    assert "no look-up" not in plan_summary(silent.state)


def destructive(*scripted, changes=()):
    script = {"i1/challenger": {"challenges": scripted}, "i1/synthesizer": {"changes": changes}}
    return run_of(script, plan=DANGER, silent=True, panel=None)


def test_lines_that_a_challenge_cites_are_not_named_again_and_the_next_step_names_the_others():
    some = destructive(raised("locks", "MINOR", evidence="plan.md:5-6"))
    assert some.verdict == "PROCEED"
    assert [told.split(":")[0] for told in unread_notes(some.state)] == ["2 words of destruction (lines 7-8"]
    step = (
        "**Next step:** 1 more challenge stayed open, MINOR or in overflow: see the report. Before you carry it out, "
    )
    assert f"{step}read lines 7-8." in plan_report(some.state).replace("\\", "")
    every = destructive(raised("locks", "MINOR", evidence="plan.md:1-8"))
    assert list(unread_notes(every.state)) == []
    assert "**Next step:** Carry the plan out." in plan_report(every.state)
    none = destructive()
    assert "Nothing was raised against the plan. Before you carry it out, read lines 5-8." in str(none)


def test_a_plan_that_must_be_revised_is_not_sent_to_read_its_lines():
    run = destructive(raised("locks", "SIGNIFICANT", evidence="plan.md:5"), changes=[change("C1", "UNRESOLVED", "-")])
    assert run.verdict == "REVISE"
    assert "words of destruction" not in str(run)


def test_one_word_is_counted_as_one():
    run = run_of({}, plan="# T\n\n" + "We measure it first and then again. " * 12 + "\n\n1. Drop it\n", silent=True)
    [told] = unread_notes(run.state)
    assert (
        told
        == "1 word of destruction (line 5: drop) and no agent raised anything about it: read this line yourself first"
    )


@given(st.sets(st.integers(1, 60), min_size=1))
def test_ranges_name_every_line_once(lines):
    named = line_ranges([SignFound(word="rm", line=line) for line in lines])
    shown, _, more = named.split(" ", 1)[1].partition(" and ")
    spans = [tuple(map(int, part.split("-"))) for part in shown.split(", ")]
    covered = [line for span in spans for line in range(span[0], span[-1] + 1)]
    assert covered == sorted(lines)[: len(covered)]
    assert bool(more) == (len(covered) < len(lines))
    assert named.startswith("lines ") == (len(lines) > 1)
