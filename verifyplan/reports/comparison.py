"""Report a comparison: Markdown with pictures beside it, and one HTML file that needs no other."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from verifyplan.analysis.comparison import Comparison, expect_comparison, size_words
from verifyplan.analysis.metrics import difference_column
from verifyplan.charts import class_mix, transitions, truth_metrics
from verifyplan.charts.export import export
from verifyplan.charts.figure import Figure
from verifyplan.files import write_text
from verifyplan.frames.csv_tables import write_csv
from verifyplan.reports.pages import render
from verifyplan.version import VERSION

MAX_FINDINGS = 40
"""So many findings that change class are listed; the table of all is written as CSV."""


def report(
    comparison: Comparison, folder: str | Path, *, title: str = "", more: Mapping[str, Figure] | None = None
) -> Path:
    """Write a comparison into a folder: `report.md`, `report.html`, pictures and tables; return the Markdown's path.

    Each figure is written as PNG, SVG and HTML; `findings.csv` and `summary.csv` have all rows and every digit.
    `more` adds figures by file name. The HTML needs no other file. Markup in any text is shown as text.

    >>> import tempfile, verifyplan as vp
    >>> report(vp.compare("contract", resamples=50), tempfile.mkdtemp()).name
    'report.md'
    """
    expect_comparison(comparison)
    target = Path(folder)
    pairs = list(comparison.pairs.values()) if comparison.is_paired else []
    figures = {"class-mix": class_mix(comparison)}
    numbers = [""] if len(pairs) == 1 else [f"-{number}" for number in range(1, len(pairs) + 1)]
    figures |= {f"transitions{number}": transitions(pair) for number, pair in zip(numbers, pairs, strict=True)}
    figures |= {"truth-metrics": truth_metrics(comparison)} if comparison.truth is not None else {}
    figures |= dict(more or {})
    for name, figure in figures.items():
        for suffix in ("png", "svg", "html"):
            export(figure, target / f"{name}.{suffix}")
    for name in ("findings", "summary"):
        frame: pd.DataFrame = getattr(comparison, name)
        write_csv(frame, target / f"{name}.csv")
    changed = comparison.findings[comparison.findings["changed"].fillna(False).to_numpy(dtype=bool)]
    names = " against ".join(comparison.conditions)
    columns = {"run_id": "run", "finding_id": "finding", "summary": "claim"}
    for name in comparison.conditions:
        columns |= {f"classification_{name}": name, f"rule_{name}": f"rule ({name})"}
    content = {
        "title": title or names[:1].upper() + names[1:],
        "comparison": comparison,
        "size": size_words(comparison),
        "figures": figures,
        "changed": changed.head(MAX_FINDINGS)[list(columns)].rename(columns=columns),
        "n_changed": len(changed),
        "summary": metrics_table(comparison),
        "tests": table_of_tests(comparison),
        "agreement": _agreement_table(comparison),
        "cost": _cost_table(comparison),
        "transitions": [_transitions_table(pair) for pair in pairs],
        "version": VERSION,
    }
    write_text(target / "report.html", render("comparison.html.j2", **content))
    return write_text(target / "report.md", render("comparison.md.j2", **content))


def metrics_table(comparison: Comparison) -> pd.DataFrame:
    """Return every metric as text: each condition with interval and n, and its difference from the first in points."""
    names = comparison.conditions
    differences = [difference_column(names, name) for name in names[1:]]
    rows = []
    for row in comparison.summary.to_dict("records"):
        changed = row["metric"] == "changed"
        sizes = {name: int(row[f"{name}_n"]) for name in names}
        shares = {name: "-" if changed else f"{_percent_of(row, name)} (n = {n:,})" for name, n in sizes.items()}
        columns = {name.replace("_", " ", 1): _percent_of(row, name, sign=not changed) for name in differences}
        rows.append({"metric": row["metric"], **shares, **columns})
    return pd.DataFrame(rows)


def _percent_of(row: Mapping[Hashable, Any], column: str, *, sign: bool = False) -> str:
    return percent(row[column], row[f"{column}_low"], row[f"{column}_high"], sign=sign)


def _transitions_table(pair: Comparison) -> pd.DataFrame:
    """Return the transitions between two conditions, with the classes under the first in a column of their own."""
    first, second = pair.conditions
    return pair.transitions.rename_axis(columns=None).reset_index(names=f"{first} (down), {second} (across)")


def percent(value: float, low: float, high: float, *, sign: bool = False) -> str:
    """Return a share with its interval, in percent; a dash where it is not defined.

    >>> percent(0.5, 0.25, 0.755), percent(-0.1, -0.2, 0.0, sign=True)
    ('50.0 % [25.0, 75.5]', '-10.0 [-20.0, +0.0]')
    """
    if pd.isna(value):
        return "-"
    shown = [f"{100 * share:{'+' if sign else ''}.1f}" for share in (value, low, high)]
    return f"{shown[0]}{'' if sign else ' %'} [{shown[1]}, {shown[2]}]"


def p_value(p: float) -> str:
    """Return a p-value; never zero.

    >>> p_value(1e-9), p_value(0.04321), p_value(float("nan"))
    ('< 0.0001', '0.0432', '-')
    """
    if pd.isna(p):
        return "-"
    return "< 0.0001" if p < 0.0001 else f"{p:.4f}"


def table_of_tests(comparison: Comparison) -> pd.DataFrame:
    """Return the tests of no difference as text; a statistic only where the test has one."""
    tests = comparison.tests
    return pd.DataFrame(
        {
            f"{comparison.conditions[0]} against": tests["condition"],
            "of": tests["of"],
            "role": tests["role"],
            "test": tests["test"] + ", " + tests["method"],
            "assumes": tests["assumes"],
            "statistic": [("-" if pd.isna(value) else f"{value:.2f}") for value in tests["statistic"]],
            "df": [("-" if pd.isna(value) else f"{value:.0f}") for value in tests["df"]],
            "p": tests["p_value"].map(p_value),
            "p, Holm": tests["p_holm"].map(p_value),
            "n": tests["n"],
        }
    )


def _agreement_table(comparison: Comparison) -> pd.DataFrame:
    """Return alpha and kappas of each condition's votes; pairs of workers on rows of their own."""
    table = comparison.agreement
    who = [("all workers" if pd.isna(a) else f"{a} and {b}") for a, b in table[["worker_a", "worker_b"]].values]
    figures = zip(table["value"], table["low"], table["high"], strict=True)
    return pd.DataFrame(
        {
            "votes of": table["condition"],
            "measure": table["measure"],
            "between": who,
            "value": [coefficient(*each) for each in figures],
            "n": table["n"],
            "note": table["note"].fillna(""),
        }
    )


def coefficient(value: float, low: float, high: float) -> str:
    """Return a coefficient of agreement with its interval; a dash where it is not defined.

    >>> coefficient(0.5, 0.4, 0.6), coefficient(1.0, float("nan"), float("nan"))
    ('0.50 [0.40, 0.60]', '1.00 [not known]')
    """
    if pd.isna(value):
        return "-"
    return f"{value:.2f} [{'not known' if pd.isna(low) else f'{low:.2f}, {high:.2f}'}]"


def _cost_table(comparison: Comparison) -> pd.DataFrame:
    """Return calls, rounds, votes and time, one column a condition."""
    wide = comparison.cost.pivot_table(index="measure", columns="condition", values="value", sort=False)
    wide = wide.rename_axis(columns=None)
    return wide.map(lambda value: f"{value:,.0f}" if value == int(value) else f"{value:,.1f}").reset_index()
