"""Recorded runs, step by step: what changed, by which rule, on which votes, and what other rules would have given."""

from verifyplan.widgets.explorer.open_viewer import view
from verifyplan.widgets.explorer.run_explorer import RunExplorer

__all__ = ["RunExplorer", "view"]
