"""The backends by name; each loads on first use."""

from .anthropic.backend import Anthropic as Anthropic
from .base import Backend as Backend
from .doctor import diagnose as diagnose
from .functions import from_function as from_function
from .scripted import ScriptedBackend as ScriptedBackend
from .static.backend import StaticBackend as StaticBackend
