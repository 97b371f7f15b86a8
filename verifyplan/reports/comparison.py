"""A comparison as a report: Markdown with pictures beside it, and one HTML file that stands alone."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from verifyplan.analysis.comparison import Comparison, expect_comparison
from verifyplan.charts import Figure, class_mix, export, transitions, truth_metrics
from verifyplan.files import write_text
from verifyplan.reports import markdown
from verifyplan.reports.tables import agreement_in_words, cost_in_words, metrics_in_words, symmetry_in_words
from verifyplan.text import counted
from verifyplan.version import VERSION

SHOWN_FINDINGS = 40
"""So many findings that change class are listed; the table of all is written as CSV."""


def figures_of(comparison: Comparison) -> dict[str, Figure]:
    """The figures that fit a comparison, by the name of their files."""
    drawn = {"class-mix": class_mix(comparison), "transitions": transitions(comparison)}
    return drawn | ({"truth-metrics": truth_metrics(comparison)} if comparison.truth is not None else {})


def report(
    comparison: Comparison, folder: str | Path, *, title: str = "", more: Mapping[str, Figure] | None = None
) -> Path:
    """Write a comparison into a folder: `report.md`, `report.html`, pictures and tables; return the Markdown's path.

    Each figure is written as PNG, SVG and HTML; `findings.csv` and `summary.csv` have all rows and every digit.
    `more` adds figures by file name. The HTML needs no other file. Markup in any text is shown as text.
    """
    expect_comparison(comparison)
    target = Path(folder)
    drawn = figures_of(comparison) | dict(more or {})
    for name, figure in drawn.items():
        for suffix in ("png", "svg", "html"):
            export(figure, target / f"{name}.{suffix}")
    for name in ("findings", "summary"):
        frame: pd.DataFrame = getattr(comparison, name)
        write_text(target / f"{name}.csv", frame.to_csv(index=False))
    content = _content(comparison, drawn, title)
    write_text(target / "report.html", _render("comparison.html.j2", content))
    return write_text(target / "report.md", _render("comparison.md.j2", content))


def _content(comparison: Comparison, drawn: Mapping[str, Figure], title: str) -> dict[str, Any]:
    changed = comparison.findings[comparison.findings["changed"]]
    readings = f"{comparison.a} against {comparison.b}"
    return {
        "title": title or readings[:1].upper() + readings[1:],
        "comparison": comparison,
        "size": f"{counted(comparison.n_findings, 'finding')} of {counted(comparison.n_runs, 'run')}",
        "figures": drawn,
        "changed": _named(changed.head(SHOWN_FINDINGS), comparison),
        "n_changed": len(changed),
        "summary": metrics_in_words(comparison),
        "tests": symmetry_in_words(comparison),
        "agreement": agreement_in_words(comparison),
        "cost": cost_in_words(comparison),
        "transitions": comparison.transitions.rename_axis(columns=None).reset_index(
            names=f"{comparison.a} (down), {comparison.b} (across)"
        ),
        "version": VERSION,
    }


def _named(changed: pd.DataFrame, comparison: Comparison) -> pd.DataFrame:
    """The findings that change class, with columns named after the readings."""
    columns = {"run_id": "run", "finding_id": "finding", "summary": "claim"}
    for side, reading in (("a", comparison.a), ("b", comparison.b)):
        columns |= {f"classification_{side}": reading, f"rule_{side}": f"rule ({reading})"}
    return changed[list(columns)].rename(columns=columns)


def _render(template: str, content: Mapping[str, Any]) -> str:
    """A template filled in; HTML escapes everything by itself, Markdown by the filters `md` and `md_table`."""
    environment = Environment(
        loader=PackageLoader("verifyplan.reports", "templates"),
        autoescape=select_autoescape(["html.j2"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"md": markdown.text, "md_table": markdown.table}
    return environment.get_template(template).render(content).rstrip() + "\n"
