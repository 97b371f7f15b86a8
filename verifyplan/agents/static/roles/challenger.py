"""The agents that run the static checks: the challenger, its two companions, and the scores (rules A5, A10, G2).

Each check runs on its own: one that raises costs the others nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from verifyplan.agents.static.roles import check_files, check_packages, check_questions, check_rules, check_symbols
from verifyplan.agents.static.roles.context import RoleContext
from verifyplan.agents.static.roles.issues import (
    Assertion,
    CheckResults,
    CitedLine,
    IssueKind,
    StaticIssue,
    first_cited,
    read_assertion,
)
from verifyplan.agents.static.roles.research import unknowns
from verifyplan.protocol.records import Dimension, Severity
from verifyplan.protocol.role_call import ChallengerAnswer, ChallengesAnswer, GivenScore, ScoreAnswer
from verifyplan.text import counted

StaticPlanCheck = Callable[[RoleContext], Iterator[CitedLine | StaticIssue]]
"""Yields the places of the plan that it looked at, and the issues there."""

STATIC_PLAN_CHECKS: dict[str, StaticPlanCheck] = {
    "files": check_files.check_files,
    "commands": check_files.check_commands,
    "packages": check_packages.check_packages,
    "symbols": check_symbols.check_symbols,
    "dependents": check_symbols.check_dependents,
    "rules": check_rules.check_rules,
    "questions": check_questions.check_questions,
}
"""The checks by name, in the order in which they run."""
MAX_CHALLENGES = 20
"""Challenges of one answer, the worst first: a challenge that exceeds the caps is kept as overflow, within reason."""
UNKNOWN_SCORE = 5
"""The score of a dimension about which nothing was looked at."""

_COST: dict[Severity, int] = {"BLOCKING": 5, "SIGNIFICANT": 2, "MINOR": 1}
_DIMENSION_CHECKS: dict[Dimension, dict[str, IssueKind]] = {
    "approach_soundness": {},
    "risk_coverage": {"questions": "question", "dependents": "dependents"},
    "assumption_validity": {"files": "file-missing", "symbols": "symbol-missing"},
    "integration_feasibility": {"commands": "command-missing", "packages": "package-missing"},
    "constraint_alignment": {"rules": "rule-broken"},
}
"""The checks of a dimension, and the challenges that lower it; challenges in other words lower the approach."""


def check_results(context: RoleContext) -> CheckResults:
    """Return the results of all checks; a check that raised is named in the context's failures.

    The checks see the plan and the repository, and nothing else of a call, so each repository that was opened has its
    results.
    """
    if context.index.checked is None:
        context.index.checked = _run_checks(context)
    context.failures.extend(context.index.checked.failures)
    return context.index.checked


def _run_checks(context: RoleContext) -> CheckResults:
    """Run all checks; of a check that raises, the results so far count."""
    results = CheckResults()
    context = replace(context, failures=results.failures)
    for name, check in STATIC_PLAN_CHECKS.items():
        places = results.looked.setdefault(name, [])
        for result in context.isolated(f"check {name}", lambda check=check: check(context)):  # type: ignore[misc]
            if isinstance(result, StaticIssue):
                results.issues.append(result)
            else:
                places.append(result)
    return results


def answer(context: RoleContext) -> ChallengerAnswer:
    """Return the challenges of the checks that nobody has raised yet, the worst first, and the open questions.

    MINOR challenges are raised only as far as the cap leaves room; others always, so that the excess is recorded as
    overflow and not lost, up to 20.
    """
    new = context.new(check_results(context).issues)[:MAX_CHALLENGES]
    room = context.request.may_raise
    kept = [issue for at, issue in enumerate(new) if issue.severity != "MINOR" or at < room]
    questions = tuple(context.isolated("unknowns", lambda: unknowns(context, kept)))
    return ChallengerAnswer(challenges=tuple(context.challenge(issue) for issue in kept), unknowns=questions)


def ask_questions(context: RoleContext, by: str) -> ChallengesAnswer:
    """Return the questions of one agent, as many as the cap allows.

    Those of the domain expert are of the plan's domains, those of the devil's advocate on what cannot be undone, never
    MINOR and never of LOW confidence.
    """
    results = context.isolated("check questions", lambda: check_questions.check_questions(context, by))
    new = context.new(result for result in results if isinstance(result, StaticIssue))[: context.request.may_raise]
    return ChallengesAnswer(challenges=tuple(context.challenge(issue) for issue in new))


def score(context: RoleContext) -> ScoreAnswer:
    """Return the synthesizer's scores: 10 after a look and 5 without, less what is still unsettled."""
    against = []
    for challenge in context.unsettled:
        place = first_cited(context.request.evidence.get(challenge.id, ""))
        named = f"{challenge.id} ({place})" if place else challenge.id
        against.append((_dimension(read_assertion(challenge.claim)), challenge.severity, named))
    return _scores(context, check_results(context), against)


def audit(context: RoleContext) -> ScoreAnswer:
    """Return the challenger's scores, by the issues of the checks in the plan as it is, settled or not."""
    results = check_results(context)
    against = [(_dimension(issue.assertion), issue.severity, context.at(issue.line)) for issue in results.issues]
    return _scores(context, results, against)


def _scores(
    context: RoleContext, results: CheckResults, against: Sequence[tuple[Dimension, Severity, str]]
) -> ScoreAnswer:
    scores: dict[str, GivenScore] = {}
    for dimension, checks in _DIMENSION_CHECKS.items():
        looked = list(dict.fromkeys(place.line for check in checks for place in results.looked.get(check, [])))
        costs = [(_COST[severity], named) for lowered, severity, named in against if lowered == dimension]
        what = ", ".join(checks) or "the approach"
        evidence = f"Nothing was looked at for {what}; the plan begins at {_first(context)}."
        if looked:
            evidence = f"Looked at {counted(len(looked), 'line')} for {what}: "
            evidence += f"{', '.join(context.at(line) for line in looked[:3])}."
        if costs:
            evidence += f" Against it: {', '.join(named for _, named in costs)}."
        value = (10 if looked else UNKNOWN_SCORE) - sum(cost for cost, _ in costs)
        scores[dimension] = GivenScore(score=max(1, value), evidence=evidence)
    scores["unknowns_coverage"] = _unknowns_score(context)
    return ScoreAnswer(scores=scores)


def _unknowns_score(context: RoleContext) -> GivenScore:
    asked = context.request.unknowns
    if not asked:
        evidence = f"Nothing was looked at: the plan marks nothing as open from {_first(context)} on."
        return GivenScore(score=UNKNOWN_SCORE, evidence=evidence)
    open_ = [unknown.id for unknown in asked if unknown.resolution in (None, "UNRESOLVABLE")]
    wrong = [unknown.id for unknown in asked if unknown.resolution == "REFUTED"]
    named = ", ".join([*open_, *wrong]) or "none"
    counts = f"Of {counted(len(asked), 'unknown')}, {len(open_)} are open and {len(wrong)} refuted: {named}"
    value = max(1, 10 - 2 * len(open_) - 3 * len(wrong))
    return GivenScore(score=value, evidence=f"{counts}; {_first(context)}.")


def _dimension(asserted: Assertion | None) -> Dimension:
    lowered = (name for name, checks in _DIMENSION_CHECKS.items() if asserted and asserted.kind in checks.values())
    return next(lowered, "approach_soundness")


def _first(context: RoleContext) -> str:
    """Return the first line of the plan's body that says something, as a citation."""
    lines = enumerate(context.plan.lines, 1)
    return context.at(next((at for at, line in lines if line.strip() and at >= context.plan.body), 1))
