"""How the time of each analysis grows with votes, runs and workers, and the slope of its last step, usually tenfold.

`make bench-growth`, or `python -m benchmarks.growth [--large] [--draw] [--axis votes ...] [--only NAME ...]`: seconds
of CPU go to growth.csv, slopes are printed, and docs/growth.png is drawn. `--large` goes on to 100 million votes,
`--draw` measures nothing. Slope 1 is linear. An analysis ends at the size before one that may take more than LIMIT_S.
"""

from __future__ import annotations

import argparse
import math
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

import verifyplan as vp
from benchmarks.datasets import make_part
from benchmarks.figures import ROOT, once
from benchmarks.growth_chart import draw
from benchmarks.run_files import write_artifacts
from verifyplan.frames.dataset.manifest import Manifest, write_manifest
from verifyplan.frames.dataset.storage import Storage

TABLE, PICTURE = ROOT / "benchmarks" / "growth.csv", ROOT / "docs" / "growth.png"
LIMIT_S = 20
VOTES, RUNS, WORKERS = (10**5, 10**6, 10**7), (10, 100, 1_000, 10_000), (2, 10, 100, 1_000)
LARGE_VOTES = 10**8
WORKERS_AN_ITEM, ITEMS_A_RUN, ITEMS = 5, 200, 1_000
PART = 2_500_000
NAMES = {"item": "item", "worker": "worker", "verdict": "verdict", "run": "run", "truth": "truth"}
RULES = [vp.VotingRules(mode="adversarial", max_rounds=1, quorum=quorum) for quorum in range(1, 11)]

Work = Callable[[], object]


def make_votes(n_items: int, n_workers: int, items_a_run: int, n_rounds: int = 1) -> pd.DataFrame:
    """Seeded random votes of all workers on all items in all rounds; synthetic."""
    rng = np.random.default_rng(0)
    shape = (n_items // n_rounds, n_rounds, n_workers)
    item, round_, worker = (axis.ravel() for axis in np.indices(shape, dtype=np.int32))
    truth = (rng.random(shape[0]) < 0.5)[item]
    agrees = np.where(rng.random(len(item)) < 0.75, truth, ~truth)
    return pd.DataFrame(
        {
            "run": item // items_a_run,
            "item": item,
            "round": round_ + 1,
            "worker": pd.Categorical.from_codes(worker, [f"w{number:04d}" for number in range(n_workers)]),
            "verdict": pd.Categorical.from_codes((~agrees).astype(np.int8), ["agree", "disagree"]),
            "truth": truth,
        }
    )


def analyses(n_items: int, n_workers: int, items_a_run: int) -> Iterator[tuple[str, Work]]:
    """Yield what is timed on votes of such a shape; the data are made before."""
    votes = make_votes(n_items, n_workers, items_a_run)
    keys = votes.rename(columns={"run": "run_id", "item": "finding_id"}).assign(disagree_basis=None)
    keys["disagree_basis"] = pd.Categorical(keys["disagree_basis"], categories=["counter-evidence", "burden-not-met"])
    yield "classify", partial(vp.classify, keys.drop(columns="truth"), mode="adversarial", max_rounds=1)
    yield "from_votes", partial(vp.from_votes, votes.drop(columns="round"), **NAMES)
    runs = vp.from_votes(votes.drop(columns="round"), **NAMES)
    yield "compare", partial(vp.compare, runs)
    yield "search_rules, 10 rules", partial(vp.search_rules, runs, RULES)
    yield "workers", partial(vp.workers, runs)
    yield "panel", partial(vp.panel, runs)
    yield "agreement", partial(vp.agreement, runs)
    label = votes.rename(columns={"verdict": "label"}).drop(columns=["round", "truth"])
    yield "Dawid-Skene", partial(vp.aggregate, label, method="dawid-skene", iterations=20, tolerance=0)
    yield (
        "flips",
        partial(vp.flips, vp.from_votes(make_votes(n_items, n_workers, items_a_run, 2), **NAMES, round="round")),
    )


def of_votes(n_votes: int) -> Iterator[tuple[str, Work]]:
    """Yield what is timed on so many votes of five workers, in runs of 1,000."""
    if n_votes < LARGE_VOTES:
        yield from analyses(n_votes // WORKERS_AN_ITEM, WORKERS_AN_ITEM, ITEMS_A_RUN)
    else:
        yield next(analyses(n_votes // WORKERS_AN_ITEM, WORKERS_AN_ITEM, ITEMS_A_RUN))
    with tempfile.TemporaryDirectory() as folder:
        storage, n_parts = Storage.at(folder), max(1, n_votes // PART)
        parts = tuple(make_part(n_votes // n_parts, number, storage) for number in range(n_parts))
        write_manifest(storage, Manifest(source="generated", parts=parts, files=""))
        classify = vp.analysis.classify_dataset
        yield "classify_dataset", lambda: classify(vp.load(folder), mode="adversarial", max_rounds=1)


def of_runs(n_runs: int) -> Iterator[tuple[str, Work]]:
    """Yield what is timed on so many runs of ten findings, and on as many files of 52 votes."""
    with tempfile.TemporaryDirectory() as folder:
        write_artifacts(Path(folder) / "runs", n_runs)
        yield "load", partial(vp.load, f"{folder}/runs", progress=False)
        targets = (f"{folder}/set-{number}" for number in range(9))
        yield "compile", lambda: vp.compile_dataset(f"{folder}/runs", next(targets), progress=False)
    yield from analyses(10 * n_runs, WORKERS_AN_ITEM, 10)


def of_workers(n_workers: int) -> Iterator[tuple[str, Work]]:
    """Yield what is timed on 1,000 items, on each of which all workers vote."""
    yield from analyses(ITEMS, n_workers, ITEMS_A_RUN)


AXES = {"votes": (of_votes, VOTES), "runs": (of_runs, RUNS), "workers": (of_workers, WORKERS)}


def growing(axis: str, sizes: tuple[int, ...], only: list[str]) -> Iterator[tuple[str, str, int, float]]:
    """Yield axis, analysis, size and seconds of CPU, smaller sizes first, while an analysis keeps within LIMIT_S."""
    make, taken = AXES[axis][0], {}
    for before, size in zip((0, *sizes), sizes, strict=False):
        for name, work in make(size):
            last = taken.get(name, 0.0)
            if (only and name not in only) or last * size / max(1, before) > LIMIT_S:
                taken[name] = math.inf
                continue
            repeats = [once(work)[0].cpu]
            repeats += [once(work)[0].cpu for _ in range(2) if repeats[0] < 5]
            taken[name] = min(repeats)
            print(f"{axis} {size:>11,} {name:<24} {taken[name]:8.3f} s", flush=True)
            yield axis, name, size, taken[name]


def slopes(table: pd.DataFrame) -> pd.DataFrame:
    """Return the slope of each line from the last size but one to the last: `axis, name, size, seconds, slope`."""
    last = table.sort_values("size").groupby(["axis", "name"], sort=False).tail(2)
    ends = last.groupby(["axis", "name"], sort=False)
    rise = ends[["size", "seconds"]].agg(lambda pair: math.log(pair.iloc[-1] / pair.iloc[0]))
    slope = (rise["seconds"] / rise["size"]).rename("slope")
    return ends.last().join(slope).reset_index()


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--large", action="store_true")
    options.add_argument("--draw", action="store_true")
    options.add_argument("--axis", choices=list(AXES), action="append")
    options.add_argument("--only", action="append", default=[])
    chosen = options.parse_args()
    key, columns = ["axis", "name", "size"], ["axis", "name", "size", "seconds"]
    table = pd.read_csv(TABLE) if TABLE.exists() else pd.DataFrame(columns=columns)
    for axis in [] if chosen.draw else chosen.axis or AXES:
        if not chosen.only:
            table = table[table["axis"] != axis]  # what is not measured again was measured on another day
        sizes = AXES[axis][1] + ((LARGE_VOTES,) if chosen.large and axis == "votes" else ())
        for row in growing(axis, sizes, chosen.only):  # each is kept at once: the next may take long
            table = pd.concat([table, pd.DataFrame([row], columns=columns)]).drop_duplicates(key, keep="last")
            table.sort_values(key).to_csv(TABLE, index=False, float_format="%.4g")
    found = slopes(pd.read_csv(TABLE))
    print(found.sort_values(["axis", "slope"], ascending=False).to_string(index=False))
    vp.export(draw(pd.read_csv(TABLE), found), PICTURE)


if __name__ == "__main__":
    main()
