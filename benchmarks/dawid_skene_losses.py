"""Where Dawid-Skene does worse than the majority, and whether votes alone tell, as in docs/statistics.md.

Run it with `make bench-statistics`, on the bundled tables; with a folder of further tables with truth, pairs of files
`label.csv` (item, worker, label) and `truth.csv` (item, truth), these count as well: `python -m
benchmarks.dawid_skene_losses FOLDER`. A table is one panel on one set of items. Panels share items and workers, so
tables of one source are not independent; what is chosen on some sources is tried on another.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.stats import mannwhitneyu

import verifyplan as vp
from verifyplan.analysis.aggregation.aggregation import right_shares
from verifyplan.analysis.aggregation.dawid_skene import TOLERANCE, DawidSkene, fit
from verifyplan.analysis.aggregation.vote_counts import Floats, VoteCounts, vote_counts
from verifyplan.analysis.aggregation.weighted_votes import highest, weighted_shares
from verifyplan.analysis.cluster_intervals import difference_interval
from verifyplan.analysis.clusters import clusters_of_units
from verifyplan.frames.panel_votes import PanelVotes

MIN_ITEMS, MIN_WORKERS, MIN_VOTES = 40, 3, 10
EQUAL = 0.005
"""A smaller difference of accuracies is none."""
EARLY = 100
"""Iterations after which the accuracy is looked at too."""
DRAWS, ITEMS, SEED = 200, 300, 0
PANELS = (3, 5, 8, 20, 50)
TOGETHER = (0.0, 0.2, 0.4, 0.6)


def bundled() -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the source of each bundled table, and its labels with their truth, one row a vote."""
    judges = vp.datasets.votes("llmbar")
    for by in ("strategy", "model"):
        yield from (("LLMBar", rows) for _, rows in judges.groupby(["set", by], observed=True))
    scores = vp.datasets.votes("judge-scores-balanced")
    yield from (("judge-scores", rows) for _, rows in scores.groupby(["run", "model"], observed=True))
    first = scores[scores["repetition"].eq(0)]
    yield from (("judge-scores", rows) for _, rows in first.groupby("run", observed=True))
    debates = vp.datasets.votes("prover-verifier/debate")
    yield from (("debates", rows) for _, rows in debates.groupby(["run", "round"], observed=True))
    rounds = vp.datasets.votes("debate-rounds")
    rounds["item"] += rounds["run"]
    yield from (("debates", rows) for _, rows in rounds.groupby("round"))
    yield from (("debates", rows) for _, rows in vp.datasets.votes("judge-panel").groupby("run"))
    yield from (("debates", vp.datasets.votes(f"prover-verifier-{name}")) for name in ("samples", "outcomes"))
    yield from (("crowds", vp.datasets.votes(name)) for name in ("rte", "dog"))


def further(folder: Path) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the tables of a folder likewise."""
    for file in sorted(folder.rglob("label.csv")):
        labels, truth = pd.read_csv(file), pd.read_csv(file.with_name("truth.csv"))
        labels.columns, truth.columns = pd.Index(["item", "worker", "label"]), pd.Index(["item", "truth"])
        yield "crowds", labels.merge(truth.drop_duplicates("item"), how="left")


def read(rows: pd.DataFrame) -> PanelVotes:
    """Return the votes of a table."""
    return vp.from_table(rows, item="item", worker="worker", label="label", truth="truth", duplicates="first")


def counts_of(votes: PanelVotes, chosen: npt.NDArray[np.bool_] | None = None) -> VoteCounts:
    """Return the counts of all votes, or of some."""
    cast = votes if chosen is None else votes.take(chosen)
    return vote_counts(cast.unit, cast.worker, cast.label, len(votes.units), len(votes.workers), len(votes.labels))


def moved(first: Floats, second: Floats) -> float:
    """Return on which share of the units two methods have different labels; ties count in parts."""
    there = ~np.isnan(first).all(axis=1)
    return float(1 - (highest(first, "shared") * highest(second, "shared"))[there].sum(axis=1).mean())


def statistics(votes: PanelVotes, counts: VoteCounts, model: DawidSkene, majority: Floats) -> dict[str, float]:
    """Return what the votes show without truth."""
    posteriors = model.posteriors
    half = np.random.default_rng(SEED).random(len(votes.units)) < 0.5
    halves = np.full_like(posteriors, np.nan)
    for part in (half, ~half):
        halves[part] = fit(counts_of(votes, part[votes.unit])).posteriors[part]
    often = counts.by_worker.sum(axis=1) >= MIN_VOTES
    right = np.einsum("c,wcc->w", model.prior, np.nan_to_num(model.confusion))[often]
    return {
        "workers": len(votes.workers),
        "votes an item": float((votes.label >= 0).sum() / len(votes.units)),
        "share for the majority's label": float(np.nanmax(majority, axis=1).mean()),
        "labels moved from the majority's": moved(posteriors, majority),
        "moved between 50 iterations and the end": moved(fit(counts, 50).posteriors, posteriors),
        "moved where halves are estimated apart": moved(posteriors, halves),
        "moved from one-coin's labels": moved(posteriors, fit(counts, one_coin=True).posteriors),
        "iterations": model.iterations,
        "mean posterior": float(np.nanmax(posteriors, axis=1).mean()),
        "best worker, as estimated": float(right.max()) if len(right) else np.nan,
        "worst worker, as estimated": float(right.min()) if len(right) else np.nan,
        "agreement beyond the model's": excess_agreement(counts, model),
    }


def excess_agreement(counts: VoteCounts, model: DawidSkene) -> float:
    """Return how much more often two workers agree than independent errors of the estimated rates would have it."""
    by_label = [counts.votes[:, code :: counts.n_labels] for code in range(counts.n_labels)]
    every = sum(by_label[1:], by_label[0])
    both, agree = (
        np.sum([(one.multiply(counts.units[:, None]).T @ one).toarray() for one in parts], axis=0)
        for parts in ([every], by_label)
    )
    matrices = np.nan_to_num(model.confusion)
    expected = np.einsum("c,acl,bcl->ab", model.prior, matrices, matrices, optimize=True)
    pairs = np.triu_indices(counts.n_workers, 1)
    return float((agree - both * expected)[pairs].sum() / max(both[pairs].sum(), 1))


def measured(folder: Path | None) -> pd.DataFrame:
    """Return a row a table: how Dawid-Skene does beside the majority, and the statistics."""
    rows = []
    for source, frame in chain(bundled(), further(folder) if folder else ()):
        votes = read(frame)
        if len(votes.workers) < MIN_WORKERS or (votes.truth >= 0).sum() < MIN_ITEMS:
            continue
        counts = counts_of(votes)
        model, majority = fit(counts), counts.of_units(weighted_shares(counts, np.ones(counts.n_workers)))
        plain, known = right_shares(majority, votes.truth, "shared")
        right, _ = right_shares(model.posteriors, votes.truth, "shared")
        gain = difference_interval(plain, known, right, known, clusters_of_units(votes))
        early, _ = right_shares(fit(counts, EARLY).posteriors, votes.truth, "shared")
        row = {"source": source, "gain": gain.value, "low": gain.low, "high": gain.high}
        row |= {"late": float((right - early).sum() / known.sum()), "converged": model.change <= TOLERANCE}
        rows.append({**row, **statistics(votes, counts, model, majority)})
    return pd.DataFrame(rows)


def outcomes(found: pd.DataFrame) -> pd.DataFrame:
    """Return how many tables of each source are better, worse, or alike by Dawid-Skene."""
    many = found["labels moved from the majority's"] > 0.1
    columns = {
        "tables": found["gain"].notna(), "better": found["gain"] > EQUAL, "worse": found["gain"] < -EQUAL,
        "surely better": found["low"] > 0, "surely worse": found["high"] < 0,
        "moved > 10 %: better": many & (found["gain"] > EQUAL), "worse ": many & (found["gain"] < -EQUAL),
    }  # fmt: skip
    return pd.DataFrame(columns).groupby(found["source"]).sum()


def separation(found: pd.DataFrame, name: str) -> dict[str, object]:
    """Return how a statistic tells losses from the rest: the area under its curve by source, and a threshold's alarms.

    The threshold and its side are those with the most alarms of losses less alarms of others on all other sources.
    """
    row: dict[str, object] = {"statistic": name}
    for source, own in found.groupby("source"):
        loss, value = own["gain"] < -EQUAL, own[name]
        if loss.any() and not loss.all():
            area = mannwhitneyu(value[loss].dropna(), value[~loss].dropna()).statistic
            row[f"{source}: area"] = round(area / loss.sum() / (~loss).sum(), 2)
        other = found[found["source"] != source]
        ends = [(side, end) for side in (1, -1) for end in other[name].dropna().unique()]
        best = max(ends, key=lambda pair: _alarms(other, name, *pair)[0] - _alarms(other, name, *pair)[1])
        row[f"{source}: alarms"] = " / ".join(f"{100 * share:.0f}" for share in _alarms(own, name, *best))
    return row


def _alarms(found: pd.DataFrame, name: str, side: int, end: float) -> tuple[float, float]:
    alarm, loss = side * found[name] >= side * end, found["gain"] < -EQUAL
    return float(alarm[loss].mean()), float(alarm[~loss].mean())


def simulated(n_workers: int, together: float, rng: np.random.Generator) -> float:
    """Return the gain of Dawid-Skene where workers of .55 to .9 share a mistake on some of the items."""
    truth = rng.integers(2, size=ITEMS)
    right = rng.random((ITEMS, n_workers)) < rng.uniform(0.55, 0.9, n_workers)
    alike = rng.random(ITEMS) < together
    trap = rng.random(ITEMS) < 0.3  # on which those who are led astray all say the same wrong label
    led = rng.random(n_workers) < 0.5
    label = np.where(
        (alike & trap)[:, None] & led, 1 - truth[:, None], np.where(right, truth[:, None], 1 - truth[:, None])
    )
    unit, worker = np.divmod(np.arange(label.size), n_workers)
    counts = vote_counts(unit, worker, label.ravel(), ITEMS, n_workers, 2)
    majority = counts.of_units(weighted_shares(counts, np.ones(n_workers)))
    shares = [right_shares(each, truth, "shared")[0].mean() for each in (majority, fit(counts).posteriors)]
    return float(shares[1] - shares[0])


def main(folder: Path | None) -> None:
    """Print the tables."""
    found = measured(folder)
    print(outcomes(found).to_string())
    names = list(found.columns[found.columns.get_loc("workers") :])
    print(pd.DataFrame([separation(found, name) for name in names]).to_string(index=False))
    late, long = (found["late"].abs() > EQUAL).sum(), (found["iterations"] > EARLY).sum()
    print(
        f"iterations: median {found['iterations'].median():.0f}, over {EARLY} in {long}, "
        f"not converged in {(~found['converged']).sum()}, accuracy after {EARLY} another in {late}"
    )
    rng = np.random.default_rng(SEED)
    print("workers", *(f"{share:.0%} alike" for share in TOGETHER))
    for n_workers in PANELS:
        cells = []
        for together in TOGETHER:
            gain = np.array([simulated(n_workers, together, rng) for _ in range(DRAWS)])
            cells.append(f"{100 * gain.mean():+.1f} ({100 * (gain < -EQUAL).mean():.0f} %)")
        print(n_workers, *cells)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
