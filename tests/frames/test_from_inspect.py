"""Logs of Inspect AI as votes: logs that it wrote itself, what its own dataframes say of them, and damaged ones."""

from __future__ import annotations

import json
import shutil
import sys
import zipfile
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest

import verifyplan as vp
from verifyplan.errors import InputError, SettingsError, TableError
from verifyplan.frames.inspect_logs import read_inspect_logs

LOGS = Path(__file__).parent / "inspect_logs"  # write_logs.py there says how they were made
SCORERS, PANEL, OTHER = LOGS / "scorers.eval", LOGS / "panel.eval", LOGS / "other-model.eval"


def long(votes) -> pd.DataFrame:
    """The votes as a table of texts, sorted."""
    labels = [*votes.labels, None]
    table = pd.DataFrame(
        {
            "run": votes.units["run"].to_numpy()[votes.unit],
            "item": votes.units["item"].to_numpy()[votes.unit],
            "worker": [votes.workers[code] for code in votes.worker],
            "label": [labels[code] for code in votes.label],
        }
    )
    return table.sort_values(["run", "item", "worker"], ignore_index=True)


@pytest.mark.parametrize("name", ["scorers.eval", "panel.eval", "other-model.eval"])
def test_scores_are_those_of_the_dataframes_of_inspect(name):
    theirs = pd.read_csv(LOGS / "samples.csv", dtype="str").query("log == @name")
    columns = [column for column in theirs if column.startswith("score_") and theirs[column].notna().any()]
    for column in columns:
        scorer = column.removeprefix("score_")
        if scorer == "style":
            continue  # they show a dictionary as JSON; here each key is a scorer
        ours = long(vp.from_inspect(LOGS / name, scorers=scorer, worker=["scorer", "epoch"]))
        expected = theirs.assign(worker=scorer + "/epoch " + theirs["epoch"]).sort_values(["id", "worker"])
        values = expected[column].str.removesuffix(".0")
        assert ours["item"].tolist() == expected["id"].tolist()
        assert ours["worker"].tolist() == expected["worker"].tolist()
        assert ours["label"].fillna("").tolist() == values.fillna("").tolist()


def test_each_scorer_is_a_worker_and_each_epoch_a_run():
    votes = vp.from_inspect(SCORERS, scorers=["exact", "lenient"])
    assert votes.workers == ("exact", "lenient")
    assert votes.units["run"].unique().tolist() == ["sums/mockllm/model/epoch 1", "sums/mockllm/model/epoch 2"]
    assert votes.units["item"].tolist() == ["q1", "q2", "q3", "q4"] * 2
    assert votes.labels == ("C", "I")
    assert votes.explanation is not None
    assert votes.explanation.dropna().unique().tolist() == ["compared"]


def test_a_threshold_makes_labels_of_numbers_and_letters_and_an_unscored_sample_is_a_lost_vote():
    votes = vp.from_inspect(SCORERS, threshold=0.6)
    table = long(votes)
    assert votes.labels == ("C", "I")
    assert votes.workers == ("closeness", "exact", "lenient", "style/polite", "style/short")
    lost = table[table["label"].isna()]
    assert lost[["item", "worker"]].drop_duplicates().to_numpy().tolist() == [["q4", "closeness"]]
    assert table.query("worker == 'closeness' and label == 'I'")["item"].tolist() == ["q3", "q2"]
    assert table.query("worker == 'style/polite' and label == 'I'")["item"].tolist() == ["q2", "q2"]


def test_a_number_at_the_threshold_is_correct():
    votes = vp.from_inspect(SCORERS, scorers="closeness", threshold=0.5)
    assert set(long(votes)["label"].dropna()) == {"C"}


def test_graders_of_a_panel_are_workers_under_their_names():
    votes = vp.from_inspect(PANEL, panel="model_graded_qa", truth="exact")
    assert votes.workers == tuple(f"model_graded_qa: mockllm/{name}" for name in ("anne", "bert", "carl"))
    grades = [[None if code < 0 else votes.labels[code] for code in row] for row in votes.matrix()]
    assert grades == [["C", "C", "C"], ["C", "I", "C"], ["I", "I", "C"], ["C", "C", None]]
    assert votes.units["truth"].tolist() == ["C", "C", "I", "C"]


def test_a_panel_that_the_summary_leaves_out_is_read_from_the_sample():
    """A grader's long words push the panel out of the summary: that of q4 in this log."""
    summaries = read_inspect_logs(PANEL)[0].samples
    cut = [each["id"] for each in summaries if isinstance(each["scores"]["model_graded_qa"]["metadata"]["panel"], str)]
    assert cut == ["q4"]


def test_epochs_are_workers_whose_answers_are_compared_with_the_target():
    votes = vp.from_inspect(SCORERS, worker="epoch", scorers="exact", label="answer", truth="target")
    assert votes.workers == ("epoch 1", "epoch 2")
    answers = [[votes.labels[code] for code in row] for row in votes.matrix()]
    assert answers == [["4", "4"], ["6", "7"], ["11", "10"], ["8", "8"]]
    assert votes.units["truth"].tolist() == ["4", "6", "10", "8"]


def test_json_says_the_same_as_eval_and_logs_of_a_folder_are_runs():
    one = long(vp.from_inspect(LOGS / "scorers.json", scorers=["exact", "lenient"]))
    both = long(vp.from_inspect(SCORERS, scorers=["exact", "lenient"])).query("run.str.endswith('1')")
    assert one.drop(columns="run").equals(both.drop(columns="run").reset_index(drop=True))
    folder, glob = vp.from_inspect(LOGS, scorers="exact"), vp.from_inspect(str(LOGS / "*.eval"), scorers="exact")
    assert (len(folder.units), len(glob.units)) == (20, 16)
    assert len(vp.from_inspect([SCORERS, PANEL], scorers="exact").units) == 12


def test_logs_of_several_models_are_workers(tmp_path):
    content = (LOGS / "scorers.json").read_text()
    (tmp_path / "b.json").write_text(content.replace('"model": "mockllm/model"', '"model": "other/model"'))
    shutil.copy(LOGS / "scorers.json", tmp_path / "a.json")
    votes = vp.from_inspect(tmp_path, worker="model", scorers="exact")
    assert votes.workers == ("mockllm/model", "other/model")
    assert votes.units["run"].unique().tolist() == ["sums"]


def test_a_log_that_has_not_ended_is_read_as_far_as_it_got(tmp_path):
    unfinished = tmp_path / "unfinished.eval"
    whole = SCORERS.read_bytes()
    with zipfile.ZipFile(SCORERS) as archive:
        infos = {info.filename: info for info in archive.infolist()}
    with zipfile.ZipFile(unfinished, "w") as archive:
        for name in ("_journal/start.json", "_journal/summaries/1.json", "_journal/summaries/2.json"):
            archive.writestr(name, member(whole, infos[name]))
    assert len(vp.from_inspect(unfinished, scorers="exact")) < len(vp.from_inspect(SCORERS, scorers="exact"))


def member(data: bytes, info: zipfile.ZipInfo) -> bytes:
    name, extra = (int.from_bytes(data[info.header_offset + at :][:2], "little") for at in (26, 28))
    start = info.header_offset + 30 + name + extra
    return bytes(pa.Codec("zstd").decompress(data[start : start + info.compress_size], info.file_size))


@pytest.mark.parametrize("kind", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_logs_of_older_versions_are_not_packed_by_zstd(tmp_path, kind):
    data = SCORERS.read_bytes()
    with zipfile.ZipFile(SCORERS) as archive, zipfile.ZipFile(tmp_path / "old.eval", "w", kind) as old:
        for info in archive.infolist():
            old.writestr(info.filename, member(data, info))
    names = ["exact", "lenient"]
    old_votes = long(vp.from_inspect(tmp_path / "old.eval", scorers=names))
    assert old_votes.equals(long(vp.from_inspect(SCORERS, scorers=names)))


@pytest.mark.parametrize(
    ("arguments", "problems"),
    [
        ({"worker": "judge"}, [("worker", "'judge' is not allowed")]),
        ({"worker": []}, [("worker", "'' is not allowed")]),
        (
            {"label": "values", "threshold": "x"},
            [("label", "'values' is not allowed (did you mean 'value'?)"), ("threshold", "must be a number, got 'x'")],
        ),
        ({"threshold": True}, [("threshold", "must be a number, got True")]),
        (
            {"scorers": ["exakt", "lenient"], "truth": "people"},
            [
                ("scorers", "there is no scorer 'exakt' (did you mean 'exact'?)"),
                ("scorers", "there is no scorer 'people'"),
            ],
        ),
        ({"panel": "exact"}, [("panel", "scorer 'exact' has no grades of single graders")]),
        ({"worker": "epoch"}, [("scorers", "5 are left, and scorers are not the workers here")]),
        ({"scorers": "exact", "truth": "exact"}, [("scorers", "none is left to vote")]),
    ],
)  # fmt: skip
def test_arguments_that_do_not_fit_are_listed(arguments, problems):
    with pytest.raises(SettingsError, match="Fix: ") as caught:
        vp.from_inspect(SCORERS, **arguments)
    assert [(problem.place, problem.message) for problem in caught.value.problems] == problems


def test_words_and_numbers_are_not_compared():
    with pytest.raises(TableError, match=r"'exact' scores in words and 'closeness' in numbers\..*threshold=0\.5"):
        vp.from_inspect(SCORERS)


def test_a_word_that_is_no_number_has_no_side_of_a_threshold(tmp_path):
    content = json.loads((LOGS / "scorers.json").read_text())
    content["samples"][1]["scores"]["exact"]["value"] = "maybe"
    (tmp_path / "log.json").write_text(json.dumps(content))
    with pytest.raises(TableError, match=r"threshold: 'exact' has 'maybe', which is not a number \(1 such\)"):
        vp.from_inspect(tmp_path / "log.json", threshold=0.5)


def test_logs_without_scores_say_so(tmp_path):
    content = json.loads((LOGS / "scorers.json").read_text())
    for sample in content["samples"]:
        sample["scores"] = None
    (tmp_path / "log.json").write_text(json.dumps(content))
    with pytest.raises(TableError, match="path: the logs hold no scores"):
        vp.from_inspect(tmp_path / "log.json")


def test_all_that_is_wrong_with_files_is_listed_at_once(tmp_path):
    data = SCORERS.read_bytes()
    (tmp_path / "cut.eval").write_bytes(data[: len(data) // 2])
    at = data.index(b"summaries.json", data.index(b"samples/q4_epoch_2.json")) + 60
    (tmp_path / "flipped.eval").write_bytes(data[:at] + bytes([data[at] ^ 255]) + data[at + 1 :])
    with zipfile.ZipFile(tmp_path / "foreign.eval", "w") as archive:
        archive.writestr("word/document.xml", "<x/>")
    (tmp_path / "package.json").write_text('{"name": "x"}')
    (tmp_path / "damaged.json").write_text('{"eval": ')
    (tmp_path / "empty.json").write_text('{"eval": {}, "samples": []}')
    (tmp_path / "odd.json").write_text('{"eval": {}, "samples": [{"x": 1}]}')
    with pytest.raises(InputError, match="Fix: ") as caught:
        vp.from_inspect([tmp_path, "nowhere", tmp_path / "package.json"])
    said = {Path(problem.place).name: problem.message for problem in caught.value.problems}
    bad = ("cut.eval", "flipped.eval", "foreign.eval", "damaged.json", "empty.json", "odd.json", "nowhere")
    assert said.keys() == {*bad, "package.json"}
    assert said["cut.eval"].startswith("cannot be read (File is not a zip file")
    assert said["flipped.eval"].startswith("cannot be read (")
    assert said["foreign.eval"] == "is not a log of Inspect: it has neither header.json nor a journal"
    assert said["package.json"] == "is not a log of Inspect: it has no 'eval'"
    assert said["empty.json"] == "has no samples"
    assert said["odd.json"] == "is damaged: a sample has no id or epoch"
    assert said["nowhere"] == "is not there"


def test_a_folder_without_logs_says_so(tmp_path):
    (tmp_path / "package.json").write_text("{}")
    with pytest.raises(InputError, match=r"holds no log of Inspect\. Fix: name an \.eval or"):
        vp.from_inspect(tmp_path)
    with pytest.raises(InputError, match="path: names nothing"):
        vp.from_inspect([])


def test_inspect_is_not_needed():
    assert "inspect_ai" not in sys.modules
