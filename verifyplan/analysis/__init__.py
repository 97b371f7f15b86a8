"""Analyses of recorded runs, one method a file; no analysis calls an agent. `__init__.pyi` lists the names."""

import sys
from types import ModuleType

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


class _Analysis(ModuleType):
    """A package whose functions keep their names: `analysis.compare` stays the function once its module is loaded."""

    def __setattr__(self, name: str, value: object) -> None:
        """Set an attribute, unless it is the module of a public function of the same name."""
        if not (isinstance(value, ModuleType) and name in __all__ and hasattr(value, name)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Analysis
