"""The charts of plan runs: the pool of challenges, and the sections of the plan that were challenged."""

from __future__ import annotations

from itertools import pairwise

import pandas as pd
import pytest

from tests.frames.plan_events import records, whole
from verifyplan.analysis import challenges
from verifyplan.charts import challenge_pool, coverage
from verifyplan.charts.coverage import spread
from verifyplan.charts.export import export
from verifyplan.charts.theme import PALE, SEVERITY_COLORS, STATE_COLORS
from verifyplan.errors import InputError, TableError
from verifyplan.frames.run_tables import tables_of
from verifyplan.frames.runset import concat

HOSTILE = '</script><script>alert(1)</script>"><img src=x onerror=alert(2)> \x07 \u202e'


@pytest.fixture(scope="module")
def runs():
    return tables_of(records(whole()), "r")


@pytest.fixture
def pool(runs) -> pd.DataFrame:
    return challenges.challenge_pool(runs)


@pytest.fixture
def sections(runs) -> pd.DataFrame:
    return challenges.coverage(runs)


def test_the_pool_shows_each_states_number_and_name(pool, seen):
    page = seen(challenge_pool(pool))
    for text in ("1 unresolved", "2 resolved", "1 withdrawn", "1 overflow", "1 open", "iteration 2", "BLOCKING"):
        assert text in page.texts
    drawn = {STATE_COLORS[state] for state in ("OPEN", "UNRESOLVED", "RESOLVED", "WITHDRAWN", "overflow")}
    assert drawn <= set(page.values("fill"))
    assert STATE_COLORS["DEFERRED"] not in page.values("fill")
    assert [text for text in page.texts if text in STATE_COLORS] == [
        name for name in STATE_COLORS if name != "DEFERRED"
    ]


def test_the_caption_of_the_pool_says_n_and_what_is_left(pool, runs):
    caption = challenge_pool(pool).caption
    assert "n at the end: 5 challenges, 0 of them open or unresolved." in caption
    assert "Overflow did not fit under the caps" in caption
    without = challenge_pool(pool[pool["severity"] != "MINOR"])
    assert "No challenge is MINOR." in without.caption
    two = concat([runs, tables_of(records(whole()[:70]), "half")])
    figure = challenge_pool(challenges.challenge_pool(two))
    assert "Challenges of 2 runs together, by their state" in figure.caption
    assert "Runs that ended earlier keep their last counts." in figure.caption


def test_a_run_that_ended_earlier_stays_in_the_bars(runs):
    one = challenges.challenge_pool(runs)
    other = one[one["iteration"] == 1].assign(run_id="short")
    figure = challenge_pool(pd.concat([one, other]))
    assert "SIGNIFICANT: iteration 1: 2 open, 2 withdrawn, 2 overflow; iteration 2: 1 open, 2 resolved" in (
        figure.description
    )


def test_many_challenges_and_iterations_keep_the_chart_small(pool, seen):
    many = pd.concat([pool.assign(iteration=number, n=pool["n"] * 400) for number in range(1, 9)])
    page = seen(challenge_pool(many))
    assert "400 unresolved" not in page.texts
    assert "RESOLVED" in page.texts
    height = float(page.values("viewbox")[0].split()[3])
    assert height < 900


def test_the_strip_names_every_section_and_what_was_challenged(sections, seen):
    figure = coverage(sections)
    page = seen(figure)
    for text in ("Cache", "not challenged", "1 blocking, 1 significant", "1 significant"):
        assert text in page.texts
    fills = page.values("fill")
    assert {SEVERITY_COLORS["BLOCKING"], SEVERITY_COLORS["SIGNIFICANT"], PALE} <= set(fills)
    assert SEVERITY_COLORS["MINOR"] not in fills
    assert "Nobody challenged 1 section (2 lines), in grey." in figure.caption
    assert "Not drawn: 2 challenges that cite no line of the plan." in figure.caption
    assert "Steps (lines 7-16): 1 blocking, 1 significant" in figure.description


def test_one_run_is_drawn_and_which_is_never_guessed(sections):
    two = pd.concat([sections, sections.assign(run_id="other")])
    with pytest.raises(InputError, match=r"run_id: is needed: there are 2 runs\. Fix: name one: r, other"):
        coverage(two)
    with pytest.raises(InputError, match=r"run_id: 'x' has no section here\. Fix: use one of: r, other"):
        coverage(two, run_id="x")
    assert len(coverage(two, run_id="other").data) == 4


def test_names_of_short_sections_do_not_overlap_and_stay_inside():
    middles = [1.0, 1.5, 2.0, 2.5, 90.0, 99.5, 99.9]
    places = spread(middles, 5, 0, 100)
    assert all(later - before >= 5 - 1e-9 for before, later in pairwise(places))
    assert places[0] >= 2.5
    assert places[-1] <= 97.5


def test_empty_tables_say_that_nothing_is_there(pool, sections, seen):
    for figure in (challenge_pool(pool.iloc[:0]), challenge_pool(pool.assign(n=0)), coverage(sections.iloc[:0])):
        assert figure.caption.startswith("There is no ")
        assert figure.caption in seen(figure).texts


def test_tables_that_lack_a_column_are_refused(pool, sections):
    with pytest.raises(TableError, match=r"pool: column came: is missing\. Fix: give a table with the columns"):
        challenge_pool(pool.drop(columns="came"))
    with pytest.raises(TableError, match="coverage: column worst: is missing"):
        coverage(sections.drop(columns="worst"))
    with pytest.raises(InputError, match="data: must be a RunSet, a run, a path"):
        challenge_pool([])


def test_generated_data_is_marked_in_picture_and_caption(pool, sections, seen):
    for figure_of, table in ((challenge_pool, pool), (coverage, sections)):
        assert "Synthetic" not in figure_of(table).caption
        table.attrs["synthetic"] = True
        figure = figure_of(table)
        assert "Synthetic data" in seen(figure).texts
        assert "Synthetic data: " in figure.caption


def test_hostile_titles_are_text(sections, seen, tmp_path):
    figure = coverage(sections.assign(title=HOSTILE))
    page = seen(figure)
    assert page.tags.count("script") == page.tags.count("img") == 0
    assert "\x07" not in page.text
    export(figure, tmp_path / "strip.png")
    assert (tmp_path / "strip.png").stat().st_size > 1000


def test_charts_do_not_change_their_tables(pool, sections):
    for figure_of, table in ((challenge_pool, pool), (coverage, sections)):
        before = table.copy(deep=True)
        figure_of(table)
        pd.testing.assert_frame_equal(table, before)
