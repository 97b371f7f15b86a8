"""Bundled tables of real votes: declared columns, reference figures of their sources, and what the originals hold."""

from __future__ import annotations

from functools import cache
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

import verifyplan as vp
from verifyplan.errors import InputError
from verifyplan.frames.bundled import data_folder
from verifyplan.frames.from_table import as_panel_votes
from verifyplan.frames.vote_tables import VOTE_TABLES

bundled = cache(vp.datasets.votes)  # read once; no test changes these
CANONICAL = ("item", "worker", "label", "truth", "round", "run", "cost")


def unit(votes: pd.DataFrame) -> pd.Series:
    """The item of each vote, in its run where there are runs."""
    return votes["item"].astype("str") + ("@" + votes["run"] if "run" in votes else "")


def right(votes: pd.DataFrame) -> pd.Series:
    known = votes.dropna(subset=["label", "truth"])
    return known["label"].eq(known["truth"]).astype(float)


def complete(votes: pd.DataFrame) -> pd.DataFrame:
    """The votes on items where no worker's vote was lost."""
    lost = votes.assign(lost=votes["label"].isna()).groupby("item")["lost"].transform("any")
    return votes[~lost]


def majorities(votes: pd.DataFrame) -> tuple[float, float]:
    """The accuracy of the commonest label: with a tie as wrong, and as its share."""
    known = votes.dropna(subset=["label"]).assign(unit=unit)
    counts = known.groupby(["unit", "label"]).size().rename("n").reset_index()
    top = counts[counts["n"].eq(counts.groupby("unit")["n"].transform("max"))]
    top = top.assign(truth=top["unit"].map(known.groupby("unit")["truth"].first()))
    share = top["label"].eq(top["truth"]).groupby(top["unit"]).mean()
    return float(share.eq(1).mean()), float(share.mean())


def figures(votes: pd.DataFrame) -> tuple[float, float, float, float]:
    """Mean, majority, shared, best; rounded as they are published."""
    best = right(votes).groupby(votes["worker"]).mean().max()
    return tuple(round(float(value), 4) for value in (right(votes).mean(), *majorities(votes), best))


@pytest.mark.parametrize("name", VOTE_TABLES)
def test_a_table_has_its_declared_columns_the_canonical_ones_first(name):
    votes = bundled(name)
    assert [*votes] == [column.name for column in VOTE_TABLES[name].columns]
    known = [column for column in CANONICAL if column in votes]
    assert [*votes][: len(known)] == known
    assert vp.documentation(name).index.tolist() == [*votes]
    assert votes.attrs == {
        "name": name, "source": VOTE_TABLES[name].source, "licence": VOTE_TABLES[name].licence, "synthetic": False,
        **({"ties": "against"} if VOTE_TABLES[name].tie else {}),
    }  # fmt: skip


@pytest.mark.parametrize("name", VOTE_TABLES)
def test_a_table_is_read_as_a_panel_without_naming_columns(name):
    votes = bundled(name)
    panel = as_panel_votes(votes, {})
    assert len(panel) == len(votes)
    assert len(panel.units) == unit(votes).nunique()
    assert panel.synthetic is False
    assert (panel.truth >= 0).all()
    assert (panel.cost is None) == ("cost" not in votes)


def test_an_analysis_takes_the_name_of_a_table():
    by_name, panel = as_panel_votes("dog", {}), as_panel_votes(bundled("dog"), {})
    assert by_name.workers == panel.workers
    assert (by_name.label == panel.label).all()


@pytest.mark.parametrize("name", VOTE_TABLES)
def test_licence_and_source_lie_beside_a_table(name):
    folder = (data_folder() / "votes" / VOTE_TABLES[name].file).parent
    assert "copyright" in (folder / "LICENSE").read_text().lower()
    assert VOTE_TABLES[name].source in (folder / "SOURCE").read_text()
    assert f"`votes/{folder.name}/" in (data_folder() / "README.md").read_text()


def test_all_tables_are_listed_and_together_small():
    names = vp.datasets.names()
    assert names.loc[names["kind"].eq("votes"), "name"].tolist() == [*VOTE_TABLES]
    assert set(names["kind"]) == {"runs", "votes"}
    assert sum(file.stat().st_size for file in (data_folder() / "votes").rglob("*") if file.is_file()) < 3e6


def test_a_mistyped_name_gets_the_nearest():
    with pytest.raises(InputError, match=r"name: 'lmbar' is not a bundled table of votes \(did you mean 'llmbar'\?\)"):
        vp.datasets.votes("lmbar")


def test_a_table_of_votes_is_no_set_of_runs_and_says_how_to_use_it():
    message = r"dataset: 'rte' is a table of votes, not of runs\. Fix: read it by vp\.datasets\.votes\('rte'\)"
    for read in (vp.datasets.runs, vp.compare):
        with pytest.raises(InputError, match=message):
            read("rte")


@pytest.mark.parametrize(("name", "kind"), [("rte", "votes"), ("contract", "runs")])
def test_a_bundled_name_is_no_path_and_load_says_where_it_goes(name, kind, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=rf"{name}: is not there\..*read by vp\.datasets\.{kind}\('{name}'\)"):
        vp.load(name)


def test_a_table_that_is_changed_leaves_the_next_one_whole():
    votes = vp.datasets.votes("dog")
    votes["label"] = 0
    assert vp.datasets.votes("dog")["label"].nunique() == 4


def test_llmbar_is_whole():
    votes = bundled("llmbar")
    assert (len(votes), votes["worker"].nunique(), votes["item"].nunique()) == (40_413, 65, 1_200)
    own = votes[votes["set"].str.startswith("LLMBar.")]
    assert (own.groupby("item")["worker"].nunique() == 65).all()
    assert own["item"].nunique() == 419


def test_llmbar_plain_judges():
    votes = bundled("llmbar/plain")
    assert (votes["worker"].nunique(), votes["item"].nunique()) == (6, 419)
    read = complete(votes)
    assert read["item"].nunique() == 414
    assert figures(read) == (0.5688, 0.4928, 0.5543, 0.8285)


def test_the_plain_judges_see_natural_and_misleading_pairs():
    natural, misleading = bundled("llmbar/natural"), bundled("llmbar/misleading")
    assert (natural["item"].nunique(), misleading["item"].nunique()) == (100, 319)
    both = pd.concat([natural, misleading]).sort_values(["item", "worker"], ignore_index=True)
    pd.testing.assert_frame_equal(both, bundled("llmbar/plain").sort_values(["item", "worker"], ignore_index=True))


def test_llmbar_as_runs_has_both_claims_and_both_orders_of_each_pair():
    votes, runs = bundled("llmbar/plain"), vp.datasets.runs("llmbar/plain")
    verdicts = runs.votes["verdict"].value_counts()
    labels = pd.concat([votes["label"], votes["swapped"]])
    assert verdicts["verification-error"] == 2 * labels.isna().sum()
    assert verdicts["agree"] == verdicts["disagree"] == labels.notna().sum()
    assert runs.votes["disagree_basis"].isna().all()  # nobody gave a reason
    assert (len(runs.runs), len(runs.findings), runs.findings["truth"].sum()) == (419, 4 * 419, 2 * 419)
    assert not runs.runs["synthetic"].any()


@pytest.mark.parametrize("name", ["llmbar/natural", "llmbar/misleading"])
def test_no_choice_of_claim_or_order_decides_a_figure_of_llmbar_as_runs(name):
    """A false claim is held as often as a true one is not, but for ties, and votes alone cannot make a mode better."""
    both = vp.compare(name, resamples=10)
    rates = both.truth.set_index(["condition", "metric"])["value"]
    strict, lenient = (rates[mode] for mode in ("collaborative", "adversarial"))
    assert strict["false-consensus-rate"] == pytest.approx(lenient["false-demotion-rate"])
    assert strict["false-demotion-rate"] == pytest.approx(lenient["false-consensus-rate"])


@pytest.mark.parametrize(("name", "rows", "majority"), [("rte", 8_000, 0.8969), ("dog", 8_070, 0.8222)])
def test_crowds(name, rows, majority):
    votes = bundled(name)
    assert len(votes) == rows
    assert round(majorities(votes)[1], 4) == majority


SCORES = [
    ("gpt-5.4", 1_727, (0.7225, 0.7105, 0.7258, 0.7302)),
    ("gpt-5.4-mini", 1_724, (0.6596, 0.6381, 0.6555, 0.6705)),
    ("gpt-5.4-nano", 1_694, (0.5230, 0.4540, 0.5021, 0.5325)),
    ("claude-sonnet-4-6", 1_715, (0.7227, 0.7085, 0.7292, 0.7335)),
    ("claude-haiku-4-5", 1_677, (0.7155, 0.6947, 0.7227, 0.7287)),
]


@pytest.fixture(scope="module")
def scores() -> pd.DataFrame:
    return bundled("judge-scores/base")


@pytest.mark.parametrize(("model", "items", "expected"), SCORES)
def test_eight_repetitions_of_a_judge(scores, model, items, expected):
    votes = complete(scores[scores["model"].eq(model)])
    assert votes["item"].nunique() == items
    assert figures(votes) == expected


@pytest.mark.parametrize(
    ("name", "few", "many"),
    [
        ("judge-scores/base", (0.6638, 0.7026, 0.7026, 0.7226), (0.6663, 0.6894, 0.7005, 0.7343)),
        ("judge-scores-balanced/base", (0.8126, 0.8443, 0.8443, 0.8455), (0.8110, 0.8318, 0.8378, 0.8488)),
    ],
)
def test_five_judges_and_forty(name, few, many):
    votes = bundled(name)
    everyone = votes[votes.groupby("item")["worker"].transform("nunique").eq(40)]
    five = votes[votes["repetition"].eq(0)]
    five = complete(five[five.groupby("item")["worker"].transform("nunique").eq(5)])
    assert (five["item"].nunique(), complete(everyone)["item"].nunique()) == (1_651, 1_581)
    assert figures(five) == few
    assert figures(complete(everyone)) == many


def test_all_scores_are_there_and_half_of_the_balanced_claims_are_true():
    votes, balanced = bundled("judge-scores"), bundled("judge-scores-balanced")
    assert len(votes) == len(balanced) == 306_856
    assert round(balanced.drop_duplicates("item")["truth"].eq("true").mean(), 3) == 0.494
    assert round(votes["margin"].eq(0).mean(), 3) == 0.177
    assert votes["label"].isna().equals(votes["verdict"].eq("error"))
    assert votes["label"].eq("true").equals(votes["verdict"].eq("agree"))


@pytest.mark.parametrize("name", ["judge-scores/base", "judge-scores-balanced/base"])
def test_ties_of_scores_count_as_they_are_read(name):
    tables = {ties: vp.datasets.votes(name, ties=ties) for ties in ("against", "for", "share", "lost")}
    tied = tables["against"]["margin"].eq(0)
    upheld = {ties: table.loc[tied, "label"].eq("true").mean() for ties, table in tables.items()}
    assert (upheld["against"], upheld["for"], upheld["lost"]) == (0, 1, 0)
    assert upheld["share"] == pytest.approx(0.5, abs=0.02)
    assert tables["lost"].loc[tied, "label"].isna().all()
    for ties, table in tables.items():
        pd.testing.assert_frame_equal(table[~tied], tables["against"][~tied])
        panel, runs = as_panel_votes(table, {}), vp.from_votes(table, **SCORE_COLUMNS)
        assert panel.ties == as_panel_votes(runs, {}).ties == (ties,)
        assert set(runs.runs["ties"]) == {ties}
        said = runs.votes["verdict"].map({"agree": "true", "disagree": "false"})
        assert (said.fillna("") == table["label"].fillna("").to_numpy()).all()  # one reading in every analysis


SCORE_COLUMNS = {
    "item": "item", "worker": "worker", "verdict": "verdict", "run": "run",
    "verdicts": {"error": "verification-error"},
}  # fmt: skip


def test_beliefs_of_one_half_count_as_they_are_read():
    tables = {ties: vp.datasets.votes("debate-judges", ties=ties) for ties in ("against", "for", "share", "lost")}
    tied = tables["against"]["belief"].eq(0.5)
    assert tied.sum() > 500
    assert (tables["against"].loc[tied, "label"] == "tie").all()
    assert (tables["for"].loc[tied, "label"] == tables["for"].loc[tied, "truth"]).all()
    assert tables["lost"].loc[tied, "label"].isna().all()
    assert tables["share"].loc[tied, "label"].eq("A").mean() == pytest.approx(0.5, abs=0.06)


def test_a_reading_of_ties_is_refused_where_there_are_none_and_where_it_is_unknown():
    with pytest.raises(InputError, match=r"ties: no vote of 'rte' is a tie\. Fix: leave it out"):
        vp.datasets.votes("rte", ties="for")
    with pytest.raises(InputError, match="ties: must be one of 'against', 'for', 'share', 'lost', got 'agree'"):
        vp.datasets.votes("judge-scores", ties="agree")


@pytest.fixture(scope="module")
def beliefs() -> pd.DataFrame:
    return bundled("debate-judges")


def test_final_beliefs(beliefs):
    final = beliefs[beliefs["final"]]
    assert (len(beliefs), len(final), final["item"].nunique()) == (3_113, 763, 561)
    assert round(right(final).mean(), 4) == 0.8244
    several = final[final.groupby("item")["worker"].transform("size").ge(2)]
    assert (several["item"].nunique(), len(several)) == (190, 392)
    assert (round(right(several).mean(), 4), *(round(value, 4) for value in majorities(several))) == (
        0.8444, 0.7368, 0.8465,
    )  # fmt: skip
    by_judge = right(final).groupby(final["worker"]).agg(["mean", "size"])
    best = by_judge[by_judge["size"].ge(20)].sort_values("mean").iloc[-1]
    assert (best.name, round(best["mean"], 4), best["size"]) == ("j07", 0.9211, 38)


@pytest.mark.parametrize(
    ("debaters", "protocol", "n_right", "n"),
    [
        ("human", "debate", 130, 154),
        ("human", "consultancy", 71, 96),
        ("ai", "debate", 68, 87),
        ("ai", "consultancy", 61, 76),
    ],
)
def test_what_the_paper_of_the_debates_counts(beliefs, debaters, protocol, n_right, n):
    chosen = beliefs[
        beliefs["final"] & beliefs["in_paper"] & beliefs["session"].eq("online")
        & beliefs["debaters"].eq(debaters) & beliefs["protocol"].eq(protocol)
    ]  # fmt: skip
    assert (int(chosen["belief_right"].gt(0.5).sum()), len(chosen)) == (n_right, n)


def test_beliefs_against_truth(beliefs):
    counted = beliefs[beliefs["final"] & beliefs["in_paper"] & beliefs["session"].eq("online")]
    assert (len(counted), round(((1 - counted["belief_right"]) ** 2).mean(), 4)) == (413, 0.1683)
    prior = beliefs[beliefs["round"].eq(0)].merge(counted[["item", "worker"]])  # of the judges who stayed to the end
    assert (len(prior), round(prior["belief"].eq(0.5).mean(), 3)) == (401, 0.843)


@pytest.mark.parametrize(
    ("run", "number", "items", "expected"),
    [
        ("debate", 0, 196, (0.8146, 0.8367, 0.8435, 0.8214)),
        ("debate", 1, 197, (0.8376, 0.8376, 0.8409, 0.8426)),
        ("debate", 2, 197, (0.8393, 0.8376, 0.8376, 0.8426)),
        ("debate-paper", 0, 197, (0.7919, 0.8122, 0.8139, 0.8020)),
        ("debate-paper", 2, 198, (0.8384, 0.8333, 0.8350, 0.8485)),
    ],
)
def test_debaters(run, number, items, expected):
    votes = bundled("prover-verifier/debate")
    votes = complete(votes[votes["run"].eq(run) & votes["round"].eq(number)])
    assert votes["item"].nunique() == items
    assert figures(votes) == expected


def test_eight_samples():
    votes = bundled("prover-verifier-samples")
    assert len(votes) == 1_584
    assert figures(votes) == (0.7979, 0.8232, 0.8308, 0.8232)


def test_turns_of_provers_and_verifiers_are_all_there():
    answers, verdicts = bundled("prover-verifier"), bundled("prover-verifier-verdicts")
    assert len(answers) + len(verdicts) == 10_072
    last = verdicts[verdicts["run"].eq("pvd-standard") & verdicts["final"]]
    counts = last.dropna(subset=["answer"]).groupby(["label", "truth"]).size()
    assert counts.to_dict() == {
        ("accept", "accept"): 109, ("accept", "reject"): 11, ("reject", "accept"): 38, ("reject", "reject"): 38,
    }  # fmt: skip
    assert verdicts.loc[verdicts["run"].eq("pvd-standard"), "unparsed"].sum() == 9


@pytest.mark.parametrize(
    ("system", "accuracy", "coverage", "precision"),
    [
        ("pvd-standard", 74.2, 54.5, 93.5), ("pvd-challenge-first", 79.8, 65.2, 89.9), ("pvd-gpt54", 77.8, 42.9, 97.6),
    ],
)  # fmt: skip
def test_outcomes(system, accuracy, coverage, precision):
    votes = bundled("prover-verifier-outcomes")
    votes = votes[votes["worker"].eq(system)]
    assert len(votes) == 198
    is_right = votes["label"].eq(votes["truth"])
    assert round(100 * is_right.mean(), 1) == accuracy
    sure = votes["verdict"].eq("accept") & votes["answer_changes"].eq(0)
    assert (round(100 * sure.mean(), 1), round(100 * is_right[sure].mean(), 1)) == (coverage, precision)


def test_an_exam():
    votes = bundled("prover-verifier-hle")
    shares = right(votes).groupby(votes["worker"]).mean().round(3).to_dict()
    assert shares == {"hle-gpt55-gemini": 0.456, "hle-opus-sonnet": 0.4, "hle-sonnet-haiku": 0.201}


@pytest.mark.parametrize(
    ("number", "expected"),
    [(0, (0.6667, 0.9144, 0.9151, 0.7222)), (2, (0.8827, 0.9306, 0.9313, 0.8958))],
)
def test_rounds_with_a_confederate(number, expected):
    votes = bundled("debate-rounds")
    assert len(votes) == 3_888
    assert (round(right(votes).mean(), 4), round(votes["correct_exact"].mean(), 4)) == (0.8081, 0.7767)
    votes = votes[votes["round"].eq(number)]
    assert unit(votes).nunique() == 432
    assert figures(votes) == expected


def test_a_panel_that_discusses():
    votes = bundled("judge-panel")
    runs = dict(iter(votes.groupby("run")))
    assert (len(votes), len(right(runs["single"])), right(runs["single"]).mean()) == (560, 76, 0.5)
    assert figures(runs["two-turns"]) == (0.5401, 0.5375, 0.5521, 0.5750)
    assert figures(runs["three-turns"]) == (0.5474, 0.5375, 0.5542, 0.5570)
    assert runs["single"]["truth"].value_counts().to_dict() == {"first": 41, "second": 25, "tie": 14}


def test_no_label_is_a_text_of_more_than_a_few_words():
    for name in VOTE_TABLES:
        votes = bundled(name)
        texts = votes.select_dtypes("str").columns.difference(["item"])
        assert all(votes[column].dropna().str.len().max() < 60 for column in texts)


ORIGINALS = {
    "llmbar": ("llmbar/votes.csv", {"vote": "label", "label": "truth", "vote_swapped": "swapped", "model": "model"}),
    "rte": ("crowd/rte/label.csv", {"item": "item", "worker": "worker", "label": "label"}),
    "dog": ("crowd/dog/label.csv", {"item": "item", "worker": "worker", "label": "label"}),
    "judge-scores": ("judge-scores/votes.parquet", {"item": "item", "verdict": "verdict", "margin": "margin"}),
    "judge-scores-balanced": ("judge-scores/votes_balanced.parquet", {"claim": "claim", "verdict": "verdict"}),
    "debate-judges": ("debate-judges/beliefs.csv", {"belief_a": "belief", "judge": "worker", "truth": "truth"}),
    "debate-rounds": ("debate-rounds/votes.parquet", {"answer": "answer", "round": "round", "truth": "truth"}),
    "judge-panel": ("judge-panel/votes.csv", {"answer": "label", "agent": "worker", "truth": "truth"}),
    "prover-verifier-samples": ("prover-verifier/samples.parquet", {"answer": "label", "truth": "truth"}),
}


@pytest.mark.parametrize("name", ORIGINALS)
def test_a_bundled_table_holds_what_its_original_holds(shared, name):
    file, columns = ORIGINALS[name]
    path = shared / "data" / file
    original = pd.read_parquet(path) if path.suffix == ".parquet" else pd.read_csv(path)
    copied = bundled(name)
    if "verdict" in columns:  # its ties are read when it is loaded
        original["verdict"] = original["verdict"].astype("str").replace("supplement", "disagree")
    for theirs, ours in columns.items():
        expected, got = (np.asarray(values.astype("object")) for values in (original[theirs], copied[ours]))
        missing = pd.isna(expected)
        assert (missing == pd.isna(got)).all()
        assert (expected[~missing] == got[~missing]).all()


def test_errors_of_workers_of_a_panel_are_correlated(scores):
    """The mean correlation of errors among five models, as its source has it: a check of the ids of workers."""
    five = scores[scores["repetition"].eq(0)].dropna(subset=["label"])
    table = right(five).to_frame("right").assign(item=five["item"], worker=five["worker"])
    wide = table.pivot(index="item", columns="worker", values="right").dropna()
    pairs = [wide[a].corr(wide[b]) for a, b in combinations(wide, 2)]
    assert (len(wide), round(float(np.mean(pairs)), 4)) == (1_651, 0.3645)
