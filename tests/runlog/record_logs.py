"""Records logs with the code that stands here, to be kept in `logs/` before the version of the event model changes.

In an empty folder whose path every machine may have, such as /plans, since the logs hold it, and with the folders that
pyproject.toml gives pytest as `pythonpath` in PYTHONPATH: `python .../tests/runlog/record_logs.py OUT`. Copy what is in
OUT to `logs/`; then `python .../record_logs.py` writes `logs/figures.json` anew: look at what changed.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import verifyplan as vp
from tests.live.batch_served import QUICK, Posted
from tests.live.live_killing import FIRST as TURNS
from tests.live.live_runs import KEY, MODEL, Played
from tests.live.live_scripts import spoken_script
from tests.live.scripted_server import ScriptedServer
from tests.runs.crossing import AGREE, BURDEN, COUNTER, DISAGREE, SUPPLEMENT, finding
from tests.runs.debate_scripts import CONVERGES, FIRST, says
from tests.runs.plan.planning import AGREE as HOLDS
from tests.runs.plan.planning import BURDEN as DOUBT
from tests.runs.plan.planning import CAVEAT, PLAN, answer, challenge, change, context, risk, scores, script, unknown
from tests.runs.plan.planning import COUNTER as BREAKS

PRICES = {MODEL: {"input": 1, "output": 5, "cache_write": 1, "cache_read": 1, "web_search": 10, "batch_discount": 0.5}}

LOGS = Path(__file__).parent / "logs"
REPOSITORY = LOGS / "repository.json"
"""The files that the runs are about, by path."""
STATIC_PLAN = """# Move the orders to the new store

Goal: orders are read from PostgreSQL.

1. Rename `total` in `src/shop.py` to `sum_up`.
2. Delete `src/orders.py`, which nobody imports.
3. Migrate the orders table to PostgreSQL with `alembic upgrade head`.
4. Change `src/gone.py:3` to read from it.
5. Deploy to production and remove the old store.
"""
TRIVIAL = "# Fix a typo\n\nCorrect the spelling in `README.md`.\n"


class Reporting(vp.agents.ScriptedBackend):
    """A scripted backend whose calls use tokens and tools, and parts of which fail, as `told` says by call."""

    def __init__(self, answers: dict[str, Any], told: dict[str, dict[str, Any]] | None = None, **more: Any) -> None:
        super().__init__(answers, **more)
        self.told = told or {}

    async def answer(self, request: Any) -> Any:
        reply = await super().answer(request)
        usage = {"input_tokens": 100, "output_tokens": 10, "cost": "0.0002"}
        values = reply.model_dump() | {"usage": usage, "duration_ms": 7} | self.told.get(request.call_id, {})
        return type(reply).model_validate(values)


def uses(*tools: str, **more: Any) -> list[dict[str, Any]]:
    return [{"tool": tool, "argument": "store", "results": 2} | more for tool in tools]


TOLD = {
    "i1/challenger": {"tools": uses(*["Grep"] * 7) + uses("WebSearch", refused="it has no web")},
    "i1/resolver": {"tools": uses("WebSearch", serves="U1")},
    "i1/surface": {"partial_failures": ["check clocks failed: ValueError: no such line"]},
}


def settling() -> dict[str, Any]:
    """Iterations to CONVERGED: all classes, what the rules promote, and a settled challenge that comes back."""
    words = ("locks", "rows", "order", "retries", "backup", "index", "cache")
    everyone = {f"C{number}": HOLDS for number in range(1, 20)}
    answers: dict[str, Any] = {
        "i1/challenger": {
            "challenges": [challenge(word, "BLOCKING") for word in words],
            "unknowns": [unknown("store", "#1"), unknown("table", "#2", "FILE_MISSING")],
        },
        "i1/domain-expert": {"challenges": [challenge("clock")]},
        "i1/devils-advocate": {"challenges": [challenge("journal", "BLOCKING"), challenge("disk", "MINOR")]},
        "i1/resolver": {"answers": [answer("U1", "REFUTED"), answer("U2", "CONFIRMED")]},
        "i1/surface": {"contexts": [context("rollback", "contradicts_plan"), context("clock", "confirms_approach")]},
        "i1/probe": {"risks": [risk("disk", "SIGNIFICANT"), risk("fan")]},
        "i1/panel/r1/ann": everyone | {"C3": BREAKS},
        "i1/panel/r1/bob": everyone | {"C2": CAVEAT, "C3": BREAKS, "C4": DOUBT, "C5": DOUBT},
        "i1/panel/r1/cy": everyone | {"C3": BREAKS, "C4": DOUBT, "C5": {"verdict": "disagree", "explanation": "no"}},
        "i1/panel/r1/dee": {"raw": {"votes": everyone | {"C3": BREAKS, "C4": BREAKS, "C99": HOLDS, "C9": {}}}},
        "i1/synthesizer": {
            "changes": [
                *(change(f"C{n}", "RESOLVED") for n in (1, 2, 5, 8)),
                change("C3", "WITHDRAWN", "nobody holds it"),
                change("C4", "UNRESOLVED", "store.py:3 does not tell"),
            ],
            "directives": [{"kind": "GRANT", "role": "probe", "tools": {"Grep": 2}}],
        },
    }
    for iteration in (2, 3):
        answers |= {
            f"i{iteration}/challenger": {
                "challenges": [
                    challenge("locks", "BLOCKING", evidence="other.py:3"),
                    challenge("rows", "BLOCKING"),
                    challenge("order", "BLOCKING"),
                ]
            },
            f"i{iteration}/synthesizer": {"changes": [change(f"C{n}", "RESOLVED") for n in (4, *range(6, 15))]},
            f"i{iteration}/score": scores(8, risk_coverage=None),
            f"i{iteration}/audit": scores(8, unknowns_coverage=4),
        }
        answers |= {f"i{iteration}/panel/r1/{name}": everyone for name in ("ann", "bob", "cy", "dee")}
    return answers


BLOCKS = {
    "i1/challenger": {"challenges": [challenge("locks", "BLOCKING"), challenge("rows", "BLOCKING")]},
    "i1/score": scores(6),
    "i1/audit": scores(6),
}


def record_plans(out: Path) -> None:
    given: dict[str, Any] = {"log_dir": out, "progress": False, "repo": "."}
    Path("plan.md").write_text(PLAN)
    forced = Reporting(script(), TOLD, silent=True)
    run = vp.verify("plan.md", backend=forced, team="scaled", on_blocked="pause", **given)
    told = lambda _: vp.Answer("context", None, "and so do its locks")  # noqa: E731
    vp.resume(run, "context", note="the old store stays", backend=forced, on_blocked=told)
    keep(run, "plan-forced")
    panel = ("ann", "bob", "cy", "dee")
    backend = Reporting(settling(), silent=True)
    run = vp.verify("plan.md", backend=backend, team="scaled", panel=panel, policy="deliberate", **given)
    keep(run, "plan-settled")
    person: Callable[[vp.results.Pause], str] = lambda pause: f"acknowledge:{pause.challenges[0].id}"  # noqa: E731
    run = vp.verify("plan.md", backend=Reporting(BLOCKS, silent=True), panel=None, on_blocked=person, **given)
    keep(run, "plan-acknowledged")
    run = vp.verify("plan.md", backend=Reporting(BLOCKS, silent=True), panel=None, on_blocked="pause", **given)
    keep(run, "plan-waiting")
    again = vp.verify("plan.md", backend=Reporting(BLOCKS, silent=True), panel=None, on_blocked="pause", **given)
    vp.resume(again, "override:C2", note="it is known", backend=Reporting(BLOCKS, silent=True))
    keep(again, "plan-overridden")
    run = vp.verify("plan.md", backend=Reporting({"i1/challenger": "timeout"}, silent=True), **given)
    keep(run, "plan-failed")
    run = vp.verify("plan.md", backend=Reporting(script(), silent=True), max_tokens=1500, **given)
    keep(run, "plan-over-budget")
    run = vp.verify(vp.plans.parse_plan(TRIVIAL), backend=Reporting({}, silent=True), **given)
    keep(run, "plan-trivial")
    Path("PLAN.md").write_text(STATIC_PLAN)
    keep(vp.verify("PLAN.md", backend="static", max_iterations=2, **given), "plan-static")


ROSTER = ["ann", "bob", "cy", "dee"]
ITEMS = [{"finding_id": "P-1", "summary": "a step", "truth": True}, {"finding_id": "P-2", "summary": "another"}]


def found() -> list[dict[str, Any]]:
    """Seven findings of four workers, two of them the same in other words and one found twice."""
    rows = [
        finding(f"F-{n}", worker, evidence=f"m.py:{n}", category="bug" if n % 2 else None, truth=bool(n % 3))
        for n, worker in enumerate([*ROSTER, "ann", "bob"], start=1)
    ]
    same = {"summary": "Claim  f-1", "evidence": "m.py:1", "ticket_ids": ["T-1"]}
    return [*rows, finding("F-7", "cy", **same), finding("F-2", "dee", evidence="m.py:2")]


CROSS: dict[Any, Any] = {
    1: {
        "ann": {"F-2": BURDEN, "F-3": SUPPLEMENT, "F-4": AGREE, "F-6": AGREE, "P-1": AGREE, "P-2": SUPPLEMENT},
        "bob": {"raw": {"votes": {"F-1": COUNTER, "F-3": AGREE, "F-4": BURDEN, "F-5": DISAGREE, "F-99": AGREE}}},
        "cy": {"F-2": BURDEN, "F-4": AGREE, "F-5": BURDEN, "F-6": {"verdict": "maybe"}, "P-1": AGREE},
        "dee": {"F-1": AGREE, "F-3": AGREE, "F-5": AGREE, "F-6": COUNTER | {"explanation": "m.py:6"}},
    },
    2: {
        "ann": "timeout",
        "bob": {"F-1": COUNTER, "F-4": SUPPLEMENT, "F-5": AGREE, "F-3": AGREE},
        "cy": "error",
        "dee": {"F-1": AGREE, "F-5": BURDEN, "F-6": AGREE},
    },
    3: {
        "ann": {"F-6": COUNTER, "F-4": AGREE},
        "bob": {"F-1": COUNTER, "F-5": COUNTER},
        "cy": {"F-5": AGREE, "F-6": AGREE},
        "dee": {"F-1": AGREE, "F-5": BURDEN, "F-6": BURDEN},
    },
}


def record_cross(out: Path) -> None:
    given: dict[str, Any] = {"repo": ".", "progress": False}
    for name, adversarial in (("adversarial", True), ("collaborative", False)):
        run = vp.crossverify(
            found(), ROSTER, task_type="implementation-planning", plan_items=ITEMS, backend=Reporting(CROSS),
            settings={"adversarial": adversarial, "maxRounds": 3}, log_dir=out / name, task_key="orders", **given,
        )  # fmt: skip
        keep(run, f"cross-{name}", out)
    claims = [
        {"finding_id": "F-1", "summary": "`total` sums the prices", "evidence": "src/shop.py:2", "worker": "reader"},
        {
            "finding_id": "F-2",
            "summary": "`bill` is in `src/orders.py`",
            "evidence": "src/orders.py:4",
            "worker": "second",
        },
        {
            "finding_id": "F-3",
            "summary": "`refund` is in `src/orders.py`",
            "evidence": "src/orders.py:40",
            "worker": "third",
        },
    ]
    players = dict(zip(("reader", "second", "third"), vp.agents.static.CHECKERS, strict=False))
    keep(vp.crossverify(claims, players, log_dir=out / "static", **given), "cross-static", out)


def record_debates(out: Path) -> None:
    given: dict[str, Any] = {"repo": ".", "log_dir": out, "progress": False}
    told = {name: value for name, value in challenge("rows", "BLOCKING").items() if name != "evidence"}
    open_one = vp.protocol.Challenge(id="C1", origin="challenger", iteration_introduced=1, **told)
    scripts = {
        "converged": CONVERGES,
        "failed": FIRST | {"t2/critique": says("Spell it right."), "t2/implement": "error"},
    }
    for name, answers in scripts.items():
        backend = Reporting(answers)
        run = vp.debate("Greet.", backend, backend, documents={"notes.md": "# Notes\n"}, challenges=[open_one], **given)
        keep(run, f"debate-{name}")


def record_live(out: Path) -> None:
    given: dict[str, Any] = {"progress": False, "team": "scaled"}
    answers = spoken_script() | {"i2/challenger": {"challenges": [challenge("journal")]}}
    answers |= {"i2/score": scores(7), "i2/audit": scores(7, risk_coverage=4)}
    backend = {"api_key": KEY, "max_retries": 0, "timeout": 30.0, "prices": PRICES}
    with ScriptedServer(Played(answers, TURNS["plan"])) as server:
        os.environ["ANTHROPIC_BASE_URL"] = server.url
        speaker = vp.agents.Anthropic(MODEL, web=True, max_concurrency=2, **backend)
        keep(vp.verify("plan.md", ".", backend=speaker, log_dir=out, max_iterations=2, **given), "plan-live")
    folder = out / "batch"
    for name in ("one", "two"):
        Path(f"{name}.md").write_text(PLAN.replace("orders", f"{name}s"))
    with ScriptedServer(Posted(Played(BATCHED), folder)) as server:
        os.environ["ANTHROPIC_BASE_URL"] = server.url
        speaker = vp.agents.Anthropic(MODEL, **backend)
        told: dict[str, Any] = {"team": "base", "panel": ["ann", "bob"], "max_iterations": 1}
        runs = vp.batch_verify(["one.md", "two.md"], ".", backend=speaker, log_dir=folder, **told, **QUICK)
    folder.rename(out / f"v{runs[0].started.version}-batch")


BATCHED: dict[str, Any] = {
    "i1/challenger": {
        "challenges": [challenge("locks"), challenge("rows", "MINOR")],
        "unknowns": [unknown("store", "#1")],
    },
    "i1/resolver": {"answers": [answer("U1", "CONFIRMED")]},
    "i1/surface": {"contexts": []},
    "i1/probe": "error",
    "i1/panel/r1/ann": {"C1": HOLDS, "C2": HOLDS},
    "i1/panel/r1/bob": {"C1": HOLDS, "C2": BREAKS},
    "i1/synthesizer": {"changes": [change("C1", "RESOLVED", "store.py:3")]},
    "i1/score": scores(7),
    "i1/audit": scores(6),
}


def keep(run: Any, name: str, out: Path | None = None) -> None:
    """Give a run's log, and its artifact, the name that they are kept under."""
    path = run.log_path
    target = (out or path.parent) / f"v{run.started.version}-{name}.jsonl"
    path.rename(target)
    artifact = path.with_suffix(".json")
    if artifact.exists():
        artifact.rename(target.with_suffix(".json"))


def main(place: str | None = None) -> None:
    if place is None:
        from tests.runlog.test_logs_of_before import ALL, figures, name_of  # here, as it reads what is written here

        told = {name_of(path): figures(vp.load(path)) for path in ALL}
        (LOGS / "figures.json").write_text(json.dumps(told, indent=1, sort_keys=True) + "\n")
        return
    out = Path(place)
    for name, text in json.loads(REPOSITORY.read_text()).items():
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(text)
    record_plans(out)
    record_cross(out)
    record_debates(out)
    record_live(out)


if __name__ == "__main__":
    main(*sys.argv[1:])
