"""Tables of votes in the shell and in Python: one reading where no mode is named, and every output says so."""

from __future__ import annotations

import pandas as pd
import pytest

import verifyplan as vp

COLUMNS = "item=claim,worker=judge,verdict=says,truth=truth"
NO_MODE = "The table names no mode, so it is read as collaborative."


@pytest.fixture
def votes(tmp_path):
    """A table without modes, of which the modes make different classes: one refutation of three votes on each claim."""
    says = ["agree", "agree", "disagree"] * 30
    table = pd.DataFrame({"claim": [f"c{n // 3}" for n in range(90)], "judge": ["a", "b", "c"] * 30, "says": says})
    table = table.assign(why="see src/a.py:3", truth=[n // 3 % 2 == 0 for n in range(90)])
    table.to_csv(tmp_path / "votes.csv", index=False)
    return tmp_path / "votes.csv"


def test_without_a_mode_the_shell_and_python_read_collaboratively(cli, votes):
    done = cli("replay", votes, "--columns", COLUMNS)
    assert done.out.startswith("30 findings, judged as recorded\n")
    assert "partial-consensus: 30 (n = 30)" in done.out
    assert f"note: {NO_MODE}" in done.out
    runs = vp.from_votes(pd.read_csv(votes), item="claim", worker="judge", verdict="says")
    assert vp.replay(runs)["classification"].eq("partial-consensus").all()


def test_with_a_mode_nothing_is_said(cli, votes):
    for words in (("--mode", "collaborative"), ("--rules", "adversarial")):
        assert NO_MODE not in cli("replay", votes, "--columns", COLUMNS, *words).out
    named = cli("replay", votes, "--columns", f"{COLUMNS},mode=adversarial,explanation=why")
    assert "contested: 30 (n = 30)" in named.out
    assert NO_MODE not in named.out


def test_every_output_says_that_the_table_names_no_mode(votes):
    table = pd.read_csv(votes)
    runs = vp.from_votes(table, item="claim", worker="judge", verdict="says", truth="truth")
    results = (
        runs,
        vp.compare(runs, rules=["majority", "unanimous"], resamples=20),
        vp.search_rules(runs, ["majority"], cost="votes"),
        vp.workers(runs),
    )
    for result in results:
        assert NO_MODE in str(result), type(result).__name__
    assert NO_MODE in str(vp.influence(runs))
    named = vp.from_votes(table, item="claim", worker="judge", verdict="says", truth="truth", mode="adversarial")
    assert NO_MODE not in str(named)
    assert NO_MODE not in str(vp.workers(named))


def test_a_replay_as_recorded_exits_with_1_where_a_run_recorded_another_class(cli, tmp_path):
    runs = vp.datasets.runs("stdlib-claims/adversarial").select(["part-01"])
    runs.findings["classification"] = "contested"
    runs.save(tmp_path / "saved")
    done = cli("replay", tmp_path / "saved")
    assert done.code == 1
    assert "differ from what the votes give" in done.err
    assert cli("replay", tmp_path / "saved", "--max-rounds", "1").code == 0


@pytest.mark.parametrize(
    ("command", "tables"),
    [
        ("workers", {"table", "recalls"}),
        ("panel", {"judges", "pairs", "order", "size_curve", "summary"}),
        ("agreement", {"agreement"}),
        ("flips", {"changes", "workers", "majority", "breaks", "adoption", "rounds", "differences"}),
    ],
)
def test_the_shell_says_of_a_panel_what_python_says(cli, tmp_path, command, tables):
    name = "prover-verifier/debate" if command == "flips" else "llmbar/plain"
    done = cli(command, name, "--out", tmp_path / "out")
    assert done.code == 0, done.err
    assert {path.stem for path in (tmp_path / "out").iterdir()} == tables
    found = getattr(vp, command)(name)
    if command == "agreement":
        assert len(pd.read_csv(tmp_path / "out" / "agreement.csv")) == len(found)
        assert "krippendorff-alpha" in done.out
    else:
        assert done.out.startswith(str(found))


def test_the_out_of_a_panel_is_a_folder_of_tables_or_a_chart(cli, tmp_path):
    done = cli("panel", "llmbar/plain", "--out", tmp_path / "p.png")
    assert (done.code, done.out.splitlines()[-1]) == (0, f"chart: {tmp_path / 'p.png'}")
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")
    for command, name, fix in (
        ("panel", "p.csv", "a chart that ends in '.png', '.svg'"),
        ("agreement", "a.png", f"name a folder, such as {tmp_path / 'a'}"),
    ):
        refused = cli(command, "llmbar/plain", "--out", tmp_path / name)
        assert (refused.code, " ".join(refused.err.split()).count(fix)) == (2, 1), refused.err
        assert not (tmp_path / name).exists()


def test_the_out_of_a_comparison_is_a_folder_of_its_report_or_a_chart(cli, votes, tmp_path):
    for runs in (["contract"], [votes, "--columns", COLUMNS.removesuffix(",truth=truth")]):
        second = [] if runs == ["contract"] else ["--other", votes]
        picture = tmp_path / f"{len(runs)}.png"
        done = cli("compare", *runs, *second, "--out", picture)
        assert (done.code, done.out.splitlines()[-1]) == (0, f"chart: {picture}"), done.err
        assert picture.read_bytes().startswith(b"\x89PNG")
    done = cli("compare", "contract", "--out", tmp_path / "c.csv")
    assert done.code == 2
    assert "--out: is the folder of the report, got the file name" in done.err
    assert not (tmp_path / "c.csv").exists()


def test_several_tables_to_compare_need_names(cli, votes):
    done = cli("compare", votes, votes, "--columns", COLUMNS)
    assert done.code == 2
    assert "a table of votes among them: each needs a name. Fix: write NAME=" in done.err
    assert cli("compare", f"a={votes}", f"b={votes}", "--columns", COLUMNS).out.startswith("a against b: 30 findings")


def test_panels_of_tables_with_verdicts_or_with_labels(cli, votes, tmp_path):
    assert cli("workers", votes, "--columns", COLUMNS).out.startswith("3 workers, 30 items, 90 votes: accuracy from")
    table = pd.DataFrame(
        {"q": [1, 1, 2, 2, 3, 3], "who": list("ab") * 3, "says": ["cat", "dog", "", "cat", "ox", "ox"]}
    )
    table.to_csv(tmp_path / "labels.csv", index=False)
    labels = "item=q,worker=who,label=says"
    done = cli("agreement", tmp_path / "labels.csv", "--columns", labels, "--verdicts", "dog=cat")
    assert (done.code, "cohen-kappa" in done.out) == (0, True), done.err
    for words, message in (
        (("--columns", "item=q,label=says"), "does not say which columns are item and worker"),
        (("--columns", f"{labels},mode=x"), "with label=, use some of item, worker, label, truth"),
        (("--columns", labels, "--truth", votes), "--truth: goes with runs. Fix: name the column"),
        ((), "is a table of votes, and nothing says which column is the"),
    ):
        refused = cli("panel", tmp_path / "labels.csv", *words)
        assert (refused.code, message in refused.err) == (2, True), refused.err


def test_votes_that_move_to_a_pushed_answer_are_counted_in_the_shell(cli, tmp_path):
    table = pd.DataFrame({"q": [1, 1, 2, 2], "who": "a", "step": [0, 1] * 2, "says": ["no", "Yes", "no", "no"]})
    table.assign(user="yes").to_csv(tmp_path / "answers.csv", index=False)
    named = "item=q,worker=who,label=says,round=step,toward=user"
    done = cli("flips", tmp_path / "answers.csv", "--columns", named, "--verdicts", "yes=yes")
    assert "1 of 2 other votes moved to the given answer (50.0 % [" in done.out, done.err


def test_a_search_says_why_rules_of_runs_cost_fewer_votes_than_were_cast():
    rows = [(f"c{n}", who, number, "agree", n % 2 == 0) for n in range(20) for who in "abc" for number in (1, 2)]
    table = pd.DataFrame(rows, columns=["claim", "judge", "round", "says", "truth"])
    named = {"item": "claim", "worker": "judge", "verdict": "says", "round": "round", "truth": "truth"}
    search = vp.search_rules(vp.from_votes(table, **named, mode="collaborative"), ["no-pruning"], cost="votes")
    assert search.table["votes"].tolist() == [60, 120]
    note = "120 votes are recorded, and the rules of the runs ask for 60 of these: a finding that an earlier round"
    assert note in str(search)
    once = vp.from_votes(table[table["round"].eq(1)], **named, mode="collaborative")
    assert "votes are recorded" not in str(vp.search_rules(once, ["no-pruning"], cost="votes"))


def test_an_error_in_one_of_several_tables_names_the_file(cli, votes, tmp_path):
    pd.read_csv(votes).assign(says="bustd").to_csv(tmp_path / "long.csv", index=False)
    done = cli("compare", f"short={votes}", f"long={tmp_path / 'long.csv'}", "--columns", COLUMNS)
    assert f"{tmp_path / 'long.csv'}: column verdict: holds 'bustd'" in done.err
    alone = cli("compare", tmp_path / "long.csv", "--columns", COLUMNS)
    assert "votes: column verdict: holds 'bustd'" in alone.err


def test_scores_in_the_shell_and_a_word_with_a_space_are_met_with_what_to_write(cli, votes):
    done = cli("compare", votes, "--columns", "item=claim,worker=judge,score=says")
    assert "for scores, use Python: vp.from_votes(..., score=, threshold=)" in done.err
    done = cli("compare", votes, "--columns", COLUMNS, "--verdicts", "holds")
    assert "write it as yes=agree,no=disagree, the whole in quotes if a name has a space" in done.err


def test_a_single_name_that_is_no_file_is_not_taken_for_a_cut_column(cli):
    done = cli("compare", "vots", "--columns", COLUMNS)
    assert "--columns: goes with one CSV, TSV or Parquet file of votes. Fix: name one such file" in done.err
    assert "quotes" not in done.err
