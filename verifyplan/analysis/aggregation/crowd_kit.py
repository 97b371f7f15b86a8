"""Estimate labels by the methods of the optional package crowd-kit: GLAD, MACE and M-MSR (rule F3)."""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import Any

import numpy as np
import pandas as pd

from verifyplan.analysis.aggregation.vote_counts import Floats, Ints
from verifyplan.errors import Problem, SettingsError

CLASSES = {"glad": "GLAD", "mace": "MACE", "m-msr": "MMSR"}
"""The methods, and crowd-kit's classes for them. Its KOS is left out: on `rte` it is right by chance alone."""


def by_crowd_kit(
    method: str, unit: Ints, worker: Ints, label: Ints, shape: tuple[int, int, int]
) -> tuple[Floats, Floats]:
    """Return posteriors (units, labels) and the skill of each worker, by crowd-kit's defaults.

    `shape` is the number of units, workers and labels. M-MSR has no posteriors: its label has 1. MACE's skill is the
    probability that a worker is not guessing, GLAD's is its alpha, M-MSR's a weight.
    Raises SettingsError where crowd-kit is not installed.
    """
    try:
        library = import_module("crowdkit.aggregation")  # takes seconds to import
    except ImportError:
        fix = 'pip install "verifyplan[crowd]", or use method="dawid-skene"'
        raise SettingsError(Problem("method", f"{method!r} needs the package crowd-kit", fix)) from None
    cast = label >= 0
    table = pd.DataFrame({"task": unit[cast], "worker": worker[cast], "label": label[cast]})
    model = getattr(library, CLASSES[method])()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # crowd-kit calls pandas in ways that are going to end
        labels = model.fit_predict(table)
    posteriors = np.full((shape[0], shape[2]), np.nan)
    if getattr(model, "probas_", None) is None:
        posteriors[labels.index] = np.eye(shape[2])[labels.to_numpy(dtype=np.int64)]
    else:
        posteriors[model.probas_.index] = 0
        posteriors[np.ix_(model.probas_.index, model.probas_.columns)] = model.probas_.to_numpy()
    return posteriors, _skills(model, table, shape[1])


def _skills(model: Any, table: pd.DataFrame, n_workers: int) -> Floats:
    if hasattr(model, "spamming_"):  # rows in order of appearance
        skills = pd.Series(model.spamming_[:, 1], index=pd.unique(table["worker"]))
    else:
        skills = model.alphas_ if hasattr(model, "alphas_") else model.skills_
    return np.asarray(skills.reindex(range(n_workers)), dtype=np.float64)
