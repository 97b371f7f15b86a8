"""The records of runs, and the requests and replies of backends; each loads on first use."""

from .artifact import Artifact as Artifact
from .call import Item as Item
from .call import Reply as Reply
from .call import ToolUse as ToolUse
from .call import Usage as Usage
from .call import WorkerRequest as WorkerRequest
from .call import WorkerVote as WorkerVote
from .message import Message as Message
from .message import check_message as check_message
from .message import message_schema as message_schema
from .records import Challenge as Challenge
from .records import Convergence as Convergence
from .records import Directive as Directive
from .records import IterationState as IterationState
from .records import ProbedRisk as ProbedRisk
from .records import SurfacedContext as SurfacedContext
from .records import Unknown as Unknown
from .role_call import DebateRequest as DebateRequest
from .role_call import PanelResult as PanelResult
from .role_call import PanelVote as PanelVote
from .role_call import RoleRequest as RoleRequest
from .settings import PanelSettings as PanelSettings
from .vote import Finding as Finding
from .vote import PlanItem as PlanItem
