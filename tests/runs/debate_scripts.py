"""Scripts of debates, and backends that play them, for the tests of the loop, the tables and the shell."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from verifyplan.agents.scripted import ScriptedBackend
from verifyplan.protocol.call import Reply, Usage
from verifyplan.runs.debate.debate import debate
from verifyplan.runs.debate.run import Debate

ROOT = Path(__file__).parent / "debate"


def diff(word: str) -> str:
    """A diff that adds a file of one line."""
    return f"--- /dev/null\n+++ b/hello.txt\n@@ -0,0 +1 @@\n+{word}\n"


def says(content: str, **more: Any) -> dict[str, Any]:
    """An architect's answer, or with `diff=` a builder's."""
    return {"content": content, **more}


def turn(number: int, opening: str, made: str, verified: str) -> dict[str, Any]:
    """The answers of one turn."""
    return {
        f"t{number}/{'propose' if number == 1 else 'critique'}": says(opening, reasons=["it is asked for"]),
        f"t{number}/implement": says(f"wrote {made}", diff=diff(made), evidence=["hello.txt:1"]),
        f"t{number}/verify": says(verified, risks=[] if verified.startswith("Verified") else ["not there yet"]),
    }


NOT_YET = "Not verified: the greeting is missing."
FIRST = turn(1, "Write a greeting.", "hullo", NOT_YET)
CONVERGES = FIRST | turn(2, "Spell it right.", "hello", "Verified: it greets.")
STAGNATES = FIRST | turn(2, "Spell it right.", "hullo", "Verified: it greets.")
RUNS_OUT = FIRST | turn(2, "Spell it right.", "hallo", NOT_YET) | turn(3, "Still not.", "hellow", NOT_YET)


class Heard:
    """Answers from a script, keeps the ids of the calls that were made, and uses so many tokens for each."""

    def __init__(self, script: dict[str, Any], tokens: int = 0) -> None:
        self.inner, self.calls = ScriptedBackend(script), list[str]()
        self.usage = Usage(input_tokens=tokens, cache_read_tokens=tokens, output_tokens=tokens // 2)
        self.requests: list[Any] = []

    def describe(self) -> dict[str, Any]:
        return self.inner.describe()

    def check_worker(self, worker: str) -> str | None:
        return self.inner.check_worker(worker)

    async def answer(self, request: Any) -> Reply:
        self.calls.append(request.call_id)
        self.requests.append(request)
        return (await self.inner.answer(request)).model_copy(update={"usage": self.usage})


def debate_of(script: dict[str, Any], tokens: int = 0, **more: Any) -> Debate:
    """A debate in which one backend plays both roles."""
    backend = more.pop("backend", None) or Heard(script, tokens)
    return debate(more.pop("task", "greet"), backend, **{"repo": ROOT, "log_dir": None} | more)


def texts(run: Debate) -> list[str]:
    """The messages, as turn, type and words."""
    return [f"{one.turn} {one.type}: {one.content}" for one in run.log]
