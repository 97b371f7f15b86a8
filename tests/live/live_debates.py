"""Debates whose roles are played by models, and the answers that scripted agents can give alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.live.live_runs import Played, speaking_to
from tests.live.scripted_replies import Answer, calls, says
from tests.live.scripted_server import ScriptedServer
from tests.runs.plan.planning import REPO
from verifyplan.agents.scripted import ScriptedBackend
from verifyplan.runs.debate.debate import debate
from verifyplan.runs.debate.run import Debate

TASK = "Say in store.py which lock an order holds."

First = Mapping[str, Answer | Sequence[Answer]]


def diff(word: str) -> str:
    """A diff that another word makes another."""
    return f"--- a/store.py\n+++ b/store.py\n@@ -1 +1,2 @@\n import locks\n+# {word} \u2028 é\n"


def said(content: str, **more: Any) -> dict[str, Any]:
    """An answer of the architect, or with a diff of the builder."""
    return {"content": content, "reasons": ["1: so"], "evidence": ["store.py:1\n> import locks"], "risks": []} | more


def spoken(*turns: tuple[str, str]) -> dict[str, Any]:
    """What is answered in turns of which each has a diff and a verification."""
    answers: dict[str, Any] = {}
    for turn, (made, verification) in enumerate(turns, start=1):
        opening = "propose" if turn == 1 else "critique"
        answers[f"t{turn}/{opening}"] = said(f"1. A comment names the lock ({opening}).", risks=["none names it"])
        answers[f"t{turn}/implement"] = said("store.py names it.", diff=made)
        answers[f"t{turn}/verify"] = said(verification)
    return answers


NOT = "Not verified: criterion 1 is not met."
CONVERGED = spoken((diff("a lock"), NOT), (diff("the row's lock"), "Verified: all is met."))
STAGNANT = spoken((diff("a lock"), NOT), (diff("a lock"), "Verified: never asked."))
ENDLESS = spoken(*((diff(word), NOT) for word in ("one", "two", "three")))

LOOPS: dict[str, Answer] = {
    "t1/propose/t1": calls("Read", path="store.py"),
    "t1/implement/t1": calls("Read", path="store.py") + calls("Read", path="../x.py"),
    "t1/implement/t2": says("Let me think."),
}
"""Turns before the answers: tools that are called, one of them refused, and what is no answer."""


def expected_of(answers: Mapping[str, Any], **settings: Any) -> Debate:
    """The debate of scripted agents with these answers."""
    backend = ScriptedBackend(answers)
    return debate(TASK, backend, backend, **given(settings))


def debated(
    answers: Mapping[str, Any],
    first: First | None = None,
    *,
    backend: Mapping[str, Any] | None = None,
    task: str = TASK,
    **settings: Any,
) -> tuple[Debate, ScriptedServer]:
    """The debate of models that give these answers, some turns `first`, and the server that they asked."""
    with ScriptedServer(Played(answers, first)) as server:
        speaker = speaking_to(server, **(backend or {}))
        run = debate(task, speaker, speaker, **given(settings))
    return run, server


def given(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings of a debate that writes nothing, unless they say otherwise."""
    return {"log_dir": None, "repo": REPO, "progress": False} | dict(settings)


def repository(folder: Path) -> Path:
    """A folder with the file that the debates are about."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "store.py").write_text("import locks\n\nlocks.open('orders')\n")
    return folder
