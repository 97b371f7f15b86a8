"""Runs of models over real HTTP, answered call by call from the scripts that `ScriptedBackend` takes.

    with ScriptedServer(Played(script())) as server:
        run = verify(plan, backend=speaking_to(server), log_dir=None)
    assert derived(run) == derived(run_of(script()))

`Played(script, {"i1/challenger/t1": calls("Read", path="a.py")})` says that in this turn, whenever it is asked for; of
a list of answers, each request of the turn gets the next, and from then on the script answers.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import unquote

from tests.live.scripted_asked import Asked
from tests.live.scripted_replies import Answer, hangs, says, says_json, status
from tests.live.scripted_server import ScriptedServer
from verifyplan.agents.anthropic.backend import Anthropic
from verifyplan.protocol.event import EXTERNAL_EVENTS, Event
from verifyplan.protocol.event_run import call_of
from verifyplan.runs.run import Run

MODEL = "claude-haiku-5-5"
KEY = "the-key-of-these-tests"

LABELS = {
    "adversarial": {"agree": "SURVIVES", "supplement": "SURVIVES-WITH-CAVEAT", "disagree": "REFUTED"},
    "collaborative": {"agree": "AGREE", "supplement": "SUPPLEMENT", "disagree": "DISAGREE"},
}
NOTHING = {
    "challenger": {"challenges": [], "unknowns": []},
    "domain-expert": {"challenges": []},
    "devils-advocate": {"challenges": []},
    "resolver": {"answers": []},
    "surface": {"contexts": []},
    "probe": {"risks": []},
    "synthesizer": {"changes": []},
}
"""What a role writes that has nothing to say, and what it must write in any case; whoever scores has something."""

_FINDING = re.compile(r'<data-\w+ kind="finding" name=("(?:[^"\\]|\\.)*")>')
_DISPATCH = re.compile(r"[rp](\d+)/(.+?)(?:/p\d+)?")


def speaking_to(server: Any, model: str | None = MODEL, **settings: Any) -> Anthropic:
    """The backend on this server, which sends nothing twice unless the settings say so."""
    return Anthropic(model, **{"base_url": server.url, "api_key": KEY, "max_retries": 0, "timeout": 30.0} | settings)


def turn_of(asked: Asked) -> str:
    """The turn of a request, as the header names it."""
    return unquote(asked.headers["x-verifyplan-turn"])


def turns(server: ScriptedServer) -> list[str]:
    """The turns that the server was asked for, in the order in which they came, repeated ones repeated."""
    return [turn_of(asked) for asked in server.requests]


def times(server: ScriptedServer) -> Counter[str]:
    """How many requests came for each turn."""
    return Counter(turns(server))


class Played:
    """Answers each call from a script for `ScriptedBackend`, in the form in which a model writes it.

    "error" is a refusal of the endpoint, "timeout" a silence; `{"raw": x}` is x as the text of the answer, each time.
    """

    def __init__(
        self,
        script: Mapping[Any, Any],
        first: Mapping[str, Answer | Sequence[Answer]] | None = None,
        *,
        silent: bool = False,
    ) -> None:
        self.script = {str(key): value for key, value in script.items()}
        self.first = {turn: one if isinstance(one, Answer) else list(one) for turn, one in (first or {}).items()}
        self.silent = silent

    def __call__(self, asked: Asked) -> Answer:
        first = self.first.get(turn_of(asked))
        if isinstance(first, Answer):
            return first
        if first:
            return first.pop(0)
        call = call_of(turn_of(asked))
        scripted = self._scripted(call)
        if scripted is None and self.silent:
            scripted = {}
        if scripted == "timeout":
            return hangs()
        if not isinstance(scripted, Mapping):
            return status(400, message=f"nothing is scripted for {call}" if scripted is None else "scripted")
        return written(scripted, asked)

    def _scripted(self, call: str) -> Any:
        if call in self.script:
            return self.script[call]
        found = _DISPATCH.fullmatch(call)
        return self.script.get(found[1], {}).get(found[2]) if found else None


def written(scripted: Mapping[str, Any], asked: Asked) -> Answer:
    """An answer of a script as a model writes it: the inverse of `wire.protocol_value`."""
    if "raw" in scripted:
        raw = scripted["raw"]
        votes = raw.get("votes") if isinstance(raw, dict) else None
        return says_json({"votes": listed(votes, mode_of(asked))} if isinstance(votes, dict) else raw)
    if mode := mode_of(asked):
        wanted = findings_of(asked)
        return says_json({"votes": listed({key: v for key, v in scripted.items() if key in wanted}, mode)})
    value = NOTHING.get(call_of(turn_of(asked)).rpartition("/")[2], {}) | scripted
    if "directives" in value:
        value["directives"] = [
            {**one, "tools": [{"tool": tool, "calls": calls} for tool, calls in one.get("tools", {}).items()]}
            for one in value["directives"]
        ]
    return says(json.dumps(value))


def listed(votes: Mapping[str, Any], mode: str) -> list[dict[str, Any]]:
    """Votes by finding as the list that models write, with the labels of the mode."""
    return [
        {"finding_id": key, **vote, "verdict": LABELS[mode].get(vote["verdict"], vote["verdict"])}
        for key, vote in votes.items()
    ]


def mode_of(asked: Asked) -> str:
    """The mode of a worker's request, told from the labels that schema or prompt offer; blank for a role's."""
    held = asked.body.get("output_config", {}).get("format")
    offered = json.dumps(held) if held else asked.prompt
    return next((mode for mode, labels in LABELS.items() if f'"{labels["agree"]}"' in offered), "")


def findings_of(asked: Asked) -> list[str]:
    """The findings that a worker is asked about."""
    return [json.loads(name) for name in _FINDING.findall(asked.prompt)]


def derived(run: Run) -> list[str]:
    """What the rules made of the facts; how a failure is worded is left out, as that is the backend's."""
    return [_plain(event) for event in run.events if not isinstance(event, EXTERNAL_EVENTS)]


def _plain(event: Event) -> str:
    told = event.model_dump(exclude={"duration_ms"})
    if told["type"] in ("agent-failed", "dispatch-closed"):
        told["reason"] = bool(told["reason"])
    if told.get("verdict") == "verification-error":
        told["explanation"] = bool(told["explanation"])
    if told["type"] == "message-published":  # what it cost is the backend's, too
        told["message"].pop("budgetTrace", None)
    if told["type"] == "run-ended" and told["outcome"].get("reason") == "AGENT_FAILED":
        told["outcome"]["exit_reason"] = bool(told["outcome"]["exit_reason"])
    if told["type"] == "run-ended" and told["outcome"].get("ended_by") == "failures":
        told["outcome"]["exit_reason"] = bool(told["outcome"]["exit_reason"])
    return str(told)


def facts(run: Run, kind: str) -> list[Any]:
    """The events of one type, in order."""
    return [event for event in run.events if event.type == kind]
