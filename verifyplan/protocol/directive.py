"""What a synthesizer asks of the next iteration (rules A5, A7, A12; document 000 §7.5)."""

from __future__ import annotations

from typing import Literal, get_args

from pydantic import Field, StrictStr

from verifyplan.protocol.base import Model
from verifyplan.protocol.call import Tool

DirectiveKind = Literal["RE-SWEEP", "RE-PROBE", "CONSULT", "GRANT", "FOCUS"]
Trigger = Literal[
    "blocking-contradicts-context",
    "user-changed-scope",
    "new-dependency-chain",
    "unexplored-cascade",
]

DIRECTIVE_KINDS: tuple[DirectiveKind, ...] = get_args(DirectiveKind)
TRIGGERS: tuple[Trigger, ...] = get_args(Trigger)


class Directive(Model):
    """One instruction: run a research mode again, consult an agent, grant tool calls, or look at something.

    RE-SWEEP and RE-PROBE name a trigger and the items that it rests on; CONSULT names the domain expert or the
    devil's advocate; GRANT names a role and the tool calls that it gets; FOCUS is words alone.
    """

    kind: DirectiveKind
    trigger: Trigger | None = None
    items: tuple[StrictStr, ...] = Field(default=(), description="Ids that it rests on, such as C3, S1 or U2.")
    role: StrictStr | None = Field(default=None, description="The role that is consulted or granted tool calls.")
    tools: dict[Tool, int] = Field(default={}, description="Tool calls granted.")
    note: StrictStr = ""

    def __str__(self) -> str:
        """The directive as an iteration state holds it."""
        granted = ", ".join(f"{tool} +{calls}" for tool, calls in self.tools.items())
        parts = [self.kind, self.role, self.trigger, " ".join(self.items), granted, self.note]
        return ": ".join(part for part in parts if part)
