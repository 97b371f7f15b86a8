"""What `make bench` does with figures: it lists every ratio that fell, and makes the tables of the page from a file."""

from __future__ import annotations

import csv
import subprocess
import sys
from dataclasses import asdict, replace

import pytest

from benchmarks import figures, guard
from benchmarks.figures import TIME_AIMED_AT, VARIABLE, Figure, Measurement, measured, report

FIGURE = Figure("classify", "classify, sorted", 1_000, "votes", "pandas", 10.0, 8.0, 0.1, 1.0, 0.1, 1.0, 5.0, 7.0)
ROW = guard.Row(FIGURE, "usual", "2026-01-02", "2 cores", "numpy 2")
ENGINES = """
from benchmarks.figures import serve_or
def engine(name, n):
    return (lambda: int(n) + (name == "wrong")), (lambda result: None if name == "silent" else result)
serve_or(lambda: None, engine)
"""


def test_a_ratio_may_fall_by_a_fifth_and_no_further():
    assert guard.fallen([replace(FIGURE, ratio=8.0)], [ROW]) == []
    (sentence,) = guard.fallen([replace(FIGURE, ratio=7.9)], [ROW])
    assert sentence == "classify, sorted, 1,000 votes, beside pandas: ratio 10 on 2026-01-02, 7.9 now"


def test_all_that_fell_or_is_missing_is_listed_and_fixed_times_are_not():
    other = ROW._replace(figure=replace(FIGURE, name="from_votes"))
    fixed = ROW._replace(figure=replace(FIGURE, peer=TIME_AIMED_AT))
    sentences = guard.fallen(
        [replace(FIGURE, ratio=1.0), replace(FIGURE, peer=TIME_AIMED_AT, ratio=0.1)], [ROW, other, fixed]
    )
    assert [sentence.rsplit(", ", 1)[1] for sentence in sentences] == ["1 now", "not measured now"]


def test_the_better_of_two_runs_counts():
    slow, fast = replace(FIGURE, ratio=2.0), replace(FIGURE, ratio=3.0)
    assert guard.better([slow], [fast]) == guard.better([fast], [slow]) == [fast]


def test_a_table_reads_as_it_was_written(tmp_path):
    rows = [ROW, ROW._replace(figure=replace(FIGURE, peer="polars", aim=None, peak_mb=3.25))]
    guard.write_table(rows, tmp_path / "figures.csv")
    assert guard.read_table(tmp_path / "figures.csv") == rows
    assert guard.read_table(tmp_path / "none.csv") == []


def test_report_prints_a_line_a_peer_and_adds_it_to_the_file(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv(VARIABLE, str(tmp_path / "figures.csv"))
    peers = {"pandas": Measurement(1.0, 1.0, 7.0), "polars": Measurement(0.05)}
    report("classify", "classify, sorted", 1_000, "votes", Measurement(0.1, 0.1, 5.0), peers, {"pandas": 8})
    pandas, polars = figures.read_figures(tmp_path / "figures.csv")
    assert {**asdict(pandas), "ratio": 10} == asdict(FIGURE)
    assert polars.aim is None
    assert capsys.readouterr().out.splitlines() == [
        "classify, sorted, 1,000 votes: 0.1 s, 5 MB; pandas 1 s, 7 MB; ratio 10, aim 8",
        "classify, sorted, 1,000 votes: 0.1 s, 5 MB; polars 0.05 s; ratio 0.5",
    ]


@pytest.fixture
def module(tmp_path, monkeypatch):
    (tmp_path / "engines.py").write_text(ENGINES)
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{figures.ROOT}")
    return "engines"


def test_engines_work_in_turns_in_processes_of_their_own(module):
    found = measured(module, ("ours", "silent"), 7, repeats=2)
    assert all(spent.seconds >= 0 and spent.cpu >= 0 for spent in found.values())


def test_engines_that_differ_stop_the_benchmark(module):
    with pytest.raises(
        SystemExit, match=r"engines: the engines come to different results: {'ours': '7', 'wrong': '8'}"
    ):
        measured(module, ("ours", "wrong"), 7, repeats=1)


def test_the_guard_ends_with_all_failures():
    """A benchmark that cannot run is named, after the others have."""
    code = (
        "from benchmarks import guard\n"
        "guard.USUAL = {'large_plan_that_is_not_there': (), 'neither_is_this': ()}\n"
        "guard.main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=figures.ROOT, check=False)
    assert done.returncode == 1
    assert "Failed, or fell by more than a fifth:" in done.stderr
    assert done.stderr.rstrip().endswith("-m benchmarks.neither_is_this ended with 1")


def test_the_page_has_the_tables_of_the_file():
    page = guard.README.read_text()
    assert guard.with_tables(page, guard.read_table()) == page
    named = set(guard.USUAL) - {name for name in guard.USUAL if f"<!-- figures: {name} -->" in page}
    assert not named, "each benchmark has its place on the page"


def test_every_figure_of_the_file_has_its_columns():
    if guard.TABLE.exists():
        with guard.TABLE.open(newline="") as file:
            assert next(csv.reader(file)) == [*figures.FIELDS, *guard.Row._fields[1:]]


def test_a_table_says_whether_an_aim_is_reached():
    lines = guard.markdown([ROW, ROW._replace(figure=replace(FIGURE, aim=12.0, peak_mb=float("nan")))]).splitlines()
    assert lines[2] == "| classify, sorted | 1,000 votes | 0.1 s | pandas | 1 s | 10 | 8, reached | 5 and 7 MB |"
    assert lines[3] == "| classify, sorted | 1,000 votes | 0.1 s | pandas | 1 s | 10 | 12, not reached | 7 MB |"
    assert lines[-1] == "The usual sizes on 2026-01-02: 2 cores; numpy 2."
