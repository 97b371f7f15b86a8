"""A run under way: its steps, its questions, its end, and how it is taken up again."""

from verifyplan.widgets.live.live_run import LiveRun

__all__ = ["LiveRun"]
