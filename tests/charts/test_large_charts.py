"""Charts of large data fit on a screen: what is left out is said, and the picture stays below 1,200 pixels a side."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import verifyplan as vp
from tests.charts.conftest import make_comparison, make_grid, make_scores
from verifyplan.charts.figure import drawn_svg, spec, svg_text
from verifyplan.documents.dimensions.plan_graph import Edge, PlanGraph, PlanNode, Unmet
from verifyplan.protocol.records import SEVERITIES

MAX_SIDE_PX = 1_210
MANY = 120
PLANS = {f"a plan with a name of some length {number:03d}": [4, 7, 9, 5, 8, 6] for number in range(MANY)}
"""Scores of many plans."""


def scores() -> pd.DataFrame:
    return vp.datasets.example_scores(MANY).drop(columns="overall")


def many_dimensions() -> pd.DataFrame:
    table = make_scores(PLANS)
    return pd.concat([table.assign(dimension=table["dimension"] + f"_{number}") for number in range(6)])


def both_authors() -> pd.DataFrame:
    own = many_dimensions()
    return pd.concat([own, own.assign(by="challenger", score=5)], ignore_index=True)


def challenge_pool() -> pd.DataFrame:
    rows = [
        {"run_id": "r", "iteration": number, "severity": severity, "state": "OPEN", "n": 90 + number}
        for number in range(1, MANY)
        for severity in SEVERITIES
    ]
    return pd.DataFrame(rows).assign(new=0, came=0, went=0)


def coverage() -> pd.DataFrame:
    first = 1 + 9 * np.arange(MANY)
    table = pd.DataFrame({"first": first, "last": first + 8, "section": np.arange(MANY), "run_id": "r", "level": 2})
    table["title"] = [f"A section of a plan with a name of some length {number}" for number in table["section"]]
    table = table.assign(lines=9, blocking=table["section"] % 7 == 6, significant=1, minor=2).astype({"blocking": int})
    return table.assign(n=3 + table["blocking"], worst=np.where(table["blocking"], "BLOCKING", "SIGNIFICANT"))


def debate() -> pd.DataFrame:
    rows = [(f"run-{run}", f"A task of some length {run}", turn) for run in range(MANY) for turn in range(1, 60)]
    table = pd.DataFrame(rows, columns=["run_id", "task", "turn"])
    texts = {"opening": "", "built": "", "verified": "", "n_messages": 3, "max_turns": 60, "end": "FAILED MAX_TURNS"}
    return table.assign(diff_lines=table["turn"], lines_more=1, same_diff=False, last=table["turn"].eq(59), **texts)


def flips() -> pd.DataFrame:
    grid = pd.MultiIndex.from_product([range(8), range(3), range(20)], names=["item", "worker", "round"])
    table = grid.to_frame(index=False)
    return table.assign(label=np.where((table["item"] + table["round"]) % 3, "a", "b"), truth="a")


def plan_graph() -> PlanGraph:
    """Many phases, each with many waves, each with many plans."""
    places = [(phase, wave, plan) for phase in range(9) for wave in range(1, 31) for plan in range(4)]
    nodes = [PlanNode(f"{p:02d}-{w:02d}-{n}", f"phase {p}", "A title", None, w, (), "") for p, w, n in places]
    edges = [Edge(at, at + 4) for at, (_, wave, _) in enumerate(places) if wave < 30]
    return PlanGraph(tuple(nodes), tuple(edges), (), (), ())


def queue() -> pd.DataFrame:
    grid = pd.MultiIndex.from_product([range(MANY), range(MANY)], names=["mode", "round"]).to_frame(index=False)
    named = grid["mode"].map("a condition with a name of some length {}".format)
    return grid.assign(mode=named, waiting=900 - 7 * grid["round"], resolved=7, n_runs=12)


def sensitivity() -> pd.DataFrame:
    grid = pd.MultiIndex.from_product([range(MANY), ["lower", "higher"]], names=["dimension", "direction"])
    table = grid.to_frame(index=False)
    named = table["dimension"].map("a dimension of some length {}".format)
    return table.assign(
        dimension=named, plan="p", weight=0.1, score=7 + table["dimension"] / MANY, rank=2, base_score=7.0, base_rank=2
    )


def timeline(runs: int) -> pd.DataFrame:
    grid = pd.MultiIndex.from_product([range(runs), range(1, MANY)], names=["run_id", "iteration"])
    table = grid.to_frame(index=False).assign(plan_status="FORCED_EXIT", plan_verdict="RETHINK", strong=True)
    named = table["run_id"].map("a run with a name of some length {}".format)
    return table.assign(run_id=named, blocking_open=12, significant_open=7, n_new=1, n_settled=2, closed=True)


def usage() -> pd.DataFrame:
    roles = [f"a role with a name of some length {number}" for number in range(MANY)]
    kinds = dict.fromkeys(["input_tokens", "cache_write_tokens", "cache_read_tokens", "output_tokens"], 123_456)
    return pd.DataFrame({"role": roles, "turn": 1, "n_turns": 3, "cost": 1.5, **kinds})


def fitted_weights() -> vp.results.WeightFit:
    rows = [(f"a dimension of some length {number}", 1 / MANY, 0.0, 0.9) for number in range(MANY)]
    fit = vp.weights.fit(vp.datasets.example_scores(40), "overall", repeats=2, resamples=50)
    return replace(fit, weights=pd.DataFrame(rows, columns=["dimension", "weight", "low", "high"]))


def votes() -> pd.DataFrame:
    grid = pd.MultiIndex.from_product([range(30), range(MANY)], names=["item", "worker"]).to_frame(index=False)
    labels = np.where((grid["item"] + grid["worker"]) % 3, "x", "y")
    named = grid["worker"].map("a worker with a name of some length {}".format)
    return grid.assign(worker=named, label=labels, truth="x")


def conditions() -> Any:
    """A comparison of two conditions, drawn under as many as there can be names for."""
    one = make_comparison()
    mix, truth = (
        pd.concat([table.assign(condition=f"a condition of some length {number}") for number in range(0, MANY, 2)])
        for table in (one.mix, one.truth)
    )
    names = tuple(dict.fromkeys(mix["condition"]))
    return make_comparison(
        conditions=names,
        mix=mix.drop_duplicates(["condition", "classification"]),
        truth=truth.drop_duplicates(["condition", "metric"]),
    )


LARGE: dict[str, Callable[[], Any]] = {
    "audit": both_authors,
    "challenge_pool": challenge_pool,
    "class_mix": conditions,
    "coverage": coverage,
    "debate": debate,
    "flips": flips,
    "panel": votes,
    "plan_graph": plan_graph,
    "power": lambda: vp.sample_size(delta=0.1, discordance=0.3, icc=0.05),
    "quality_scores": many_dimensions,
    "queue": queue,
    "rank_stability": lambda: vp.weights.rank_stability(scores(), draws=50),
    "ranking": lambda: vp.weights.apply(scores()),
    "rule_search": lambda: vp.search_rules("stdlib-claims/adversarial", ["majority"], cost="votes"),
    "score_distributions": many_dimensions,
    "sensitivity": sensitivity,
    "timeline": lambda: timeline(60),
    "transitions": lambda: vp.compare("contract", resamples=50),
    "truth_metrics": conditions,
    "usage": usage,
    "vote_matrix": lambda: make_grid(70, 40, 2),
    "weights": fitted_weights,
    "workers": votes,
}
"""Large data of every chart."""


def sides(figure: vp.results.Figure) -> list[float]:
    svg = drawn_svg(json.dumps(spec(figure.chart)))
    return [float(re.search(rf'{side}="([\d.]+)"', svg)[1]) for side in ("width", "height")]


def test_every_chart_is_here():
    assert set(LARGE) == set(dir(vp.charts)) - {"theme"}


@pytest.mark.parametrize("chart", sorted(LARGE))
def test_a_chart_of_large_data_fits_on_a_screen(chart):
    figure = getattr(vp.charts, chart)(LARGE[chart]())
    assert max(sides(figure)) <= MAX_SIDE_PX
    assert min(sides(figure)) > 100
    titles = re.findall("<title>(.*?)</title>", svg_text(spec(figure.chart), ""))
    assert titles
    assert all(re.match(r"[A-Z][^:]*: \S", title) for title in titles)  # each mark says what it stands for
    assert chart in WHOLE or "left out" in figure.caption, figure.caption


WHOLE = {"power", "rule_search", "transitions"}
"""Charts whose size does not grow with their data."""


@pytest.mark.parametrize("limit", [300, 12])
def test_findings_with_most_differing_votes_are_drawn(limit):
    grid = make_grid(190, 3, 1).assign(mark="agree")
    grid.loc[grid["finding_id"].isin(["F-150", "F-180"]) & grid["worker"].eq("worker-1"), "mark"] = "disagree"
    figure = vp.charts.vote_matrix(grid, limit=limit)
    drawn = {row["finding_id"] for rows in spec(figure.chart)["datasets"].values() for row in rows if "voter" in row}
    assert len(drawn) == min(limit, 190)
    assert {"F-150", "F-180", "F-001"} <= drawn
    assert ("178 are left out, on which fewer votes differ." in figure.caption) == (limit == 12)


def test_findings_on_which_no_drawn_worker_voted_are_not_counted_as_drawn():
    names = [f"{number:02d}" for number in range(50)]
    own = pd.DataFrame({"finding_id": names, "worker": names, "summary": "", "round": 1, "mark": "agree"})
    grid = own.assign(explanation="", classification="contested")
    disputed = grid.iloc[40:].assign(worker="49", mark="disagree")
    figure = vp.charts.vote_matrix(pd.concat([grid, disputed]).drop_duplicates(["finding_id", "worker"]))
    assert figure.caption.startswith("Votes on 36 findings by 36 workers")
    assert "36 of 50 findings are drawn; 14 are left out, on which none of the drawn workers voted." in figure.caption


def test_a_long_run_shows_its_last_iterations_and_several_their_ends():
    rows = timeline(1)
    figure = vp.charts.timeline(rows)
    assert "iteration 119:" in figure.description
    assert "iteration 110:" not in figure.description
    assert "110 iterations before these left out." in figure.caption
    several = vp.charts.timeline(timeline(2))
    assert max(sides(several)) <= MAX_SIDE_PX
    assert "186 iterations after these left out." in several.caption


def rows_of_plans(n: int) -> list[PlanNode]:
    return [PlanNode(f"1-{at:02d}", "", "A title", None, 1, (), "") for at in range(n)]


def test_a_cycle_of_plans_that_are_left_out_is_counted_and_said():
    edges = (Edge(0, 1), Edge(1, 0), Edge(28, 29), Edge(29, 28))
    graph = PlanGraph(tuple(rows_of_plans(30)), edges, ((0, 1), (28, 29)), (), (Unmet(29, 0, "9-99"),))
    caption = vp.charts.plan_graph(graph).caption
    assert "30 plans (n) of 1 phase, 4 arrows." in caption
    assert "2 cycles; 0 files that several plans of one wave modify; 1 missing plan that others wait for." in caption
    assert "13 are left out, of later waves, phases or rows. Violations left out with them: 1 cycle" in caption
    assert "1 cycle, 1 missing plan." in caption


def test_what_a_drawn_plan_waits_for_is_said_of_plans_that_are_left_out():
    nodes = rows_of_plans(30)
    nodes.append(PlanNode("2-00", "", "The next", None, 2, (), ""))
    graph = PlanGraph(tuple(nodes), (Edge(29, 30),), (), (), ())
    figure = vp.charts.plan_graph(graph)
    assert "2-00 in wave 2 waits for 1-29" in figure.description
    assert "The first 18 of 31 plans are drawn; 13 are left out, of later waves, phases or rows." in figure.caption
