"""WHETHER ALL IS IN PLACE: what is installed, the key, the endpoint; the module that needs the SDK loads when used."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
