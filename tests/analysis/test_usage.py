"""What models used, role by role and turn by turn: sums of the turns, none lost and none counted twice."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

import verifyplan as vp
from verifyplan.analysis.cost import TOKEN_KINDS, usage
from verifyplan.errors import InputError
from verifyplan.frames.columns import typed
from verifyplan.frames.runset import RunSet

CALLS = {"i1/challenger": "challenger", "i2/challenger": "challenger", "r1/ann": "worker", "i1/resolver": "resolver"}


def turn(call_id: str, fresh: int, written: int, read: int, out: int, cost: float | None, **more: object) -> dict:
    call, _, rest = call_id.rpartition("/t")
    used = dict(zip(TOKEN_KINDS, (fresh, written, read, out), strict=True))
    row = {"run_id": "r", "turn_id": call_id, "call_id": call, "turn": int(rest.split("/")[0]), "status": "completed"}
    return row | used | {"web_searches": 0, "cost": cost} | more


def runs(*turns: dict, synthetic: bool | None = None) -> RunSet:
    calls = pd.DataFrame({"run_id": "r", "call_id": list(CALLS), "role": list(CALLS.values())})
    return replace(
        RunSet(),
        runs=typed("runs", {"run_id": ["r"], "kind": ["plan"], "synthetic": [synthetic]}),
        calls=typed("calls", calls),
        turns=typed("turns", pd.DataFrame(turns)),
    )


def test_turns_of_a_role_are_added_up_by_their_number():
    table = usage(
        runs(
            turn("i1/challenger/t1", 10, 5, 0, 2, 0.5),
            turn("i1/challenger/t2", 1, 2, 15, 3, 0.25),
            turn("i2/challenger/t1", 100, 0, 5, 1, 1.0),
        )
    )
    assert list(table.columns) == ["role", "turn", "n_turns", *TOKEN_KINDS, "web_searches", "cost"]
    assert table.to_numpy().tolist() == [
        ["challenger", 1, 2, 110, 5, 5, 3, 0, 1.5],
        ["challenger", 2, 1, 1, 2, 15, 3, 0, 0.25],
    ]


def test_roles_stand_in_the_order_in_which_they_speak():
    table = usage(runs(*(turn(f"{call}/t1", 1, 0, 0, 1, 0.1) for call in ("r1/ann", "i1/resolver", "i1/challenger"))))
    assert list(table["role"]) == ["challenger", "resolver", "worker"]


def test_a_look_up_on_the_web_counts_to_its_turn():
    table = usage(
        runs(turn("i1/resolver/t1", 10, 0, 0, 2, 0.5), turn("i1/resolver/t1/w1", 7, 0, 0, 1, 0.1, web_searches=1))
    )
    assert table[["turn", "n_turns", "input_tokens", "web_searches"]].to_numpy().tolist() == [[1, 2, 17, 1]]


def test_turns_without_a_reply_count_nowhere_and_unknown_costs_stay_unknown():
    failed = turn("i1/resolver/t2", 0, 0, 0, 0, None, status="failed") | dict.fromkeys(TOKEN_KINDS)
    table = usage(
        runs(
            turn("i1/challenger/t1", 10, 0, 0, 2, None),
            turn("i2/challenger/t1", 10, 0, 0, 2, 0.5),
            turn("i1/resolver/t1", 1, 0, 0, 1, 0.25),
            failed,
        )
    )
    assert table["cost"].isna().tolist() == [True, False]
    assert list(table["turn"]) == [1, 1]
    assert list(table["n_turns"]) == [2, 1]


@pytest.mark.parametrize(("marked", "told"), [(True, True), (False, False), (None, False)])
def test_it_says_whether_the_runs_are_synthetic(marked, told):
    assert usage(runs(turn("i1/resolver/t1", 1, 0, 0, 1, 0.1), synthetic=marked)).attrs == {"synthetic": told}


def test_of_the_recorded_example_nothing_is_lost():
    example = vp.datasets.runs("live-example")
    table = usage(example)
    for name in (*TOKEN_KINDS, "cost"):
        assert table[name].sum() == pytest.approx(example.calls[name].sum()), name
    assert table["n_turns"].sum() == len(example.turns)
    assert table.attrs["synthetic"] is True


def test_agents_without_turns_have_no_rows_and_other_things_are_no_runs():
    assert usage(vp.datasets.runs("stdlib-claims/adversarial")).empty
    with pytest.raises(InputError, match="runs: is not there"):
        usage("runs")  # a path, and there is none
