"""Judge rules by the worst that votes never cast could make of them, so that an open rule beats no settled one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from verifyplan.analysis.metrics import FALSE, TRUE
from verifyplan.analysis.treatments.metric_bounds import EITHER
from verifyplan.analysis.treatments.rule_outcomes import (
    N_PACKED,
    N_TRUTHS,
    NO_CLASS,
    RuleOutcomes,
    either_held,
)
from verifyplan.analysis.treatments.rule_walk import N_CLASSES
from verifyplan.protocol.vote import CLASSIFICATIONS
from verifyplan.rules.vote_codes import Ints

_HELD, _NOT_HELD = 0, len(CLASSIFICATIONS) - 1


def _worst_classes() -> npt.NDArray[np.uint8]:
    """Return the class by truth and packed outcome: what may be held or not is held if it is false, else not."""
    codes = np.arange(N_PACKED)
    classes = np.tile(np.append(codes % N_CLASSES, NO_CLASS).astype(np.uint8), (N_TRUTHS, 1))
    is_open = np.append(either_held(codes) == EITHER, False)
    classes[FALSE, is_open], classes[TRUE, is_open] = _HELD, _NOT_HELD
    return classes


_WORST = _worst_classes()


@dataclass(frozen=True, eq=False)
class WorstOutcomes:
    """The outcomes of rules where every vote that was never cast is the worst for them, whatever the metric.

    A false finding that such votes could make held is held, and a true one is not.
    """

    recorded: RuleOutcomes
    """The outcomes by the votes that were cast."""

    @property
    def truth(self) -> Ints:
        """FALSE, TRUE or UNKNOWN of each finding."""
        return self.recorded.truth

    def classes(self, k: int) -> npt.NDArray[np.uint8]:
        """Return the class of each finding under the k-th rules."""
        classes: npt.NDArray[np.uint8] = _WORST[self.truth, self.recorded.packed(k)]
        return classes

    def counts(self, groups: Ints, n_groups: int) -> Ints:
        """Return findings counted by rules, group, truth and class, as `RuleOutcomes.counts` does."""
        shape = (n_groups, N_TRUTHS, N_CLASSES)
        out = np.empty((len(self.recorded.rules), *shape), dtype=np.int64)
        cell = (groups * N_TRUTHS + self.truth) * N_CLASSES
        for k in range(len(out)):
            classes = self.classes(k)
            known = classes != NO_CLASS
            out[k] = np.bincount((cell + classes)[known], minlength=out[k].size).reshape(shape)
        return out
