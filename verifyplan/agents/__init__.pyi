"""The backends by name, and the types of what they are asked and answer; each loads on first use."""

from ..protocol.call import Item as Item
from ..protocol.call import Reply as Reply
from ..protocol.call import Usage as Usage
from ..protocol.call import WorkerRequest as WorkerRequest
from ..protocol.role_call import DebateRequest as DebateRequest
from ..protocol.role_call import RoleRequest as RoleRequest
from .anthropic.backend import Anthropic as Anthropic
from .base import Backend as Backend
from .doctor import diagnose as diagnose
from .functions import from_function as from_function
from .scripted import ScriptedBackend as ScriptedBackend
from .static.backend import StaticBackend as StaticBackend
