"""The result of fitting weights to overall scores, to read, chart and save (rule F4)."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from html import escape

import pandas as pd

from verifyplan.analysis.weights.simplex import to_decimals
from verifyplan.field_docs import with_field_docs
from verifyplan.rules.scoring import INFORMS
from verifyplan.text import counted


@with_field_docs
@dataclass(frozen=True, eq=False)
class WeightFit:
    """Weights fitted to overall scores: overall = intercept + scale x the weighted sum of dimensions from 0 to 1.

    The score that such weights give informs and never decides a verdict.
    """

    weights: pd.DataFrame
    """`dimension, weight, low, high`: weights on the simplex, with 95 % intervals (Fieller 1954) that hold at 0 and 1,
    too (docs/statistics.md). NaN in the interval of a dimension that is constant."""
    intercept: float
    """The overall score where every dimension is at the low end of its range."""
    scale: float
    """The change of the overall score from the low end of all ranges to the high end; negative where it falls."""
    intercept_interval: tuple[float, float]
    """The 95 % percentile bootstrap interval of `intercept`."""
    scale_interval: tuple[float, float]
    """The 95 % percentile bootstrap interval of `scale`; where it holds 0, the direction is not sure."""
    sign_differs: float
    """The share of resamples whose scale does not have the sign of `scale`."""
    r2: float
    """The share of the overall scores' variance that the fit explains in the plans it was fitted to."""
    r2_cv: float
    """The same in plans that were left out of the fit: cross-validated, the mean over repeats."""
    r2_cv_linear: float
    """`r2_cv` of an unconstrained linear fit under the same folds: what the simplex costs is the difference."""
    r2_cv_spread: tuple[float, float]
    """The least and the greatest `r2_cv` of a repeat."""
    r2_cv_linear_spread: tuple[float, float]
    """The least and the greatest `r2_cv_linear` of a repeat."""
    ranges: dict[str, tuple[float, float]]
    """The ends of each dimension that were rescaled to 0 and 1; the weights are of dimensions rescaled so."""
    n: int
    """The number of plans that were fitted to."""
    n_groups: int | None
    """The number of their groups; None where plans are not grouped."""
    folds: int
    """How many folds the plans were dealt into, in each repeat."""
    repeats: int
    """How often they were dealt anew."""
    resamples: int
    """How many bootstrap samples were drawn."""
    synthetic: bool = False
    """True where the scores were generated, not observed."""
    notes: tuple[str, ...] = ()
    """Warnings for a reader: a fit that explains nothing, a sign that is not sure, small samples, dimensions that
    say nothing or cannot be told apart, weights at 0."""

    @property
    def explains(self) -> bool:
        """Whether it predicts scores that it has not seen better than their mean does, however folds are dealt."""
        return min(self.r2_cv, *self.r2_cv_spread) > 0

    def exact(self) -> dict[str, Decimal]:
        """Return the weights as decimals of four places that sum to exactly 1, for `apply`, `save` and `verify`."""
        return to_decimals(self.weights.set_index("dimension")["weight"])

    def __str__(self) -> str:
        """Return the fit in about ten lines."""
        made = " (synthetic)" if self.synthetic else ""
        of = "" if self.n_groups is None else f" in {counted(self.n_groups, 'group')}"
        least, most = self.r2_cv_spread
        repeats = f"{least:.3f} to {most:.3f} over {counted(self.repeats, 'repeat')} of {self.folds} folds"
        intercept, scale = (f"{low:.3g} to {high:.3g}" for low, high in (self.intercept_interval, self.scale_interval))
        lines = [
            f"weights fitted to {counted(self.n, 'overall score')}{of}{made}",
            f"R² {self.r2:.3f}; cross-validated {self.r2_cv:.3f} ({repeats}), unconstrained {self.r2_cv_linear:.3f}",
            *(
                f"{name}: {weight:.3f} [{'not known' if pd.isna(low) else f'{low:.3f} to {high:.3f}'}]"
                for name, weight, low, high in self.weights.itertuples(index=False, name=None)
            ),
            f"overall = {self.intercept:.3g} + {self.scale:.3g} x the weighted sum of dimensions from 0 to 1",
            f"95 % intervals: intercept {intercept}, scale {scale}",
            *(f"note: {note}" for note in self.notes),
            INFORMS,
        ]
        return "\n".join(lines)

    __repr__ = __str__  # a console shows the words, not every table

    def _repr_html_(self) -> str:
        """Return the fit for a notebook; every text is shown as text."""
        return f"<p>{escape(str(self)).replace(chr(10), '<br>')}</p>"
