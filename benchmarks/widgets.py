"""How fast widgets follow with 1,000 runs, 100,000 findings and 900,000 votes, or 1,000 plans.

Run it with `python -m benchmarks.widgets`. It reports medians of wall time on the Python side, and beside the choice of
a run the same choice by `RunSet.select`, which filters every table. It stops if the two disagree.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import numpy as np
import pandas as pd

from benchmarks.figures import MET, YARDSTICK, Measurement, report, within, yardstick
from verifyplan.datasets.bundled import example_scores
from verifyplan.frames.columns import typed
from verifyplan.frames.runset import RunSet
from verifyplan.protocol.vote import BASES, CLASSIFICATIONS, VERDICTS
from verifyplan.widgets.comparison import ModeComparison
from verifyplan.widgets.explorer import RunExplorer
from verifyplan.widgets.tuner import WeightTuner

RUNS, FINDINGS, WORKERS, ROUNDS, REPEATS = 1_000, 100, 4, 3, 7
OPEN_LIMIT, STEP_LIMIT = 0.3, 0.150


def make_runs(runs: int = RUNS, findings: int = FINDINGS) -> RunSet:
    """Seeded random runs, half of them adversarial; synthetic.

    Every finding has one discoverer and is voted on by three others in three rounds. The recorded classes are random,
    so replays differ.
    """
    rng = np.random.default_rng(0)
    n = runs * findings
    run_ids, modes = np.array([f"run-{i:04d}" for i in range(runs)]), np.array(["collaborative", "adversarial"])
    finding_ids = np.array([f"F-{i:03d}" for i in range(findings)])
    workers = np.array(list("abcd"))
    found_by = rng.integers(0, WORKERS, n)
    lists = pd.Series([[worker] for worker in workers], dtype="object")
    table = {"run_id": np.repeat(run_ids, findings), "finding_id": np.tile(finding_ids, runs)}
    table |= {"summary": "The cache is invalidated before " + pd.Series(rng.integers(0, 999, n)).astype("str")}
    table |= {"evidence": "src/cache.py:10", "origin_worker": workers[found_by], "n_rounds": ROUNDS}
    table |= {"classification": np.array(CLASSIFICATIONS)[rng.integers(0, 4, n)]}
    table |= {"discoverers": lists.take(found_by).to_numpy()}
    empty = pd.Series([[]], dtype="object").take(np.zeros(n, dtype=int)).to_numpy()
    table |= dict.fromkeys(("ticket_ids", "consensus_workers", "dissenting_workers"), empty)
    head = {"run_id": run_ids, "kind": "cross", "task_key": "cache", "mode": modes[np.arange(runs) % 2]}
    head |= {"effective_max_rounds": ROUNDS, "max_rounds": ROUNDS, "total_rounds": ROUNDS, "n_findings": findings}
    head |= {"synthetic": True, "finished": True, "log": False}
    rounds = {"run_id": np.repeat(run_ids, ROUNDS), "round": np.tile(np.arange(1, ROUNDS + 1), runs), "iteration": 0}
    return RunSet(
        runs=typed("runs", head),
        findings=typed("findings", table),
        votes=typed("votes", _votes(table, found_by, rng)),
        rounds=typed("rounds", rounds),
    )


def _votes(table: dict[str, object], found_by: np.ndarray, rng: np.random.Generator) -> dict[str, object]:
    n, each = len(found_by), (WORKERS - 1) * ROUNDS
    finding = np.repeat(np.arange(n), each)
    seat = np.tile(np.tile(np.arange(1, WORKERS), ROUNDS), n)
    verdict = rng.choice(4, n * each, p=[0.5, 0.1, 0.35, 0.05])
    basis = np.where(verdict == VERDICTS.index("disagree"), rng.integers(0, 2, n * each), -1)
    return {
        "run_id": pd.Series(table["run_id"]).take(finding).to_numpy(),
        "finding_id": pd.Series(table["finding_id"]).take(finding).to_numpy(),
        "iteration": 0,
        "round": np.tile(np.repeat(np.arange(1, ROUNDS + 1), WORKERS - 1), n),
        "worker": np.array(list("abcd"))[(found_by[finding] + seat) % WORKERS],
        "verdict": pd.Categorical.from_codes(verdict, categories=VERDICTS),
        "disagree_basis": pd.Categorical.from_codes(basis, categories=BASES),
        "explanation": "see src/cache.py:12",
        "is_origin": False,
        "uncited": False,
    }


def median_seconds(work: Callable[[int], object], repeats: int = REPEATS) -> float:
    """Median wall time of some repeats, which are told their number, after one that does not count."""
    work(0)
    times = []
    for number in range(1, repeats + 1):
        began = time.perf_counter()
        work(number)
        times.append(time.perf_counter() - began)
    return statistics.median(times)


def steps_seconds(explorer: RunExplorer, runs: int = REPEATS) -> list[float]:
    """Wall time of each step of the timeline in some runs, the first look at a run's step included."""
    times = []
    for number in range(runs):
        explorer.run_id = f"run-{101 * number:04d}"
        for step in (1, 2, 3, 4, 0):
            began = time.perf_counter()
            explorer.step = step
            times.append(time.perf_counter() - began)
            if explorer.failure.value or explorer.step != step:
                raise SystemExit(f"the explorer failed: {explorer.failure.value}")
    return times


def main() -> None:
    """Check that both ways to choose a run agree, then report what a user waits for."""
    runs, stick = make_runs(), {YARDSTICK: yardstick()}
    print(f"{runs!r}; wall time on the Python side")
    n = RUNS * FINDINGS

    def note(name: str, seconds: float, limit: float | None, n: int = n, unit: str = "findings") -> None:
        report("widgets", name, n, unit, Measurement(seconds), stick | within(limit), MET)

    note("the run viewer opens, its first slice drawn", median_seconds(lambda _: RunExplorer(runs), 3), OPEN_LIMIT)
    explorer = RunExplorer(runs)
    note("the findings of all runs, first listed", all_findings_seconds(runs), OPEN_LIMIT)
    explorer.receive({"do": "scope", "value": "all"})
    searches = ("999", "before 12", "f-05")
    note(
        "a search in the findings of all runs", median_seconds(lambda i: search(explorer, searches[i % 3])), STEP_LIMIT
    )
    search(explorer, "")
    explorer.receive({"do": "scope", "value": "run"})
    times = steps_seconds(explorer)
    note("a step of its timeline", statistics.median(times), STEP_LIMIT)
    modes = ("adversarial", "collaborative")
    note(
        "another replay mode",
        median_seconds(lambda i: explorer.receive({"do": "rules", "name": "mode", "value": modes[i % 2]})),
        None,
    )
    note("another run, drawn", median_seconds(lambda i: setattr(explorer, "run_id", f"run-{7 * i:04d}")), STEP_LIMIT)
    large = steps_seconds(RunExplorer(make_runs(1, 50 * FINDINGS)), 1)
    note("a step in one large run", statistics.median(large), STEP_LIMIT, 50 * FINDINGS)
    note("a weight turned, its picture included", tuner_seconds(), STEP_LIMIT, 1_000, "plans")
    compare(runs)


def all_findings_seconds(runs: RunSet) -> float:
    """Median wall time of the first list of the findings of all runs, in viewers of their own."""
    times = []
    for _ in range(3):
        explorer = RunExplorer(runs)
        began = time.perf_counter()
        explorer.receive({"do": "scope", "value": "all"})
        times.append(time.perf_counter() - began)
    return statistics.median(times)


def search(explorer: RunExplorer, text: str) -> None:
    """Search the listed findings for a text, as the page asks for it."""
    explorer.receive({"do": "list", "list": "items", "name": "search", "value": text})
    if explorer.failure.value:
        raise SystemExit(f"the viewer failed: {explorer.failure.value}")


def tuner_seconds(plans: int = 1_000) -> float:
    """Median wall time of a move of one weight's slider: exact weights, scores, ranking and its chart."""
    tuner = WeightTuner(example_scores(plans).drop(columns="overall"))
    slider = tuner.sliders["risk_coverage"]
    return median_seconds(lambda i: setattr(slider, "value", 0.20 + 0.01 * i))


def compare(runs: RunSet) -> None:
    """Print what the comparison's controls cost; a new setting reads and resamples all, and says that it computes."""
    widget = ModeComparison(runs)
    columns = ("disagreement", "finding_id")
    sorted_ = median_seconds(lambda i: setattr(widget.table, "sort", {"column": columns[i % 2], "descending": True}))
    found = median_seconds(lambda i: setattr(widget.find, "value", f"run-7{i}"))
    widget.find.value = ""
    chosen = median_seconds(lambda i: setattr(widget.table, "selected", [widget.table.row_keys[i]]))
    read = median_seconds(lambda i: setattr(widget.second.rounds, "value", 1 + i), 2)
    print(f"  findings sorted      median {1000 * sorted_:.0f} ms, filtered {1000 * found:.0f} ms, "
          f"one explained {1000 * chosen:.0f} ms, another setting read {1000 * read:.0f} ms")  # fmt: skip


if __name__ == "__main__":
    main()
