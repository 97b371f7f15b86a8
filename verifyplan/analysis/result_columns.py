"""The columns of the tables that analyses return, with their meanings: what `documentation` shows of them (rule E4)."""

from __future__ import annotations

from typing import Literal

from verifyplan.analysis.result_columns_aggregation import AGGREGATION_TABLES
from verifyplan.analysis.result_columns_comparison import COMPARISON_TABLES, RATE_TABLES, interval_ends
from verifyplan.analysis.result_columns_plans import PLAN_RESULT_TABLES
from verifyplan.analysis.result_columns_treatments import TREATMENT_TABLES
from verifyplan.columns import Column, Columns


def with_interval(name: str, meaning: str, of: str) -> Columns:
    """Return the columns of a figure with its 95 % interval and its n, which counts what `of` says."""
    return (
        Column(name, "number", meaning),
        *interval_ends(name),
        Column(f"{name}_n", "whole", f"n of `{name}`: {of}"),
    )


_STEP = Column("step", "text", "the two rounds compared, such as `0 → 1`; `first → last`: those of each item", key=True)
_CHANGE = Column(
    "change",
    "text",
    "`right → wrong`, `wrong → right`, `wrong → other wrong`, or any (`changed`); with `toward`, `other → given` and "
    "`given → other`: to the answer that was pushed, and from it",
    key=True,
)


def _counted_share(kind: Literal["whole", "number"], count: str, n: str) -> Columns:
    """Return the columns of a share with what it counts."""
    return (
        Column("count", kind, count),
        Column("n", kind, n),
        Column("share", "number", "`count` / `n`; missing where n is 0"),
        *interval_ends(),
    )


_ANSWERS = _counted_share(
    "whole", "answers of single workers that change so", "answers before that could, with one after"
)
_AGAIN = Column("n_again", "whole", "those of `n` that the round after asked for again; others keep a settled vote")
_FLIPS: dict[str, Columns] = {
    "flips": (
        _STEP,
        _CHANGE,
        *_ANSWERS,
        _AGAIN,
        Column("n_lost", "whole", "answers at one end of the step whose worker has none at the other: not in `n`"),
    ),
    "flips.workers": (Column("worker", "text", "who answers", key=True), _CHANGE, *_ANSWERS, _AGAIN),
    "flips.majority": (
        _STEP,
        _CHANGE,
        *_counted_share("number", "majorities that change so; ties in parts if shared", "majorities before that could"),
        Column("n_again", "number", "those of `n` on items that the round after asked for again"),
    ),
    "flips.breaks": (
        Column("majority", "text", "of which first majorities: `any`, or those that were `right` or `wrong`", key=True),
        Column("round", "text", "the round in which they first break, or `any round`", key=True),
        *_counted_share("whole", "items whose first majority's answer leads no longer", "those it led on until then"),
    ),
    "flips.adoption": (
        Column("step", "text", "the two rounds, such as `0 → 1`, or `all`; settled items do not count", key=True),
        Column("majority_was", "text", "`right` or `wrong` in the round before, or `any`", key=True),
        Column(
            "side", "text", "`minority`: the answer before was another than the majority's; or `majority`", key=True
        ),
        Column(
            "evidence",
            "text",
            "`new`: cites what this worker had not on this item; `none`; `any`, or unknown",
            key=True,
        ),
        *_counted_share("whole", "answers that take the majority's side, or leave it", "answers of that side before"),
    ),
    "flips.rounds": (
        Column(
            "measure",
            "text",
            "`vote-accuracy`, `majority-accuracy`, `agreement` (of pairs of votes), `effective-votes`, `votes`",
            key=True,
        ),
        Column("round", "whole", "the round", key=True),
        Column(
            "value",
            "number",
            "the share; or how many independent votes the panel is worth on the items that `panel` takes (F3a), of how "
            "many `votes`",
        ),
        *interval_ends(),
        Column("n", "whole", "votes, items or pairs of votes"),
    ),
    "flips.differences": (
        Column(
            "measure", "text", "`conformity`, `capitulation`, `persuasion` (rule F3b), or one of `rounds`", key=True
        ),
        Column("value", "number", "one share minus another; of the measures of rounds, last minus first"),
        *interval_ends(),
        Column("n", "whole", "the items that count in either share"),
        Column("first", "number", "the first share; of the measures of rounds in the items' first round, same items"),
        Column("second", "number", "the second share, from which the first is taken"),
    ),
}

_WORKER = Column("worker", "text", "the worker", key=True)

_WORKERS: Columns = (
    _WORKER,
    Column("asked", "whole", "votes that it was asked for, in all rounds"),
    Column("lost", "whole", "votes of these that were lost: errors, or empty cells"),
    *with_interval(
        "lost_rate", "share of the votes that were lost; Wilson, clustered (rule F1), as all shares here", "asked"
    ),
    Column("calls", "whole", "calls of it that ended; absent where no run tells"),
    Column("failed_calls", "whole", "calls of these without a usable answer"),
    Column("seconds", "number", "mean wall time of its calls in seconds; absent where no run tells"),
    Column(
        "cost",
        "number",
        "what its votes cost, those of unknown cost left out: US dollars in runs, else the table's unit",
    ),
    Column("cost_per_vote", "number", "mean cost of a vote whose cost is known; in runs `cost` by `asked`"),
    *with_interval(
        "lazy_doubt_rate",
        "share of its disagrees that rest on burden-not-met; absent where no basis is known",
        "disagrees with a basis, in all rounds",
    ),
    *with_interval(
        "uncited_refute_rate",
        "share of its counter-evidences whose words cite no place",
        "counter-evidences, in all rounds",
    ),
    *with_interval(
        "positive_rate",
        "share of its labels that are positive; of claims the agree rate (agree or supplement)",
        "items that it labels",
    ),
    *with_interval(
        "agreement",
        "share of items on which it is with the majority of the others; of k tied labels 1/k",
        "items that it and others label",
    ),
    *with_interval(
        "accuracy", "share of its labels that are the truth", "items that it labels and whose truth is known"
    ),
    *with_interval("sensitivity", "share of truly positive items that it labels so", "truly positive items"),
    *with_interval("specificity", "share of truly negative items that it labels so", "truly negative items"),
    *with_interval(
        "one_coin",
        "how often it is right as Dawid-Skene with one number a worker estimates (rule F3); absent with truth",
        "items that it labels",
    ),
    *with_interval(
        "dawid_skene",
        "the same with a matrix a worker (1979); posteriors taken as known; absent with truth",
        "items that it labels",
    ),
    *with_interval(
        "influence",
        "share of decisions (classes in runs, else majorities) that change without it; to a tie: a half",
        "decisions on which it votes; of majorities those that others vote on, too",
    ),
    *with_interval(
        "adds",
        "accuracy of the majority with it minus without it, ties as their share",
        "items that it and others label, truth known",
    ),
    Column("closest", "text", "the worker whose errors are most like its own, within classes of truth (rule F3a)"),
    Column("closest_correlation", "number", "the correlation of their errors; missing below 10 items in common"),
    Column("closest_n", "whole", "items that both label, truth known"),
    *with_interval(
        "gap",
        "its accuracy, or without truth its agreement, minus the mean of the others' on the same items",
        "items that it and others label",
    ),
    Column("unreliable", "yesno", "gap clearly below 0: by more than 5 points (Holm over all workers)"),
    Column(
        "redundant",
        "yesno",
        "left out alone, it changes under 5 % of decisions and costs under 1 point, at 95 %; or errs as `closest` does",
    ),
    Column("influential", "yesno", "clearly more decisions change without it than without the others (Holm, 5 points)"),
)

_INFLUENCE: Columns = (
    _WORKER,
    Column("metric", "text", "the share that is compared; `changed` is that of its decisions that differ", key=True),
    Column("with_all", "number", "its value with the votes of all workers; of `changed` 0"),
    Column("without", "number", "its value without the worker"),
    Column("difference", "number", "without minus with all"),
    *interval_ends("difference", "clustered t, of `changed` Wilson (rule F1)"),
    Column(
        "n",
        "whole",
        "decisions that count in either share: of `precision` what is held, of `f1` what is held or true; of "
        "majorities with votes in both; of `changed` those on which it votes",
    ),
)

_JUDGES: Columns = (
    Column("worker", "text", "the judge", key=True),
    Column("n_votes", "whole", "items that the judge answered"),
    *with_interval("accuracy", "share of the judge's votes that are the truth (share_interval, rule F1)", "its votes"),
    Column("error_correlation", "number", "mean correlation of its errors with those of each other judge (rule F3a)"),
    *with_interval("agreement", "share of the other votes on the judge's items that say the same", "such votes"),
    Column("cost", "number", "mean cost of a vote, in the unit of the column cost or in dollars; missing if unknown"),
)
_JUDGE_PAIRS: Columns = (
    Column("worker_a", "text", "a judge", key=True),
    Column("worker_b", "text", "another judge", key=True),
    Column("correlation", "number", "Pearson's correlation of their errors, by default within classes of truth"),
    Column("agreement", "number", "share of the common items on which both say the same"),
    Column("n", "whole", "items that both answered"),
)
_JUDGE_ORDER: Columns = (
    Column("position", "whole", "how many judges the panel has so far", key=True),
    Column("worker", "text", "the judge with whom the majority of those so far is right most often"),
    Column("accuracy", "number", "how right that majority is on the items on which the judges were ordered"),
    *with_interval("held_out", "how right the majority of so many judges is that were ordered on other items", "items"),
    Column("gain", "number", "held_out minus held_out of the row before"),
    *interval_ends("gain"),
    Column("cost_share", "number", "the cost of these judges as a share of that of all"),
)
_SIZE_CURVE: Columns = (
    Column("size", "whole", "the number of judges drawn from the panel", key=True),
    *with_interval("accuracy", "how right their majority is, over all ways to draw them; ties shared", "items"),
    Column("change", "number", "accuracy minus that of the majority of all, on the items with so many votes"),
    *interval_ends("change"),
)
_PANEL: Columns = (
    Column(
        "figure",
        "text",
        "effective-votes: n / (1 + (n - 1) r), Kish 1965: independence, not skill; interval on log(n_eff - 1), none "
        "where judges share every error; error-correlation: r; both also with -plain, by the correlation over all "
        "items; agreement: of two votes on one item; accuracies: majority (ties shared), mean-judge, best-judge "
        "(whoever is best on other items, on average over up to 200 ways to part the items), best-judge-in-sample (the "
        "judge that is named, on all items), any-judge (some judge is right), independent (the majority of judges of "
        "the same accuracies who err independently within classes of truth), smaller-panel (the fewest judges in order "
        "whose majority is no less right, chosen on other items), smaller-panel-in-sample (the judges that are named); "
        "differences: independent-minus-majority; best-minus-majority and smaller-minus-majority (judges chosen on "
        "other items); best-in-sample-minus-majority and smaller-in-sample-minus-majority (the judges that are named, "
        "on the items that chose them)",
        key=True,
    ),
    Column("value", "number", "the figure"),
    *interval_ends(),
    Column("n", "whole", "items, votes or pairs of votes that it is taken of"),
    Column("cost", "number", "mean cost of an item, for accuracies; each vote counts 1 where costs are not known"),
)
_PANELS: dict[str, Columns] = {
    "panel": _PANEL,
    "panel.judges": _JUDGES,
    "panel.pairs": _JUDGE_PAIRS,
    "panel.order": _JUDGE_ORDER,
    "panel.size_curve": _SIZE_CURVE,
}

_TESTS: Columns = (
    Column("condition", "text", "the condition that is tested against the baseline"),
    Column(
        "role",
        ("concluding", "exploratory", "reference"),
        "concluding: of the metric named beforehand, on which the comparison concludes; exploratory: of the others; "
        "reference: the classical tests, which take findings as independent",
    ),
    Column(
        "of",
        "text",
        "the metric whose difference is tested (see `summary`); classes: whether the shares of the classes differ",
    ),
    Column(
        "test",
        ("clustered-t", "clustered-homogeneity", "stuart-maxwell", "mcnemar"),
        "clustered-t: the test of the difference's interval; clustered-homogeneity: the modified Obuchowski test "
        "(Yang, Sun and Hardin 2010) for every class, and the largest of them; stuart-maxwell (Stuart 1955, Maxwell "
        "1970); mcnemar (McNemar 1947)",
    ),
    Column(
        "method",
        "text",
        "where p comes from: Student's t; of the classes sign-flips of whole clusters, all of them (exact) or "
        "`resamples` drawn; where claims repeat over runs, flips of the fewer, studentised by the variance of runs "
        "plus that of claims less that of findings (Cameron, Gelbach and Miller 2011; MacKinnon, Nielsen and Webb "
        "2021); with more than 1,000 clusters, 300 where claims repeat, the largest of several correlated t; the exact "
        "binomial, or chi-squared; - if nothing moves",
    ),
    Column(
        "assumes",
        "text",
        "what must be independent for p to hold: runs; runs and claims, where claims repeat over runs; claims, where "
        "there is one run, so that another run may differ by more; values of a column (`cluster_by`, `pair_by`); "
        "findings, which those of one run are not: where runs differ by chance, stuart-maxwell and mcnemar reject in "
        "16 to 48 % of cases without any difference",
    ),
    Column(
        "statistic",
        "number",
        "of clustered-t the middle of the interval in standard errors; of clustered-homogeneity the largest |sum of "
        "moves| over its standard error, a z; else chi-squared; missing where nothing moves, and of exact binomial "
        "tests",
    ),
    Column("df", "number", "degrees of freedom of t, by Satterthwaite, or of unpaired sets by Welch; of chi-squared"),
    Column(
        "p_value",
        "number",
        "the probability of a statistic as far from 0, or farther, if the conditions do not differ; of a metric it is "
        "below .05 where its interval leaves 0 out. Of several concluding tests it is times their number (Bonferroni). "
        "Missing where a metric is not defined; of the classes where nothing moves, and where fewer than 6 clusters "
        "cannot give a p-value of 5 %",
    ),
    Column(
        "p_holm",
        "number",
        "p adjusted for the number of exploratory tests of all conditions (Holm 1979); missing for the others",
    ),
    Column("n", "whole", "the findings that were tested"),
    Column(
        "clusters",
        "whole",
        "the clusters that `assumes` names; of runs and claims the smaller number; of sets without a common cluster "
        "those of both",
    ),
)

_AGREEMENT: Columns = (
    Column(
        "measure",
        ("krippendorff-alpha", "krippendorff-alpha-ordinal", "fleiss-kappa", "gwet-ac1", "cohen-kappa"),
        "all of items with two votes or more, where a vote can agree with another. krippendorff-alpha: 1 - observed / "
        "expected disagreement of pairs of votes within items, nominal or, where labels are ordered, by the squared "
        "distance of their ranks (Krippendorff 2004); fleiss-kappa: (o - e) / (1 - e), o the mean over items of the "
        "share of their pairs that agree, e the sum of p², p the mean share of a label over the same items (Fleiss "
        "1971); gwet-ac1: the same with e the sum of p (1 - p) over the labels less 1 (Gwet 2008); cohen-kappa: of two "
        "workers on the items that both voted on (Cohen 1960)",
    ),
    Column("worker_a", "text", "the first worker of a pair; missing where the measure is of all workers"),
    Column("worker_b", "text", "the second worker of a pair"),
    Column("value", "number", "1: all agree; 0: as by chance; missing where all votes are one label"),
    *interval_ends(
        "",
        "linearised, summed by cluster (runs; items that repeat over runs; both), with "
        "a t quantile on the logarithm of 1 - value; the upper end allows for one more item on which all say a rare "
        "label; missing of one item, and where no votes on an item differ",
    ),
    Column("n", "whole", "the items, run by run, with two votes or more; of a pair those that both voted on"),
    Column(
        "note",
        "text",
        "why a figure is missing; of the first row also what holds for the whole table: lost votes, replies that are "
        "not a call's own, few items for alpha",
    ),
)

RESULT_TABLES: dict[str, Columns] = {
    **COMPARISON_TABLES,
    **AGGREGATION_TABLES,
    **_FLIPS,
    **_PANELS,
    "workers": _WORKERS,
    "influence": _INFLUENCE,
    "tests": _TESTS,
    **RATE_TABLES,
    **PLAN_RESULT_TABLES,
    **TREATMENT_TABLES,
    "agreement": _AGREEMENT,
}
"""Each table by the name of the attribute or function that gives it."""
