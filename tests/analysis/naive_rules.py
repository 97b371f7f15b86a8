"""Voting rules read sentence by sentence, as loops over rounds and workers: an oracle that shares no code with ours."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import log, prod
from typing import Any

Vote = tuple[str, str | None, bool]
"""A verdict, its basis, and whether its explanation cites a place."""
Round = dict[str, Vote]
"""The votes of a round by worker; errors included, discoverers not."""


def judged(rounds: list[Round], roster: list[str], rules: Any, mode: str, allowed: int) -> tuple[str, int, str]:
    """Return the class of a finding, the round that decided it, and the rule."""
    held = rounds[:allowed]
    decisions = [decision(tally, rules, mode) for tally in tallies(held, roster, rules, mode)]
    voted = [number for number, rule in enumerate(decisions, 1) if rule != "no-votes"]
    if not voted:
        return "worker-unique", len(held), "no-votes"
    if rules.aggregate == "first-round":
        reads = voted[:1]
    elif rules.pruning == "none":
        reads = voted[-1:]
    else:
        reads = voted
    for number in reads:
        if decisions[number - 1] in CLASS:
            return CLASS[decisions[number - 1]], number, decisions[number - 1]
    end = reads[-1] if rules.aggregate == "first-round" else len(held)
    return "contested", end, decisions[reads[-1] - 1]


CLASS = {
    "all-agree": "full-consensus",
    "survived": "full-consensus",
    "survived-with-caveat": "partial-consensus",
    "majority-agree": "partial-consensus",
    "lone-doubt": "partial-consensus",
    "all-others-disagree": "worker-unique",
    "majority-disagree": "worker-unique",
    "any-disagree": "worker-unique",
}


def tallies(held: list[Round], roster: list[str], rules: Any, mode: str) -> list[list[tuple[str, str | None]]]:
    """Return, for each round, the worker and the kind of each vote that is asked for; the kind None is a lost one."""
    last: dict[str, str] = {}
    out = []
    for cast in held:
        kinds = asked_for(cast, last, roster, rules, mode)
        if rules.lost_votes == "last-vote":
            kinds = {worker: kind or last.get(worker) for worker, kind in kinds.items()}
        if rules.refutes == "sticky" and any(kinds.values()):
            for worker, kind in last.items():
                if kind == "counter" and not kinds.get(worker):
                    kinds[worker] = "counter"
        last.update({worker: kind for worker, kind in kinds.items() if kind})
        out.append(list(kinds.items()))
    return out


def asked_for(cast: Round, last: dict[str, str], roster: list[str], rules: Any, mode: str) -> dict[str, str | None]:
    """Return what each vote that a round asks for counts as by itself; a vote never cast ends what was before."""
    kinds: dict[str, str | None] = {}
    lead = 0
    first = [worker for worker in rules.order or () if worker in roster]
    for worker in [*first, *(name for name in roster if name not in first)]:
        if rules.workers is not None and worker not in rules.workers:
            continue
        if has_stopped(lead, rules):
            break
        if worker in cast:
            kinds[worker] = kind_of(cast[worker], rules, mode)
            lead += {"agree": 1, "supplement": 1, "burden": -1, "counter": -1}.get(kinds[worker] or "", 0)
        elif rules.workers is not None:  # never cast: nobody knows what it would have ended
            last.pop(worker, None)
    return kinds


def has_stopped(lead: int, rules: Any) -> bool:
    """Return whether a lead of votes ends a round."""
    if rules.stop == "round":
        return False
    if hasattr(rules.stop, "margin"):
        return abs(lead) >= rules.stop.margin
    odds = log(rules.stop.accuracy / (1 - rules.stop.accuracy))
    for_it, against_it = 1 - rules.stop.false_reject, 1 - rules.stop.false_accept
    accepts = log(for_it / rules.stop.false_accept)
    rejects = log(against_it / rules.stop.false_reject)
    return lead * odds >= accepts - 1e-9 or -lead * odds >= rejects - 1e-9


def kind_of(vote: Vote, rules: Any, mode: str) -> str | None:
    """Return what one vote counts as; collaborative mode knows no bases."""
    kind = kind_in_attack(vote, rules)
    return "burden" if kind == "counter" and mode == "collaborative" else kind


def kind_in_attack(vote: Vote, rules: Any) -> str | None:
    """Return what one vote counts as in adversarial mode."""
    verdict, basis, cites = vote
    if verdict == "verification-error":
        return {"as-agree": "agree", "as-disagree": "counter"}.get(rules.lost_votes)
    if verdict == "supplement":
        return "agree" if rules.caveats == "as-agree" else "supplement"
    if verdict == "agree":
        return "agree"
    if basis is None:
        inferred = {"infer": "counter-evidence" if cites else "burden-not-met"}
        basis = inferred.get(rules.missing_basis, rules.missing_basis)
    if basis == "counter-evidence" and not cites and rules.uncited == "as-burden":
        return "burden"
    return "counter" if basis == "counter-evidence" else "burden"


def decision(votes: list[tuple[str, str | None]], rules: Any, mode: str) -> str:
    """Return the rule of a round."""
    counting = [(worker, kind) for worker, kind in votes if kind]
    weight: Counter[str] = Counter()
    for worker, kind in counting:
        weight[kind] += (rules.weights or {}).get(worker, Fraction(1))
    n = sum(weight.values())
    needed = rules.quorum * len(votes) if isinstance(rules.quorum, Fraction) else rules.quorum
    if n == 0:
        return "no-votes"
    if len(counting) < needed:
        return "no-quorum"
    against = weight["burden"] + weight["counter"]
    agrees = weight["agree"] + weight["supplement"]
    if rules.aggregate == "any-refute":
        return "any-disagree" if against else "all-agree"
    if rules.aggregate in ("majority", "unanimous") or mode == "collaborative":
        return of_sides(agrees, against, rules)
    return of_attack(weight, agrees, against, rules)


def of_sides(agrees: Any, against: Any, rules: Any) -> str:
    """Return the rule of a round in which the basis of a disagree does not matter."""
    n = agrees + against
    if not against:
        return "all-agree"
    if not agrees:
        return "all-others-disagree"
    if rules.aggregate == "unanimous":
        return "no-unanimity"
    if agrees > rules.majority * n:
        return "majority-agree"
    if rules.aggregate == "majority" and against > rules.majority * n:
        return "majority-disagree"
    return "no-majority"


def of_attack(weight: Counter[str], agrees: Any, against: Any, rules: Any) -> str:
    """Return the rule of a round in adversarial mode."""
    if not against:
        return "survived-with-caveat" if weight["supplement"] else "survived"
    if not agrees:
        return "all-others-disagree"
    if weight["counter"]:
        return "hard-refute"
    return "burden-majority" if weight["burden"] > rules.majority * (agrees + against) else "lone-doubt"


def estimated(votes: list[dict[str, bool]], iterations: int = 300) -> list[float]:
    """Return the Dawid-Skene posterior that each finding is true, from who is for it (True) and who against it."""
    true = [sum(cast.values()) / len(cast) for cast in votes]
    workers = sorted({worker for cast in votes for worker in cast})
    for _ in range(iterations):
        prior = sum(true) / len(true)
        says_yes = {}
        for worker in workers:
            for state in (True, False):
                share = [p if state else 1 - p for p in true]
                asked = sum(s for s, cast in zip(share, votes, strict=True) if worker in cast)
                yes = sum(s for s, cast in zip(share, votes, strict=True) if cast.get(worker))
                says_yes[worker, state] = yes / asked if asked else 0.5
        for place, cast in enumerate(votes):
            odds = [
                chance
                * prod(
                    max(p if says else 1 - p, 1e-10) for worker, says in cast.items() for p in [says_yes[worker, state]]
                )
                for state, chance in ((True, prior), (False, 1 - prior))
            ]
            true[place] = odds[0] / sum(odds)
    return true
