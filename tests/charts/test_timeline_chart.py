"""The timeline of plan runs: unsettled challenges by iteration, with the status and verdict of each."""

from __future__ import annotations

import pandas as pd
import pytest

from tests.frames.plan_events import records, whole
from verifyplan.charts import timeline
from verifyplan.charts.theme import ORANGE, VERMILLION
from verifyplan.errors import InputError, TableError
from verifyplan.frames.run_tables import tables_of

HOSTILE = '</script><script>alert(1)</script>"><img src=x onerror=alert(2)> \x07 \u202e'


def run(name, *ends) -> list[dict]:
    """The iterations of a run, each as blocking, significant, status and verdict."""
    return [
        {
            "run_id": name,
            "iteration": number,
            "plan_status": status,
            "plan_verdict": verdict,
            "strong": significant > 2 and verdict == "REVISE",
            "blocking_open": blocking,
            "significant_open": significant,
            "n_new": 3,
            "n_settled": 1,
            "closed": status is not None,
        }
        for number, (blocking, significant, status, verdict) in enumerate(ends, start=1)
    ]


@pytest.fixture
def one() -> pd.DataFrame:
    return pd.DataFrame(run("r", (2, 1, "BLOCKED", None), (0, 3, "CONVERGED", "REVISE")))


@pytest.fixture
def several(one) -> pd.DataFrame:
    rows = run("quiet", (0, 0, "CONVERGED", "PROCEED")) + run("worse", (1, 4, "FORCED_EXIT", "RETHINK"))
    return pd.concat([one, pd.DataFrame(rows)], ignore_index=True)


def test_one_run_is_two_lines_with_numbers_and_statuses(one, picture):
    figure = timeline(one)
    drawn = picture(figure)
    told = [
        "BLOCKING, unsettled: 2",
        "SIGNIFICANT, unsettled: 1",
        "Status: BLOCKED",
        "Raised in it: 3",
        "Settled in it: 1",
    ]
    assert len(drawn.saying("Run: r", "At the end of: iteration 1", *told)) == 2  # a dot on each line
    assert {mark.get("fill") for mark in drawn.marks} == {VERMILLION, ORANGE}
    assert {"2", "1", "0", "3", "BLOCKED", "CONVERGED", "REVISE (strong)", "3 raised, 1 settled"} <= set(drawn.texts)
    assert {"BLOCKING", "SIGNIFICANT"} <= set(drawn.texts)
    assert figure.description == (
        "Timeline of 1 run. r: iteration 1: 2 blocking, 1 significant, BLOCKED;"
        " iteration 2: 0 blocking, 3 significant, CONVERGED: REVISE (strong)."
    )
    assert "of 1 run (n = 2 iterations)" in figure.caption
    assert "Counts decide the verdict; scores never do." in figure.caption


def test_two_points_at_one_place_have_one_number(picture):
    drawn = picture(timeline(pd.DataFrame(run("r", (4, 4, "BLOCKED", None)))))
    assert len(drawn.marks) == 2
    bold = [e for e in drawn.root.iter() if e.tag.endswith("text") and e.get("font-weight") == "bold"]
    assert ["".join(e.itertext()) for e in bold].count("4") == 1


def test_several_runs_are_rows_of_bars_with_most_left_first(several, picture):
    figure = timeline(several)
    drawn = picture(figure)
    texts = [text for text in drawn.texts if text in {"r", "quiet", "worse"}]
    assert texts == ["worse", "r", "quiet"]
    assert {"iteration 1", "iteration 2", "FORCED_EXIT: RETHINK", "CONVERGED: PROCEED", "BLOCKED"} <= set(drawn.texts)
    bars = [m for m in drawn.marks if m.get("fill") in {VERMILLION, ORANGE}]
    widths = {
        (label.split("\n")[0], m.get("fill")): m.get("d").split("h")[1].split("v")[0]
        for m, label in zip(drawn.marks, drawn.labels, strict=True)
        if m in bars and "iteration 1" in label
    }
    assert float(widths["Run: worse", ORANGE]) == pytest.approx(4 * float(widths["Run: worse", VERMILLION]))
    assert float(widths["Run: r", VERMILLION]) == pytest.approx(2 * float(widths["Run: worse", VERMILLION]))
    assert not [m for m in bars if "Run: quiet" in m.get("aria-label")]  # nothing is left, nothing is drawn
    assert "3 runs (n = 4 iterations)" in figure.caption


def test_200_runs_say_how_many_are_left_out(picture):
    rows = [row for i in range(200) for row in run(f"run-{i:03d}", (200 - i, 0, "FORCED_EXIT", "RETHINK"))]
    figure = timeline(pd.DataFrame(rows))
    assert (
        "The first 40 of 200 runs are drawn; 160 are left out, with 160 unsettled or fewer at their end."
        in figure.caption
    )
    assert {label.split("\n")[0] for label in picture(figure).labels} == {f"Run: run-{i:03d}" for i in range(40)}
    assert len(figure.data) == 200


def test_an_iteration_that_did_not_end_is_said(one, picture):
    broken = pd.DataFrame(run("r", (2, 1, "BLOCKED", None), (1, 1, None, None)))
    figure = timeline(broken)
    assert "not ended" in picture(figure).texts
    assert "1 run broken off within an iteration." in figure.caption
    assert "broken off" not in timeline(one).caption


def test_a_runset_is_read_as_its_iterations_are():
    runs = tables_of(records(whole()), "r")
    figure = timeline(runs)
    assert figure.description == timeline(runs.iterations).description
    assert len(figure.data) == len(runs.iterations)


def test_tables_that_cannot_be_drawn_are_refused(one):
    with pytest.raises(TableError, match="iterations: column closed: is missing"):
        timeline(one.drop(columns="closed"))
    with pytest.raises(
        TableError, match=r"iterations: column blocking_open: lacks a number\. Fix: give the iterations"
    ):
        timeline(one.assign(blocking_open=[1, None]))
    with pytest.raises(InputError, match="data: must be a RunSet, a run, a path"):
        timeline([])
    assert timeline(one.iloc[:0]).caption == "There is no iteration to draw."


def test_hostile_names_are_text_and_generated_data_is_marked(one, several, seen):
    for table in (one, several):
        odd = table.assign(run_id=table["run_id"] + HOSTILE)
        odd.attrs["synthetic"] = True
        page = seen(timeline(odd))
        assert not {"script", "img"} & set(page.tags)
        assert "\x07" not in page.text
        assert any("<script>" in label for label in page.values("aria-label"))
        assert "Synthetic data" in page.texts
        assert "Synthetic" not in timeline(table).caption


def test_the_table_is_not_changed(several):
    before = several.copy(deep=True)
    timeline(several)
    pd.testing.assert_frame_equal(several, before)
