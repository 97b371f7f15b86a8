"""Event lists made by hand, one for every way in which a plan run can end; every text can be replaced by another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from verifyplan.protocol import event_cross, event_plan, event_run
from verifyplan.protocol.call import ToolUse, Usage
from verifyplan.protocol.event import Event
from verifyplan.protocol.records import (
    DIMENSIONS,
    Challenge,
    ChallengeState,
    Convergence,
    Directive,
    IterationState,
    ProbedRisk,
    SurfacedContext,
    Unknown,
)
from verifyplan.protocol.settings import PlanSettings
from verifyplan.runlog.plan_state import PlanState, fold_plan

Say = Callable[[str], str]
PANEL = ("panel-1", "panel-2", "panel-3")


class PlanEvents:
    """A run that is written down event by event; `say` replaces every text that an agent, plan or person gave."""

    def __init__(
        self, say: Say = lambda text: text, synthetic: bool = False, prices: Any = None, **settings: Any
    ) -> None:
        self.say = say
        self.settings = PlanSettings(**settings)
        self.iteration = 0
        self.events: list[Event] = []
        self.severities: dict[str, Any] = {}
        self.statuses: dict[str, Any] = {}
        inputs = event_run.PlanInputs(
            plan_path=say("/repo/plans/cache.md"),
            plan_name=say("cache.md"),
            plan_text=say("# Add a cache\n\n1. Change `store.py`.\n"),
            plan_sha256="5e" * 32,
            repository={"root": say("/repo"), "commit": say("1f2e3d4"), "files": 42},
            settings=self.settings,
        )
        self.add(
            event_run.RunStarted(
                task_key=say("cache"),
                inputs=inputs,
                versions={"verifyplan": "0.1.0", "python": say("3.11.9")},
                backend={"name": say("scripted"), "models": {say("challenger"): say("none")}, "prices": prices},
                synthetic=synthetic,
            )
        )

    def add(self, *events: Event) -> PlanEvents:
        self.events += events
        return self

    def assess(self, team: Any = "base", notes: tuple[str, ...] = (), complexity: int = 5) -> PlanEvents:
        say = self.say
        sign = tuple(event_plan.SignFound(word=say(f"Redis {n}"), line=n + 3) for n in range(25))
        return self.add(
            event_plan.PlanAssessed(
                title=say("Put a cache before the store"),
                sections=(event_plan.SectionRead(title=say("Steps"), level=2, first=3, last=9),),
                steps=3, quality="ADEQUATE", trivial=team is None,
                traits={"goal": 1, "references": 4}, signs={"steps": 3, "referenced_files": 2},
                complexity=complexity, threshold=7, team=team, domains=(say("storage"), say("performance")),
                found={"integrations": sign, "compliance": ()}, notes=tuple(map(say, notes)),
            )
        )  # fmt: skip

    def begin(self, tightened: bool = False) -> PlanEvents:
        self.iteration += 1
        return self.add(event_plan.IterationStarted(iteration=self.iteration, tightened=tightened))

    def call(
        self,
        role: str,
        tokens: tuple[int, int] = (9_000, 1_000),
        tools: tuple[ToolUse, ...] = (),
        partial_failures: tuple[str, ...] = (),
    ) -> PlanEvents:
        call_id = f"i{self.iteration}/{role}"
        usage = Usage(input_tokens=tokens[0], output_tokens=tokens[1])
        return self.add(
            event_run.CallRequested(call_id=call_id, worker=role, request_sha256="ab" * 32),
            event_run.CallReplied(
                call_id=call_id,
                value={"said": self.say("yes")},
                usage=usage,
                duration_ms=1200,
                source="live",
                tools=tools,
                partial_failures=partial_failures,
            ),
        )

    def challenge(
        self,
        name: str,
        severity: Any = "SIGNIFICANT",
        overflow: str = "",
        alternative: str = "Use a lock.",
        **more: Any,
    ) -> PlanEvents:
        say = self.say
        evidence = more.pop("evidence", "cache.md:12\n> the cache is never emptied\nsrc/store.py:3-7")
        kept = ("probability", "raised_by", "owed", "uncited", "disputes")
        told = {key: more.pop(key) for key in kept if key in more}
        challenge = Challenge(
            id=name, severity=severity, confidence="HIGH", iteration_introduced=self.iteration,
            origin=more.pop("origin", "challenger"), claim=say(more.pop("claim", f"The plan assumes {name}.")),
            concern=say(f"{name} fails when two writers meet."), failure_scenario=say("A stale read is served."),
            alternative=say(alternative) if alternative else "", **more,
        )  # fmt: skip
        self.add(
            event_plan.ChallengeRaised(
                iteration=self.iteration, challenge=challenge, evidence=say(evidence), **({"uncited": False} | told)
            )
        )
        self.severities[name], self.statuses[name] = severity, "OPEN"
        if overflow:
            reason = say("3 of 3 are taken in this iteration")
            return self.add(
                event_plan.ChallengeOverflowed(iteration=self.iteration, id=name, tag=overflow, reason=reason)
            )
        return self.add(event_plan.ChallengeAdmitted(iteration=self.iteration, id=name))

    def vote(self, name: str, classification: Any, rule: str, *verdicts: Any) -> PlanEvents:
        where: dict[str, Any] = {"part": "challenges", "iteration": self.iteration, "finding_id": name}
        for worker, verdict in zip(PANEL, verdicts, strict=False):
            basis: Any = verdict if verdict in ("counter-evidence", "burden-not-met") else None
            self.add(
                event_cross.VoteCast(
                    **where, round=1, worker=self.say(worker), verdict="disagree" if basis else verdict,
                    disagree_basis=basis, explanation=self.say(f"{worker} opened src/store.py:3."),
                )
            )  # fmt: skip
        return self.add(
            event_cross.FindingClassified(**where, classification=classification, rule=rule, round=1, final=False)
        )

    def move(self, name: str, new: Any, resolution: str = "see src/store.py:9", **more: Any) -> PlanEvents:
        old, self.statuses[name] = self.statuses[name], new
        told = {"resolution": self.say(resolution), "uncited": False} | more
        return self.add(event_plan.StatusChanged(iteration=self.iteration, id=name, old=old, new=new, **told))

    def judge(self, status: Any, verdict: Any = None, strong: bool = False, **stated: Any) -> PlanEvents:
        blocking, significant = self.left
        return self.add(
            event_plan.ConvergenceEvaluated(
                iteration=self.iteration, status=status, verdict=verdict, strong=strong,
                blocking_open=blocking, significant_open=significant, **stated,
            )
        )  # fmt: skip

    @property
    def left(self) -> tuple[int, int]:
        open_ = [self.severities[name] for name, status in self.statuses.items() if status in ("OPEN", "UNRESOLVED")]
        return open_.count("BLOCKING"), open_.count("SIGNIFICANT")

    def close(self, status: Any, score: int | None = None) -> PlanEvents:
        blocking, significant = self.left
        state = IterationState(
            iteration=self.iteration, plan_path=self.say("/repo/plans/cache.md"), plan_quality="ADEQUATE",
            team_mode="base", quality_score=score,
            challenges=tuple(
                ChallengeState(id=name, status=status, severity=self.severities[name])
                for name, status in self.statuses.items()
            ),
            convergence=Convergence(blocking_open=blocking, significant_open=significant, status=status),
        )  # fmt: skip
        return self.add(event_plan.IterationClosed(state=state))

    def checkpoint(self, kind: Any, message: str, *items: str, pause_id: str | None = None) -> PlanEvents:
        return self.add(
            event_run.Checkpoint(
                iteration=self.iteration, kind=kind, message=self.say(message), items=items, pause_id=pause_id
            )
        )

    def scores(self, by: Any = "synthesizer", *, without: tuple[str, ...] = (), **values: int) -> PlanEvents:
        for name in DIMENSIONS:
            if name not in without:
                told = self.say(f"{by} looked at {name}")
                score = values.get(name, 7)
                where: dict[str, Any] = {"iteration": self.iteration, "by": by, "dimension": name}
                self.add(event_plan.ScoreGiven(**where, score=score, evidence=told))
        return self

    def end(self, status: Any = "CONVERGED", verdict: Any = None, ended_by: Any = "ruling", **more: Any) -> PlanEvents:
        told = {key: self.say(value) if key == "exit_reason" else value for key, value in more.items()}
        outcome = event_run.PlanOutcome(ended_by=ended_by, status=status, verdict=verdict, **told)
        return self.add(event_run.RunEnded(outcome=outcome))

    @property
    def state(self) -> PlanState:
        return fold_plan(self.events)


def proceed(say: Say = str) -> PlanEvents:
    run = PlanEvents(say).assess().begin().call("challenger").challenge("C1").challenge("C2", "MINOR")
    run.vote("C1", "worker-unique", "all-others-disagree", *["counter-evidence"] * 3)
    run.call("synthesizer").move("C1", "RESOLVED").judge("CONVERGED", "PROCEED").scores()
    return run.close("CONVERGED", 7).end(verdict="PROCEED", score=7)


def revise(say: Say = str) -> PlanEvents:
    run = PlanEvents(say).assess().begin().call("challenger").challenge("C1").challenge("C2", alternative="")
    return run.judge("CONVERGED", "REVISE").scores().close("CONVERGED", 7).end(verdict="REVISE", score=7)


def strong(say: Say = str) -> PlanEvents:
    run = PlanEvents(say).assess("scaled", complexity=9).begin().call("challenger")
    for n in range(1, 5):
        run.challenge(f"C{n}", alternative=f"Mitigation {n}.")
    run.judge("CONVERGED", "REVISE", strong=True).close("CONVERGED")
    return run.end(verdict="REVISE", strong=True)


def rethink(say: Say = str) -> PlanEvents:
    run = (
        PlanEvents(say, rules={"max_iterations": 2})
        .assess()
        .begin()
        .call("challenger")
        .challenge("C1")
        .challenge("C2", "BLOCKING")
    )
    run.judge("BLOCKED", stated_status="CONVERGED", stated_verdict="PROCEED", differs=True)
    run.checkpoint("blocked", "How is C2 met?", "C2").close("BLOCKED").begin().move("C2", "UNRESOLVED")
    run.judge("FORCED_EXIT", "RETHINK").scores().close("FORCED_EXIT", 7)
    return run.end("FORCED_EXIT", "RETHINK", score=7)


def blocked(say: Say = str, **settings: Any) -> PlanEvents:
    run = PlanEvents(say, on_blocked="pause", **settings).assess().begin().call("challenger")
    run.challenge("C1").challenge("C3", "BLOCKING").judge("BLOCKED")
    return run.checkpoint("blocked", "How is C3 to be met?", "C3", pause_id="i1/pause-1")


def answered(run: PlanEvents, answer: Any, challenge: str | None = None) -> PlanEvents:
    note = run.say("We checked it.")
    return run.add(event_run.AnswerGiven(pause_id="i1/pause-1", answer=answer, challenge=challenge, note=note))


def aborted(say: Say = str) -> PlanEvents:
    reason = "aborted by the user: We checked it."
    return answered(blocked(say), "abort").close("FORCED_EXIT").end("FORCED_EXIT", None, "user", exit_reason=reason)


def overridden(say: Say = str) -> PlanEvents:
    run = answered(blocked(say), "override", "C3").scores().close("CONVERGED", 7)
    reason = "C3 was left out by a person's override"
    return run.end(verdict="REVISE", ended_by="user", overridden="C3", exit_reason=reason, score=7)


def acknowledged(say: Say = str) -> PlanEvents:
    run = answered(blocked(say), "acknowledge", "C3").move("C3", "RESOLVED", "user decision: We checked it.", by="user")
    return run.judge("CONVERGED", "REVISE").close("CONVERGED").end(verdict="REVISE")


def failed(say: Say = str) -> PlanEvents:
    run = PlanEvents(say).assess(notes=("line 9 is no text",)).begin().call("challenger").challenge("C1", "BLOCKING")
    run.add(
        event_plan.CeilingPassed(
            iteration=1, call_id="i1/challenger", role="challenger", tool="Grep", used=9, ceiling=5
        ),
        event_plan.EntryRefused(
            iteration=1, call_id="i1/challenger", agent="challenger", field="challenges", position=2,
            reason=run.say("severity: Input should be 'BLOCKING', got 'BAD'"),
        ),
        event_run.CallRequested(call_id="i1/synthesizer", worker="synthesizer", request_sha256="cd" * 32),
        event_run.CallFailed(call_id="i1/synthesizer", status="timeout", reason=run.say("no answer"), duration_ms=9),
        event_plan.AgentFailed(
            iteration=1, call_id="i1/synthesizer", agent="synthesizer", reason=run.say("timeout: no answer"),
            consequence="the run ends with what there is",
        ),
    )  # fmt: skip
    run.close("FORCED_EXIT")
    return run.end("FORCED_EXIT", None, "failures", exit_reason="synthesizer failed (timeout: no answer)")


def budget(say: Say = str) -> PlanEvents:
    run = PlanEvents(say, max_tokens=15_000).assess().begin().call("challenger", (14_000, 2_000)).challenge("C1")
    run.close("FORCED_EXIT")
    reason = "max_tokens: 16,000 tokens of 15,000 were used before synthesizer was called"
    return run.end("FORCED_EXIT", None, "budget", exit_reason=reason)


def trivial(say: Say = str) -> PlanEvents:
    reason = "trivial: nothing to challenge"
    return PlanEvents(say).assess(None, complexity=1).end(verdict="PROCEED", ended_by="sizing", exit_reason=reason)


def overflow(say: Say = str) -> PlanEvents:
    run = PlanEvents(say).assess().begin().call("challenger").challenge("C1", "MINOR")
    run.challenge(
        "C2", "BLOCKING", overflow="DEFERRED_PROBED", origin="probed", raised_by="P1", probability="MED", owed=True
    )
    run.severities.pop("C2")
    run.statuses.pop("C2")
    run.judge("CONVERGED", "PROCEED").close("CONVERGED")
    return run.end(verdict="REVISE", exit_reason="REVISE, not PROCEED: BLOCKING in overflow: C2")


def deferred(number: int, say: Say = str) -> PlanEvents:
    """So many DEFERRED challenges, and one whose overflow tag only begins with that word."""
    run = PlanEvents(say).assess().begin()
    for n in range(1, number + 1):
        run.challenge(f"C{n}", "MINOR").move(f"C{n}", "DEFERRED", f"later, see C{n}")
    run.challenge(f"C{number + 1}", "MINOR", overflow="DEFERRED_CHALLENGED")
    return run.judge("CONVERGED", "PROCEED").close("CONVERGED").end(verdict="PROCEED")


def full(say: Say = str) -> PlanEvents:
    """A run of three iterations with something in every section."""
    run = PlanEvents(say, synthetic=True, weights=dict.fromkeys(DIMENSIONS[:5], "0.2") | {DIMENSIONS[5]: "0.0"})
    run.assess("scaled", notes=("line 40: a table has no end",), complexity=9).begin()
    tools = (
        ToolUse(tool="Read", argument=say("src/store.py"), results=9),
        ToolUse(tool="Grep", argument=say("lock"), refused="used up"),
    )
    parts = (say("check stale_paths failed: ValueError: no such line"),)
    run.call("challenger", tools=tools, partial_failures=parts)
    run.challenge("C1", "BLOCKING", uncited=True, evidence="somewhere").challenge("C2")
    run.add(
        event_plan.ChallengeRefused(
            iteration=1, origin="devils-advocate", claim=say("Typo."), reason=say("it raises nothing MINOR")
        ),
        event_plan.UnknownListed(iteration=1, unknown=_unknown("U1", say)),
        event_plan.UnknownListed(iteration=1, unknown=_unknown("U2", say)),
        event_plan.UnknownResolved(
            iteration=1, id="U1", resolution="CONFIRMED", finding=say("[VERIFIED: src/store.py:3 | no lock | it races]")
        ),
        event_plan.ContextSurfaced(iteration=1, context=_context(say)),
        event_plan.RiskProbed(iteration=1, risk=_risk(say), evidence=say("src/store.py:3")),
    )
    run.challenge("C3", "MINOR", origin="surfaced", raised_by="S1", owed=True)
    run.challenge("C4", "SIGNIFICANT", overflow="DEFERRED_PROBED", origin="probed", raised_by="P1", probability="MED")
    run.vote("C1", "full-consensus", "survived", "agree", "agree", "agree")
    run.vote("C2", "contested", "hard-refute", "agree", "counter-evidence", "burden-not-met")
    run.vote("C3", "contested", "no-votes", *["verification-error"] * 3)
    run.call("synthesizer").move("C3", "DEFERRED", "not now", uncited=True)
    focus, sweep = Directive(kind="FOCUS", note=say("Look at locks")), Directive(kind="RE-SWEEP", items=("C1", "S1"))
    run.add(
        event_plan.StatusRefused(
            iteration=1, id="C1", new="WITHDRAWN", resolution=say("no"), reason=say("the panel held it")
        ),
        event_plan.DirectiveIssued(iteration=1, directive=focus),
        event_plan.DirectiveRefused(iteration=1, directive=sweep, reason=say("no trigger")),
    )
    run.judge("BLOCKED", stated_status="CONVERGED", stated_verdict="PROCEED", differs=True)
    run.checkpoint("blocked", "How is C1 met?", "C1", pause_id="i1/pause-1")
    answered(run, "context").close("BLOCKED").begin()
    run.add(
        event_plan.Restated(iteration=2, what="challenge", role="challenger", text=say("C1 again"), into="C1"),
        event_plan.PromotionRefused(iteration=2, id="C4", reason=say("8 are active")),
    )
    run.challenge("C5").challenge("C6", disputes="C3").judge("BLOCKED")
    run.checkpoint("degradation", "2 came and 0 were settled", "C5", "C6")
    run.close("BLOCKED").begin(tightened=True).checkpoint("stall", "nothing moved", "C1")
    run.add(event_plan.ChallengeAdmitted(iteration=3, id="C4", promoted=True))
    run.call("synthesizer", (90_000, 150_000)).move("C1", "RESOLVED").move("C5", "WITHDRAWN").judge(
        "CONVERGED", "REVISE", True
    )
    run.scores(without=("risk_coverage",)).scores("challenger", approach_soundness=3)
    refused = event_plan.ScoreRefused(
        iteration=3, by="synthesizer", dimension="risk_coverage", received={say("a"): "11"}, reason=say("is no score")
    )
    dispute = event_plan.ScoreDisputed(iteration=3, dimension="approach_soundness", synthesizer=7, challenger=3)
    return run.add(refused, dispute).close("CONVERGED").end(verdict="REVISE", strong=True)


def _unknown(name: Any, say: Say) -> Unknown:
    return Unknown(
        id=name, description=say("Is the store locked?"), type="FILE_MISSING", affects_challenge="C1",
        suggested_query=say("grep lock"),
    )  # fmt: skip


def _context(say: Say) -> SurfacedContext:
    return SurfacedContext(
        id="S1", source="git_history", location=say("1f2e3d4"), relevance=say("The lock was taken out."),
        impact="contradicts_plan", generates_challenge="C3",
    )  # fmt: skip


def _risk(say: Say) -> ProbedRisk:
    return ProbedRisk(
        id="P1", risk=say("The cache is stale."), trigger=say("two writers"), cascade=say("wrong totals"),
        probability="MED", severity="SIGNIFICANT", generates_challenge="C4",
    )  # fmt: skip


ENDINGS: dict[str, Callable[[Say], PlanEvents]] = {
    "proceed": proceed,
    "revise": revise,
    "strong": strong,
    "rethink": rethink,
    "paused": blocked,
    "aborted": aborted,
    "overridden": overridden,
    "acknowledged": acknowledged,
    "failed": failed,
    "budget": budget,
    "trivial": trivial,
    "overflow": overflow,
    "full": full,
    "four deferred": lambda say: deferred(4, say),
    "five deferred": lambda say: deferred(5, say),
}
"""Every way to end, by name."""
