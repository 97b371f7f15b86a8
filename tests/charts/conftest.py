"""Small comparisons and tables with known numbers, for the charts."""

from __future__ import annotations

import dataclasses
import json
import xml.etree.ElementTree as ElementTree
from functools import lru_cache
from html.parser import HTMLParser
from typing import Any

import pandas as pd
import pytest
import vl_convert

from verifyplan.analysis.comparison import Comparison
from verifyplan.charts import class_mix, queue, transitions, truth_metrics, vote_matrix
from verifyplan.charts.figure import Figure, spec, svg_text
from verifyplan.protocol.records import DIMENSIONS
from verifyplan.protocol.vote import CLASSIFICATIONS

COUNTS = {"a": [24, 33, 12, 11], "b": [30, 15, 22, 13]}
MOVES = [[20, 2, 1, 1], [9, 10, 12, 2], [1, 2, 8, 1], [0, 1, 1, 9]]
METRICS = ("precision", "recall", "f1", "false-consensus-rate", "false-demotion-rate")
VALUES = {"a": [0.72, 0.91, 0.80, 0.44, 0.09], "b": [0.88, 0.78, 0.83, 0.14, 0.22]}


def make_mix(a: str = "collaborative", b: str = "adversarial") -> pd.DataFrame:
    rows = [
        (label, name, n, n / 80, max(n / 80 - 0.09, 0), min(n / 80 + 0.1, 1))
        for key, label in (("a", a), ("b", b))
        for name, n in zip(CLASSIFICATIONS, COUNTS[key], strict=True)
    ]
    mix = pd.DataFrame(rows, columns=["condition", "classification", "n", "share", "low", "high"])
    return mix.assign(classification=pd.Categorical(mix["classification"], CLASSIFICATIONS, ordered=True))


def make_truth(a: str = "collaborative", b: str = "adversarial") -> pd.DataFrame:
    rows = [
        (label, metric, value, max(value - 0.1, 0), min(value + 0.1, 1), 20 + i)
        for key, label in (("a", a), ("b", b))
        for i, (metric, value) in enumerate(zip(METRICS, VALUES[key], strict=True))
    ]
    return pd.DataFrame(rows, columns=["condition", "metric", "value", "low", "high", "n"])


def make_findings(a: str = "collaborative", b: str = "adversarial") -> pd.DataFrame:
    """One row for each of the MOVES."""
    moves = [(i, j) for i in range(4) for j in range(4) for _ in range(MOVES[i][j])]
    classes = (pd.Categorical.from_codes(codes, CLASSIFICATIONS, ordered=True) for codes in zip(*moves, strict=True))
    columns = dict(zip((f"classification_{a}", f"classification_{b}"), classes, strict=True))
    return pd.DataFrame(columns).assign(run_id="r", truth=pd.array([None] * len(moves), dtype="boolean"))


def make_comparison(a: str = "collaborative", b: str = "adversarial", **changes: object) -> Comparison:
    comparison = Comparison(
        conditions=(a, b),
        metric="accuracy",
        findings=make_findings(a, b),
        mix=make_mix(a, b),
        truth=make_truth(a, b),
        summary=pd.DataFrame(),
        tests=pd.DataFrame(),
        agreement=pd.DataFrame(),
        cost=pd.DataFrame(),
        n_findings=80,
        n_runs=12,
        resampled="runs",
        synthetic=False,
    )
    return dataclasses.replace(comparison, **changes)


def make_empty() -> Comparison:
    mix = make_mix().assign(n=0, share=float("nan"), low=float("nan"), high=float("nan"))
    truth = make_truth().assign(n=0, value=float("nan"), low=float("nan"), high=float("nan"))
    return make_comparison(mix=mix, truth=truth, findings=make_findings().iloc[:0], n_findings=0, n_runs=0)


def make_queue(a: str = "collaborative", b: str = "adversarial") -> pd.DataFrame:
    return pd.DataFrame(
        {
            "mode": [a] * 3 + [b] * 3,
            "round": [0, 1, 2] * 2,
            "waiting": [80, 24, 9, 80, 41, 10],
            "resolved": [0, 56, 15, 0, 39, 31],
            "n_runs": [12] * 6,
        }
    )


def make_grid(n_findings: int = 12, n_workers: int = 4, n_rounds: int = 2) -> pd.DataFrame:
    kinds = [
        "agree",
        "supplement",
        "agree",
        "burden-not-met",
        "counter-evidence",
        "agree",
        "verification-error",
    ]
    rows = []
    for finding in range(n_findings):
        name = CLASSIFICATIONS[finding % 4]
        for number in range(1, n_rounds + 1):
            if number > 1 and finding % 4 != 2:
                continue
            for worker in range(n_workers):
                found = number == 1 and worker == finding % n_workers
                mark = "discovered" if found else kinds[(3 * finding + 5 * worker + number) % len(kinds)]
                rows.append(
                    {
                        "finding_id": f"F-{finding + 1:03d}",
                        "summary": f"Step {finding + 1} changes the schema before the backup is written",
                        "round": number,
                        "worker": f"worker-{worker + 1}",
                        "mark": mark,
                        "explanation": f"see src/steps/migrate.py:{finding + 10}",
                        "classification": name,
                    }
                )
    return pd.DataFrame(rows)


def make_scores(plans, by="synthesizer", evidence="plan.md:3 says so") -> pd.DataFrame:
    """The table `scores` from each plan's numbers, one a dimension of rule A10; None is refused."""
    rows = [
        {
            "run_id": plan,
            "by": by,
            "dimension": dimension,
            "score": score,
            "evidence": None if score is None else evidence,
            "refused": "evidence is blank" if score is None else None,
            "disputed": False,
        }
        for plan, scores in plans.items()
        for dimension, score in zip(DIMENSIONS, scores, strict=False)
    ]
    columns = ["run_id", "by", "dimension", "score", "evidence", "refused", "disputed"]
    return pd.DataFrame(rows, columns=columns)


SVG = "{http://www.w3.org/2000/svg}"


class Picture:
    """A figure as SVG: its marks by what they say, and where they stand."""

    def __init__(self, figure: Figure) -> None:
        self.root = ElementTree.fromstring(svg_text(spec(figure.chart), figure.description))
        every = self.root.iter()
        self.marks = [e for e in every if e.get("role") == "graphics-symbol" and e.tag != f"{SVG}g"]
        self.labels = [mark.get("aria-label") for mark in self.marks]
        self.titles = [mark.findtext(f"{SVG}title") for mark in self.marks]

    @property
    def texts(self) -> list[str]:
        """What is written, outside titles."""
        return [piece for e in self.root.iter() if e.tag in {f"{SVG}text", f"{SVG}tspan"} if (piece := _written(e))]

    def saying(self, *parts: str) -> list[ElementTree.Element]:
        """The marks whose description has these lines."""
        return [m for m, label in zip(self.marks, self.labels, strict=True) if set(parts) <= set(label.split("\n"))]


def _written(text: ElementTree.Element) -> str:
    """An element's own text, that behind its title included."""
    return (text.text or "") + "".join(child.tail or "" for child in text)


class Seen(HTMLParser):
    """What a browser would make of a page or picture: its elements, their attributes, its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags, self.attributes, self.texts, self.scripts = [], [], [], []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes.extend((tag, name, value or "") for name, value in attrs)

    def handle_data(self, data):
        (self.scripts if self.cdata_elem == "script" else self.texts).append(data)

    def values(self, name: str) -> list[str]:
        return [value for _, own, value in self.attributes if own == name]

    @property
    def text(self) -> str:
        return "\n".join(self.texts)


@pytest.fixture(scope="session", autouse=True)
def _drawn_once():
    """Tests draw the same charts again and again: the renderer draws each once."""
    draw = lru_cache(maxsize=200)(vl_convert.vegalite_to_svg)

    def drawn(specification: str | dict[str, Any]) -> str:
        svg: str = draw(specification if isinstance(specification, str) else json.dumps(specification))
        return svg

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vl_convert, "vegalite_to_svg", drawn)
        yield


@pytest.fixture
def comparison() -> Comparison:
    return make_comparison()


@pytest.fixture(scope="session")
def comparison_of():
    return make_comparison


@pytest.fixture
def empty_comparison() -> Comparison:
    return make_empty()


@pytest.fixture(scope="session")
def queue_of():
    return make_queue


@pytest.fixture(scope="session")
def grid_of():
    return make_grid


@pytest.fixture(scope="session")
def five():
    """Every chart, by name."""
    comparison = make_comparison()
    return {
        "class_mix": class_mix(comparison),
        "transitions": transitions(comparison),
        "truth_metrics": truth_metrics(comparison),
        "queue": queue(make_queue()),
        "vote_matrix": vote_matrix(make_grid()),
    }


@pytest.fixture(scope="session")
def scores_of():
    return make_scores


@pytest.fixture(scope="session")
def picture():
    return Picture


@pytest.fixture(scope="session")
def seen():
    """A function from a page, or a figure as a notebook shows it, to what is seen."""
    return lambda shown: Seen(shown if isinstance(shown, str) else shown._repr_html_())
