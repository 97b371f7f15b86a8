"""`add_votes` against a union written as a loop: which votes there are, and the classes that they give."""

from __future__ import annotations

import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

import verifyplan as vp
from tests.longer import examples

WORKERS, KEY = ("a", "b", "c"), ["run_id", "finding_id", "round", "worker"]
VOTES = st.dictionaries(
    st.tuples(st.sampled_from(["r", "s"]), st.sampled_from(["F", "G"]), st.integers(1, 2), st.sampled_from(WORKERS)),
    st.sampled_from(["agree", "disagree", "verification-error"]),
    min_size=2,
)


def runs_of(votes: dict[tuple[str, str, int, str], str]) -> vp.RunSet:
    rows = [(*key, verdict) for key, verdict in votes.items()]
    table = pd.DataFrame(rows, columns=["run", "item", "number", "who", "says"])
    columns = {"run": "run", "item": "item", "round": "number", "worker": "who", "verdict": "says"}
    return vp.from_votes(table, **columns, mode="collaborative", max_rounds=2)


def cast(runs: vp.RunSet) -> dict[tuple[str, str, int, str], str]:
    return {tuple(row[:4]): row[4] for row in runs.votes[[*KEY, "verdict"]].astype("object").values.tolist()}


@settings(max_examples=examples(40), deadline=None)
@given(VOTES, st.data())
def test_votes_are_those_of_a_naive_union_and_give_the_classes_of_a_table_of_all(votes, data):
    first = {(run, finding, 1, "a"): "agree" for run, finding, _, _ in votes}  # every finding is recorded
    full = {**{key: verdict for key, verdict in votes.items() if (key[2], key[3]) != (1, "a")}, **first}
    hidden = data.draw(st.sets(st.sampled_from(sorted(full)))) - first.keys()
    lost = data.draw(st.sets(st.sampled_from(sorted(first))))
    recorded = {key: "verification-error" if key in lost else full[key] for key in full if key not in hidden}
    asked = {key: full[key] for key in full if key in hidden | lost}
    more = {run: runs_of({key: verdict for key, verdict in asked.items() if key[0] == run}) for run in
            {key[0] for key in asked}}  # fmt: skip
    if not more:
        return
    both, every = vp.add_votes(runs_of(recorded), more), runs_of(full)
    assert cast(both) == full
    changed = {run: sum(key[0] == run for key in asked) for run in {key[0] for key in recorded}}
    assert both.runs.set_index("run_id")["added_votes"].fillna(0).astype(int).to_dict() == changed
    columns = ["run_id", "finding_id", "classification", "rule", "low", "high"]
    for rules in ("as-recorded", "unanimous", {"stop": {"margin": 1}, "order": WORKERS}):
        got, expected = (vp.replay(runs, rules=rules)[columns].sort_values(columns[:2]) for runs in (both, every))
        pd.testing.assert_frame_equal(got.reset_index(drop=True), expected.reset_index(drop=True))
