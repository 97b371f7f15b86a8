"""Two readings of the same findings, side by side: what changes, how much, and whether it helps (rule F1)."""

from __future__ import annotations

from verifyplan.analysis.comparer import Comparer
from verifyplan.analysis.comparison import Comparison
from verifyplan.analysis.replay import Reading
from verifyplan.analysis.setting import Setting, as_setting
from verifyplan.frames.runset import RunSet
from verifyplan.protocol.vote import MissingBasis


def compare(
    runs: RunSet,
    other: RunSet | None = None,
    *,
    a: Reading | Setting | None = None,
    b: Reading | Setting | None = None,
    max_rounds: int | None = None,
    missing_basis: MissingBasis = "infer",
    resamples: int = 2000,
    seed: int = 0,
) -> Comparison:
    """Read the same findings in two ways and say what differs, with intervals and, where known, against truth.

    With one set, its recorded votes are judged under modes `a` and `b` (collaborative and adversarial by
    default): the effect of the rule. With two sets, real runs on the same findings are paired, `runs` read as `a`
    and `other` as `b` (both as recorded by default): the effect of rule and prompt together.

    Args:
        runs: the first set; its findings' order is kept.
        other: the second set, paired by run and finding id where run ids agree, else by finding id alone; a panel's
            votes by iteration, too.
        a: how the first is read: `collaborative`, `adversarial` or `recorded`, or a `Setting` with rounds and a
            reading of missing bases of its own.
        b: how the second is read.
        max_rounds: rounds allowed in both readings, unless they are Settings; None takes each run's own.
        missing_basis: how an adversarial reading takes a disagree without a basis (see `classify`); not that of a
            Setting, which says it itself.
        resamples: of the bootstrap behind the 95 % intervals; by run, or by finding with fewer than 10 runs.
        seed: of the bootstrap.

    Returns:
        A `Comparison`: `.findings`, `.transitions`, `.summary`, `.truth`, `.tests`, and what a reader must know
        in `.notes`.

    Raises:
        InputError: if the two sets share no finding, or cannot be paired one to one.
        SettingsError, TableError: as `classify`.
    """
    first = as_setting(a, "collaborative" if other is None else "recorded", max_rounds, missing_basis)
    second = as_setting(b, "adversarial" if other is None else "recorded", max_rounds, missing_basis)
    return Comparer(runs, other).compare(first, second, resamples=resamples, seed=seed)
