"""Votes that are ties count by a named reading, the same in every analysis, and never by an unnamed one."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import verifyplan as vp
from tests.longer import examples
from verifyplan.errors import TableError
from verifyplan.frames.from_table import as_panel_votes
from verifyplan.frames.ties import TIES, ties_sentence, upheld_by_lot

TABLE = pd.DataFrame(
    {"claim": [1, 1, 1, 2], "judge": ["ann", "bob", "cy", "ann"], "says": ["yes", " Tie", "no", "drawn"]}
)
NAMED = {"item": "claim", "worker": "judge", "verdict": "says"}
WORDS = {"yes": "agree", "no": "disagree", "drawn": "tie"}
READ = {"against": "disagree", "for": "agree", "lost": "verification-error"}


@pytest.mark.parametrize("ties", READ)
def test_a_tie_becomes_the_verdict_that_its_reading_says(ties):
    runs = vp.from_votes(TABLE, **NAMED, verdicts=WORDS, ties=ties)
    assert runs.votes["verdict"].tolist() == ["agree", READ[ties], "disagree", READ[ties]]
    assert runs.runs["ties"].tolist() == [ties]


def test_ties_without_a_reading_are_refused():
    message = r"votes: ties: 2 votes are ties, and nothing says how they count\. Fix: give ties='against'"
    with pytest.raises(TableError, match=message):
        vp.from_votes(TABLE, **NAMED, verdicts=WORDS)
    with pytest.raises(TableError, match="votes: ties: must be one of 'against', 'for', 'share', 'lost', got 'half'"):
        vp.from_votes(TABLE, **NAMED, verdicts=WORDS, ties="half")


def test_a_table_without_ties_needs_no_reading_and_keeps_none():
    runs = vp.from_votes(TABLE.iloc[[0, 2]], **NAMED, verdicts=WORDS, ties="for")
    assert runs.runs["ties"].isna().all()
    assert vp.from_votes(TABLE.iloc[[0]], **NAMED, verdicts=WORDS).votes["verdict"].tolist() == ["agree"]


def test_a_word_may_be_said_to_be_no_tie():
    runs = vp.from_votes(TABLE.iloc[:2], **NAMED, verdicts={"yes": "agree", "tie": "supplement"})
    assert runs.votes["verdict"].tolist() == ["agree", "supplement"]


SCORES = pd.DataFrame({"claim": [1, 1, 2], "judge": ["ann", "bob", "ann"], "margin": [0.0, -1.0, 2.0]})


@pytest.mark.parametrize(("ties", "said"), [*READ.items(), (None, "agree")])
def test_a_score_at_the_threshold_is_a_tie_where_ties_are_read(ties, said):
    named = {"item": "claim", "worker": "judge"}
    runs = vp.from_votes(SCORES, **named, score="margin", threshold=0, ties=ties)
    assert runs.votes["verdict"].tolist() == [said, "disagree", "agree"]
    votes = vp.from_table(SCORES, **named, label="margin", threshold=0, ties=ties)
    labels = {"agree": "true", "disagree": "false"}
    assert [votes.labels[code] if code >= 0 else None for code in votes.label] == [labels.get(said), "false", "true"]
    assert votes.ties == (() if ties is None else (ties,))


LABELS = pd.DataFrame(
    {"q": [1, 1, 2, 2], "judge": list("abab"), "says": ["yes", "Tie", "no", "Tie"], "right": ["yes", "yes", "no", "no"]}
)
COLUMNS = {"item": "q", "worker": "judge", "label": "says", "truth": "right"}
CLAIMS = {"yes": "true", "no": "false"}


def labels_of(votes) -> list[str | None]:
    return [votes.labels[code] if code >= 0 else None for code in votes.label]


def test_a_label_that_is_a_tie_and_never_true_needs_a_reading():
    with pytest.raises(TableError, match="votes: ties: 2 votes are ties, and nothing says how they count"):
        vp.from_table(LABELS, **COLUMNS)
    with pytest.raises(TableError, match="votes: ties: 2 votes are ties"):
        vp.panel(LABELS, **COLUMNS)


@pytest.mark.parametrize(
    ("ties", "labels", "said"),
    [
        ("against", CLAIMS, ["true", "false", "false", "false"]),
        ("for", CLAIMS, ["true", "true", "false", "true"]),
        ("lost", CLAIMS, ["true", None, "false", None]),
        ("lost", None, ["yes", None, "no", None]),
    ],
)
def test_a_label_that_is_a_tie_counts_as_its_reading_says(ties, labels, said):
    votes = vp.from_table(LABELS, **COLUMNS, labels=labels, ties=ties)
    assert labels_of(votes) == said
    assert votes.ties == (ties,)
    assert [votes.labels[code] for code in votes.truth] == (["true", "false"] if labels else ["yes", "no"])


def test_a_tie_of_two_labels_is_never_right_or_falls_on_one_by_lot():
    never = vp.from_table(LABELS, **COLUMNS, ties="against")
    assert never.labels[never.label[1]] == "Tie"
    shared = labels_of(vp.from_table(LABELS, **COLUMNS, ties="share"))
    assert set(shared) <= {"yes", "no"}
    with pytest.raises(TableError, match="votes: ties: 'for' needs labels true and false, got 'no', 'yes'"):
        vp.from_table(LABELS, **COLUMNS, ties="for")


def test_a_tie_that_may_be_true_or_stands_without_truth_is_a_label_like_any_other():
    may = vp.from_table(LABELS.assign(right=["tie", "tie", "no", "no"], says=["yes", "tie", "no", "tie"]), **COLUMNS)
    assert labels_of(may) == ["yes", "tie", "no", "tie"]
    assert vp.from_table(LABELS.assign(says="tie"), item="q", worker="judge", label="says").labels == ("tie",)


def test_the_shell_names_a_reading_of_ties(cli, tmp_path):
    LABELS.to_csv(tmp_path / "v.csv", index=False)
    named = ["--columns", "item=q,worker=judge,verdict=says,truth=right", "--verdicts", "yes=agree,no=disagree"]
    refused = cli("compare", "v.csv", *named, cwd=tmp_path)
    assert (refused.code, "2 votes are ties" in refused.err, "--ties against" in refused.err) == (2, True, True)
    for command in ("compare", "panel"):
        read = cli(command, "v.csv", *named, "--ties", "against", cwd=tmp_path)
        assert (read.code, "A judge's tie counts against the claim" in read.out) == (0, True)
    assert "--ties: goes with a table of votes" in cli("compare", "contract", "--ties", "lost", cwd=tmp_path).err


@settings(max_examples=examples(32))
@given(st.lists(st.tuples(st.text(max_size=3), st.text(max_size=3)), max_size=30, unique=True))
def test_a_lot_is_that_of_its_vote_whatever_stands_beside_it(pairs):
    keys = pd.DataFrame(pairs, columns=["item", "worker"], dtype="str")
    lots = upheld_by_lot(keys)
    alone = [bool(upheld_by_lot(keys.iloc[[row]])[0]) for row in range(len(keys))]
    assert lots.tolist() == alone
    assert upheld_by_lot(keys.iloc[::-1]).tolist() == alone[::-1]


def test_a_shared_tie_falls_on_one_side_in_every_analysis():
    table = pd.DataFrame({"q": np.arange(60) * 1.0, "judge": "ann", "score": 0, "says": "tie", "run": "a"})
    named = {"item": "q", "worker": "judge"}
    by_words = vp.from_votes(table, **named, verdict="says", ties="share")
    by_scores = vp.from_votes(table, **named, score="score", threshold=0, run="run", ties="share")
    by_labels = vp.from_table(table, **named, label="score", threshold=0, ties="share")
    agreed = by_words.votes["verdict"].eq("agree").tolist()
    assert 0 < sum(agreed) < len(agreed)
    assert by_scores.votes["verdict"].eq("agree").tolist() == agreed
    assert [label == "true" for label in labels_of(by_labels)] == agreed
    assert labels_of(as_panel_votes(by_words, {})) == labels_of(by_labels)


def test_shared_ties_fall_on_either_side_alike():
    n = 4_000
    table = pd.DataFrame({"claim": np.arange(n), "judge": "ann", "says": "tie"})
    agreed = vp.from_votes(table, **NAMED, ties="share").votes["verdict"].eq("agree").mean()
    assert agreed == pytest.approx(0.5, abs=4 * 0.5 / np.sqrt(n))


def test_each_reading_is_a_sentence_of_its_own():
    assert len({ties_sentence([ties]) for ties in TIES}) == len(TIES)
    assert ties_sentence([]) == ""


@pytest.fixture
def margins() -> pd.DataFrame:
    """Four judges' margins on 40 claims, of which some are ties; half of the claims are true."""
    rng = np.random.default_rng(0)
    claims = np.arange(40)
    rows = [(claim, judge, int(rng.integers(-1, 2)), claim % 2 == 0) for claim in claims for judge in "abcd"]
    return pd.DataFrame(rows, columns=["claim", "judge", "margin", "true"])


@pytest.mark.parametrize("ties", TIES)
def test_every_figure_of_votes_with_ties_names_their_reading(margins, ties):
    columns = {"item": "claim", "worker": "judge", "truth": "true"}
    runs = vp.from_votes(margins, **columns, score="margin", threshold=0, ties=ties, mode="collaborative")
    said = ties_sentence([ties])
    compared = vp.compare(runs, resamples=10)
    search = vp.search_rules(runs, quality="accuracy", cost="votes")
    figures = [
        vp.charts.panel(runs), vp.charts.workers(runs), vp.charts.truth_metrics(compared),
        vp.charts.class_mix(compared), vp.charts.transitions(compared), vp.charts.rule_search(search),
    ]  # fmt: skip
    assert all(said in figure.caption for figure in figures)
    words = said.removesuffix(".")
    assert all(words in str(result) for result in (vp.panel(runs), vp.workers(runs), compared, search))


def test_the_reading_of_ties_survives_saving_and_selection(margins, tmp_path):
    columns = {"item": "claim", "worker": "judge", "truth": "true"}
    runs = vp.from_votes(margins, **columns, score="margin", threshold=0, ties="lost")
    runs.save(tmp_path)
    assert vp.load(tmp_path).runs["ties"].tolist() == ["lost"]
    both = vp.concat([runs, vp.from_votes(margins.assign(run="b"), **columns, run="run", score="margin", threshold=0)])
    assert both.runs["ties"].isna().tolist() == [False, True]


def test_a_figure_of_votes_without_ties_says_nothing_of_them(margins):
    runs = vp.from_votes(margins, item="claim", worker="judge", score="margin", threshold=0.5, mode="collaborative")
    assert "tie counts" not in vp.charts.workers(runs).caption
