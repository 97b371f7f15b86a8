"""The chart of what models used: bars by role and turn, cached tokens apart, numbers and dollars beside them."""

from __future__ import annotations

import pandas as pd
import pytest

import verifyplan as vp
from verifyplan.charts import usage
from verifyplan.charts.export import export
from verifyplan.charts.usage import COLORS
from verifyplan.errors import InputError, TableError

HOSTILE = '</script><script>alert(1)</script>"><img src=x onerror=alert(2)> \x07 \u202e'


def row(role: str, turn: int, fresh: int, written: int, read: int, out: int, cost: float | None, n: int = 1) -> dict:
    told = {"role": role, "turn": turn, "n_turns": n, "input_tokens": fresh, "cache_write_tokens": written}
    return told | {"cache_read_tokens": read, "output_tokens": out, "cost": cost}


@pytest.fixture
def table() -> pd.DataFrame:
    return pd.DataFrame(
        [
            row("challenger", 1, 900, 300, 0, 40, 0.5, n=2),
            row("challenger", 2, 5, 60, 1200, 60, 0.25),
            row("worker", 1, 1000, 0, 0, 100, 1.25, n=3),
        ]
    )


def test_each_kind_of_tokens_is_a_part_of_its_turns_bar(table, picture):
    drawn = picture(usage(table))
    assert len(drawn.marks) == 3 + 4 + 2
    [mark] = drawn.saying("Role: challenger", "Turn: 2", "Tokens: read from the cache", "Number: 1,200", "Exchanges: 1")
    assert mark.get("fill") == COLORS["read from the cache"]
    assert not drawn.saying("Role: worker", "Tokens: read from the cache")
    assert {"1,240", "1,325", "1,100", "0.5000", "0.2500", "1.2500", "turn", "dollars"} <= set(drawn.texts)
    assert drawn.texts.count("challenger") == 1, "a role is named at the first of its turns"
    assert set(COLORS) <= set(drawn.texts)


def test_bars_have_one_scale_and_parts_follow_each_other(table, picture):
    drawn = picture(usage(table))

    def width(*told: str) -> float:
        [mark] = drawn.saying(*told)
        across = mark.get("d").partition("h")[2]
        return float(across.split("v")[0])

    fresh = width("Role: worker", "Tokens: fresh")
    assert fresh / width("Role: challenger", "Turn: 1", "Tokens: fresh") == pytest.approx(1000 / 900, rel=0.01)


def test_the_caption_counts_and_says_what_the_cache_saved(table):
    figure = usage(table)
    assert "Tokens of 6 exchanges with models, 3,665 in all" in figure.caption
    assert "of those in, 35 % were read from the cache" in figure.caption
    assert "2.0000 in all" in figure.caption
    assert "Synthetic" not in figure.caption
    table.attrs["synthetic"] = True
    assert "Synthetic data" in usage(table).caption


def test_costs_that_are_not_known_are_blank_and_told(table, picture):
    table.loc[2, "cost"] = None
    figure = usage(table)
    assert "The cost of 3 exchanges is unknown: no price, or no usage." in figure.caption
    assert "0.7500 in all" in figure.caption
    assert "nan" not in picture(figure).texts
    without = usage(table.assign(cost=None))
    assert "dollars" not in picture(without).texts
    assert "Dollars" not in without.caption


def test_late_turns_of_a_role_are_added_up(picture):
    table = pd.DataFrame([row("resolver", turn, 10, 0, 0, 1, 0.1) for turn in range(1, 31)])
    drawn = picture(usage(table))
    assert [text for text in drawn.texts if text in {"1", "2", "5", "6", "7", "6 on"}].count("6 on") == 1
    assert drawn.saying("Turn: 6 on", "Tokens: fresh", "Number: 250", "Exchanges: 25")
    exact = picture(usage(table[table["turn"] <= 6]))
    assert exact.saying("Turn: 6", "Tokens: fresh", "Number: 10")


def test_roles_of_any_name_are_text(table, seen, picture):
    table.loc[2, "role"] = HOSTILE
    figure = usage(table)
    assert "script" not in seen(figure).tags
    assert seen(figure).tags.count("img") == 0
    assert any("<scrip" in text for text in picture(figure).texts)


def test_nothing_used_is_said_in_words(table):
    assert "nothing to draw" in usage(table.iloc[:0]).caption
    unread = usage(pd.DataFrame([row("probe", 1, 0, 0, 0, 0, None)]))
    assert unread.caption == "The usage of 1 exchange is missing or cannot be read."


def test_what_is_no_such_table_is_refused(table):
    with pytest.raises(TableError, match="usage: column cost: is missing"):
        usage(table.drop(columns="cost"))
    with pytest.raises(InputError, match="data: must be a RunSet, a run, a path"):
        usage([1])


def test_the_recorded_example_is_drawn_and_exported(tmp_path):
    runs = vp.datasets.runs("live-example/plan")
    figure = usage(runs)
    assert figure.data.equals(usage(vp.analysis.usage(runs)).data)
    assert "challenger: turn 1: " in figure.description
    assert export(figure, tmp_path / "usage.png").stat().st_size > 10_000
