"""Columns of a table of votes: named by options, by the file beside it or by themselves, else by the error in words."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pandas as pd
import pytest

import verifyplan as vp
from verifyplan.errors import InputError, TableError
from verifyplan.frames.vote_files import columns_by_own_names, sidecar_of

TABLE = "q,who,says,right\nc1,a,yes,1\nc1,b,yes,1\nc1,c,,1\nc2,a,no,0\nc2,b,yes,0\nc2,c,yes,0\n"
NAMES = {"item": "q", "worker": "who", "verdict": "says", "truth": "right"}
WORDS = {"yes": "agree", "": "verification-error", "no": "disagree"}


@pytest.fixture
def table(tmp_path) -> Path:
    (tmp_path / "votes.csv").write_text(TABLE)
    return tmp_path / "votes.csv"


def name_beside(table: Path, columns: dict[str, str], verdicts: dict[str, str]) -> None:
    """Write the file beside a table that names its columns and words."""
    sidecar_of(table).write_text(json.dumps({"columns": columns, "verdicts": verdicts}))


OWN_WORDS = "q,who,says,gold\nc1,a,holds,Sound\nc1,b,refuted,Sound\nc2,a,n/a,Flawed\nc2,b,holds,Flawed\n"


def test_a_shell_names_words_for_truth_of_votes_and_of_a_file_of_labels(cli, table):
    table.write_text(OWN_WORDS)
    options = ["--columns", "item=q,worker=who,verdict=says", "--verdicts", "holds=agree,n/a=verification-error"]
    with_gold = [options[0], f"{options[1]},truth=gold", *options[2:]]
    refused = cli("workers", table, *with_gold)
    assert "--truths Sound=TRUTH,Flawed=TRUTH, each TRUTH true, false or unknown; true/false" in refused.err
    truths = ["--truths", "sound=true,flawed=false"]
    assert "accuracy" in cli("workers", table, *with_gold, *truths).out
    labels = table.with_name("labels.csv")
    labels.write_text("q,gold,note\nc1,Sound,x\nc2,Flawed,y\n")
    named = cli("workers", table, *with_gold, "--truth", labels, *truths)
    assert (named.code, "accuracy" in named.out) == (0, True), named.err
    labels.write_text("statement,gold\nc1,Sound\nc2,Flawed\n")
    assert "accuracy" in cli("workers", table, *options, "--truth", labels, *truths).out
    unread = cli("workers", table, *options, "--truth", labels)
    assert (unread.code, "truth: holds 'sound', 'flawed'" in unread.err) == (2, True)
    assert (
        "--truths['sound']: 'maybe' is neither true nor false. Fix: use true, false or unknown"
        in cli("workers", table, *with_gold, "--truths", "sound=maybe").err
    )


def test_the_error_says_what_to_give_where_no_column_says_what_it_is(cli, table):
    done = cli("compare", table)
    assert done.code == 2
    missing = "says which column is the item and which is the worker and which is the verdict"
    assert f"{table}: is a table of votes, and nothing {missing}. Fix: name them" in done.err
    options = (
        "--columns item=q,worker=who,verdict=says,truth=right --verdicts yes=agree,=verification-error,no=disagree"
    )
    assert f": verifyplan compare {table} {options} (the columns are 'q', 'who', 'says', 'right')." in done.err
    assert not sidecar_of(table).exists()


def test_the_command_of_the_first_error_reads_the_table(cli, tmp_path):
    rows = [(f"Q{n}", judge, 1, "holds", "Sound" if n < 4 else "Flawed") for n in range(8) for judge in "ab"]
    table = pd.DataFrame(rows, columns=["question_id", "judgeModel", "turn", "judgment", "gold"])
    table.loc[0, "judgment"] = "no"
    table.to_csv(tmp_path / "my votes.csv", index=False)
    done = cli("compare", tmp_path / "my votes.csv", "--resamples", 20)
    command = shlex.split(re.search(r"check them: (verifyplan .*?) \(", done.err)[1])
    assert command == [
        *("verifyplan", "compare", str(tmp_path / "my votes.csv"), "--resamples", "20"),
        *("--columns", "item=question_id,worker=judgeModel,verdict=judgment,round=turn,truth=gold"),
        *("--verdicts", "no=disagree,holds=VERDICT", "--truths", "Sound=TRUTH,Flawed=TRUTH"),
    ]
    assert "each VERDICT is agree, supplement, disagree, verification-error or tie" in done.err
    assert "each TRUTH is true, false or unknown" in done.err
    meanings = {"holds=VERDICT": "holds=agree", "Sound=TRUTH": "Sound=true", "Flawed=TRUTH": "Flawed=false"}
    filled = [",".join(meanings.get(pair, pair) for pair in word.split(",")) for word in command]
    read = cli(*filled[1:])
    assert (read.code, "8 findings" in read.out) == (0, True), read.err
    only_words = cli(
        "compare", tmp_path / "my votes.csv", "--verdicts", "holds=agree,no=disagree", "--truths", "a=true"
    )
    assert only_words.err.count("--verdicts") == only_words.err.count("--truths") == 1


def test_the_command_of_the_first_error_shows_what_labels_are_taken_to_mean(cli, table):
    table.write_text("q,who,says\nc1,a,SUPPORTED\nc1,b,REFUTED\nc1,c,N/A\nc2,a,agree\n")
    assert "--verdicts SUPPORTED=agree,REFUTED=disagree,N/A=VERDICT (" in cli("compare", table).err


def test_names_with_spaces_that_a_shell_took_apart_are_told_to_be_quoted(cli, table):
    done = cli("workers", table, "--columns", "item=Prompt", "ID,worker=who,verdict=says")
    assert "Fix: put quotes around its names, as one has a space: 'ID,worker=who,verdict=says' is read by" in done.err
    assert "Fix: name one such file" in cli("workers", table, table, "--columns", "item=q").err


@pytest.mark.parametrize(
    ("first", "rest"), [("item=q,worker=my", "judge,verdict=says"), ("item=q,verdict=says,worker=my", "judge")]
)
@pytest.mark.parametrize("is_first", [True, False])
def test_a_comparison_tells_that_names_with_spaces_need_quotes(cli, table, first, rest, is_first):
    words = ["--columns", first, rest]
    done = cli("compare", *words, table) if is_first else cli("compare", table, *words)
    assert (
        f"--columns: is cut at a space. Fix: put quotes around its names, as one has a space: {rest!r} is" in done.err
    )
    named = cli("compare", f"gpt={table}", "contract", *words[:2])
    assert "'contract' has no name, but others do" in named.err, "a bundled set is no rest of a name"


def test_every_way_to_name_columns_says_how_a_shell_names_words(cli, table):
    options = ["--columns", "item=q,worker=who,verdict=says", "--verdicts", "yes=agree,=verification-error"]
    fix = "Fix: say what your words mean: --verdicts yes=agree,=verification-error,no=VERDICT, each VERDICT"
    assert fix in cli("compare", table, *options).err
    name_beside(table, NAMES, {"yes": "agree", "": "verification-error"})
    assert fix in cli("compare", table).err
    sidecar_of(table).unlink()
    table.write_text(TABLE.replace("who,says", "who,verdict"))
    fix = "verdict=verdict,truth=right --verdicts yes=agree,=verification-error,no=disagree (the columns are"
    assert fix in cli("compare", table).err


def test_cells_without_a_verdict_repeated_rows_and_names_with_spaces_have_fixes_for_a_shell(cli, table):
    table.write_text("claim,the judge,verdict\nc1,a,agree\nc1,b,\n")
    columns = "item=claim,worker=the judge,verdict=verdict"
    done = cli("compare", table)
    assert "--columns 'item=claim,worker=the judge,verdict=verdict' --verdicts =verification-error (" in done.err
    done = cli("compare", table, "--columns", columns)
    assert "votes: column verdict: is empty in 1 row, the first is line 3 (b on c1)" in done.err
    fix = "Fix: say what your words mean: --verdicts =verification-error, if every empty cell is a lost vote."
    assert fix in done.err
    assert "from_votes" not in done.err
    assert cli("compare", table, "--columns", columns, "--verdicts", "=verification-error").code == 0
    table.write_text("claim,the judge,verdict,mode\nc1,a,agree,fast\nc1,a,agree,slow\n")
    done = cli("compare", table, "--columns", columns)
    assert "1 row repeats the key of another" in done.err
    assert f"--columns '{columns},round=COLUMN'; if the table holds several conditions" in done.err
    assert "from_votes" not in done.err
    done = cli("compare", table, "--columns", f"{columns},mode=mode")
    assert (
        "votes: column mode: holds 'fast', 'slow'. Fix: use collaborative or adversarial, or leave it empty" in done.err
    )
    assert "from_votes" not in done.err


def test_other_forms_of_tables_say_what_a_shell_does_with_them(cli, table):
    table.write_text("claim,gpt,claude\nc1,agree,agree\nc2,agree,disagree\n")
    assert (
        "; if 'gpt', 'claude' are workers, write a row for each vote (item, worker, verdict)."
        in cli("compare", table).err
    )
    table.with_suffix(".xlsx").write_bytes(b"PK")
    assert "in a shell save the sheet as CSV (UTF-8), and name that" in cli("compare", table.with_suffix(".xlsx")).err
    done = cli("replay", table, table)
    assert "or write the file votes.csv.columns.json, which names its columns: load then reads it" in done.err
    assert "`verifyplan panel votes.csv` says which columns and words it seems to have" in done.err
    table.with_name("votes.columns.json").write_text("{}")
    with pytest.raises(
        InputError, match=r"votes.columns.json beside it would be read under the name votes.csv.columns"
    ):
        vp.load(table)
    table.with_suffix(".TSV").write_text("claim\tjudge\tvote\nc1\ta\tagree\nc1\tb\tagree\n")
    assert cli("replay", table.with_suffix(".TSV")).code == 0


def test_tables_without_runs_that_are_loaded_together_are_runs_of_their_files_names(table):
    other = table.parent / "more" / "votes.csv"
    other.parent.mkdir()
    other.write_text(TABLE)
    for path in (table, other):
        name_beside(path, NAMES, WORDS)
    assert vp.load([table, other]).runs["run_id"].tolist() == ["votes", "more/votes"]
    assert vp.load([other, other]).runs["run_id"].tolist() == ["votes"]
    third = table.with_name("third.csv")
    third.write_text("q,who,says,right,batch\nc1,a,yes,1,x\n")
    name_beside(third, NAMES | {"run": "batch"}, WORDS)
    runs = vp.load([table, third])
    assert (runs.runs["run_id"].tolist(), len(runs.findings)) == (["votes", "x"], 3)


def test_columns_that_say_themselves_what_they_are_need_no_option(cli, table):
    table.write_text("Claim,judge,vote,truth\nc1,a,agree,1\nc1,b,REFUTED,1\n")
    done = cli("replay", table)
    assert done.code == 0, done.err
    assert "columns by their own names, as --columns item=Claim,worker=judge,verdict=vote,truth=truth" in done.err
    table.write_text("claim,judge,vote\nc1,a,yes\n")
    refused = cli("replay", table)
    assert refused.code == 2
    fix = "Fix: say what your words mean: --verdicts yes=VERDICT, each VERDICT agree, supplement, disagree, verif"
    assert fix in refused.err
    assert "from_votes" not in refused.err
    assert cli("replay", table, "--verdicts", "yes=agree").code == 0


def test_every_reader_goes_by_the_names_beside_the_table(cli, table):
    name_beside(table, NAMES, WORDS)
    runs = vp.load(table)
    assert runs.votes["verdict"].astype("str").value_counts().to_dict() == {
        "agree": 4,
        "disagree": 1,
        "verification-error": 1,
    }
    assert runs.findings.set_index("finding_id")["truth"].to_dict() == {"c1": True, "c2": False}
    assert vp.load([table, vp.datasets.path("contract")]).runs.shape[0] == 16
    assert vp.compare(table, resamples=20).n_findings == 2
    for words in (["explain", table, "c1"], ["workers", table], ["replay", table, "--mode", "adversarial"]):
        done = cli(*words)
        assert done.code == 0, done.err
    other = cli("replay", table, "--verdicts", "yes=disagree,no=agree,=verification-error")
    assert (other.code, "worker-unique: 1 (n = 2)" in other.out) == (0, True)  # the words of the option


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[]", "columns must be texts by name, got None"),
        ('{"columns": {"item": "q", "worker": 2, "verdict": "says"}}', "columns must be texts by name"),
        ('{"columns": {"items": "q", "worker": "who", "verdict": "says"}}', "(did you mean 'item'?)"),
        ('{"columns": {"worker": "who", "verdict": "says"}}', "does not say which column is the item"),
        ('{"columns": {"item": "q", "worker": "who", "verdict": "says"}, "words": {}}', "'words' is not a part of it"),
        ('{"columns": {}, "truths": {"fine": "perhaps"}}', "truths['fine']: 'perhaps' is neither true nor false"),
        ('{"columns": {}, "synthetic": 1}', "synthetic must be true or false, got 1"),
        ("{", "is not JSON"),
    ],
)
def test_a_file_of_names_that_does_not_fit_is_refused(cli, table, content, message):
    sidecar_of(table).write_text(content)
    with pytest.raises(InputError, match=re.escape(message)):
        vp.load(table)
    done = cli("compare", table)
    assert (done.code, message in done.err) == (2, True), done.err


def test_a_table_that_has_changed_says_where_its_names_come_from(cli, table):
    name_beside(table, NAMES | {"worker": "judge"}, WORDS)
    note = f"{sidecar_of(table)}: names these columns and words. Fix: change it, or delete it to name them anew."
    with pytest.raises(TableError, match="there is no column 'judge'") as caught:
        vp.load(table)
    assert str(caught.value.problems[-1]) == note
    done = cli("compare", table)
    assert (done.code, note in done.err) == (2, True)
    assert len(vp.load([table, vp.datasets.path("contract")], strict=False).errors) == 2


def test_own_names_are_taken_in_any_spelling_and_the_best_first():
    assert columns_by_own_names(["claim", "Finding ID", "Worker", "VOTE"]) == {
        "item": "Finding ID", "worker": "Worker", "verdict": "VOTE",
    }  # fmt: skip


def test_the_first_error_names_the_column_that_repeats_votes_as_the_round(cli, tmp_path):
    rows = [f"{q},{who},yes,{number},{number * 100}" for q in "ab" for who in "xy" for number in (1, 2)]
    path = tmp_path / "passes.csv"
    path.write_text("\n".join(["q,who,says,pass,tokens", *rows]))
    refused = cli("panel", path)
    assert "item=q,worker=who,verdict=says,round=pass" in "".join(refused.err.split()).replace("\n", "")
    path.write_text("\n".join(["q,who,says,pass,tokens", *rows[::2]]))
    assert "round=" not in cli("panel", path).err, "no vote is repeated"
