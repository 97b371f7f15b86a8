"""Count votes and classify: from a worker's votes to ballots, tallies, classes and sides (rules B3-B8).

Tally and rules take numbers and arrays alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, Literal, NamedTuple, get_args

from verifyplan.protocol.call import WorkerVote
from verifyplan.protocol.vote import Basis, Classification, MissingBasis, Mode, Verdict
from verifyplan.rules.answers import Votes
from verifyplan.rules.citations import cites_location

Rule = Literal[
    "round-0",
    "no-votes",
    "all-agree",
    "survived",
    "survived-with-caveat",
    "majority-agree",
    "lone-doubt",
    "burden-majority",
    "hard-refute",
    "no-majority",
    "all-others-disagree",
    "no-quorum",
    "majority-disagree",
    "any-disagree",
    "no-unanimity",
    "estimated-true",
    "estimated-false",
    "estimate-undecided",
]
RULES: tuple[Rule, ...] = get_args(Rule)
"""Every rule that can give a class, `round-0` (settled before any vote) included."""

CLASS_OF_RULE: dict[Rule, Classification | None] = {
    "no-votes": None,
    "all-agree": "full-consensus",
    "survived": "full-consensus",
    "survived-with-caveat": "partial-consensus",
    "majority-agree": "partial-consensus",
    "lone-doubt": "partial-consensus",
    "all-others-disagree": "worker-unique",
    "burden-majority": None,
    "hard-refute": None,
    "no-majority": None,
    "no-quorum": None,
    "majority-disagree": "worker-unique",
    "any-disagree": "worker-unique",
    "no-unanimity": None,
    "estimated-true": "partial-consensus",
    "estimated-false": "worker-unique",
    "estimate-undecided": None,
}
"""The class that a rule gives in the round it applies; None carries the finding on."""

RuleSet = Literal[Mode, "majority", "unanimous", "any-refute"]
"""What judges a round: the rules of a mode (rule B6), or a simpler aggregate (rule R2)."""

RULES_OF_MODE: dict[RuleSet, tuple[Rule, ...]] = {
    "collaborative": ("no-votes", "all-agree", "all-others-disagree", "majority-agree", "no-majority"),
    "adversarial": (
        "no-votes",
        "survived",
        "survived-with-caveat",
        "all-others-disagree",
        "hard-refute",
        "burden-majority",
        "lone-doubt",
    ),
    "majority": (
        "no-votes",
        "all-agree",
        "all-others-disagree",
        "majority-agree",
        "majority-disagree",
        "no-majority",
    ),
    "unanimous": ("no-votes", "all-agree", "all-others-disagree", "no-unanimity"),
    "any-refute": ("no-votes", "all-agree", "any-disagree"),
}
"""The rules of each set in the order they are tried; the last applies when no other does."""

HALF = Fraction(1, 2)


class Tally(NamedTuple):
    """Votes of one round by non-discoverers, errors left out (rule B5); ints, or arrays of one shape."""

    agree: Any
    supplement: Any
    counter_evidence: Any
    burden_not_met: Any

    @property
    def disagree(self) -> Any:
        """All who disagree, whatever their basis."""
        return self.counter_evidence + self.burden_not_met

    @property
    def n(self) -> Any:
        """All who voted."""
        return self.agree + self.supplement + self.disagree


def rule_index(tally: Tally, mode: RuleSet, majority: Fraction = HALF) -> Any:
    """Return which of `RULES_OF_MODE[mode]` decides the round: an index, or an array of indices.

    First match wins (rules B6, R2); a majority is more than the share `majority` of n. In collaborative mode and under
    the aggregates a disagree counts the same on either basis, so one without a basis may be tallied on either side;
    under the aggregates a supplement counts as an agree.

    >>> RULES_OF_MODE["adversarial"][rule_index(Tally(3, 0, 1, 0), "adversarial")]
    'hard-refute'
    >>> RULES_OF_MODE["majority"][rule_index(Tally(3, 0, 2, 0), "majority", Fraction(2, 3))]
    'no-majority'
    >>> import numpy as np
    >>> rule_index(Tally(np.array([2, 0]), np.array([0, 0]), np.array([0, 0]), np.array([0, 2])), "collaborative")
    array([1, 2])
    """
    n, disagree, agree = tally.n, tally.disagree, tally.agree + tally.supplement
    needed = majority.numerator * n

    def is_majority(votes: Any) -> Any:
        return majority.denominator * votes > needed

    match mode:
        case "collaborative":
            return _first_true(n == 0, disagree == 0, disagree == n, is_majority(agree))
        case "adversarial":
            return _first_true(
                n == 0,
                (disagree == 0) & (tally.supplement == 0),
                disagree == 0,
                disagree == n,
                tally.counter_evidence > 0,
                is_majority(tally.burden_not_met),
            )
        case "majority":
            return _first_true(n == 0, disagree == 0, disagree == n, is_majority(agree), is_majority(disagree))
        case "unanimous":
            return _first_true(n == 0, disagree == 0, disagree == n)
        case "any-refute":
            return _first_true(n == 0, disagree == 0)


def _first_true(*conditions: Any) -> Any:
    """Return the index of the first true condition, their number if none is; bools or boolean arrays."""
    index: Any = 0
    undecided: Any = True
    for condition in conditions:
        undecided = undecided & (condition ^ True)  # not `~`: that is not a negation of Python's bool
        index = index + undecided
    return index


def decide(tally: Tally, mode: Mode) -> tuple[Classification | None, Rule]:
    """Return the class that one round's votes give, and the rule; the class None carries the finding on.

    >>> decide(Tally(agree=1, supplement=0, counter_evidence=1, burden_not_met=0), "collaborative")
    (None, 'no-majority')
    """
    rule = RULES_OF_MODE[mode][rule_index(tally, mode)]
    return CLASS_OF_RULE[rule], rule


def at_end(rule_of_last_vote: Rule | None) -> tuple[Classification, Rule]:
    """Return the class of a finding still in the queue when the last executed round is over (rule B6).

    `rule_of_last_vote` is the rule of the last round with n > 0, None if nobody ever voted.

    >>> at_end("hard-refute"), at_end(None)
    (('contested', 'hard-refute'), ('worker-unique', 'no-votes'))
    """
    return ("worker-unique", "no-votes") if rule_of_last_vote is None else ("contested", rule_of_last_vote)


def tally(votes: list[tuple[Verdict, Basis | None]]) -> Tally:
    """Count one round's votes; the discoverers' own are left out by the caller, errors here (rule B5).

    >>> tally([("agree", None), ("disagree", "counter-evidence"), ("verification-error", None)])
    Tally(agree=1, supplement=0, counter_evidence=1, burden_not_met=0)
    """
    verdicts = [verdict for verdict, _ in votes]
    counter = votes.count(("disagree", "counter-evidence"))
    return Tally(
        agree=verdicts.count("agree"),
        supplement=verdicts.count("supplement"),
        counter_evidence=counter,
        burden_not_met=verdicts.count("disagree") - counter,
    )


LEFT_OUT = "left out: the dispatch completed without an answer on this item"


class Ballot(NamedTuple):
    """A vote as it counts and is recorded."""

    verdict: Verdict
    disagree_basis: Basis | None
    explanation: str
    basis_filled: bool = False


def ballots(asked: Sequence[str], votes: Votes, mode: Mode, missing_basis: MissingBasis = "infer") -> dict[str, Ballot]:
    """Return the votes of one completed dispatch as they count, one for each item asked about.

    An item that is left out or cannot be read is a `verification-error`, alone (rule B8). An adversarial disagree
    without a basis counts with the one that `missing_basis` gives it, and is marked (rule B4). A basis where none
    belongs is dropped: on other verdicts, and in collaborative runs.

    >>> from verifyplan.rules.answers import read_votes
    >>> votes = read_votes({"votes": {"F-1": {"verdict": "REFUTED", "explanation": "m.py:4 checks it"}}})
    >>> ballots(["F-1"], votes, "adversarial")["F-1"][1:]
    ('counter-evidence', 'm.py:4 checks it', True)
    """
    return {finding_id: _ballot(votes.get(finding_id), mode, missing_basis) for finding_id in asked}


def _ballot(vote: WorkerVote | str | None, mode: Mode, missing_basis: MissingBasis) -> Ballot:
    if vote is None:
        return Ballot("verification-error", None, LEFT_OUT)
    if isinstance(vote, str):
        return Ballot("verification-error", None, f"cannot be read: {vote}")
    if vote.verdict != "disagree" or mode == "collaborative":
        return Ballot(vote.verdict, None, vote.explanation)
    basis = vote.disagree_basis or basis_if_missing(vote.explanation, missing_basis)
    return Ballot("disagree", basis, vote.explanation, basis_filled=vote.disagree_basis is None)


def basis_if_missing(explanation: str | None, missing_basis: MissingBasis) -> Basis:
    """Return the basis that is filled in where a vote has none (rule B7).

    `infer`: counter-evidence if the explanation cites a place, else burden-not-met; `raise`, which a reader of the vote
    must refuse, gives burden-not-met.

    >>> basis_if_missing("m.py:4 checks it", "infer"), basis_if_missing("no proof", "infer")
    ('counter-evidence', 'burden-not-met')
    """
    if missing_basis == "infer":
        return "counter-evidence" if cites_location(explanation) else "burden-not-met"
    return "counter-evidence" if missing_basis == "counter-evidence" else "burden-not-met"


def failed(asked: Sequence[str], reason: str) -> dict[str, Ballot]:
    """Return the votes of a dispatch that gave no result: one `verification-error` an item (rule B8)."""
    return {finding_id: Ballot("verification-error", None, reason) for finding_id in asked}


def sides(
    roster: Sequence[str], discoverers: Iterable[str], rounds: Iterable[Mapping[str, Verdict]]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return who is for a finding and who is against it, each in roster order (rule B3).

    For it are the discoverers and the workers whose last vote was agree or supplement; against it, the workers whose
    last vote was disagree. Errors do not count as votes; a worker with errors alone is on neither side.

    >>> sides(["a", "b", "c"], ["b"], [{"a": "agree", "c": "disagree"}, {"c": "verification-error"}])
    (('a', 'b'), ('c',))
    """
    last: dict[str, Verdict] = {}
    for votes in rounds:
        last.update({worker: verdict for worker, verdict in votes.items() if verdict != "verification-error"})
    last.update(dict.fromkeys(discoverers, "agree"))
    return (
        tuple(worker for worker in roster if last.get(worker) in ("agree", "supplement")),
        tuple(worker for worker in roster if last.get(worker) == "disagree"),
    )
