"""A plan run written down event by event: two iterations in which everything happens that tables tell of."""

from __future__ import annotations

from typing import Any

from verifyplan.protocol import event_cross, event_plan, event_run
from verifyplan.protocol.call import ToolUse, Usage
from verifyplan.protocol.event import Event
from verifyplan.protocol.records import (
    DIMENSIONS,
    Challenge,
    Convergence,
    Directive,
    IterationState,
    ProbedRisk,
    SurfacedContext,
    Unknown,
)
from verifyplan.protocol.settings import PanelSettings, PlanSettings
from verifyplan.rules.classification import at_end, decide, tally
from verifyplan.runlog.chain import START, Record, encode

PANEL = ("ann", "bob", "cy")
AGREE, DOUBT = ("agree", None), ("disagree", "burden-not-met")
BREAK = ("disagree", "counter-evidence")
ERROR = ("verification-error", None)
TEXT = "".join(f"line {number}\n" for number in range(1, 21))


def started(**settings: Any) -> event_run.RunStarted:
    panel = PanelSettings(workers=PANEL, max_rounds=2)
    return event_run.RunStarted(
        task_key="cache",
        inputs=event_run.PlanInputs(
            plan_path="/repo/plan.md",
            plan_name="plan.md",
            plan_text=TEXT,
            plan_sha256="00",
            repository={"root": "/repo"},
            settings=PlanSettings(**{"panel": panel, **settings}),
        ),
        versions={"verifyplan": "0"},
        backend={"name": "scripted"},
        synthetic=False,
    )


def assessed(**changes: Any) -> event_plan.PlanAssessed:
    sections = [("Cache", 1, 1, 2), ("Goal", 2, 3, 6), ("Steps", 2, 7, 16), ("Later", 2, 17, 20)]
    told = {
        "title": "Cache",
        "sections": [
            {"title": title, "level": level, "first": first, "last": last} for title, level, first, last in sections
        ],
        "steps": 3,
        "quality": "ADEQUATE",
        "trivial": False,
        "traits": {},
        "signs": {},
        "complexity": 9,
        "threshold": 7,
        "team": "scaled",
        "domains": (),
        "found": {},
    }
    return event_plan.PlanAssessed.model_validate(told | changes)


def challenge(number: int, severity: str, iteration: int = 1, origin: str = "challenger") -> Challenge:
    return Challenge.model_validate(
        {
            "id": f"C{number}",
            "origin": origin,
            "claim": f"claim {number}",
            "concern": f"concern {number}",
            "failure_scenario": "it breaks",
            "alternative": "do otherwise",
            "severity": severity,
            "confidence": "HIGH",
            "iteration_introduced": iteration,
        }
    )


def raised(number: int, severity: str, evidence: str, iteration: int = 1, **more: Any) -> event_plan.ChallengeRaised:
    origin = more.pop("origin", "challenger")
    return event_plan.ChallengeRaised(
        iteration=iteration,
        challenge=challenge(number, severity, iteration, origin),
        evidence=evidence,
        uncited=":" not in evidence,
        **more,
    )


def call(call_id: str, worker: str, items: tuple[str, ...] = (), tools: tuple[ToolUse, ...] = ()) -> list[Event]:
    usage = Usage(input_tokens=100, output_tokens=10)
    return [
        event_run.CallRequested(call_id=call_id, worker=worker, items=items, request_sha256="ab"),
        event_run.CallReplied(call_id=call_id, value={}, usage=usage, duration_ms=5, source="live", tools=tools),
    ]


def panel(iteration: int, ballots: dict[str, list[list[tuple[str, str | None]]]]) -> list[Event]:
    """The panel's events in an iteration: for each challenge, by round, what each worker voted."""
    where: dict[str, Any] = {"part": "challenges", "iteration": iteration}
    events: list[Event] = [event_cross.FindingQueued(finding_id=name, **where) for name in ballots]
    queue = list(ballots)
    for number in range(1, max(map(len, ballots.values())) + 1):
        size = len(queue)
        for seat, worker in enumerate(PANEL):
            events += call(f"i{iteration}/panel/r{number}/{worker}", worker, tuple(queue))
            events.append(event_cross.DispatchClosed(round=number, worker=worker, status="completed", **where))
            for name in queue:
                verdict, basis = ballots[name][number - 1][seat]
                said = {"verdict": verdict, "disagree_basis": basis, "explanation": "plan.md:8 says so"}
                events.append(event_cross.VoteCast(finding_id=name, round=number, worker=worker, **said, **where))
        for name in list(queue):
            classification, rule = decide(tally(ballots[name][number - 1]), "adversarial")  # type: ignore[arg-type]
            final = classification is None and number == len(ballots[name])
            if final:
                classification, rule = at_end(rule)
            if classification is not None:
                queue.remove(name)
                told = {"classification": classification, "rule": rule, "round": number, "final": final}
                events.append(event_cross.FindingClassified(finding_id=name, **told, **where))
        sizes = {"input_queue_size": size, "resolved_count": size - len(queue), "carried_forward_count": len(queue)}
        events.append(event_cross.RoundClosed(round=number, **sizes, **where))
    return events


def moved(iteration: int, name: str, old: str, new: str, resolution: str = "see plan.md:3") -> event_plan.StatusChanged:
    told = {"id": name, "old": old, "new": new, "resolution": resolution, "uncited": ":" not in resolution}
    return event_plan.StatusChanged.model_validate({"iteration": iteration, **told})


def closed(iteration: int, status: str, blocking: int, significant: int, score: int | None = None) -> list[Event]:
    counts: dict[str, Any] = {"blocking_open": blocking, "significant_open": significant, "status": status}
    verdict = {"CONVERGED": "PROCEED", "FORCED_EXIT": "RETHINK"}.get(status)
    stated: dict[str, Any] = {"stated_status": "CONVERGED", "stated_verdict": "PROCEED"}
    differs = (status, verdict) != ("CONVERGED", "PROCEED")
    ruling = {"iteration": iteration, **counts, "verdict": verdict, "strong": False, **stated, "differs": differs}
    state = IterationState(
        iteration=iteration,
        plan_path="/repo/plan.md",
        plan_quality="ADEQUATE",
        team_mode="scaled",
        convergence=Convergence(**counts),
        quality_score=score,
    )
    return [event_plan.ConvergenceEvaluated.model_validate(ruling), event_plan.IterationClosed(state=state)]


def first() -> list[Event]:
    """Five challenges, two of them in overflow; what was unknown, surfaced and probed; the panel's two rounds."""
    grep = ToolUse(tool="Grep", argument="cache", results=3)
    refused = ToolUse(tool="WebSearch", argument="cache", serves="U1", refused="over budget")
    return [
        event_plan.IterationStarted(iteration=1, tightened=False),
        *call("i1/challenger", "challenger", tools=(grep, refused)),
        event_plan.ChallengeRefused(iteration=1, origin="devils-advocate", claim="x", reason="never MINOR"),
        raised(1, "BLOCKING", "plan.md:8 and src/a.py:3"),
        raised(2, "SIGNIFICANT", "src/a.py:7-9, plan.md:12-18"),
        raised(3, "MINOR", "nothing in particular"),
        event_plan.ChallengeAdmitted(iteration=1, id="C1"),
        event_plan.ChallengeAdmitted(iteration=1, id="C2"),
        event_plan.ChallengeOverflowed(iteration=1, id="C3", tag="DEFERRED_CHALLENGED", reason="cap"),
        event_plan.UnknownListed(iteration=1, unknown=Unknown.model_validate({
            "id": "U1", "description": "d", "type": "API_BEHAVIOR", "affects_challenge": "C1", "suggested_query": "q"}),
        ),
        event_run.CallRequested(call_id="i1/resolver", worker="resolver", request_sha256="cd"),
        event_run.CallFailed(call_id="i1/resolver", status="timeout", reason="too slow", duration_ms=600),
        event_plan.AgentFailed(iteration=1, call_id="i1/resolver", agent="resolver", reason="timeout: too slow",
                               consequence="UNRESOLVABLE"),
        event_plan.UnknownResolved(iteration=1, id="U1", resolution="UNRESOLVABLE", finding=None),
        *call("i1/surface", "researcher"),
        event_plan.ContextSurfaced(iteration=1, context=SurfacedContext.model_validate({
            "id": "S1", "source": "codebase", "location": "src/a.py", "relevance": "r", "impact": "contradicts_plan",
            "generates_challenge": "C4"})),
        raised(4, "SIGNIFICANT", "plan.md:5", origin="surfaced", raised_by="S1", owed=True),
        event_plan.ChallengeAdmitted(iteration=1, id="C4"),
        *call("i1/probe", "researcher"),
        event_plan.RiskProbed(iteration=1, evidence="src/a.py:1", risk=ProbedRisk.model_validate({
            "id": "P1", "risk": "r", "trigger": "t", "cascade": "c", "probability": "MED", "severity": "SIGNIFICANT",
            "generates_challenge": "C5"})),
        raised(5, "SIGNIFICANT", "src/a.py:1", origin="probed", raised_by="P1", probability="MED"),
        event_plan.ChallengeOverflowed(iteration=1, id="C5", tag="DEFERRED_PROBED", reason="cap"),
        *panel(1, {"C1": [[AGREE, BREAK, AGREE], [AGREE, AGREE, BREAK]], "C2": [[AGREE, AGREE, AGREE]],
                   "C4": [[DOUBT, DOUBT, ERROR]]}),
        *call("i1/synthesizer", "synthesizer"),
        moved(1, "C1", "OPEN", "UNRESOLVED"),
        event_plan.StatusRefused(iteration=1, id="C2", new="WITHDRAWN", resolution="no", reason="it stands"),
        moved(1, "C4", "OPEN", "WITHDRAWN", "nobody holds it"),
        event_plan.DirectiveIssued(iteration=1, directive=Directive(kind="FOCUS", note="look at steps")),
        *closed(1, "CONTINUE", 1, 1),
        event_run.Checkpoint(iteration=1, kind="degradation", message="m", items=("C1",)),
    ]  # fmt: skip


def second() -> list[Event]:
    """A promotion, a restatement, a refused promotion of what there is not; the panel once more; scores."""
    scores = [
        event_plan.ScoreGiven(
            iteration=2, by=by, dimension=name, score=8 - 2 * (by == "challenger"), evidence="plan.md:3"
        )
        for by in ("synthesizer", "challenger")
        for name in DIMENSIONS[:-1]
    ]
    return [
        event_plan.IterationStarted(iteration=2, tightened=True),
        *call("i2/challenger", "challenger"),
        event_plan.Restated(iteration=2, what="challenge", role="challenger", text="again", into="C2"),
        *panel(2, {"C1": [[AGREE, BREAK, BREAK], [AGREE, AGREE, DOUBT]], "C2": [[BREAK, AGREE, AGREE]] * 2}),
        *call("i2/synthesizer", "synthesizer"),
        event_plan.ChallengeAdmitted(iteration=2, id="C5", promoted=True),
        event_plan.PromotionRefused(iteration=2, id="C9", reason="there is no C9"),
        moved(2, "C1", "UNRESOLVED", "RESOLVED"),
        moved(2, "C2", "OPEN", "RESOLVED"),
        moved(2, "C5", "OPEN", "RESOLVED"),
        *scores,
        event_plan.ScoreRefused(iteration=2, by="synthesizer", dimension="constraint_alignment", received=11,
                                reason="no whole number from 1 to 10"),
        event_plan.ScoreRefused(iteration=2, by="synthesizer", dimension="beauty", received=1, reason="no dimension"),
        event_plan.ScoreDisputed(iteration=2, dimension="risk_coverage", synthesizer=8, challenger=6),
        *closed(2, "CONVERGED", 0, 0),
    ]  # fmt: skip


def ended() -> event_run.RunEnded:
    return event_run.RunEnded(outcome=event_run.PlanOutcome(ended_by="ruling", status="CONVERGED", verdict="PROCEED"))


def whole(**settings: Any) -> list[Event]:
    return [started(**settings), assessed(), *first(), *second(), ended()]


def records(events: list[Event]) -> list[Record]:
    """The events numbered, one a second from noon on."""
    return [Record(n, f"2026-01-31T12:{n // 60:02d}:{n % 60:02d}.000Z", event) for n, event in enumerate(events, 1)]


def log_bytes(events: list[Event]) -> bytes:
    """The events as the bytes of a log."""
    digest, lines = START, []
    for record in records(events):
        line, digest = encode(record, digest)
        lines.append(line)
    return b"".join(lines)
