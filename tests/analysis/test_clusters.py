"""Which rows vary together: those of a run, and those of a claim that several runs have."""

from __future__ import annotations

import pandas as pd

import verifyplan as vp
from verifyplan.analysis.clusters import clusters_of, clusters_of_findings, clusters_of_units


def test_rows_of_a_run_and_of_a_claim_have_one_code():
    clusters = clusters_of(pd.Series(["r", "r", "s", "s"]), pd.Series(["a", "b", "a", "c"]))
    assert (clusters.run.tolist(), clusters.claim.tolist()) == ([0, 0, 1, 1], [0, 1, 0, 2])
    assert (clusters.n_runs, clusters.n_claims) == (2, 3)
    assert clusters.repeated


def test_claims_of_one_run_each_are_not_repeated():
    assert not clusters_of(pd.Series(["r", "r", "s"]), pd.Series(["a", "b", "c"])).repeated
    assert not clusters_of(pd.Series(["r", "r", "r"]), pd.Series(["a", "a", "b"])).repeated


def test_no_rows_have_no_clusters():
    clusters = clusters_of(pd.Series([], dtype="str"), pd.Series([], dtype="str"))
    assert (clusters.n_runs, clusters.n_claims, clusters.repeated) == (0, 0, False)


def test_units_of_a_panel_are_clustered_by_run_and_item():
    table = pd.DataFrame({"item": [1, 1, 2, 1], "worker": list("abab"), "label": list("xyxy"), "run": list("rrrs")})
    clusters = clusters_of_units(vp.from_table(table, item="item", worker="worker", label="label", run="run"))
    assert (clusters.run.tolist(), clusters.claim.tolist()) == ([0, 0, 1], [0, 1, 0])
    assert clusters.repeated


def test_findings_are_one_claim_over_runs_where_they_say_the_same():
    table = pd.DataFrame({"run_id": list("rs"), "finding_id": ["F-1", "F-1"], "summary": ["one", "one"]})
    assert clusters_of_findings(table).repeated
    assert not clusters_of_findings(table.assign(summary=["one", "two"])).repeated


def test_bundled_runs_of_fresh_claims_do_not_repeat_them():
    clusters = clusters_of_findings(vp.datasets.runs("stdlib-claims/adversarial").findings)
    assert (clusters.n_runs, clusters.n_claims, clusters.repeated) == (12, 720, False)
