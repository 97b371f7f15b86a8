"""Every chart has the same call: one test for all, driven by the list of charts."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import vl_convert

import verifyplan as vp
from tests.longer import part
from verifyplan.analysis import weights
from verifyplan.charts.figure import spec
from verifyplan.errors import InputError, SettingsError

SHARED = ("title", "width", "height", "labels", "limit", "font", "scale")
DRESS: dict[str, Any] = {"title": "What we saw", "font": "Georgia, Noto Serif", "scale": 3}


class Example(NamedTuple):
    """What a chart is drawn of: a kind of runs, its typed result, and a name that stands in the data."""

    kind: str
    """plan, cross, debate, or agents: plan runs of agents that use tokens; scores: a table with overall scores."""
    result: Callable[[vp.RunSet], Any]
    name: Callable[[Any], str] | None
    """A name in the result that `labels` can replace; None where no names are drawn."""
    refused: tuple[str, ...] = ()
    """Shared options that have no meaning in this chart."""


def first(column: str) -> Callable[[Any], str]:
    return lambda table: str(table[column].iloc[0])


def fitted(table: Any) -> vp.results.WeightFit:
    return weights.fit(table, "overall", repeats=2, resamples=50)


EXAMPLES = {
    "audit": Example("plan", lambda runs: runs.scores, first("run_id")),
    "challenge_pool": Example("plan", vp.analysis.challenge_pool, None, ("labels",)),
    "class_mix": Example("cross", vp.compare, lambda comparison: comparison.conditions[0]),
    "coverage": Example("plan", vp.analysis.coverage, first("title")),
    "debate": Example("debate", vp.analysis.debates, first("task")),
    "flips": Example("cross", vp.flips, None, ("labels",)),
    "panel": Example("cross", vp.panel, lambda result: str(result.judges["worker"].iloc[0])),
    "plan_graph": Example("documents", lambda folder: vp.documents.plan_check(folder).graph, lambda _: "01-01"),
    "power": Example("cross", lambda runs: vp.power(runs, delta=0.1), None, ("labels",)),
    "quality_scores": Example("plan", lambda runs: runs.scores, first("dimension")),
    "queue": Example("cross", vp.analysis.queue, first("mode")),
    "rank_stability": Example("plan", weights.rank_stability, first("plan")),
    "ranking": Example("plan", weights.apply, first("plan")),
    "rule_search": Example("truth", vp.search_rules, lambda _: "as run"),
    "score_distributions": Example("plan", lambda runs: runs.scores, first("dimension")),
    "sensitivity": Example("plan", weights.sensitivity, first("dimension")),
    "timeline": Example("plan", lambda runs: runs.iterations, first("run_id")),
    "transitions": Example("cross", vp.compare, lambda comparison: comparison.conditions[1], ("limit",)),
    "truth_metrics": Example("truth", vp.compare, lambda comparison: comparison.conditions[0]),
    "usage": Example("agents", vp.analysis.usage, first("role")),
    "vote_matrix": Example("cross", vp.analysis.vote_matrix, first("worker")),
    "weights": Example("scores", fitted, lambda fit: str(fit.weights["dimension"].iloc[0])),
    "workers": Example("cross", vp.workers, lambda result: str(result.table["worker"].iloc[0])),
}
"""An example of every chart; a new chart needs one line here."""


@pytest.fixture(scope="module")
def folders(tmp_path_factory) -> dict[str, Path]:
    """A folder of runs of each kind."""
    work = tmp_path_factory.mktemp("runs")
    repo = vp.datasets.sample_repository(work / "repo")
    quiet: dict[str, Any] = {"repo": repo, "synthetic": True, "progress": False}
    for plan in (
        each for each in vp.datasets.labelled_plans() if each.path.stem in ("tracking-page-dutch", "excel-export")
    ):
        vp.verify(plan.path, log_dir=work / "plan", **quiet)
    claims = vp.datasets.stdlib_claims(20, seed=7)
    workers = ["syntax-tree", "window", "search", "quotation"]
    vp.crossverify(
        claims,
        workers,
        mode="adversarial",
        max_rounds=3,
        repo=vp.datasets.stdlib_root(),
        synthetic=True,
        log_dir=work / "cross",
        progress=False,
    )
    agents = vp.agents.ScriptedBackend(vp.datasets.debate_script("purge-stop"))
    for task in ("stop the purge at 04:00", "say so in docs/runbook.md"):
        vp.debate(task, agents, log_dir=work / "debate", **quiet)
    bundled = {"agents": vp.datasets.path("live-example/plan"), "truth": vp.datasets.path("contract")}
    documents = vp.datasets.sample_planning(work / "documents")
    return {kind: work / kind for kind in ("plan", "cross", "debate")} | bundled | {"documents": documents}


@pytest.fixture(scope="module")
def loaded(folders) -> dict[str, Any]:
    """The runs of each kind as tables; of those with truth, a bundled set; of documents the folder itself."""
    runs: dict[str, Any] = {kind: vp.load(folders[kind]) for kind in ("plan", "cross", "debate", "agents")}
    runs |= {"truth": vp.datasets.runs("stdlib-claims/adversarial"), "documents": folders["documents"]}
    return runs | {"scores": vp.datasets.example_scores(40)}


@pytest.fixture(params=sorted(EXAMPLES))
def chart(request) -> str:
    return request.param


def draw(chart: str, data: Any, **options: Any) -> vp.results.Figure:
    return getattr(vp.charts, chart)(data, **options)


def drawn(figure) -> str:
    """The specification, in which equal pictures are equal."""
    return json.dumps([spec(figure.chart), figure.caption, figure.description])


def picture_size(figure) -> list[float]:
    """The pixels of the whole picture: its width and height."""
    svg = vl_convert.vegalite_to_svg(spec(figure.chart))
    return [float(re.search(rf'{side}="([\d.]+)"', svg)[1]) for side in ("width", "height")]


@pytest.fixture(scope="module")
def result_of(loaded) -> Callable[..., Any]:
    """The result that a chart is drawn of, by the chart and whether it is of one run, computed once."""

    @cache
    def result(chart: str, *, one_run: bool = True) -> Any:
        kind = EXAMPLES[chart].kind
        runs = loaded[kind]
        one = runs if kind in ("documents", "scores") or not one_run else runs.select([runs.runs["run_id"].iloc[0]])
        return EXAMPLES[chart].result(one)

    return result


@pytest.fixture(scope="module")
def drawn_of(result_of) -> Callable[..., str]:
    """What is drawn of such a result without options, drawn once."""
    return cache(lambda chart, *, one_run=True: drawn(draw(chart, result_of(chart, one_run=one_run))))


@pytest.fixture(scope="module")
def dressed(result_of) -> Callable[[str], vp.results.Figure]:
    """A large figure of such a result with a title, font and scale of its own, drawn once."""
    return cache(lambda chart: draw(chart, result_of(chart), width=1_200, height=1_200, **DRESS))


def test_every_chart_has_an_example():
    assert set(EXAMPLES) == set(dir(vp.charts)) - {"theme"}


def test_signatures_name_the_shared_options(chart):
    parameters = list(inspect.signature(getattr(vp.charts, chart)).parameters.values())
    assert parameters[0].name == "data"
    assert tuple(each.name for each in parameters[-len(SHARED) :]) == SHARED
    assert {each.kind for each in parameters[1:]} == {inspect.Parameter.KEYWORD_ONLY}


def one_kind(chart: str, kinds: list[Any]) -> Sequence[Any]:
    """What a chart takes; or one of it, another from chart to chart, as all charts read runs by one function."""
    return part(kinds, len(kinds), sorted(EXAMPLES).index(chart))


def test_result_tables_run_and_path_give_the_same_figure(chart, loaded, folders, drawn_of):
    example = EXAMPLES[chart]
    if example.kind == "scores":
        with pytest.raises(InputError, match="data: must be a fit of weights, got a RunSet"):
            draw(chart, loaded["plan"])
        return
    if example.kind == "documents":
        check = vp.documents.plan_check(folders["documents"])
        assert drawn(draw(chart, check)) == drawn(draw(chart, check.graph)) == drawn(draw(chart, folders["documents"]))
        return
    if example.kind == "truth":
        for runs in one_kind(chart, [loaded["truth"], "stdlib-claims/adversarial"]):
            assert drawn(draw(chart, runs)) == drawn_of(chart, one_run=False)
        return
    path = sorted(folders[example.kind].rglob("*.jsonl"))[0]
    run = vp.read_run(path)
    result = example.result(run.frames)
    if hasattr(result, "attrs"):
        result.attrs["synthetic"] = bool(run.frames.runs["synthetic"].fillna(False).any())
    expected = drawn(draw(chart, result))
    for runs in one_kind(chart, [run.frames, run, path]):
        assert drawn(draw(chart, runs)) == expected


def test_a_title_replaces_the_title_a_font_stands_before_others_and_a_scale_is_kept(chart, dressed):
    figure = dressed(chart)
    assert spec(figure.chart)["title"]["text"] == "What we saw"
    assert spec(figure.chart)["config"]["font"].startswith("Georgia, Noto Serif, Helvetica")
    assert figure.scale == 3


def test_sizes_are_those_of_the_plot(chart, result_of, dressed):
    larger = draw(chart, result_of(chart), width=1_300, height=1_300, **DRESS)
    for before, after in zip(picture_size(dressed(chart)), picture_size(larger), strict=True):
        assert after - before == pytest.approx(100, abs=3)
        assert before >= 1_200


@pytest.mark.parametrize("side", ["width", "height"])
def test_too_small_a_size_is_refused(chart, side, result_of):
    with pytest.raises(
        SettingsError, match=rf"{side}: must be an integer of at least \d+.*, got 3\. Fix: give more pixels"
    ):
        draw(chart, result_of(chart), **{side: 3})


def test_labels_stand_in_the_place_of_names(chart, result_of, drawn_of):
    example, data = EXAMPLES[chart], result_of(chart)
    if example.name is None:
        with pytest.raises(SettingsError, match=r"labels: has no meaning here: .* Fix: leave it out"):
            draw(chart, data, labels={"a": "b"})
        return
    name = example.name(data)
    figure = draw(chart, data, labels={name: "Ours"})
    picture = json.dumps(spec(figure.chart))
    assert "Ours" in picture
    assert "Ours" not in drawn_of(chart)
    with pytest.raises(SettingsError, match=re.escape(f"{name + 'x'!r} is not a name in the data (did you mean")):
        draw(chart, data, labels={name + "x": "Ours"})


def test_a_limit_leaves_out_the_rest_and_says_so(chart, result_of, drawn_of):
    example, one_run = EXAMPLES[chart], chart in ("coverage", "vote_matrix")
    data = result_of(chart, one_run=one_run)
    if "limit" in example.refused:
        with pytest.raises(SettingsError, match=r"limit: has no meaning here: .* Fix: leave it out"):
            draw(chart, data, limit=1)
        return
    words = "too many to draw" if chart == "plan_graph" else r"The first 1 of [\d,]+ \w+ are drawn; [\d,]+ are left out"
    figure = draw(chart, data, limit=1)
    assert re.search(words, figure.caption), figure.caption
    assert len(drawn(figure)) < len(drawn_of(chart, one_run=one_run))


BAD = (
    ({"title": 3}, "title: must be a text, got 3"),
    ({"width": True}, "width: must be an integer from 1 to 20,000, got True"),
    ({"height": 1e3}, "height: must be an integer from 1 to 20,000, got 1000.0"),
    ({"width": 20_001}, "width: must be an integer from 1 to 20,000, got 20001"),
    ({"limit": 0}, "limit: must be an integer of at least 1, got 0"),
    ({"labels": ["a"]}, "labels: must map names in the data to the names to draw, as texts that are not empty"),
    ({"labels": {"a": ""}}, "labels: must map names in the data to the names to draw, as texts that are not empty"),
    ({"font": "x; y"}, "font: must be a font's name, or several with commas between them, got 'x; y'"),
    ({"scale": 11}, "scale: must be a number from 0.25 to 10, got 11"),
    ({"scale": True}, "scale: must be a number from 0.25 to 10, got True"),
    ({"titel": "x"}, "titel: is not an option of this chart (did you mean 'title'?)"),
)


def test_bad_values_are_refused(chart, result_of):
    for options, message in BAD:
        with pytest.raises(SettingsError, match=re.escape(message)):
            draw(chart, result_of(chart), **options)


def test_all_bad_values_are_listed_at_once():
    with pytest.raises(SettingsError) as caught:
        vp.charts.queue("contract", title=1, width="wide", limit=-1, labels=3)
    assert [problem.place for problem in caught.value.problems] == ["title", "width", "labels", "limit"]


def test_two_names_cannot_be_drawn_as_one(loaded):
    with pytest.raises(SettingsError, match="labels: two names would be drawn as 'window'"):
        vp.charts.vote_matrix(loaded["cross"], labels={"search": "window"})


def test_other_things_are_refused(chart):
    with pytest.raises(InputError, match="data: must be a "):
        draw(chart, [1])


def test_packages_list_their_names_and_nothing_else():
    assert dir(vp.widgets) == ["LiveRun", "ModeComparison", "RunExplorer", "WeightTuner"]
    assert "claims" in dir(vp.datasets)
    assert not [name for name in dir(vp.datasets) if inspect.ismodule(getattr(vp.datasets, name))]
    with pytest.raises(AttributeError, match="has no 'tranzitions'; did you mean 'transitions'"):
        vp.charts.tranzitions  # noqa: B018
    with pytest.raises(AttributeError, match="has no 'RunExplorr'; did you mean 'RunExplorer'"):
        vp.widgets.RunExplorr  # noqa: B018
