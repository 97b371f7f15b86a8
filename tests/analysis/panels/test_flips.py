"""What rounds change, by hand, against an independent library, and on whatever votes there are."""

from __future__ import annotations

import re
from math import isnan

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st

import verifyplan as vp
from tests.longer import examples
from verifyplan.analysis.result_columns import RESULT_TABLES
from verifyplan.errors import SettingsError, TableError

TABLES = {"flips": "changes"} | {
    f"flips.{name}": name for name in ("workers", "majority", "breaks", "adoption", "rounds", "differences")
}


def table(*rounds: str, truth: str = "a", item: str = "q", words: tuple[tuple[str, ...], ...] = ()) -> pd.DataFrame:
    """Return votes on one item: a text a round, a letter a worker, `-` for a lost vote and ` ` for none."""
    rows = [
        {"item": item, "worker": f"w{place}", "round": number, "label": None if letter == "-" else letter}
        | ({"explanation": words[number][place]} if words else {})
        for number, letters in enumerate(rounds)
        for place, letter in enumerate(letters)
        if letter != " "
    ]
    return pd.DataFrame(rows).assign(truth=truth)


def items(*tables: pd.DataFrame) -> pd.DataFrame:
    return pd.concat([each.assign(item=f"q{number}") for number, each in enumerate(tables)], ignore_index=True)


def counts(rows: pd.DataFrame, **keys: str) -> tuple[float, float]:
    chosen = rows[(rows[list(keys)] == pd.Series(keys)).all(axis=1)]
    return float(chosen["count"].sum()), float(chosen["n"].sum())


def change(found: vp.results.Flips, name: str, step: str = "first → last") -> tuple[float, float]:
    return counts(found.changes, step=step, change=name)


def difference(found: vp.results.Flips, measure: str) -> pd.Series:
    return found.differences.set_index("measure").loc[measure]


def test_changes_by_hand_with_three_labels():
    found = vp.flips(items(table("aab", "abc", "bbc"), table("abc", "aac", "aaa")))
    assert change(found, "right → wrong", "0 → 1") == (1, 3)
    assert change(found, "wrong → right", "0 → 1") == (1, 3)
    assert change(found, "wrong → other wrong", "0 → 1") == (1, 3)
    assert change(found, "changed", "0 → 1") == (3, 6)
    assert change(found, "right → wrong") == (2, 3)
    assert change(found, "wrong → right") == (2, 3)
    assert counts(found.workers, worker="w1", change="right → wrong") == (1, 1)


def test_an_answer_lost_at_one_end_does_not_count_and_is_said():
    found = vp.flips(table("aab", "a-b", "bab"))
    assert change(found, "changed", "0 → 1") == (0, 2)
    assert change(found, "changed") == (1, 3)
    assert set(found.changes.loc[found.changes["step"].eq("1 → 2"), "n_lost"]) == {1}
    found = vp.flips(table("aab", "abb", "ba-"))
    assert change(found, "changed") == (1, 2)
    assert "1 answer left out: the worker has an answer at only one end of first → last." in found.notes


def test_settled_items_keep_their_votes_or_are_left_out():
    votes = items(table("aaa"), table("aab", "abb"))
    kept = vp.flips(votes)
    assert change(kept, "right → wrong") == (1, 5)
    again = kept.changes.set_index(["step", "change"])["n_again"]
    assert (again["first → last", "right → wrong"], again["0 → 1", "changed"]) == (2, 3)
    assert kept.rounds.query("measure == 'majority-accuracy'")["value"].tolist() == [1, 0.5]
    assert "Not asked in every later round: 1 of 2 items; they keep their last votes" in kept.notes[0]
    left = vp.flips(votes, carry=False)
    assert change(left, "right → wrong") == (1, 2)
    assert left.rounds.query("measure == 'majority-accuracy'")["value"].tolist() == [1, 0]
    assert "each round is about other items" in left.notes[0]


def test_a_round_that_skips_an_item_does_not_hide_the_next_change():
    votes = pd.concat([table("a", item="q"), table(" ", "a", item="p"), table(" ", " ", "b", item="q")])
    assert change(vp.flips(votes), "right → wrong") == (1, 2)
    rows = vp.flips(votes).changes.query("step == '1 → 2' and change == 'right → wrong'").iloc[0]
    assert (rows["count"], rows["n"], rows["n_again"]) == (1, 2, 1)


@pytest.mark.parametrize(
    ("ties", "after", "before", "lost", "won"),
    [
        ("shared", "bb", 1.5, (0.5, 1.5), (0, 0.5)),
        ("shared", "aa", 1.5, (0, 1.5), (0.5, 0.5)),
        ("first", "bb", 2, (1, 2), (0, 0)),
        ("none", "aa", 1, (0, 1), (1, 1)),
    ],
)
def test_ties_of_the_majority(ties, after, before, lost, won):
    found = vp.flips(items(table("aab", "aab"), table("ab", after)), ties=ties)
    share = found.rounds.query("measure == 'majority-accuracy' and round == 0")["value"].item()
    assert share * 2 == before
    assert counts(found.majority, step="0 → 1", change="right → wrong") == lost
    assert counts(found.majority, step="0 → 1", change="wrong → right") == won


def test_gains_less_losses_are_the_change_of_the_majority_s_accuracy():
    rng = np.random.default_rng(1)
    votes = items(*(table(*("".join(rng.choice(list("abc"), 4)) for _ in range(3))) for _ in range(30)))
    for ties in ("shared", "first", "none"):
        found = vp.flips(votes, ties=ties)
        accuracy = found.rounds.query("measure == 'majority-accuracy'")["value"].to_numpy()
        won = counts(found.majority, step="first → last", change="wrong → right")[0]
        lost = counts(found.majority, step="first → last", change="right → wrong")[0]
        assert (accuracy[-1] - accuracy[0]) * 30 == pytest.approx(won - lost, abs=1e-9)
        assert difference(found, "majority-accuracy")["value"] == pytest.approx(accuracy[-1] - accuracy[0], abs=1e-12)


def test_a_round_is_worth_what_the_panel_of_it_is_worth():
    """Effective votes of a round are of the items that every worker labels, where these are half of all or more."""
    rng = np.random.default_rng(3)
    right = rng.random((2, 80, 4)) < np.where(rng.random((80, 1)) < 0.5, 0.5, 0.9)
    frame = pd.DataFrame(np.argwhere(right | ~right), columns=["round", "item", "worker"])
    frame = frame.assign(label=np.where(right.ravel(), "a", "b"), truth=np.where(frame["item"] % 2, "a", "b"))
    frame = frame[(frame["worker"] > 0) | (frame["item"] > 15)]
    worth = vp.flips(frame).rounds.query("measure == 'effective-votes'").set_index("round")["value"]
    for number in (0, 1):
        found = vp.panel(frame, at=number)
        assert found.n_items == 64
        assert worth[number] == pytest.approx(found.figure("effective-votes").value, abs=1e-12)


def test_the_round_in_which_a_majority_first_breaks():
    held, late = table("aab", "aab", "aab"), table("aab", "aac", "abb")
    found = vp.flips(items(held, late, table("bba", "aba", "bba"), table("abc", "aaa", "aaa")))
    assert counts(found.breaks, majority="any", round="1") == (1, 3)
    assert counts(found.breaks, majority="any", round="2") == (1, 2)
    assert counts(found.breaks, majority="any", round="any round") == (2, 3)
    assert counts(found.breaks, majority="wrong", round="any round") == (1, 1)
    assert "the first majority was lost in 2 of 3 items (66.7 % [" in str(found)


def test_agreement_doubles_and_accuracy_does_not_move():
    found = vp.flips(items(table("aab", "aaa"), table("bba", "bbb")))
    assert found.rounds.query("measure == 'agreement'")["value"].tolist() == pytest.approx([1 / 3, 1])
    assert re.search(
        r"the majority is right in 50.0 → 50.0 % \(\+0.0 points .*, n = \d items that have both\)", str(found)
    )
    assert "two workers agree in 33.3 → 100.0 % (+66.7 points" in str(found)


def test_differences_have_the_shares_that_they_are_of():
    """Of three items the second round asks for one: endpoints are of this one."""
    votes = items(table("aab", "aaa"), table("aaa"), table("aaa"))
    found = vp.flips(votes, carry=False)
    assert "two workers agree in 33.3 → 100.0 % (+66.7 points" in str(found)
    assert found.rounds.query("measure == 'agreement'")["value"].tolist() == pytest.approx([7 / 9, 1])
    rows = vp.flips(votes).differences.dropna()
    assert (rows["second"] - rows["first"]).to_numpy() == pytest.approx(rows["value"].to_numpy())


def test_effective_votes_have_intervals_and_say_where_errors_may_be_independent():
    rng = np.random.default_rng(5)
    truth = np.repeat(np.arange(120) % 2 == 0, 3)
    together = np.repeat(rng.random(120) < 0.7, 3) ^ (rng.random(360) < 0.05)
    parts = [
        pd.DataFrame({"item": np.repeat(np.arange(120), 3), "worker": list("abc") * 120, "round": number,
                      "label": np.where(truth == right, "yes", "no"), "truth": np.where(truth, "yes", "no")})
        for number, right in enumerate((rng.random(360) < 0.7, together))
    ]  # fmt: skip
    found = vp.flips(pd.concat(parts))
    assert found.rounds.set_index("measure").loc["votes", "value"].tolist() == [3, 3]
    words = found.effective_votes_in_words()
    value, limit = r"[\d.]+ \[[\d.]+, (\d[\d.]+|more than 3)\]", r"the 3 votes on an item in round 0"
    why = "(are not shown to err together|err together less than independent judges would)"
    whole = (
        rf"(more than 3 \[[\d.]+, more than 3\]|{value}) → 1{value} independent votes, in the first → the last round "
    )
    assert re.fullmatch(rf"{whole}\({limit} {why}\)", words), words
    assert f"the votes are worth {words}" in str(found)
    both = vp.flips(pd.concat([parts[0], parts[0].assign(round=1)])).effective_votes_in_words()
    assert len(re.findall(why, both)) == 1
    assert "in round 0 and the 3 votes on an item in round 1 " in both


NO, OLD, NEW = "I am sure", "see a.py:3", "see b.py:7 and a.py:3"


def sided() -> pd.DataFrame:
    """Minority votes: two without a new citation, one of which switches, and one with a new one that switches."""
    return items(
        table("aab", "aaa", words=((NO, NO, OLD), (NO, NO, OLD))),
        table("aab", "aab", words=((NO, NO, NO), (NO, NO, NO))),
        table("aab", "aba", words=((NO, NO, OLD), (NO, OLD, NEW))),
        table("aaa", "aba", words=((NO, NO, NO), (NO, NO, "as before"))),
    )


def test_sides_with_and_without_new_evidence_by_hand():
    found = vp.flips(sided())
    rows = found.adoption.query("step == 'all' and majority_was == 'any'")
    assert counts(rows, side="minority", evidence="none") == (1, 2)
    assert counts(rows, side="minority", evidence="new") == (1, 1)
    assert counts(rows, side="majority", evidence="none") == (1, 8)
    assert counts(rows, side="majority", evidence="new") == (1, 1)
    assert difference(found, "conformity")["value"] == pytest.approx(2 / 3 - 2 / 9)
    assert difference(found, "capitulation")["value"] == pytest.approx(1 / 2 - 1 / 8)
    assert difference(found, "persuasion")["value"] == pytest.approx(1 / 2)
    assert "1 of 2 minority votes without a new citation took the majority's side (50.0 % [" in str(found)
    assert "; a new citation adds +50.0 points [" in str(found)
    assert str(vp.flips(table(*"aaaaaab"))).startswith("1 worker, 1 item, rounds 0 to 6\n")


def test_a_line_alone_is_a_citation_and_unknown_words_are_no_evidence():
    votes = table("aab", "aab", words=((NO, NO, NO), ("line 12", "L12", NO)))
    rows = vp.flips(votes).adoption.query("step == 'all' and majority_was == 'any' and side == 'majority'")
    assert counts(rows, evidence="new") == (0, 2)
    votes.loc[0, "explanation"] = None
    rows = vp.flips(votes).adoption.query("step == 'all' and majority_was == 'any' and side == 'majority'")
    assert (counts(rows, evidence="new"), counts(rows, evidence="any")) == ((0, 1), (0, 2))


def test_without_explanations_evidence_is_unknown_and_totals_are_given():
    found = vp.flips(sided().drop(columns="explanation"))
    assert difference(found, "conformity")["value"] == pytest.approx(2 / 3 - 2 / 9)
    assert isnan(difference(found, "capitulation")["value"])
    assert isnan(difference(found, "persuasion")["value"])
    assert any(note.startswith("Without explanations new evidence is unknown") for note in found.notes)
    assert "2 of 3 minority votes took the majority's side" in str(found)


def test_where_several_answers_tie_or_one_worker_votes_nobody_is_on_a_side():
    assert vp.flips(table("ab", "bb")).adoption["n"].sum() == 0
    found = vp.flips(table("a", "b"))
    assert found.adoption["n"].sum() == 0
    assert str(found).startswith("1 worker, 1 item, rounds 0, 1\nfirst → last round: 1 of 1 right votes became wrong")
    assert "majority" not in str(found).split("note:", maxsplit=1)[0]


def simulated(runs: int = 12, per_run: int = 15) -> pd.DataFrame:
    rng = np.random.default_rng(7)
    rows = []
    for run in range(runs):
        lean = rng.beta(2, 3)
        for number in range(per_run):
            before = rng.choice(["yes", "no"], 4)
            for place in range(4):
                switch = rng.random() < lean
                cited = rng.random() < 0.4
                after = {"yes": "no", "no": "yes"}[before[place]] if switch else before[place]
                key = {"run": run, "item": f"{run}-{number}", "worker": f"w{place}"}
                rows.append({**key, "round": 0, "label": before[place], "explanation": "a.py:1"})
                rows.append({**key, "round": 1, "label": after, "explanation": "a.py:2" if cited else "a.py:1"})
    return pd.DataFrame(rows)


def test_capitulation_and_persuasion_equal_an_identity_link_gee_by_run():
    votes = simulated()
    wide = votes.pivot(index=["run", "item", "worker"], columns="round", values=["label", "explanation"])
    said, words = wide["label"], wide["explanation"]
    yes = said[0].eq("yes").groupby(["run", "item"]).transform("sum")
    wide = wide[yes.ne(2)]
    minority = (said[0].eq("yes") == yes.lt(2))[yes.ne(2)].to_numpy(dtype=float)
    new = words[1].ne(words[0])[yes.ne(2)].to_numpy(dtype=float)
    design = np.column_stack([np.ones(len(minority)), minority, new * minority, new * (1 - minority)])
    switched = said[0].ne(said[1])[yes.ne(2)].to_numpy(dtype=float)
    groups = wide.index.get_level_values("run")
    family = sm.families.Gaussian()
    fit = sm.GEE(switched, design, groups=groups, family=family, cov_struct=sm.cov_struct.Independence()).fit()
    found = vp.flips(votes)
    for name, position in (("capitulation", 1), ("persuasion", 2)):
        row = difference(found, name)
        assert row["value"] == pytest.approx(fit.params[position], abs=1e-9)
        assert row["high"] - row["low"] == pytest.approx(2 * 2.2 * fit.bse[position], rel=0.1)  # t with 11 degrees


def test_answers_by_chance_conform_and_the_notes_say_so():
    rng = np.random.default_rng(3)
    found = vp.flips(items(*(table(*("".join(rng.choice(list("aaab"), 5)) for _ in range(2))) for _ in range(200))))
    row = difference(found, "conformity")
    assert row["low"] < 0.5 < row["high"]  # .75 of the minority's answers become a, .25 of the majority's b
    assert any(note.startswith("Answers that vary by chance also move toward the majority") for note in found.notes)


def test_nothing_changes():
    found = vp.flips(items(*[table("aab", "aab", "aab")] * 6))
    for rows in (found.changes, found.majority, found.breaks, found.adoption, found.differences):
        judged = rows[rows["n"] > 0]
        assert (judged["high"] > judged["low"]).all()
        if "count" in rows:
            assert (rows["count"] == 0).all()
    assert (found.differences["value"].dropna() == 0).all()


def test_without_truth_only_changes_are_counted():
    found = vp.flips(table("aab", "aba").drop(columns="truth"))
    assert change(found, "right → wrong") == (0, 0)
    assert "first → last round: 2 of 3 votes changed (66.7 % [" in str(found)
    assert "The truth of 1 of 1 item is not known." in found.notes
    assert "wrong → other wrong" not in set(found.changes["change"])


@st.composite
def panels(draw) -> pd.DataFrame:
    shape = st.integers(2, 3), st.integers(1, 4), st.integers(1, 4)
    n_rounds, n_workers, n_items = (draw(each) for each in shape)
    letters = st.text("abc- ", min_size=n_workers, max_size=n_workers)
    made = [
        table(*(draw(letters) for _ in range(n_rounds)), truth=draw(st.sampled_from("abc"))) for _ in range(n_items)
    ]
    return items(*made, table("a" * n_workers, "a" * n_workers))


def figures(found: vp.results.Flips) -> list[pd.DataFrame]:
    return [getattr(found, name).set_index(keys_of(key)).sort_index() for key, name in TABLES.items()]


def keys_of(name: str) -> list[str]:
    return [column.name for column in RESULT_TABLES[name] if column.key]


@settings(max_examples=examples(32), deadline=None)
@given(panels(), st.randoms(use_true_random=False), st.booleans(), st.sampled_from(["shared", "none"]))
def test_neither_the_order_of_rows_nor_names_matter(votes, random, carry, ties):
    order = list(range(len(votes)))
    random.shuffle(order)
    names = {"a": "z", "b": "y", "c": "x"}
    renamed = votes.iloc[order].assign(
        item="item " + votes["item"], label=votes["label"].map(names), truth=votes["truth"].map(names)
    )
    for one, other in zip(
        figures(vp.flips(votes, carry=carry, ties=ties)),
        figures(vp.flips(renamed, carry=carry, ties=ties)),
        strict=True,
    ):
        pd.testing.assert_frame_equal(one, other, check_exact=False, rtol=1e-9, atol=1e-12)


@settings(max_examples=examples(32), deadline=None)
@given(panels(), st.booleans())
def test_counts_are_parts_of_their_denominators(votes, carry):
    found = vp.flips(votes, carry=carry)
    for rows in (found.changes, found.workers, found.majority, found.breaks, found.adoption):
        assert (rows["count"] <= rows["n"] + 1e-9).all()
        judged = rows[rows["n"] > 0]
        assert judged["share"].between(judged["low"] - 1e-12, judged["high"] + 1e-12).all()
        if "n_again" in rows:
            assert (rows["count"] <= rows["n_again"] + 1e-9).all()  # a vote that is carried never changes
    of_workers = found.workers.groupby("change")[["count", "n"]].sum().to_numpy()
    whole = found.changes.query("step == 'first → last'").groupby("change")[["count", "n"]].sum().to_numpy()
    assert (of_workers == whole).all()


def test_tables_have_the_declared_columns():
    found = vp.flips(sided())
    for key, name in TABLES.items():
        assert list(getattr(found, name).columns) == [column.name for column in RESULT_TABLES[key]]
        assert not getattr(found, name).duplicated(keys_of(key)).any()
        assert list(vp.documentation(key).index) == list(getattr(found, name).columns)


def test_runs_of_this_project_and_lost_votes():
    rows = [
        ("F", 1, "w1", "agree", "a.py:1"),
        ("F", 1, "w2", "disagree", "a.py:2"),
        ("F", 1, "w3", "agree", "a.py:3"),
        ("F", 2, "w1", "agree", "a.py:1"),
        ("F", 2, "w2", "supplement", "a.py:2"),
        ("F", 2, "w3", "verification-error", ""),
    ]
    votes = pd.DataFrame(rows, columns=["finding", "round", "who", "says", "why"]).assign(truth=True)
    runs = vp.from_votes(
        votes, item="finding", worker="who", verdict="says", round="round", explanation="why", truth="truth"
    )
    found = vp.flips(runs)
    assert (change(found, "right → wrong"), change(found, "wrong → right")) == ((0, 1), (1, 1))
    assert set(found.changes["n_lost"]) == {1}
    assert counts(found.adoption, step="all", majority_was="right", side="minority", evidence="none") == (1, 1)


def test_bundled_runs_say_that_later_rounds_hold_only_what_was_unsettled():
    found = vp.flips("stdlib-claims")
    assert found.synthetic
    assert "(synthetic)" in str(found)
    rows = found.changes.query("step == '1 → 2' and change == 'changed'").iloc[0]
    assert (rows["n"], rows["n_again"]) == (3926, 289)
    assert "Not asked in every later round: 1,319 of 1,420 items" in found.notes[0]
    assert "capitulation" in str(found)
    assert found._repr_html_().startswith("<p>4 workers, 1,420 items (synthetic), rounds 1, 2<br>")


@pytest.mark.parametrize(
    ("votes", "message"),
    [
        (table("aab"), "there is a single round, 0: no answer could change"),
        (table("aab").drop(columns="round"), "name their column: round='round'"),
    ],
)
def test_one_round_is_an_error_that_says_what_to_give(votes, message):
    with pytest.raises(TableError, match=message):
        vp.flips(votes)


def test_votes_that_are_all_empty_change_nothing():
    lost = pd.DataFrame({"item": [1, 1], "worker": "a", "round": [1, 2], "label": None})
    with pytest.raises(TableError, match=r"votes: label: all votes are empty \(2 votes\)"):
        vp.flips(lost)


def test_no_votes_are_an_error():
    votes = vp.from_table(table("a", "b"), item="item", worker="worker", label="label", round="round")
    with pytest.raises(TableError, match="there are no votes: no answer could change"):
        vp.flips(votes.take(np.zeros(len(votes), dtype=bool)))


def test_too_many_rounds_and_unknown_ties_are_errors():
    votes = pd.DataFrame({"item": "q", "worker": "w", "round": range(1001), "label": "a"})
    with pytest.raises(TableError, match=r"has 1,001 values, at most 1,000 are read\. Fix: number the rounds 0, 1, 2"):
        vp.flips(votes)
    with pytest.raises(SettingsError, match=r"ties: must be one of 'shared', 'first', 'none', got 'share'"):
        vp.flips(table("a", "b"), ties="share")


def pushed(votes: pd.DataFrame, *pushes: str) -> pd.DataFrame:
    """Return votes with the answer that was pushed in each round, a letter a worker; a blank for none."""
    given = {(number, f"w{place}"): letter for number, row in enumerate(pushes) for place, letter in enumerate(row)}
    names = [given.get((number, worker), " ") for number, worker in zip(votes["round"], votes["worker"], strict=True)]
    return votes.assign(toward=[None if name == " " else name for name in names])


def test_votes_that_move_to_a_given_answer_and_from_it():
    found = vp.flips(pushed(table("abbc", "bbcb"), "bbbb", "bbbb"), toward="toward")
    assert change(found, "other → given") == (2, 2)
    assert change(found, "given → other") == (1, 2)
    assert counts(found.workers, worker="w0", change="other → given") == (1, 1)
    assert "2 of 2 other votes moved to the given answer (100.0 % [" in str(found)
    assert "1 of 2 left it (50.0 % [" in str(found)


def test_a_push_that_comes_with_the_last_vote_counts_and_an_empty_cell_is_none():
    found = vp.flips(pushed(table("aaa", "bba"), "   ", "bc "))
    assert change(found, "other → given") == (1, 2)
    assert change(found, "given → other") == (0, 0)


def test_a_push_lasts_until_the_next():
    votes = pushed(table("aa", "bb", "bc"), "b ", " b", " c")
    found = vp.flips(votes)
    assert change(found, "other → given", "0 → 1") == (2, 2)
    assert change(found, "given → other", "1 → 2") == (0, 1)
    assert change(found, "other → given") == (2, 2)


def test_without_a_given_answer_nothing_of_it_is_counted():
    found = vp.flips(table("ab", "bb"))
    assert not found.changes["change"].str.contains("given").any()
    assert "given answer" not in str(found)


def test_given_answers_in_words_that_no_vote_has_are_said():
    votes = table("ab", "bb")
    found = vp.flips(votes.assign(pushed="z"), toward="pushed")
    assert change(found, "other → given") == (0, 2)
    assert "No item has a vote for the answer given by toward=: look whether its words are those of the labels." in (
        found.notes
    )
    with pytest.raises(TableError, match=r"differs only in its spelling: 'B' .* and 'b'"):
        vp.flips(votes.assign(pushed="B"), toward="pushed")
    with pytest.raises(TableError, match="votes: toward: there is no column 'suggested'"):
        vp.flips(votes, toward="suggested")
    with pytest.raises(TableError, match="toward: names a column, and only a table has columns"):
        vp.flips(vp.from_table(votes, item="item", worker="worker", label="label", round="round"), toward="pushed")


def test_given_answers_are_read_by_from_table_in_its_words():
    votes = table("ab", "bb").assign(pushed="Bee")
    read = vp.from_table(votes, item="item", worker="worker", label="label", round="round", toward="pushed",
                         labels={"bee": "b"})  # fmt: skip
    assert change(vp.flips(read), "other → given") == (1, 1)
    assert change(vp.flips(read.take(np.array([0, 2]))), "other → given") == (1, 1)


def test_a_column_of_given_answers_changes_no_other_analysis():
    votes = table("aab", "abb")
    assert vp.aggregate(votes.assign(toward="z"), at="last").votes.labels == ("a", "b")


@settings(max_examples=examples(24), deadline=None)
@given(st.lists(st.tuples(*[st.sampled_from("ab-")] * 3, *[st.sampled_from("ab ")] * 3), min_size=1, max_size=6))
def test_given_answers_are_counted_as_by_hand(rows):
    """Against a loop over workers; each worker has one item."""
    votes = pd.concat([table(*row[:3]).pipe(pushed, *row[3:]).assign(item=f"q{n}") for n, row in enumerate(rows)])
    votes = votes.drop(columns="truth")
    if votes["label"].isna().all():
        return
    moved = left = elsewhere = there = 0
    for first, _, last, *pushes in rows:
        given = ([push for push in pushes if push != " "] or [" "])[-1]
        if given != " " and "-" not in (first, last):
            elsewhere, there = elsewhere + (first != given), there + (first == given)
            moved, left = moved + (first != given == last), left + (first == given != last)
    found = vp.flips(votes, toward="toward")
    assert change(found, "other → given") == (moved, elsewhere)
    assert change(found, "given → other") == (left, there)
