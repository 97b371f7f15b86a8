"""A comparison as a report: Markdown with pictures beside it, and one HTML file that stands alone."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from verifyplan.analysis.comparison import Comparison
from verifyplan.charts import Figure, class_mix, export, transitions, truth_metrics
from verifyplan.files import write_text
from verifyplan.reports import markdown
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
    columns = ["run_id", "finding_id", "summary", "classification_a", "rule_a", "classification_b", "rule_b"]
    names = {
        "classification_a": comparison.a,
        "rule_a": f"rule ({comparison.a})",
        "classification_b": comparison.b,
        "rule_b": f"rule ({comparison.b})",
    }
    return {
        "title": title or f"{comparison.a} against {comparison.b}",
        "comparison": comparison,
        "figures": drawn,
        "changed": changed[columns].head(SHOWN_FINDINGS).rename(columns=names),
        "n_changed": len(changed),
        "transitions": comparison.transitions.reset_index(names=f"{comparison.a} / {comparison.b}"),
        "version": VERSION,
    }


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
