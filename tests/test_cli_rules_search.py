"""`verifyplan rules search` as a user meets it: words, files, and what it refuses."""

from __future__ import annotations

import json
import shlex

import pandas as pd
import pytest

import verifyplan as vp


@pytest.fixture(scope="module")
def votes(tmp_path_factory):
    """Return a table of votes of two runs: cy was not asked about every claim, and is the best."""
    rows = [
        (f"r{i % 2}", f"F{i}", who, "yes" if says else "no", i % 3 == 0)
        for i in range(24)
        for who, says in (("ann", i % 3 == 0 or i % 5 == 0), ("bob", i % 2 == 0), ("cy", i % 3 == 0))
        if who != "cy" or i % 5
    ]
    path = tmp_path_factory.mktemp("votes") / "votes.csv"
    pd.DataFrame(rows, columns=["run", "claim", "judge", "vote", "label"]).to_csv(path, index=False)
    return path


COLUMNS = "run=run,item=claim,worker=judge,verdict=vote,truth=label,mode=collaborative"
WORDS = "yes=agree,no=disagree"


@pytest.fixture
def search(cli, votes):
    return lambda *more: cli("rules", "search", votes, "--columns", COLUMNS, "--verdicts", WORDS, *more)


def test_the_frontier_and_the_recommendation_are_printed_in_words(search):
    done = search("--quality", "accuracy", "--cost", "votes", "--max-cost", 30)
    assert (done.code, done.err) == (0, "")
    assert "rules by accuracy and votes, on 24 findings of 2 runs" in done.out
    assert "frontier, from cheap to expensive:" in done.out
    [line] = [line for line in done.out.splitlines() if line.startswith("undecided among ")]
    assert " rules of at most 30 votes: keep the rules of the recorded runs; about " in line
    rough = search("--quality", "accuracy", "--cost", "votes", "--max-cost", 30, "--max-loss", 0.9)
    [line] = [line for line in rough.out.splitlines() if line.startswith("recommended of ")]
    assert "(64 % fewer votes); shown to lose at most 90 points of accuracy" in line


def test_table_chart_and_rules_are_written(search, tmp_path):
    files = [tmp_path / name for name in ("rules.csv", "rules.parquet", "rules.PNG", "rules.svg", "rules.html")]
    outs = [word for path in files for word in ("--out", path)]
    done = search("--rules", "majority", "--rules", "unanimous", *outs, "--save", tmp_path / "best.json")
    assert (done.code, done.err) == (0, "")
    assert [line.partition(":")[0] for line in done.out.splitlines()[-6:]] == ["rules", *["table"] * 2, *["chart"] * 3]
    table = pd.read_parquet(tmp_path / "rules.parquet")
    assert table["digest"].tolist() == pd.read_csv(tmp_path / "rules.csv")["digest"].tolist()
    assert table["preset"].tolist() == ["as-recorded", "majority", "unanimous"]
    assert vp.VotingRules.load(tmp_path / "best.json").digest in set(table["digest"])
    assert all(path.stat().st_size > 1000 for path in files[2:])


def test_a_space_is_every_combination_of_the_values_in_a_file(search, tmp_path):
    space = tmp_path / "space.json"
    space.write_text(json.dumps({"aggregate": ["majority", "unanimous"], "workers": [["ann"], ["bob"], ["cy"]]}))
    done = search("--space", space)
    assert (done.code, done.out.splitlines()[0]) == (0, "7 rules by f1 and votes, on 24 findings of 2 runs")
    space.write_text("[1]")
    done = search("--space", space)
    assert (done.code, f"{space}: holds [1], not an object" in done.err) == (2, True)
    assert "--space: does not go with --rules" in search("--space", space, "--rules", "majority").err


def test_a_plan_of_several_runs_is_one_file_and_its_commands_are_filled_in(search, votes, tmp_path):
    best = vp.VotingRules(workers=("cy",)).save(tmp_path / "best.json")
    done = search("--rules", best, "--settle", 4, "--calls", tmp_path / "calls.json")
    assert (done.code, done.err) == (0, "")
    plan = json.loads((tmp_path / "calls.json").read_text())
    assert ({row["run_id"] for row in plan}, {row["worker"] for row in plan}, len(plan)) == ({"r0", "r1"}, {"cy"}, 4)
    asked = f"--workers ann,bob,cy --mode collaborative --max-rounds 1 --only {tmp_path / 'calls.json'} --log-dir more"
    assert f"  verifyplan crossverify FINDINGS.csv {asked}\n" in done.out
    again = f"--add more --rules {best} --columns {COLUMNS} --verdicts {WORDS} --quality f1"
    assert f"  verifyplan rules search {votes} {again}\n" in done.out
    assert "FINDINGS.csv: the findings that were voted on" in done.out


def test_the_printed_commands_ask_for_the_votes_of_all_runs_and_search_again(cli, tmp_path):
    claims, root = vp.datasets.path("stdlib-claims") / "claims.csv", vp.datasets.stdlib_root()
    runs = vp.datasets.runs("stdlib-claims/adversarial").select(["part-01", "part-02"])
    runs.save(tmp_path / "runs")
    rules = ("--rules", "no-pruning", "--settle", 6)
    done = cli("rules", "search", "runs", "--truth", claims, "--quality", "accuracy", *rules, cwd=tmp_path)
    assert done.code == 0, done.err
    first, second = (shlex.split(line) for line in done.out.splitlines() if line.startswith("  verifyplan"))
    assert (first[2], second[3]) == (str(claims), "runs")
    made = cli(*first[1:], "--repo", root, cwd=tmp_path)
    assert made.code == 0, made.err
    more = vp.load(tmp_path / "more")
    assert (len(more), len(more.votes)) == (pd.read_csv(tmp_path / "calls.csv")["run_id"].nunique(), 6)
    again = cli(*second[1:], cwd=tmp_path)
    assert again.code == 0, again.err
    assert "votes were added" in again.out


def test_where_no_bound_is_open_no_plan_is_written(cli, votes, tmp_path):
    whole = pd.read_csv(votes).query("judge != 'cy'")
    whole.to_csv(tmp_path / "votes.csv", index=False)
    words = ("--columns", COLUMNS, "--verdicts", WORDS, "--rules", "majority")
    done = cli("rules", "search", tmp_path / "votes.csv", *words, "--settle", 3, "--calls", tmp_path / "calls.csv")
    assert (done.code, done.err, (tmp_path / "calls.csv").exists()) == (0, "", False)
    assert "no call to plan: votes that were never cast leave no bound of the frontier open" in done.out


def test_what_is_wrong_is_said_before_anything_is_read(search, tmp_path):
    done = search(
        "--out", tmp_path / "rules.xls", "--out", tmp_path, "--calls", "x.txt", "--settle", 2, "--save", "r.toml"
    )
    assert (done.code, done.out) == (2, "")
    assert (
        f"--out: there is no format for the suffix '.xls' of '{tmp_path / 'rules.xls'}'. Fix: end the name" in done.err
    )
    assert f"--out: there is no format for the suffix '' of '{tmp_path}'" in done.err
    assert (
        "--calls: there is no format for the suffix '.txt' of 'x.txt'. Fix: end the name in one of '.csv'" in done.err
    )
    assert (
        "--save: there is no format for the suffix '.toml' of 'r.toml'. Fix: end the name in one of '.json'" in done.err
    )
    (tmp_path / "file").write_text("")
    assert "cannot be written" in search("--out", tmp_path / "file" / "rules.csv").err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--quality", "f2"), "quality: 'f2' is unknown. Fix: use 'precision', 'recall', 'f1'"),
        (("--cost", "call"), "cost: 'call' is unknown (did you mean 'calls'?). Fix: use 'votes', 'calls'"),
        (("--cost", "dollars"), "cost: is not known in dollars for any rule"),
        (("--max-loss", "0"), "max_loss: must be a number above 0 and at most 1, got 0.0. Fix: give what may be lost"),
        (
            ("--max-cost", "0"),
            "max_cost: no rule costs at most 0 votes on all 24 findings. Fix: the cheapest costs 24 votes on all 24",
        ),
        (("--rules", "stiky-refutes"), "'stiky-refutes' is neither rules nor the name of a preset (did you mean"),
        (("--calls", "calls.csv"), "--calls: goes with --settle. Fix: say how many votes to plan: --settle N."),
        (("--settle", "0"), "Invalid value for '--settle'"),
        (("--add", "nowhere"), "nowhere"),
    ],
)
def test_a_search_that_cannot_be_made_says_why(search, words, message):
    done = search(*words)
    assert (done.code, done.out) == (2, "")
    assert message in " ".join(done.err.split())


def test_findings_without_truth_cannot_be_searched(cli, votes):
    columns = COLUMNS.replace("truth=label,", "")
    done = cli("rules", "search", votes, "--columns", columns, "--verdicts", WORDS)
    assert (done.code, "truth" in done.err) == (2, True)
