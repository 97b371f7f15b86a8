"""Scores of plans under any weights: applied, varied, drawn, fitted, saved (rule F4). Names load on first use."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
