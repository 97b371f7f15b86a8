"""Two conditions side by side, and the findings whose class changes."""

from verifyplan.widgets.comparison.mode_comparison import ModeComparison

__all__ = ["ModeComparison"]
