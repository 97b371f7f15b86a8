"""rule B7 over columns: equal to a plain reading vote by vote, and clear about what cannot be classified."""

from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import verifyplan as vp
from tests.analysis.ballot_tables import by_hand, frame, tables
from verifyplan.analysis.classify import classify_each
from verifyplan.analysis.tally import code_votes, count
from verifyplan.errors import SettingsError, TableError
from verifyplan.protocol.vote import BASES, CLASSIFICATIONS, MODES, VERDICTS
from verifyplan.rules.classification import RULES

OUT = ["classification", "decided_round", "rule", "censored", "filled_bases"]


def votes(*rows, **more) -> pd.DataFrame:
    columns = ["finding_id", "round", "worker", "verdict", "disagree_basis"]
    return pd.DataFrame(rows, columns=columns).assign(run_id="r", **more)


@given(tables, st.sampled_from(MODES), st.integers(1, 4), st.sampled_from(["infer", *BASES]), st.randoms())
def test_columns_give_what_a_reading_vote_by_vote_gives(findings, mode, max_rounds, missing_basis, random):
    table = frame(findings)
    rows = list(range(len(table)))
    random.shuffle(rows)  # the order of the rows says nothing
    got = vp.classify(table.iloc[rows], mode=mode, max_rounds=max_rounds, missing_basis=missing_basis)
    expected = {key: by_hand(rounds, mode, max_rounds, missing_basis) for key, rounds in findings.items()}
    assert {tuple(row[:2]): tuple(row[2:7]) for row in got.itertuples(index=False)} == expected


def test_the_result_is_typed_and_in_order_of_appearance():
    table = votes(("F-2", 1, "a", "agree", None), ("F-1", 1, "a", "agree", None))
    got = vp.classify(table, mode="adversarial")
    assert got.columns.tolist() == ["run_id", "finding_id", *OUT, "low", "high"]
    assert got["finding_id"].tolist() == ["F-2", "F-1"]
    assert got["classification"].cat.categories.tolist() == list(CLASSIFICATIONS)
    assert got["classification"].cat.ordered
    assert got["rule"].cat.categories.tolist() == list(RULES)


def test_an_iteration_is_part_of_the_key():
    table = votes(("F", 1, "a", "agree", None), ("F", 1, "a", "disagree", "burden-not-met"), iteration=[1, 2])
    got = vp.classify(table, mode="adversarial", max_rounds=1)
    assert got["iteration"].tolist() == [1, 2]
    assert got["classification"].tolist() == ["full-consensus", "worker-unique"]


def test_an_empty_table_gives_an_empty_result():
    assert vp.classify(votes(), mode="adversarial").columns.tolist() == ["run_id", "finding_id", *OUT, "low", "high"]


def test_the_input_is_not_changed():
    table = votes(("F", 1, "a", "disagree", None))
    before = table.copy()
    vp.classify(table, mode="adversarial")
    pd.testing.assert_frame_equal(table, before)


def backwards(values: pd.Series) -> pd.Categorical:
    """Categories in no order; names have one that no row has."""
    extra = [] if values.name in ("verdict", "disagree_basis") else ["nobody"]
    return pd.Categorical(values, categories=[*sorted(values.dropna().unique(), reverse=True), *extra])


@given(tables, st.sampled_from(["category", "str", "object", "integers", "backwards"]))
def test_columns_of_any_pandas_type_are_read_alike(findings, kind):
    table = frame(findings)
    texts = ["run_id", "finding_id", "worker", "verdict", "disagree_basis"]
    if kind == "integers":
        numbers = {name: pd.factorize(table[name], sort=True)[0].astype("int8") - 5 for name in texts[:3]}
        given_as = table.assign(**numbers)
    elif kind == "backwards":
        given_as = table.assign(**{name: backwards(table[name]) for name in texts})
    else:
        given_as = table.astype(dict.fromkeys(texts, kind))
    got, expected = (vp.classify(each, mode="adversarial").drop(columns=texts[:2]) for each in (given_as, table))
    pd.testing.assert_frame_equal(got, expected)


@given(tables, st.integers(1, 4))
def test_several_rules_at_once_give_what_each_gives_alone(findings, max_rounds):
    table = frame(findings)
    fields = [{"mode": "collaborative"}, {"mode": "adversarial", "missing_basis": BASES[0]}, {"refutes": "sticky"}]
    rules = [vp.VotingRules(**{"mode": "adversarial", "max_rounds": max_rounds} | each) for each in fields]
    for each, got in zip(rules, classify_each(table, rules), strict=True):
        pd.testing.assert_frame_equal(got, vp.classify(table, rules=each))


def test_rules_without_a_mode_are_refused_before_any_votes_are_judged():
    with pytest.raises(SettingsError, match="mode: is missing, and the rules name none"):
        next(classify_each(votes(), [vp.VotingRules(mode="adversarial"), vp.VotingRules()]))


def test_raise_names_the_votes_of_executed_rounds_only():
    table = votes(
        ("F", 1, "a", "agree", None),
        ("F", 2, "late", "disagree", None),  # never read: round 1 settles F
        ("G", 1, "bob", "disagree", None),
        ("G", 1, "a", "agree", None),
    )
    with pytest.raises(TableError, match="the disagree of 'bob' on finding 'G' of run 'r' in round 1") as raised:
        vp.classify(table, mode="adversarial", missing_basis="raise")
    assert "late" not in str(raised.value)
    assert vp.classify(table, mode="collaborative", missing_basis="raise")["filled_bases"].tolist() == [0, 0]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            [("F", 1, "a", "agree", None), ("F", 3, "a", "agree", None)],
            "the rounds of finding 'F' of run 'r' have a gap",
        ),
        ([("F", 2, "a", "agree", None)], "have a gap"),
        ([("F", 1, "a", "agree", None)] * 2, "'a' votes a second time on finding 'F' of run 'r' in round 1"),
        ([("F", 0, "a", "agree", None)], "column round: .*0.* in row 0 .index. is not a round"),
        ([("F", 1.5, "a", "agree", None)], "column round: .*1.5"),
        ([("F", None, "a", "agree", None)], "is not a round"),
        ([("F", 10**12, "a", "agree", None)], "is not a round"),
        (
            [("F", 1, "a", "maybe", None)],
            "column verdict: holds 'maybe' in 1 row, the first is row 0 .index. .a on F.. Fix: use 'agree'",
        ),
        ([("F", 1, "a", None, None)], "column verdict: is empty in 1 row"),
        ([("F", 1, "a", "disagree", "a hunch")], "column disagree_basis: holds 'a hunch'"),
        ([("F", 1, None, "agree", None)], "column worker: is empty in 1 row"),
        ([(None, 1, "a", "agree", None)], "column finding_id: is empty"),
    ],
)
def test_tables_that_make_no_sense_are_refused(rows, message):
    with pytest.raises(TableError, match=message):
        vp.classify(votes(*rows), mode="adversarial")


def test_missing_columns_are_all_told():
    with pytest.raises(TableError) as raised:
        vp.classify(votes().drop(columns=["round", "worker"]), mode="adversarial")
    assert [problem.place for problem in raised.value.problems] == ["votes: column round", "votes: column worker"]


def test_settings_that_make_no_sense_are_all_told():
    with pytest.raises(SettingsError) as raised:
        vp.classify(votes(), mode="friendly", max_rounds=0, missing_basis="guess")
    assert {problem.place for problem in raised.value.problems} == {"mode", "max_rounds", "missing_basis"}


def test_votes_that_repeat_without_rounds_are_told_of_the_column_of_rounds():
    twice = [("F", 1, "a", "agree", None)] * 2
    votes = pd.DataFrame(twice, columns=["finding_id", "round", "worker", "verdict", "disagree_basis"])
    with pytest.raises(TableError, match=r"or, if the table has several rounds .* round='round', run='run'"):
        vp.classify(votes.assign(run_id="r"), mode="collaborative")
    later = pd.concat([votes[:1], votes.assign(round=2)]).assign(run_id="r")
    with pytest.raises(TableError, match=r"a finding in a round\.$"):
        vp.classify(later, mode="collaborative")


@pytest.mark.parametrize("verdict", VERDICTS)
@pytest.mark.parametrize("basis", [None, *BASES])
def test_a_vote_is_counted_by_the_name_of_its_verdict_and_basis(verdict, basis):
    disagrees = {None: "burden_not_met", "burden-not-met": "burden_not_met", "counter-evidence": "counter_evidence"}
    vote = {"run_id": "r", "finding_id": "f", "worker": "w", "round": 1, "verdict": verdict}
    votes = pd.DataFrame([vote | {"disagree_basis": basis if verdict == "disagree" else None}])
    cast = code_votes(votes)
    tally = count(cast, cast.basis, 1)._asdict()
    kind = disagrees[basis] if verdict == "disagree" else verdict
    assert {name: int(value[0, 0]) for name, value in tally.items()} == {name: int(name == kind) for name in tally}
