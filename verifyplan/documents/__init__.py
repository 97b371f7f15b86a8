"""WHAT AGENTS HAND OVER: plans read and sized (SPEC A8); the nine documents loaded, checked, as tables (SPEC D)."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
