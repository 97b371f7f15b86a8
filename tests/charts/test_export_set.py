"""A figure with its data and its caption in one call: all of the files, or none."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pandas as pd
import pytest

from verifyplan.charts import class_mix, quality_scores, transitions
from verifyplan.charts.export import export, export_set
from verifyplan.charts.figure import Figure
from verifyplan.errors import InputError


@pytest.fixture
def figure(scores_of) -> Figure:
    return quality_scores(scores_of({"a": [4, 7, None, 9, 10, 1], "b": [9] * 6}))


def test_pictures_data_and_words_are_written_under_one_name(figure, tmp_path):
    paths = export_set(figure, tmp_path / "new" / "scores")
    assert paths == [tmp_path / "new" / f"scores.{name}" for name in ("png", "svg", "csv", "txt")]
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == sorted(path.name for path in paths)
    for path in paths[:2]:
        assert path.read_bytes() == export(figure, tmp_path / f"alone{path.suffix}").read_bytes()
    assert paths[3].read_text() == f"How the plans score\n\n{figure.caption}\n\nAlt text: {figure.description}\n"


def test_the_csv_is_the_figures_data_with_missing_cells_empty(figure, tmp_path):
    text = export_set(figure, tmp_path / "scores", formats=())[0].read_text()
    rows = list(csv.DictReader(io.StringIO(text)))
    assert list(rows[0]) == list(figure.data.columns)
    assert len(rows) == 12
    assert (rows[0]["run_id"], rows[0]["dimension"], rows[0]["score"]) == ("a", "approach_soundness", "4.0")
    assert (rows[2]["score"], rows[2]["evidence"], rows[2]["refused"]) == ("", "", "evidence is blank")


def test_lists_are_joined_and_an_index_that_says_something_is_a_column(comparison, tmp_path):
    data = pd.DataFrame({"who": [["a", "b"], [], None], "text": ["x, y", None, 'say "no"']})
    data["half"] = pd.Series(["\ud800", "", ""], dtype="object")
    odd = Figure(class_mix(comparison).chart, "", data, "")
    written = export_set(odd, tmp_path / "odd", formats=())[0].read_text()
    assert written == 'who,text,half\na; b,"x, y",?\n,,\n,"say ""no""",\n'
    text = export_set(transitions(comparison), tmp_path / "moves", formats=())[0].read_text()
    assert text.splitlines()[1] == "full-consensus,20,2,1,1"


def test_every_format_may_be_asked_for(figure, tmp_path):
    paths = export_set(figure, str(tmp_path / "f"), formats=["PNG", ".svg", "pdf", "html", "json", "png"])
    assert [path.suffix for path in paths] == [".png", ".svg", ".pdf", ".html", ".json", ".csv", ".txt"]
    assert export_set(figure, tmp_path / "g", formats="pdf")[0].read_bytes().startswith(b"%PDF-")


def test_a_dot_in_the_name_is_no_suffix(figure, tmp_path):
    assert export_set(figure, tmp_path / "figure-1.2", formats=())[0].name == "figure-1.2.csv"


def test_all_problems_are_told_before_anything_is_written(tmp_path):
    with pytest.raises(InputError) as caught:
        export_set("no figure", tmp_path / "new" / "a.png", formats=("gif", "svg", "a/b", None))
    assert [str(problem).replace(str(tmp_path), "T") for problem in caught.value.problems] == [
        "export_set: figure: a str is not a figure. Fix: give what a function of verifyplan.charts returns.",
        "export_set: formats: there is no format 'gif'. Fix: use 'png', 'svg', 'pdf', 'html', 'json'.",
        "export_set: formats: there is no format 'a/b'. Fix: use 'png', 'svg', 'pdf', 'html', 'json'.",
        "export_set: formats: there is no format 'none'. Fix: use 'png', 'svg', 'pdf', 'html', 'json'.",
        "export_set: T/new/a.png: ends in .png. Fix: leave the suffix out: one is added for each file.",
    ]
    assert not list(tmp_path.iterdir())


def test_what_is_no_list_of_formats_is_a_problem(figure, tmp_path):
    for formats in (None, 7):
        with pytest.raises(InputError, match=f"there is no format '{str(formats).lower()}'"):
            export_set(figure, tmp_path / "a", formats=formats)


@pytest.mark.parametrize("name", ["a.csv", "a.TXT", "a.svg"])
def test_a_name_with_a_suffix_is_refused(figure, tmp_path, name):
    with pytest.raises(InputError, match="leave the suffix out"):
        export_set(figure, tmp_path / name)


def test_a_folder_that_cannot_be_written_to_is_a_problem(figure, tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(InputError, match=r"its folder cannot be written to \(Not a directory\)"):
        export_set(figure, tmp_path / "file" / "a")
    (tmp_path / "b.svg").mkdir()
    with pytest.raises(InputError, match=r"b: b\.svg is a folder\. Fix: give another name"):
        export_set(figure, tmp_path / "b")
    with pytest.raises(InputError, match=r"cannot be written to \(File name too long\)"):
        export_set(figure, tmp_path / ("x" * 300))
    with pytest.raises(InputError, match="is not a file name"):
        export_set(figure, tmp_path / "a\0b")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b.svg", "file"]


def test_a_failed_write_leaves_every_old_file_and_nothing_new(figure, monkeypatch, tmp_path):
    for name in ("png", "svg", "csv", "txt"):
        (tmp_path / f"a.{name}").write_text("old")
    write = Path.write_bytes

    def full(path: Path, data: bytes) -> int:
        if path.suffix == ".txt":
            raise OSError("no space left")
        return write(path, data)

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match="no space left"):
        export_set(figure, tmp_path / "a")
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == dict.fromkeys(
        ["a.png", "a.svg", "a.csv", "a.txt"], "old"
    )
