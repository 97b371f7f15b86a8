"""The nine documents that agents hand to each other: read, checked, written, and shown as tables."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
