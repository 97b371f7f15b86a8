"""The columns of the tables of comparisons, corrected rates and study designs (rules E4, F1, F3c)."""

from __future__ import annotations

from verifyplan.columns import Column, Columns
from verifyplan.protocol.vote import CLASSIFICATIONS

_SHARE = (
    "Wilson's interval (1927) for the effective number of findings, that of independent ones with the same linearised "
    "variance between runs, between claims that repeat over runs, or both (Cameron, Gelbach and Miller 2011), and with "
    "Student's t by Satterthwaite's degrees of freedom; findings of one run without repeated claims: Wilson's own. See "
    "docs/statistics.md"
)
_DIFFERENCE = (
    "of findings that are paired, or share clusters: linearised variance by the same clusters, Student's t, and one "
    "finding of either kind of change added to the effective number (Bonett and Price 2012); mirrored if the "
    "conditions are swapped. Of sets without a common cluster: the variances of both, with the degrees of freedom of "
    "Welch (1947). Of the concluded metric with m other conditions: of 100 - 5 / m %, so that all hold together with "
    "95 %"
)
_METRICS = (
    "precision (true among held), recall (held among true), f1 (2 TP / (2 TP + FP + FN), a ratio), "
    "false-consensus-rate (held among false), false-demotion-rate (not held among true); held is full or partial "
    "consensus"
)

_ACCURACY = "accuracy (held and true, or not held and false)"


def interval_ends(of: str = "", method: str = "clustered by run and claim (rule F1)") -> Columns:
    """Return the columns of the ends of a figure's 95 % interval; `method` says how it is computed."""
    low, high = (f"{of}_low", f"{of}_high") if of else ("low", "high")
    return (
        Column(low, "number", f"low end of the 95 % interval: {method}"),
        Column(high, "number", "high end of it"),
    )


COMPARISON_TABLES: dict[str, Columns] = {
    "summary": (
        Column(
            "metric",
            "text",
            f"each class (its share), held, {_METRICS}; {_ACCURACY}; changed (class differs)",
            key=True,
        ),
        Column("CONDITION", "number", "the metric under the condition of that name; missing where its n is 0"),
        *interval_ends("CONDITION", _SHARE),
        Column("CONDITION_n", "whole", "what the share is taken of; of f1 the findings whose truth is known"),
        Column(
            "difference",
            "number",
            "that of the other condition minus that of the first (with three or more: `difference_NAME` for each); of "
            "`changed` the share of findings whose class differs, with the interval of a share",
        ),
        *interval_ends("difference", _DIFFERENCE),
    ),
    "bounds": (
        Column("condition", "text", "the name of the condition", key=True),
        Column("metric", "text", f"each class (its share), held, {_METRICS}; {_ACCURACY}", key=True),
        Column("value", "number", "the metric by the votes that were cast"),
        *interval_ends("", "from the low end at `low_bound` to the high end at `high_bound`, each as in `summary`"),
        Column("low_bound", "number", "the lowest value that the votes never cast allow (Manski 1990; rule R4)"),
        Column("high_bound", "number", "the highest value that they allow"),
        Column("n", "whole", "what the share is taken of by the votes that were cast"),
        Column("n_censored", "whole", "findings of it that votes never cast could change"),
        Column(
            "difference_low_bound",
            "number",
            "the least that the metric can be above that of the first condition, if no unseen vote is shared; missing "
            "for the first",
        ),
        Column("difference_high_bound", "number", "the most that it can be above it"),
    ),
    "mix": (
        Column("condition", "text", "the name of the condition", key=True),
        Column("classification", CLASSIFICATIONS, "the class", key=True),
        Column("n", "whole", "the findings of the class under the condition"),
        Column("share", "number", "their share of all findings"),
        *interval_ends("", _SHARE),
    ),
    "truth": (
        Column("condition", "text", "the name of the condition", key=True),
        Column("metric", "text", _METRICS, key=True),
        Column("value", "number", "the metric; missing where n is 0"),
        *interval_ends("", _SHARE),
        Column("n", "whole", "what the share is taken of; of f1 the findings whose truth is known"),
    ),
}


_RATES: Columns = (
    Column(
        "estimate",
        "text",
        "`panel`: the mean of what it said of all items; `corrected`; and what the method rests on: `labels-alone`, "
        "the mean truth of a random sample; `sensitivity` and `specificity` of the panel (rogan-gladen); "
        "`true-among-accepted`, `true-among-tied` and `true-among-rejected`, the share of true items among the "
        "labelled ones of each verdict (stratified). All but `corrected` have Wilson's interval, by runs and claims "
        "where these are known (rule F1)",
        key=True,
    ),
    Column("value", "number", "the estimate; missing where it cannot be corrected, as a note says"),
    Column(
        "low",
        "number",
        "low end of its 95 % interval; of `corrected` prediction-powered with Student's t and two imagined labels "
        "(after Agresti and Min 2005), stratified with four (Price and Bonett 2004), rogan-gladen as Lang and "
        "Reiczigel (2014)",
    ),
    Column("high", "number", "high end of it"),
    Column("width", "number", "`high` - `low`"),
    Column("n", "whole", "the items that the estimate is of; of `corrected` with labels by truth those without truth"),
)

_NEEDED: Columns = (
    Column("findings", "whole", "findings per run", key=True),
    Column("design_effect", "number", "1 + (findings - 1) x intra-run correlation (Kish 1965)"),
    Column(
        "runs",
        "whole",
        "the fewest runs that show the difference with the power asked for: whose 95 % interval, as `compare` computes "
        "it, leaves 0 out so often (docs/statistics.md); missing where no number does, as the claims are too few",
    ),
    Column("low", "whole", "the runs needed at the low ends of discordance and correlations; missing without a pilot"),
    Column("high", "whole", "the runs needed at their high ends; missing without a pilot"),
    Column("total", "whole", "`findings` x `runs`"),
)

RATE_TABLES: dict[str, Columns] = {
    "corrected_rate": _RATES,
    "sample_size": _NEEDED,
    "power": _NEEDED,
    "power.by_runs": (
        Column("runs", "whole", "runs that are made", key=True),
        Column("findings", "whole", "findings per run", key=True),
        Column("power", "number", "how often their 95 % interval leaves 0 out, where the difference is `delta`"),
        Column("low", "number", "the power at the high ends of the pilot's discordance and intra-run correlation"),
        Column("high", "number", "the power at their low ends"),
    ),
}
"""Each table by the function that returns it."""
