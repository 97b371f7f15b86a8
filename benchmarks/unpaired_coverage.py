"""How often intervals of a difference between two sets without a common finding hold it, as in docs/statistics.md.

Run it with `make bench-statistics`; a number as argument sets the repetitions of each cell (2,000). Seeded. A finding
is an error where a latent normal value is below the quantile of the rate; the clusters of a set share a part of it, and
so do two sets that are about the same units.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import norm

from verifyplan.analysis.cluster_intervals import Interval, share_difference, unpaired_difference
from verifyplan.analysis.clusters import Clusters

Array = npt.NDArray[Any]

REPETITIONS, SEED = 2000, 0
RATES = ((0.3, 0.3), (0.3, 0.15), (0.05, 0.02))
"""The rates of both sets: equal, common, rare."""
CORRELATIONS = (0.0, 0.1, 0.3)
"""Of two findings of one cluster in the latent value."""
SETS = (((1, 150), (1, 90)), ((3, 60), (3, 60)), ((3, 60), (12, 60)), ((6, 20), (6, 20)), ((12, 20), (12, 20)),
        ((12, 20), (50, 20)), ((50, 20), (50, 20)))  # fmt: skip
"""The clusters of each set, and the findings of each cluster."""
STORIES, OF_BOTH = 60, 45
"""Units that some findings of both sets are about, most of them of both."""


def values(rng: np.random.Generator, cluster: Array, shared: Array, correlation: float, rate: float) -> Array:
    """Return which findings are errors; `shared` has a normal value for each cluster."""
    latent = np.sqrt(correlation) * shared[cluster] + np.sqrt(1 - correlation) * rng.standard_normal(len(cluster))
    return np.asarray(latent < norm.ppf(rate))


def apart(sizes: Any, rng: np.random.Generator, correlation: float, rates: tuple[float, float]) -> Interval:
    """Return the interval of two sets that have no cluster in common."""
    sides: list[Any] = []
    for (clusters, findings), rate in zip(sizes, rates, strict=True):
        cluster = np.repeat(np.arange(clusters), findings)
        errors = values(rng, cluster, rng.standard_normal(clusters), correlation, rate)
        sides += [errors, np.ones(len(cluster)), Clusters(cluster, np.arange(len(cluster)))]
    return unpaired_difference(*sides).interval()


def about_stories(
    rng: np.random.Generator, correlation: float, rates: tuple[float, float], *, by_means: bool = False
) -> Interval:
    """Return the interval of two sets about the same stories, one to five findings each, by story.

    All findings count the same; or, `by_means`, the stories that both sets have do, with the mean of each set's.
    """
    shared = rng.standard_normal(STORIES)
    stories = (
        np.arange(OF_BOTH + (STORIES - OF_BOTH) // 2),
        np.r_[:OF_BOTH, STORIES - (STORIES - OF_BOTH) // 2 : STORIES],
    )
    cluster = [np.repeat(each, rng.integers(1, 6, len(each))) for each in stories]
    cluster = [each[each < OF_BOTH] if by_means else each for each in cluster]
    first, second = (values(rng, of, shared, correlation, rate) for of, rate in zip(cluster, rates, strict=True))
    is_second = np.repeat([0.0, 1.0], [len(first), len(second)])
    every = np.concatenate(cluster)
    clusters, errors = Clusters(every, np.arange(len(every)), by="story"), np.concatenate([first, second])
    count = np.concatenate([1 / np.bincount(each)[each] if by_means else np.ones(len(each)) for each in cluster])
    of_first, of_second = count * (1 - is_second), count * is_second
    return share_difference(errors * of_first, of_first, errors * of_second, of_second, clusters).interval()


Draw = Callable[[np.random.Generator, float, tuple[float, float]], Interval]


def designs() -> Iterator[tuple[str, str, Draw]]:
    """Yield the words for the clusters and for the findings of a cluster, and what draws an interval."""
    for sizes in SETS:
        clusters, findings = (" and ".join(dict.fromkeys(str(each[k]) for each in sizes)) for k in (0, 1))
        yield clusters, findings, partial(apart, sizes)
    yield f"{STORIES} stories, {OF_BOTH} of both", "1 to 5", about_stories
    yield f"{OF_BOTH} stories, paired by means", "1 to 5", partial(about_stories, by_means=True)


def coverage(repetitions: int) -> Iterator[str]:
    """Yield the lines of the table."""
    yield "| clusters of the sets | findings of a cluster | correlation | equal | common | rare |"
    yield "|---|---|--:|--:|--:|--:|"
    for (clusters, findings, draw), correlation in product(designs(), CORRELATIONS):
        cells = []
        for rates in RATES:
            rng = np.random.default_rng(SEED)
            found = [draw(rng, correlation, rates) for _ in range(repetitions)]
            held = np.mean([each.low <= rates[1] - rates[0] <= each.high for each in found])
            cells.append(f"{100 * held:.1f}")
        yield f"| {' | '.join([clusters, findings, str(correlation), *cells])} |"


def main(repetitions: int = REPETITIONS) -> None:
    """Print the table."""
    for line in coverage(repetitions):
        print(line, flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
