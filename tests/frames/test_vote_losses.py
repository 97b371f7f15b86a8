"""Findings whose class has little behind it are named: votes that looked at nothing, judges without a row."""

from __future__ import annotations

import pandas as pd

import verifyplan as vp
from verifyplan.agents.static.judging import vote
from verifyplan.agents.static.roles.panel import not_looked
from verifyplan.frames.vote_losses import absent_votes, note_blind_classes


def runs_of(*rows: tuple, **more) -> vp.RunSet:
    table = pd.DataFrame(rows, columns=["claim", "turn", "judge", "says", "why"])
    named = {"item": "claim", "round": "turn", "worker": "judge", "verdict": "says", "explanation": "why"}
    return vp.from_votes(table.assign(**more), **named, **{name: name for name in more})


FULL = [(claim, 1, judge, "agree", "read it") for claim in ("c1", "c2", "c3") for judge in "abc"]


def test_a_judge_without_a_row_is_noted_in_the_table_the_comparison_and_the_explanation():
    runs = runs_of(*FULL[:-1])
    told = "1 finding has fewer votes than the run has judges: c3."
    assert str(runs).endswith(f"note: {told}")
    assert told in runs._repr_html_()
    assert told in vp.compare(runs, resamples=5).notes
    assert "Round 1 has 2 of 3 votes: the table has no row for the others" in str(vp.explain(runs, "c3"))
    assert "the table has no row" not in str(vp.explain(runs, "c1"))


def test_a_lost_vote_a_discoverer_and_a_full_table_are_no_absent_votes():
    assert "note" not in str(runs_of(*FULL, mode="adversarial"))
    assert "note" not in str(runs_of(*FULL[:-1], ("c3", 1, "c", "verification-error", ""), mode="adversarial"))
    assert "note" not in str(runs_of(*FULL[:-1], discoverers=["", "", ""] * 2 + ["c", "c"], mode="adversarial"))


def test_absent_votes_are_counted_by_round_and_more_than_five_findings_are_cut():
    runs = runs_of(*FULL, ("c1", 2, "a", "agree", ""))
    assert absent_votes(runs.runs, runs.findings, runs.votes).to_dict("records") == [
        {"run_id": "votes", "finding_id": "c1", "round": 2, "voters": 1, "judges": 3}
    ]
    many = runs_of(*FULL, *[(f"d{n}", 1, "a", "agree", "") for n in range(7)])
    assert "7 findings have fewer votes than their run has judges: d0, d1, d2, d3, d4 and 2 more." in str(many)


BLIND = "nothing looked at, so nothing speaks against the claim: no place"


def test_a_class_that_rests_only_on_votes_without_a_look_is_named_however_many_others_there_are():
    rows = [row if row[0] != "c2" else (*row[:4], BLIND) for row in FULL]
    runs = runs_of(*rows)
    note = "The class of 1 finding rests only on votes that looked at nothing: c2."
    notes = vp.compare(runs, resamples=5).notes
    assert note in notes
    assert not any("Most votes" in one for one in notes)


def test_a_vote_of_a_panel_that_looked_at_nothing_is_one_of_them():
    said = vote(not_looked("the evidence cites no line of the plan."), "adversarial")["explanation"]
    assert said == "Undecided: nothing looked at: the evidence cites no line of the plan."
    assert "1 finding rests only" in note_blind_classes(runs_of(("c", 1, "a", "disagree", said)).votes)
    mostly = runs_of(("c", 1, "a", "disagree", said), ("d", 1, "a", "agree", said), ("e", 1, "a", "agree", "read"))
    assert (
        "Most votes were cast without looking at any evidence: 2 of 3 votes say 'nothing looked at'."
        in vp.compare(mostly, resamples=5).notes
    )


def test_a_single_look_or_a_later_one_is_a_look_and_errors_are_none():
    assert note_blind_classes(runs_of(("c", 1, "a", "agree", BLIND), ("c", 1, "b", "agree", "read")).votes) is None
    later = runs_of(("c", 1, "a", "agree", BLIND), ("c", 2, "a", "agree", "read"))
    assert note_blind_classes(later.votes) is None
    failed = runs_of(("c", 1, "a", "agree", BLIND), ("c", 1, "b", "verification-error", "timeout"))
    assert "1 finding rests only" in note_blind_classes(failed.votes)
    assert note_blind_classes(runs_of(("c", 1, "b", "verification-error", "timeout")).votes) is None
    assert note_blind_classes(failed.votes[:0]) is None
