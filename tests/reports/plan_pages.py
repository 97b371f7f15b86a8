"""The report of a plan run in each of its formats."""

from __future__ import annotations

from verifyplan.reports.pages import page_frame, page_html, page_markdown
from verifyplan.reports.plan import plan_page
from verifyplan.runlog.plan_state import PlanState


def plan_report(state: PlanState) -> str:
    """Return the report as Markdown."""
    return page_markdown(plan_page(state))


def plan_report_html(state: PlanState) -> str:
    """Return the report as one HTML page."""
    return page_html(plan_page(state))


def plan_report_frame(state: PlanState) -> str:
    """Return the report as a notebook shows it."""
    return page_frame(plan_page(state))
