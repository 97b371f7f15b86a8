"""The tables of a comparison as people read them: shares with intervals, p-values, counts, in words."""

from __future__ import annotations

import pandas as pd

from verifyplan.analysis.comparison import Comparison


def metrics_in_words(comparison: Comparison) -> pd.DataFrame:
    """Every metric: both readings with interval and n, and their difference in points."""
    rows = []
    for row in comparison.summary.to_dict("records"):
        both = {
            label: f"{percent(row[side], row[f'{side}_low'], row[f'{side}_high'])} (n = {row[f'n_{side}']})"
            for side, label in (("a", comparison.a), ("b", comparison.b))
        }
        if row["metric"] == "changed":
            both = dict.fromkeys(both, "-")
        told = percent(row["difference"], row["low"], row["high"], sign=row["metric"] != "changed")
        rows.append({"metric": row["metric"], **both, "difference": told})
    return pd.DataFrame(rows)


def percent(value: float, low: float, high: float, *, sign: bool = False) -> str:
    """A share with its interval, in percent; a dash where it is not defined.

    >>> percent(0.5, 0.25, 0.755), percent(-0.1, -0.2, 0.0, sign=True)
    ('50.0 % [25.0, 75.5]', '-10.0 [-20.0, +0.0]')
    """
    if pd.isna(value):
        return "-"
    shown = [f"{100 * one:{'+' if sign else ''}.1f}" for one in (value, low, high)]
    return f"{shown[0]}{'' if sign else ' %'} [{shown[1]}, {shown[2]}]"


def p_value(p: float) -> str:
    """A p-value; never zero.

    >>> p_value(1e-9), p_value(0.04321), p_value(float("nan"))
    ('< 0.0001', '0.0432', '-')
    """
    if pd.isna(p):
        return "-"
    return "< 0.0001" if p < 0.0001 else f"{p:.4f}"


def symmetry_in_words(comparison: Comparison) -> pd.DataFrame:
    """Both tests of symmetry; a statistic only where the test has one."""
    tests = comparison.tests
    return pd.DataFrame(
        {
            "test": tests["test"] + ", " + tests["method"],
            "statistic": [("-" if pd.isna(value) else f"{value:.2f}") for value in tests["statistic"]],
            "df": [("-" if pd.isna(value) else f"{value:.0f}") for value in tests["df"]],
            "p": tests["p_value"].map(p_value),
            "n": tests["n"],
        }
    )


def agreement_in_words(comparison: Comparison) -> pd.DataFrame:
    """Alpha and kappas of each reading's votes; pairs of workers on rows of their own."""
    table = comparison.agreement
    who = [("all workers" if pd.isna(a) else f"{a} and {b}") for a, b in table[["worker_a", "worker_b"]].values]
    value = [("-" if pd.isna(one) else f"{one:.2f}") for one in table["value"]]
    return pd.DataFrame(
        {"votes of": table["reading"], "measure": table["measure"], "between": who, "value": value, "n": table["n"]}
    )


def cost_in_words(comparison: Comparison) -> pd.DataFrame:
    """Calls, rounds, votes and time, one column a reading."""
    wide = comparison.cost.pivot_table(index="measure", columns="reading", values="value", sort=False)
    wide = wide.rename_axis(columns=None)
    return wide.map(lambda value: f"{value:,.0f}" if value == int(value) else f"{value:,.1f}").reset_index()
