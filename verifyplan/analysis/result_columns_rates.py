"""The columns of corrected rates, of needed runs, and of looks at a difference (rules F3c, F6, F7)."""

from __future__ import annotations

from verifyplan.columns import Column, Columns

_RATES: Columns = (
    Column(
        "estimate",
        "text",
        "`panel`: the mean of what it said of all items; `labels-alone`: the mean truth of the labelled ones (both by "
        "Wilson's interval, by runs and claims where these are known: rule F1); `corrected`: by prediction-powered "
        "inference (Angelopoulos, Duchi and Zrnic 2023) or by Rogan and Gladen (1978); by the latter `sensitivity` and "
        "`specificity` of the panel, too",
        key=True,
    ),
    Column("value", "number", "the estimate; missing where it cannot be corrected, as a note says"),
    Column(
        "low",
        "number",
        "low end of its 95 % interval; of `corrected` by ppi with Student's t and two imagined labels (after Agresti "
        "and Min 2005), by corrected_rate as Lang and Reiczigel (2014)",
    ),
    Column("high", "number", "high end of it"),
    Column("width", "number", "`high` - `low`"),
    Column("n", "whole", "the items that the estimate is of; of `corrected` by corrected_rate those without truth"),
)

_NEEDED: Columns = (
    Column("findings", "whole", "findings per run", key=True),
    Column("design_effect", "number", "1 + (findings - 1) x intra-run correlation (Kish 1965)"),
    Column(
        "runs",
        "whole",
        "the runs that show the difference: (t + t')^2 (discordance - delta^2) design_effect / (findings x delta^2), "
        "with Student's t at runs - 1 degrees (Connor 1987; Miller 2024)",
    ),
    Column("low", "whole", "the runs needed at the low ends of discordance and correlation; missing without a pilot"),
    Column("high", "whole", "the runs needed at their high ends; missing without a pilot"),
    Column("total", "whole", "`findings` x `runs`"),
)

RATE_TABLES: dict[str, Columns] = {
    "ppi": _RATES,
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
    "monitor": (
        Column("look", "whole", "the number of runs so far", key=True),
        Column("run_id", "text", "the run that was added"),
        Column("difference", "number", "its difference: the second condition minus the first"),
        Column("n", "whole", "its findings that the metric is taken of; missing where differences were given"),
        Column("mean", "number", "the mean difference of the runs so far, each counted the same"),
        Column(
            "low",
            "number",
            "low end of a confidence sequence by hedged betting (Waudby-Smith and Ramdas 2024): the intervals of all "
            "looks together hold the difference with 95 %",
        ),
        Column("high", "number", "high end of it"),
        Column("excludes_zero", "yesno", "whether 0 lies outside"),
    ),
}
"""Each table by the function that returns it."""
