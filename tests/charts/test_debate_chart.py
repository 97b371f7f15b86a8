"""The chart of debates: the diff turn by turn on one scale, the unchanged one marked, each end named."""

from __future__ import annotations

import re

import pandas as pd
import pytest

import verifyplan as vp
from tests.runs.debate_scripts import CONVERGES, RUNS_OUT, STAGNATES, debate_of, says
from verifyplan.analysis.debates import debates
from verifyplan.charts import debate
from verifyplan.charts.export import export
from verifyplan.charts.figure import spec
from verifyplan.errors import InputError, TableError

HOSTILE = '</script><script>alert(1)</script>"><img src=x onerror=alert(2)> \x07 \u202e'


def row(run: str, turn: int, lines: float | None, *, more: float | None = None, same: bool | None = None, end=None):
    told = {"run_id": run, "task": f"task of {run}", "turn": turn, "diff_lines": lines, "lines_more": more}
    told |= {"same_diff": same, "opening": "asks", "built": "builds", "verified": "verifies", "n_messages": 3}
    return told | {"last": end is not None, "end": end, "max_turns": 3}


def table(*rows: dict) -> pd.DataFrame:
    return pd.DataFrame(list(rows))


GROWS = (row("a", 1, 10), row("a", 2, 14, more=4, same=False, end="CONVERGED VERIFIED"))
STANDS = (row("b", 1, 7), row("b", 2, 7, more=0, same=True, end="FAILED NO_IMPROVEMENT"))
TURNS_OVER = (row("c", 1, 7), row("c", 2, 7, more=0, same=False), row("c", 3, 5, more=-2, same=False))


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("debates")
    for script in (CONVERGES, STAGNATES, RUNS_OUT, CONVERGES | {"t2/implement": says("no diff")}, {}):
        debate_of(script, log_dir=folder)
    return vp.load(folder)


def tall(picture, look: dict[str, str]) -> list[float]:
    """The heights of the bars that are drawn so."""
    bars = [e for e in picture.root.iter() if look.items() <= dict(e.items()).items() and e.get("d")]
    return [float(found[1]) for e in bars if (found := re.search(r"v(-?[\d.]+)", e.get("d")))]


def test_each_turn_says_its_lines_and_how_many_more_or_fewer(picture):
    drawn = picture(debate(table(*GROWS, *TURNS_OVER)))
    assert {"10", "14 (+4)", "7", "7 (changed)", "5 (\N{MINUS SIGN}2)", "turn 1", "turn 2", "turn 3"} <= set(
        drawn.texts
    )


def test_bars_have_one_scale_from_none(picture):
    drawn = picture(debate(table(*GROWS, *TURNS_OVER)))
    [verified] = tall(drawn, {"fill": "#0072B2"})
    drafts = tall(drawn, {"fill": "#6b7178"})
    assert [round(one / verified * 14) for one in drafts] == [10, 7, 7, 5]
    assert drawn.texts.count("0") == drawn.texts.count("14") == 2, "each debate has the scale's ends at its left"


def test_an_unchanged_diff_is_hollow_dashed_and_named(picture):
    drawn = picture(debate(table(*GROWS, *STANDS)))
    assert "7 (same diff)" in drawn.texts
    assert len(tall(drawn, {"fill": "#ffffff", "stroke-dasharray": "4,3"})) == 1
    assert "(same diff): equal to that of the turn before" in debate(table(*STANDS)).caption
    without = debate(table(*GROWS))
    assert not tall(picture(without), {"stroke-dasharray": "4,3"})
    assert "(same diff)" not in without.caption


def test_every_end_is_named_and_told_by_its_shape(runs, picture):
    drawn = picture(debate(runs))
    ends = ["CONVERGED VERIFIED", "FAILED NO_IMPROVEMENT", "FAILED MAX_TURNS", *["no outcome AGENT_FAILED"] * 2]
    assert [text for text in drawn.texts if text in ends] == ends
    assert [text for text in drawn.texts if " of at most " in text] == [
        f"turn {n} of at most 3" for n in (2, 2, 3, 2, 1)
    ]
    assert drawn.texts.count("no diff") == 2
    shapes = {
        e.get("fill"): e.get("d") for e in drawn.root.iter() if e.get("fill") in {"#0072B2", "#D55E00", "#E69F00"}
    }
    assert len(set(shapes.values())) == 3


def test_a_turn_that_is_pointed_at_tells_what_was_said(runs, picture):
    drawn = picture(debate(runs))
    assert len(drawn.marks) == len(debates(runs))
    assert drawn.titles == drawn.labels
    said = ("Debate: debate-002", "At: turn 2", "Lines of the diff: 4 (same diff)", "Architect asks: Spell it right.")
    [mark] = drawn.saying(*said, "Ended: FAILED NO_IMPROVEMENT", "In: turn 2 of at most 3")
    assert "Builder says: wrote hullo" in mark.get("aria-label")


def test_the_caption_counts_debates_turns_and_ends(runs):
    figure = debate(runs)
    assert "in each turn of 5 debates (n = 10 turns), on one scale from 0." in figure.caption
    ends = "1 CONVERGED VERIFIED, 1 FAILED NO_IMPROVEMENT, 1 FAILED MAX_TURNS, 2 no outcome AGENT_FAILED"
    assert f"Ends: {ends}." in figure.caption
    assert "The number of exchanged lines is unknown" in figure.caption
    assert "Synthetic" not in figure.caption
    assert figure.data.equals(debate(debates(runs)).data)
    assert figure.description.endswith("greet: turn 1: no diff; no outcome AGENT_FAILED.")


def test_made_up_data_is_marked_in_caption_and_picture(picture):
    figure = debate(debate_of(CONVERGES, synthetic=True).frames)
    assert "Synthetic data" in figure.caption
    assert "Synthetic data" in picture(figure).texts


def test_more_than_can_be_drawn_is_left_out_and_said(picture):
    many = debate(table(*(row(f"r{n:02}", 1, n, end="FAILED MAX_TURNS") for n in range(30))))
    assert "The first 17 of 30 debates are drawn; 13 are left out." in many.caption
    assert len(picture(many).marks) == 17
    turns = [row("a", n, n, more=1, same=False) for n in range(1, 41)]
    long = debate(table(*turns, row("a", 41, 41, more=1, same=False, end="CONVERGED VERIFIED")))
    assert "11 turns after turn 30 left out." in long.caption
    drawn = picture(long)
    assert len(drawn.marks) == 30
    assert not tall(drawn, {"fill": "#0072B2"}), "the turn that was verified is not among those drawn"
    assert {"CONVERGED VERIFIED", "turn 41 of at most 3", "30 (+1)"} <= set(drawn.texts)
    assert "29 (+1)" not in drawn.texts, "narrow bars have no room for numbers"


def test_a_diff_without_lines_is_seen(picture):
    drawn = picture(debate(table(row("a", 1, 0), row("a", 2, 0, more=0, same=True, end="FAILED NO_IMPROVEMENT"))))
    assert {"0", "0 (same diff)"} <= set(drawn.texts)
    assert len(tall(drawn, {"stroke-dasharray": "4,3"})) == 1


def test_texts_of_tasks_and_messages_stay_text(seen, picture):
    rows = [one | {"task": HOSTILE, "opening": HOSTILE, "run_id": HOSTILE} for one in GROWS]
    figure = debate(table(*rows))
    page = seen(figure)
    assert not {"script", "img"} & set(page.tags)
    assert any("<scrip" in text for text in picture(figure).texts)


def test_it_is_valid_vega_lite_and_a_picture(runs, tmp_path):
    figure = debate(runs)
    assert figure.chart.to_dict(validate=True) == spec(figure.chart)
    assert export(figure, tmp_path / "debate.png").stat().st_size > 10_000


def test_nothing_to_draw_is_said_and_other_things_are_refused():
    assert "There is no debate to draw." in debate(vp.RunSet()).caption
    with pytest.raises(InputError, match="data: must be a RunSet, a run, a path"):
        debate([1])
    with pytest.raises(TableError, match="debates: column end: is missing"):
        debate(table(*GROWS).drop(columns="end"))
    with pytest.raises(TableError, match="debates: column turn: lacks a number"):
        debate(table(*GROWS).assign(turn=[1, None]))
