"""The result of `panel`: its worth as tables and in words (rule F3a)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from verifyplan.analysis.cluster_intervals import Interval
from verifyplan.analysis.panels.effective_votes import votes_in_words, why_unusual
from verifyplan.analysis.result_words import share_words, shares_words, table_words, words_and_tables
from verifyplan.errors import Problem, SettingsError, one_of
from verifyplan.field_docs import with_field_docs
from verifyplan.text import counted, did_you_mean

SEE_WORKERS = (
    "that a judge can be dropped means that the majority of the others is not shown to be worse, not that the judge is "
    "unreliable: see workers for judges that are clearly worse than the others"
)
"""Said where judges are named to drop, since `workers` may call none of them unreliable."""
MAX_NAMES = 4
"""Judges named in a sentence at most."""
CHOSEN_ELSEWHERE = "chosen on other items:"
MAX_SIZES = 4
"""Sizes of smaller panels said at most, the odd ones: an even panel can tie."""
MAX_UNSAID_LOSS = 0.01
"""Where the interval of a smaller panel allows more loss than this, the line says so."""


@with_field_docs
@dataclass(frozen=True, eq=False)
class PanelWorth:
    """The worth of a panel of judges: how many independent votes, against whom, at what cost.

    Intervals are of 95 %, clustered by run and claim (rule F1). Without truth only agreement is known: the tables
    `order` and `size_curve` are empty, and no number of independent votes is claimed.
    """

    judges: pd.DataFrame
    """One row a judge: votes, accuracy with its interval, how far its errors go with those of others, agreement,
    cost of a vote."""
    pairs: pd.DataFrame
    """One row a pair of judges: correlation of errors, agreement, common items."""
    order: pd.DataFrame
    """The judges in the order in which each adds most to the majority of those before it: how right that majority is
    on the items on which they were ordered and on held-out items, the gain, and the share of the cost so far."""
    size_curve: pd.DataFrame
    """How right the majority of k judges drawn from the panel is, by k, and the change against all; no rows
    with more than 200 votes on an item."""
    summary: pd.DataFrame
    """`figure, value, low, high, n, cost`: every figure of the panel as a whole."""
    n_judges: int
    """The number of judges."""
    n_items: int
    """The number of items; one of two runs counts twice."""
    n_runs: int
    """The number of runs."""
    votes_per_item: float
    """The votes whose worth is said: the number of judges, or where few judges see each item, the mean of an item."""
    correlation: str
    """The correlation of errors that was asked for: `within-truth`, `plain` or `pooled`; `notes` say where pairs of
    votes took the place of pairs of judges."""
    best_judge: str | None
    """The judge that is most accurate on the same items as the others (rule F3a); None without truth."""
    dropped: tuple[str, ...]
    """The judges that can be dropped: majorities of as many others are no less right, chosen on other items."""
    costs_known: bool
    """Whether the cost of votes is known; where it is not, each vote counts 1."""
    synthetic: bool
    """True where votes or items were generated, not observed."""
    may_guess: str = ""
    """Which judges are not shown to be right more often than by guessing, and what the others are worth without
    them; blank where there are none."""
    chance: float | None = None
    """How often a guess among the labels is right; None of open answers, and without truth."""
    notes: tuple[str, ...] = field(default=())
    """What a reader must know: items and votes left out, few common errors, unknown costs, one run."""

    def figure(self, name: str) -> Interval:
        """Return one figure of the summary with its interval and n; SettingsError for a name that it does not have."""
        known = list(self.summary["figure"])
        if name not in known:
            message = f"this panel has no figure {name!r}{did_you_mean(name, known)}"
            raise SettingsError(Problem("figure", message, f"use {one_of(known)}"))
        row = self.summary[self.summary["figure"].eq(name)].iloc[0]
        return Interval(float(row["value"]), float(row["low"]), float(row["high"]), int(row["n"]))

    @property
    def has_truth(self) -> bool:
        """Whether some truth is known."""
        return self.best_judge is not None

    def __str__(self) -> str:
        """Return what the panel is worth, whom to drop, what fewer judges lose, accuracies, each judge, the notes."""
        table = table_words(self._shown, ".judges")
        return "\n".join([*self._lines(), table, *(f"note: {note}" for note in self.notes)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """Return the words and two tables for a notebook; every text is shown as text."""
        words = "\n".join([*self._lines(), *(f"note: {note}" for note in self.notes)])
        return words_and_tables(words, self._shown, self.summary)

    def _lines(self) -> list[str]:
        if self.has_truth:
            guessing = [f"who may guess: {self.may_guess}"] if self.may_guess else []
            worth, *rest = self._answer()
            lines = [worth, *self._correlation(), *rest, *guessing, *self._fewer(), *self._accuracies()]
        else:
            lines = [f"{self._agreement()}{self._made}"]
        return [*lines, *([SEE_WORKERS] if self.dropped or self.may_guess else [])]

    def in_short(self) -> str:
        """Return what the panel is worth, whom to drop, and how its best judge compares, in one sentence."""
        return "; ".join(self._answer()) if self.has_truth else self._agreement()

    @property
    def _made(self) -> str:
        return " (synthetic)" if self.synthetic else ""

    @property
    def _shown(self) -> pd.DataFrame:
        """The judges as they are printed: few columns, each share with its interval."""
        rows = self.judges
        columns: dict[str, Any] = {"judge": rows["worker"], "votes": rows["n_votes"]}
        if self.has_truth:
            errors = ["-" if pd.isna(r) else f"{r:.2f}" for r in rows["error_correlation"]]
            columns |= {"accuracy": shares_words(rows, "accuracy"), "r of errors": errors}
        columns["agreement"] = shares_words(rows, "agreement")
        if self.dropped:
            together = " (all together)" if len(self.dropped) > 1 else ""
            columns[f"can be dropped{together}"] = rows["worker"].isin(self.dropped).map({True: "yes", False: ""})
        return pd.DataFrame(columns)

    def _answer(self) -> list[str]:
        few = "" if self.votes_per_item == self.n_judges else f" ({self.votes_per_item:.1f} vote on an item)"
        worth_words, best = f"{counted(self.n_judges, 'judge')}{few}, {self.worth_in_words()}", self._best()
        if self._kept == [self.best_judge]:
            return [worth_words, f"{best} and alone saves {self._saved()}"]
        return [part for part in (worth_words, self._dropping(), best) if part]

    def worth_in_words(self) -> str:
        """Return how many independent votes the judges are worth, and why where that is unusual."""
        worth, n = self.figure("effective-votes"), self.votes_per_item
        if worth.value != worth.value:
            return "of unknown independence"
        why = why_unusual(worth, n)
        return f"worth {votes_in_words(worth, n, noun=' independent votes')}" + (f" (they {why})" if why else "")

    def _correlation(self) -> Iterator[str]:
        """Yield which correlation the effective votes rest on, and what they would be by the plain one."""
        r = self.figure("error-correlation")
        if r.value != r.value:
            return
        interval = "" if r.low != r.low else f" [{r.low:.2f}, {r.high:.2f}]"
        where, plain = "over all items", ""
        if self.correlation == "within-truth":
            other, votes = (self.figure(f"{name}-plain") for name in ("error-correlation", "effective-votes"))
            worth = votes_in_words(votes._replace(low=float("nan")), self.votes_per_item, noun=" votes")
            if other.value != r.value:  # several classes of truth
                where, plain = "within each class of truth", f"; over all items by {other.value:.2f} ({worth})"
        apart = " (not shown to differ from 0)" if r.low <= 0 <= r.high else ""
        yield (
            f"errors of two judges correlate by {r.value:.2f}{interval} {where}, on average{apart}{plain}: "
            "this says how independent judges are, not how good"
        )

    @property
    def _kept(self) -> list[str]:
        return [name for name in self.judges["worker"] if name not in self.dropped]

    def _saved(self) -> str:
        costs = self.summary.set_index("figure")["cost"]
        saved = 100 * (1 - costs["smaller-panel"] / costs["majority"])
        return f"{saved:.0f} % of {'the cost' if self.costs_known else 'the votes'}"

    def _dropping(self) -> str:
        if self.order.empty:
            return ""
        if not self.dropped:
            return "no judge can be dropped without loss"
        few = len(self.dropped) <= len(self._kept)
        names = f"dropping {_named(self.dropped)}" if few else f"keeping only {_named(self._kept)}"
        own, other = self.figure("smaller-in-sample-minus-majority"), self.figure("smaller-minus-majority")
        loss = f": no loss is shown, but up to {-100 * other.low:.1f} points cannot be excluded"
        limit = loss if other.low < -MAX_UNSAID_LOSS else ""
        words = f"{_points(own)} on these items ({CHOSEN_ELSEWHERE} {_points(other)}{limit})"
        return f"{names} changes accuracy by {words} and saves {self._saved()}"

    def _best(self) -> str:
        own, other = self.figure("best-in-sample-minus-majority"), self.figure("best-minus-majority")
        compared = "better" if own.value >= 0 else "worse"
        points = f"{abs(100 * own.value):.1f} points {compared} than the majority {_interval(own)}"
        elsewhere = f"{CHOSEN_ELSEWHERE} {_points(other)}"
        return f"the best single judge ({self.best_judge}) is {points} on these items ({elsewhere})"

    def _fewer(self) -> Iterator[str]:
        """Yield what panels of fewer judges, drawn at random, lose or gain against all."""
        fewer = self.size_curve[self.size_curve["size"].lt(self.size_curve["size"].max())]
        if fewer.empty:
            return
        odd = fewer[fewer["size"].mod(2).eq(1)].head(MAX_SIZES)
        changes = odd[["change", "change_low", "change_high", "accuracy_n"]].to_numpy(dtype=float)
        found = [Interval(value, low, high, int(n)) for value, low, high, n in changes]
        parts = [f"{counted(size, 'judge')} {_points(each)}" for size, each in zip(odd["size"], found, strict=True)]
        yield f"fewer judges, drawn at random, compared with all: {', '.join(parts)} (.size_curve has every size)"

    def _accuracies(self) -> Iterator[str]:
        """Yield how often the panel, its judges and independent judges are right, a line each."""
        judged = self.figure("best-judge").n
        some = f" (on the {judged:,} that it judged)" if judged < self.n_items else ""
        yield f"accuracy on {counted(self.n_items, 'item')}{self._made}, a tie counting as its share:"
        for words, name, more in (
            ("majority", "majority", ""),
            ("mean judge", "mean-judge", ""),
            ("best judge, chosen on other items", "best-judge", some),
            ("independent judges of the same accuracies", "independent", ""),
            ("any judge right", "any-judge", ""),
        ):
            yield f"  {words}: {share_words(*self.figure(name)[:3])}{more}"

    def _agreement(self) -> str:
        share = share_words(*self.figure("agreement")[:3])
        return (
            f"{counted(self.n_judges, 'judge')} on {counted(self.n_items, 'item')}: two votes on an item agree in "
            f"{share} of cases; without truth, agreement may mean that judges are right or that they err together, "
            "so no number of independent votes is claimed"
        )


def _named(names: tuple[str, ...] | list[str]) -> str:
    if len(names) > MAX_NAMES:
        return f"{', '.join(names[: MAX_NAMES - 1])} and {len(names) - MAX_NAMES + 1} more"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _points(difference: Interval) -> str:
    return f"{_signed(difference.value)} points {_interval(difference)}"


def _interval(difference: Interval) -> str:
    """Return the interval of a difference in points: plus is better than the majority of all."""
    return f"[{_signed(difference.low)}, {_signed(difference.high)}]"


def _signed(share: float) -> str:
    """Return a difference times 100 with its sign and one decimal, and no sign before zero."""
    rounded = round(100 * share, 1)
    return f"{rounded:+.1f}" if rounded else "0.0"
