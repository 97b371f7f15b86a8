"""Run and study verification by LLM agents. Every name here loads on first use (`__init__.pyi` lists them)."""

import lazy_loader

from verifyplan.version import VERSION as __version__  # noqa: F401, N811  (re-exported, under the name that Python asks for)

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
