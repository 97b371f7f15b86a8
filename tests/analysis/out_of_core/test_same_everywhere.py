"""The same votes give the same wherever they are: in memory, saved, in a dataset (rule E5).

`test_map_parts` holds the same of a cluster.
"""

from __future__ import annotations

from itertools import count

import pandas as pd
from hypothesis import HealthCheck, given, settings

import verifyplan as vp
from tests.analysis.ballot_tables import frame, tables
from tests.analysis.out_of_core.datasets import dataset_of
from tests.longer import examples

FOLDERS = count()
SPACE = [{}, {"mode": "adversarial"}, {"mode": "adversarial", "refutes": "sticky"}, {"aggregate": "majority"}]
OF_COMPARISON = ("findings", "mix", "truth", "summary", "tests", "bounds", "agreement")


def imported(findings) -> vp.RunSet:
    votes = frame(findings).drop(columns="is_origin").sort_values("run_id", kind="stable", ignore_index=True)
    votes["truth"] = votes["finding_id"].eq("F")
    names = {"item": "finding_id", "run": "run_id", "basis": "disagree_basis", "truth": "truth"}
    return vp.from_votes(votes, **names, **{name: name for name in ("worker", "verdict", "round", "explanation")})


def results_of(runs: vp.RunSet) -> list[pd.DataFrame]:
    """What is computed of the votes: classes in both modes, a comparison, a search over rules."""
    classes = [vp.classify(runs.votes, mode=mode, max_rounds=3) for mode in ("collaborative", "adversarial")]
    comparison = vp.compare(runs, resamples=20)
    compared = [pd.DataFrame(getattr(comparison, name)) for name in OF_COMPARISON]
    return [*classes, vp.replay(runs, "adversarial"), *compared, vp.search_rules(runs, SPACE).table]


def expect_equal(found, expected):
    for mine, theirs in zip(found, expected, strict=True):
        mine, theirs = (
            table.astype({n: "str" for n in ("run_id", "finding_id") if n in table}) for table in (mine, theirs)
        )
        pd.testing.assert_frame_equal(mine, theirs, rtol=1e-12, atol=1e-12)


@settings(max_examples=examples(8), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(findings=tables)
def test_any_votes_give_the_same_saved_and_in_a_dataset(tmp_path, findings):
    runs = imported(findings)
    expected = results_of(runs)
    saved = vp.load(runs.save(tmp_path / str(next(FOLDERS))))
    dataset = dataset_of(runs, f"memory://everywhere/{next(FOLDERS)}")
    for each in (saved, dataset):
        expect_equal(results_of(each), expected)
