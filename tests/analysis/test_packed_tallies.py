"""Classification by packed words, compiled or not, gives what votes one by one give, and refuses what they refuse."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import verifyplan as vp
from tests.analysis.ballot_tables import frame, tables
from tests.longer import examples
from verifyplan.analysis import compiled_tallies, narrow_codes, vote_packing
from verifyplan.analysis.chosen_rules import chosen_rules
from verifyplan.analysis.classify import classify_each, judge_table
from verifyplan.analysis.narrow_codes import vote_codes
from verifyplan.analysis.vote_packing import NotPackedError, packing_of
from verifyplan.errors import TableError
from verifyplan.protocol.vote import BASES, MODES, VERDICTS
from verifyplan.rules.classification import Tally

NAMES = ["run_id", "finding_id", "worker", "verdict", "disagree_basis"]

by_counts = st.fixed_dictionaries(
    {},
    optional={
        "majority": st.sampled_from(["1/3", "1/2", "2/3"]),
        "aggregate": st.sampled_from(["rules", "majority", "unanimous", "any-refute", "first-round"]),
        "pruning": st.sampled_from(["queue", "none"]),
        "missing_basis": st.sampled_from(["infer", *BASES]),
    },
)
kinds_of_column = st.sampled_from(["str", "category", "object", "integers", "wrong way round"])


def as_kind(table: pd.DataFrame, kind: str) -> pd.DataFrame:
    if kind == "integers":
        codes = {name: pd.factorize(table[name], sort=True)[0] * 3 - 4 for name in ("run_id", "finding_id", "worker")}
        return table.astype(dict.fromkeys(["verdict", "disagree_basis"], "category")).assign(**codes)
    if kind == "wrong way round":  # categories in no order, some of them unused

        def backwards(values: pd.Series) -> pd.Categorical:
            extra = [] if values.name in ("verdict", "disagree_basis") else ["nobody"]
            return pd.Categorical(values, categories=[*sorted(values.dropna().unique(), reverse=True), *extra])

        return table.assign(**{name: backwards(table[name]) for name in NAMES})
    return table.astype(dict.fromkeys(NAMES, kind))


@settings(max_examples=examples(40), phases=[Phase.generate])
@given(tables, st.sampled_from(MODES), by_counts, st.integers(1, 4), kinds_of_column, st.randoms(), st.booleans())
def test_packed_compiled_and_single_votes_give_the_same(findings, mode, fields, max_rounds, kind, random, shuffled):
    rows = list(range(len(frame(findings))))
    if shuffled:
        random.shuffle(rows)
    table = as_kind(frame(findings).iloc[rows].reset_index(drop=True), kind)
    rules = chosen_rules({"mode": mode, "max_rounds": max_rounds} | fields, None, None, "infer")
    both = [rules.model_copy(update={"mode": each}) for each in MODES]
    expected = judge_table(table, mode, max_rounds, rules)
    for compiled in (False, True):
        with pytest.MonkeyPatch.context() as patch:
            for name in ("MIN_VOTES", "MIN_VOTES_LOADED"):
                patch.setattr(compiled_tallies, name, 0 if compiled else 2**62)
            patch.setattr(vote_packing, "BLOCK_VOTES", 3)
            got = vp.classify(table, rules=rules)
            in_both = list(classify_each(table, both))
        pd.testing.assert_frame_equal(got, expected)
        for each, of_mode in zip(both, in_both, strict=True):
            pd.testing.assert_frame_equal(of_mode, judge_table(table, each.mode, max_rounds, each))


def many(n_findings: int, n_workers: int = 5, n_rounds: int = 1, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    keys = pd.MultiIndex.from_product([range(n_findings), range(1, n_rounds + 1), range(n_workers)]).to_frame(
        index=False
    )
    keys.columns = ["finding_id", "round", "worker"]
    verdict = rng.choice(VERDICTS, len(keys))
    basis = np.where(verdict == "disagree", rng.choice([*BASES, None], len(keys)), None)
    return keys.assign(run_id=keys["finding_id"] // 50, verdict=verdict, disagree_basis=basis)


@pytest.mark.parametrize("n_workers", [2, 15, 36, 37, 70, 600])
def test_panels_of_any_size_are_classified_alike(n_workers):
    table = many(20, n_workers)
    rules = chosen_rules({"mode": "adversarial"}, None, None, "infer")
    for max_rounds in (1, 3):
        expected = judge_table(table, "adversarial", max_rounds, rules)
        pd.testing.assert_frame_equal(vp.classify(table, rules=rules, max_rounds=max_rounds), expected)


@pytest.mark.parametrize("n_rounds", [1, 2])
@pytest.mark.parametrize("n_workers", [6, 70])
def test_few_of_many_workers_on_each_finding_have_the_bounds_of_those_who_were_asked(n_workers, n_rounds):
    table = many(120, n_workers, n_rounds)
    rng = np.random.default_rng(3)
    table = table[(table["worker"] + table["finding_id"]) % (n_workers // 3) == 0]
    table = table[rng.random(len(table)) < np.where(table["round"] == 1, 1, 0.6)]
    rules = chosen_rules({"mode": "adversarial"}, None, None, "infer")
    pd.testing.assert_frame_equal(vp.classify(table, rules=rules), judge_table(table, "adversarial", 3, rules))


def test_a_word_has_room_for_so_many_workers():
    assert packing_of(vote_codes(many(2, 36)), missing_as="burden-not-met").words.dtype == np.uint64
    assert packing_of(vote_codes(many(2, 5)), missing_as="burden-not-met").words.dtype == np.uint16
    assert packing_of(vote_codes(many(2, 6)), missing_as="burden-not-met").words.dtype == np.uint32
    assert not packing_of(vote_codes(many(2, 45)), missing_as="burden-not-met").names_voters
    with pytest.raises(NotPackedError):
        packing_of(vote_codes(many(1, 40_000)), missing_as="burden-not-met")


def test_words_hold_the_tally_of_a_round():
    packing = packing_of(vote_codes(many(3, 4)), missing_as="burden-not-met")
    counts = Tally(*(np.array(each) for each in ([4, 0, 1], [0, 2, 1], [0, 1, 1], [0, 1, 1])))
    packed = sum(count * packing.radix**place for place, count in enumerate(counts))
    for expected, got in zip(counts, packing.tally(packed), strict=True):
        assert got.tolist() == expected.tolist()


@pytest.mark.parametrize("order", ["by finding", "shuffled"])
@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_many_findings_in_many_blocks(order, rounds, monkeypatch):
    monkeypatch.setattr(vote_packing, "BLOCK_VOTES", 1000)
    table = many(500, n_rounds=rounds)
    if order == "shuffled":
        table = table.sample(frac=1, random_state=1)
    for mode in MODES:
        rules = chosen_rules({"mode": mode}, None, None, "infer")
        pd.testing.assert_frame_equal(vp.classify(table, rules=rules), judge_table(table, mode, 3, rules))


def test_explanations_fill_in_bases_in_any_block(monkeypatch):
    monkeypatch.setattr(vote_packing, "BLOCK_VOTES", 70)
    table = many(100).assign(explanation=lambda table: np.where(table["worker"] % 2, "see m.py:4", "no"))
    rules = chosen_rules({"mode": "adversarial"}, None, None, "infer")
    pd.testing.assert_frame_equal(vp.classify(table, rules=rules), judge_table(table, "adversarial", 3, rules))


def test_discoverers_votes_are_not_tallied():
    table = many(60, n_rounds=2).assign(is_origin=lambda table: table["worker"].eq(table["finding_id"] % 5))
    rules = chosen_rules({"mode": "adversarial"}, None, None, "infer")
    pd.testing.assert_frame_equal(vp.classify(table, rules=rules), judge_table(table, "adversarial", 3, rules))


@pytest.mark.parametrize("compiled", [False, True])
def test_iterations_are_part_of_the_key_however_votes_are_counted(compiled, monkeypatch):
    for name in ("MIN_VOTES", "MIN_VOTES_LOADED"):
        monkeypatch.setattr(compiled_tallies, name, 0 if compiled else 2**62)
    monkeypatch.setattr(vote_packing, "BLOCK_VOTES", 60)
    table = many(100, n_rounds=2)
    number = table["finding_id"]
    table = table.assign(run_id=number // 15, iteration=number // 5 % 3, finding_id=number % 5)
    rules = chosen_rules({"mode": "adversarial"}, None, None, "infer")
    pd.testing.assert_frame_equal(vp.classify(table, rules=rules), judge_table(table, "adversarial", 3, rules))


@pytest.mark.parametrize("disorder", [False, True])
@pytest.mark.parametrize("n_votes", [2, 5])
def test_compiled_loops_read_a_block_in_several_tiles(n_votes, disorder, monkeypatch):
    for name in ("MIN_VOTES", "MIN_VOTES_LOADED"):
        monkeypatch.setattr(compiled_tallies, name, 0)
    table = many(20_000 // n_votes)
    if n_votes == 2:  # a finding begins where a tile does, and nobody voted on the one before, too
        table = table[(table["worker"] // 2).eq(table["finding_id"] % 2)].reset_index(drop=True)
    basis = table["disagree_basis"].where(table["verdict"].ne("disagree") | table["disagree_basis"].notna(), BASES[0])
    table = table.assign(disagree_basis=basis).astype(dict.fromkeys(["verdict", "disagree_basis"], "category"))
    if disorder:  # one finding has votes in two places, far from each other
        table = table.assign(run_id=1, finding_id=table["finding_id"].where(table.index != n_votes * 3000, 2))
        table = table.drop(index=n_votes * 2)
    rules = chosen_rules({"mode": "adversarial"}, None, None, "infer")
    pd.testing.assert_frame_equal(vp.classify(table, rules=rules), judge_table(table, "adversarial", 3, rules))


def break_repeat(table: pd.DataFrame) -> pd.DataFrame:
    return pd.concat([table, table.iloc[[7]]], ignore_index=True)


def break_gap(table: pd.DataFrame) -> pd.DataFrame:
    return table[~(table["finding_id"].eq(3) & table["round"].eq(1))]


def break_worker(table: pd.DataFrame) -> pd.DataFrame:
    return table.assign(worker=table["worker"].astype("object").where(table.index != 5, None))


def break_finding(table: pd.DataFrame) -> pd.DataFrame:
    names = table["finding_id"].astype("str").where(table.index != 5)
    return table.assign(finding_id=names).astype(dict.fromkeys(["finding_id", "verdict", "disagree_basis"], "category"))


def break_round(table: pd.DataFrame) -> pd.DataFrame:
    return table.assign(round=table["round"].where(table.index != 5, 0))


def break_verdict(table: pd.DataFrame) -> pd.DataFrame:
    return table.assign(verdict=table["verdict"].where(table.index != 5, "perhaps"))


@pytest.mark.parametrize("damage", [break_repeat, break_gap, break_worker, break_finding, break_round, break_verdict])
@pytest.mark.parametrize("compiled", [False, True])
def test_damaged_tables_are_refused_in_the_same_words(damage, compiled, monkeypatch):
    table = damage(many(20, n_rounds=2))
    for name in ("MIN_VOTES", "MIN_VOTES_LOADED"):
        monkeypatch.setattr(compiled_tallies, name, 0 if compiled else 2**62)
    rules = chosen_rules({"mode": "adversarial"}, None, None, "infer")
    with pytest.raises(TableError) as expected:
        judge_table(table, "adversarial", 3, rules)
    with pytest.raises(TableError) as got:
        vp.classify(table, mode="adversarial")
    assert str(got.value) == str(expected.value)


@pytest.mark.parametrize("order", ["by finding", "by round"])
def test_later_rounds_after_many_votes_of_the_first_are_noticed(order, monkeypatch):
    monkeypatch.setattr(narrow_codes, "FIRST_VOTES", 3)
    monkeypatch.setattr(vote_packing, "BLOCK_VOTES", 20)
    table = many(40, n_rounds=3).query("round == 1 or finding_id > 20")
    table = table.sort_values("round", kind="stable") if order == "by round" else table
    rules = chosen_rules({"mode": "adversarial"}, None, None, "infer")
    pd.testing.assert_frame_equal(vp.classify(table, rules=rules), judge_table(table, "adversarial", 3, rules))


def test_rules_that_fill_in_bases_differently_count_votes_each_for_itself():
    table = many(60)
    each = [chosen_rules({"mode": "adversarial", "missing_basis": basis}, None, None, "infer") for basis in BASES]
    for rules, got in zip(each, classify_each(table, each), strict=True):
        pd.testing.assert_frame_equal(got, judge_table(table, "adversarial", 3, rules))


@pytest.mark.parametrize("compiled", [False, True])
def test_many_votes_of_one_worker_on_one_finding_are_refused(compiled, monkeypatch):
    for name in ("MIN_VOTES", "MIN_VOTES_LOADED"):
        monkeypatch.setattr(compiled_tallies, name, 0 if compiled else 2**62)
    table = many(1, 3).iloc[np.zeros(300_000, dtype=int)].assign(verdict="disagree", disagree_basis=BASES[0])
    table = table.astype(dict.fromkeys(["verdict", "disagree_basis"], "category"))
    with pytest.raises(TableError, match="votes a second time"):
        vp.classify(table, mode="adversarial")


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize(
    ("column", "kind", "low"), [("worker", "int8", -128), ("worker", "int8", -5), ("round", ">i4", 0)]
)
def test_integers_of_any_width_are_read(column, kind, low, compiled, monkeypatch):
    for name in ("MIN_VOTES", "MIN_VOTES_LOADED"):
        monkeypatch.setattr(compiled_tallies, name, 0 if compiled else 2**62)
    table = many(30, 150 if low < -100 else 12).astype(dict.fromkeys(["verdict", "disagree_basis"], "category"))
    table[column] = (table[column] + low).astype(kind)
    codes = vote_codes(table)
    assert codes.indices(slice(0, len(table))).max() < len(codes.kinds) * codes.worker.span
    for mode in MODES:
        rules = chosen_rules(None, mode, 1, "infer", modes=MODES)
        pd.testing.assert_frame_equal(
            vp.classify(table, rules=rules), judge_table(table, mode, 1, rules), check_column_type=False
        )
