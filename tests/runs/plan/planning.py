"""Small plans, scripted answers and plan runs that the tests of the plan loop and of the run log share."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from verifyplan.agents.scripted import ScriptedBackend
from verifyplan.plans.plan import parse_plan
from verifyplan.protocol.records import DIMENSIONS
from verifyplan.runs.plan.run import PlanRun
from verifyplan.runs.plan.verify import verify

PLAN = """# Move the orders to the new store

Goal: read and write orders in `store.py`.

1. Create the table in `schema.sql`
2. Change `store.py` to read from it
3. Run `pytest -q`
4. Switch the old table off

We must not lose an order.
"""
"""A plan with a goal and steps, neither trivial nor THIN."""

REPO = Path(json.__file__).parent
"""A small folder outside this checkout, opened in a third of the time; scripted agents never look into it."""

COUNTER: dict[str, Any] = {"verdict": "disagree", "disagree_basis": "counter-evidence", "explanation": "store.py:4"}
BURDEN: dict[str, Any] = {"verdict": "disagree", "disagree_basis": "burden-not-met", "explanation": "shows nothing"}
CAVEAT: dict[str, Any] = {"verdict": "supplement", "explanation": "only under load"}
AGREE: dict[str, Any] = {"verdict": "agree", "explanation": "store.py:9 says so"}

WORDS = ("locks", "rows", "order", "retries", "backup", "index", "cache", "clock", "quota", "rollback", "journal")
"""One for each challenge that is to be told apart from the others."""


def challenge(word: str = "locks", severity: str = "SIGNIFICANT", **more: Any) -> dict[str, Any]:
    """A challenge as an agent raises it; another word makes another challenge."""
    return {
        "claim": f"`{word}` stay as they are.",
        "concern": f"`{word}` change while the plan is under way.",
        "failure_scenario": f"an order is lost by its {word}",
        "alternative": f"check the {word} first",
        "severity": severity,
        "confidence": "HIGH",
        "evidence": f"{word}.py:{len(word)}",
    } | more


def unknown(word: str, affects: str | None = None, kind: str = "API_BEHAVIOR") -> dict[str, Any]:
    """A question of the challenger."""
    return {"description": f"how does `{word}` behave?", "type": kind, "affects": affects, "suggested_query": word}


def answer(name: str, resolution: str, finding: str | None = "[VERIFIED: store.py:3 | it holds | none]") -> Any:
    """The resolver's answer to one unknown."""
    return {"id": name, "resolution": resolution, "finding": finding}


def change(name: str, status: str, resolution: str = "see store.py:3") -> dict[str, str]:
    """What the synthesizer makes of a challenge."""
    return {"challenge": name, "status": status, "resolution": resolution}


def context(word: str, impact: str = "confirms_approach", **more: Any) -> dict[str, Any]:
    """Something that the researcher surfaces."""
    found = {"source": "codebase", "location": f"{word}.py:1", "relevance": f"`{word}` is used twice"}
    return found | {"impact": impact} | more


def risk(word: str, severity: str = "MINOR", **more: Any) -> dict[str, Any]:
    """A risk that the researcher probes."""
    told = {"risk": f"`{word}` fails", "trigger": f"the {word} is full", "cascade": "orders wait"}
    return told | {"probability": "MED", "severity": severity, "evidence": f"{word}.py:2"} | more


def scores(value: int = 7, **other: Any) -> dict[str, Any]:
    """The same score in every dimension but those that are named; None leaves one out."""
    given = dict.fromkeys(DIMENSIONS, value) | other
    return {"scores": {name: {"score": one, "evidence": "C1"} for name, one in given.items() if one is not None}}


def votes(vote: dict[str, Any], **other: dict[str, Any]) -> dict[str, Any]:
    """A panel worker's votes: the same on C1 to C20 but those that are named."""
    return {f"C{number}": vote for number in range(1, 21)} | other


def script() -> dict[str, Any]:
    """Three iterations that come to FORCED_EXIT and use every event of a plan run but those of a person's answer.

    C2 blocks from the first iteration to the last. With `on_blocked="pause"`, the run waits after iteration 1.
    """
    return _first() | _second() | _third()


def answered() -> dict[str, Any]:
    """Return the same script, in which the call that is silent is refused: nobody waits until its time is over."""
    return script() | {"i1/panel/r1/panel-3": "error"}


def _first() -> dict[str, Any]:
    """Overflow, restatements, refusals of every kind, a contradiction, an agent and a panel worker that fail."""
    raised = [
        challenge("locks", "SIGNIFICANT"),
        challenge("rows", "BLOCKING"),
        challenge("order", "MINOR"),
        challenge("retries"),
        challenge("backup"),
        challenge("index", "MINOR"),
        challenge("locks", "SIGNIFICANT"),
    ]
    listed = [unknown("store", "#1"), unknown("table", "#9", "STALE_KNOWLEDGE"), unknown("store", "#2")]
    return {
        "i1/challenger": {"challenges": raised, "unknowns": listed},
        "i1/domain-expert": "error",
        "i1/devils-advocate": {"challenges": [challenge("cache", "MINOR")]},
        "i1/resolver": {"answers": [answer("U1", "CONFIRMED"), answer("U1", "REFUTED")]},
        "i1/surface": {"contexts": [context("clock", "contradicts_plan"), context("clock", "contradicts_plan")]},
        "i1/probe": {"risks": [risk("quota", "SIGNIFICANT", challenge=challenge("quota")), risk("disk")]},
        "i1/panel/r1/panel-1": {"raw": {"votes": votes(AGREE, C4=CAVEAT)}},
        "i1/panel/r1/panel-2": votes(AGREE, C3=COUNTER, C4=BURDEN, C5=BURDEN),
        "i1/panel/r1/panel-3": "timeout",
        "i1/synthesizer": {
            "changes": [
                change("C1", "RESOLVED"),
                change("C3", "WITHDRAWN", "nobody needs it"),
                change("C4", "WITHDRAWN"),
                change("C5", "RESOLVED", "U1 was confirmed"),
                change("C2", "DEFERRED"),
                change("C99", "RESOLVED"),
                change("C7", "UNRESOLVED"),
            ],
            "promotions": ["C6"],
            "directives": [
                {"kind": "RE-PROBE", "trigger": "new-dependency-chain", "items": ["U1"]},
                {"kind": "CONSULT", "role": "devils-advocate"},
                {"kind": "GRANT", "role": "probe", "tools": {"Grep": 2}},
                {"kind": "FOCUS", "note": " "},
            ],
            "status": "CONVERGED",
            "verdict": "PROCEED",
            "question": "May rows be locked?",
        },
    }


def _second() -> dict[str, Any]:
    """A promotion, an answer outside its schema, more created than settled."""
    return {
        "i2/challenger": {"challenges": [challenge("journal"), {"claim": 3}, challenge("rollback", "MINOR")]},
        "i2/resolver": {"raw": {"answers": "none"}},
        "i2/devils-advocate": {"challenges": []},
        "i2/probe": {"risks": [risk("quota", "SIGNIFICANT"), risk("queue", "SIGNIFICANT")]},
        "i2/panel/r1/panel-1": votes(AGREE),
        "i2/panel/r1/panel-2": votes(BURDEN, C2=AGREE),
        "i2/panel/r1/panel-3": {"raw": 3},
        "i2/synthesizer": {
            "changes": [
                change("C2", "UNRESOLVED", "user decision pending"),
                change("C9", "RESOLVED", "trust me"),
                change("C10", "DEFERRED", "see plan.md:7"),
            ],
            "promotions": ["C6", "C11"],
        },
    }


def _third() -> dict[str, Any]:
    """Nothing moves; the scores are disputed by an audit of which one does not count."""
    return {
        "i3/challenger": {"challenges": [challenge("journal")]},
        "i3/resolver": {"answers": [answer("U2", "UNRESOLVABLE", None)]},
        "i3/panel/r1/panel-1": votes(AGREE),
        "i3/panel/r1/panel-2": votes(AGREE, C2=CAVEAT),
        "i3/panel/r1/panel-3": votes(COUNTER),
        "i3/synthesizer": {"directives": [{"kind": "CONSULT", "role": "domain-expert"}]},
        "i3/score": scores(7) | {"scores": scores(7)["scores"] | {"style": {"score": 3, "evidence": "C1"}}},
        "i3/audit": scores(7, risk_coverage=4, unknowns_coverage=11),
    }


def run_of(script: dict[str, Any], *, plan: str = PLAN, silent: bool = False, **settings: Any) -> PlanRun:
    """A run with scripted answers that writes nothing, with the whole team, unless the settings say otherwise."""
    given: dict[str, Any] = {"log_dir": None, "team": "scaled", "progress": False} | settings
    backend = given.pop("backend", None) or ScriptedBackend(script, silent=silent)
    return verify(parse_plan(plan), REPO, backend=backend, **given)


def told(run: PlanRun, kind: str) -> list[Any]:
    """The events of one type, in order."""
    return [event for event in run.events if event.type == kind]
