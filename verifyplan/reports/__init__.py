"""WHAT IS WRITTEN DOWN: analyses as Markdown and HTML that stand alone."""

from verifyplan.reports.comparison import report

__all__ = ["report"]
