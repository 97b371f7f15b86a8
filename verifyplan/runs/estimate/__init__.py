"""WHAT RUNS WOULD TAKE: dry runs, whose requests are worded and not sent, counted in calls, tokens and dollars."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
