"""The static agents of debates behind the backend: a request in, an answer and its tool calls out (SPEC C2, G2)."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

from verifyplan.agents.static.debate import architect, builder
from verifyplan.agents.static.debate.errands.errand import Task
from verifyplan.agents.static.debate.matter import Matter
from verifyplan.agents.static.debate.revision import PlanRevision
from verifyplan.agents.static.opening import open_repository
from verifyplan.agents.static.roles.known import Known
from verifyplan.agents.toolbox import Toolbox, budget
from verifyplan.protocol.call import Reply
from verifyplan.protocol.debate_call import DebateRequest
from verifyplan.rules.budgets import OTHERS

_UNTOLD: dict[str, Any] = {"call_id": "", "role": "builder", "type": "implement", "turn": 1, "diff": "", "messages": ()}
"""What differs from call to call of one debate."""


class DebateAgents:
    """Plays architect and builder; keeps the repository's table of contents while one debate goes on.

    The repository is opened anew for the first call of each debate, so that a debate sees the folder as it is then.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._known: Known | None = None
        self._about = ""
        self._revision: tuple[DebateRequest, PlanRevision] | None = None
        self._lock = threading.Lock()

    def answer(self, request: DebateRequest) -> Reply:
        """The answer of one role, as JSON values, and the tool calls behind it; InputError if the root is no folder."""
        with self._lock:
            if request.type == "propose":
                self._known = self._revision = None
            matter = self._matter(request)
            play = architect if request.role == "architect" else builder
            value: dict[str, Any] = play.answer(request, matter).model_dump(mode="json")
            return Reply(value=value, tools=matter.uses)

    def _matter(self, request: DebateRequest) -> Matter:
        """What is debated: a plan where there are challenges and a document, else the task."""
        name, text = next(iter(request.documents.items()), ("", ""))
        known = self._knowing(text)
        if request.challenges and name:
            return self._revising(request, name, text, known)
        tools = Toolbox(known.repository, {}, budget(request.tools or OTHERS))
        return Task(request.task, request.documents, known, tools)

    def _knowing(self, text: str) -> Known:
        if self._known is None or self._about != text:
            self._known, self._about = Known(open_repository(self._root, text)), text
        return self._known

    def _revising(self, request: DebateRequest, name: str, text: str, known: Known) -> PlanRevision:
        """The plan under debate, with what was seen of it in the calls before."""
        asked = request.model_copy(update=_UNTOLD)
        if self._revision is None or self._revision[0] != asked:
            self._revision = asked, PlanRevision(name, text, request.challenges, known)
        self._revision[1].begin()
        return self._revision[1]
