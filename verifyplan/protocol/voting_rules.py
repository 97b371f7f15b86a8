"""The rules of a vote as a value: what counts, what decides a round, who is asked, when to stop (rule R2)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction
from math import lcm
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, PlainSerializer, Tag

from verifyplan.protocol.base import Model
from verifyplan.protocol.rules_value import Count, Exact, RulesValue, exact_fraction, plain_integer
from verifyplan.protocol.vote import MissingBasis, Mode, Name

MODE_NOTE = (
    "in a replay the mode changes only how votes count; "
    "a live run in another mode asks its workers by other prompts, too"
)
"""What a reader must know of rules that differ in their modes."""

Aggregate = Literal["rules", "majority", "unanimous", "any-refute", "first-round", "dawid-skene"]
Refutes = Literal["round", "sticky"]
LostVotes = Literal["leave-out", "last-vote", "as-disagree", "as-agree"]
Uncited = Literal["keep", "as-burden"]
Caveats = Literal["partial", "as-agree"]
Pruning = Literal["queue", "none"]

MAX_ROUNDS = 1_000_000
MAX_WHOLE_WEIGHT = 2**36
"""Weights, in proportion as whole numbers, are at most this, so that weighed tallies stay exact in 64 bits."""


class MarginStop(Model):
    """Ask one worker after the other until one side of the round leads by so many votes."""

    margin: Count = Field(
        description="Votes by which agree and supplement lead disagree, or the other way, that end a round."
    )


class SequentialStop(Model):
    """Ask one worker after the other until Wald's test decides whether the claim is true (Wald 1945).

    A vote for a true claim, or against a false one, has the probability `accuracy`, independently of the others.
    """

    accuracy: Annotated[Exact, Field(gt=Fraction(1, 2), lt=1)] = Field(
        default=Fraction(4, 5), description="The probability that a vote is right, above 1/2."
    )
    false_accept: Annotated[Exact, Field(gt=0, lt=Fraction(1, 2))] = Field(
        default=Fraction(1, 20), description="The probability of accepting a false claim that is allowed."
    )
    false_reject: Annotated[Exact, Field(gt=0, lt=Fraction(1, 2))] = Field(
        default=Fraction(1, 20), description="The probability of rejecting a true claim that is allowed."
    )


def _stop_kind(value: object) -> str | None:
    """Return the tag of the kind of stop that a value is, None for none: a mapping is what its fields say."""
    if value == "round":
        return "<round>"
    if isinstance(value, MarginStop) or (isinstance(value, Mapping) and "margin" in value):
        return "<margin>"
    tests = isinstance(value, Mapping) and set(value) <= set(SequentialStop.model_fields)
    return "<test>" if tests or isinstance(value, SequentialStop) else None


Stop = Annotated[
    Annotated[Literal["round"], Tag("<round>")]
    | Annotated[MarginStop, Tag("<margin>")]
    | Annotated[SequentialStop, Tag("<test>")],
    Discriminator(
        _stop_kind,
        custom_error_type="stop_kind",
        custom_error_message="must be 'round', {'margin': 2} or {'accuracy': 0.8}",
    ),
]


def _quorum(value: object) -> int | Fraction:
    """Return a whole number of votes as it is, and a share as an exact fraction."""
    value = plain_integer(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str) and value.isdigit():
        return int(value)
    try:
        return exact_fraction(value)
    except ValueError:
        raise ValueError("must be a number of votes, or a share such as '2/3'") from None


def _check_quorum(value: int | Fraction) -> int | Fraction:
    if value < 0 or (isinstance(value, Fraction) and not 0 < value <= 1):
        raise ValueError("must be a number of votes from 0, or a share above 0 and at most 1")
    return value


def _quorum_json(value: int | Fraction) -> int | str:
    return value if isinstance(value, int) else f"{value.numerator}/{value.denominator}"  # 1 is a vote, "1/1" all


Quorum = Annotated[
    int | Fraction,
    BeforeValidator(_quorum),
    AfterValidator(_check_quorum),
    PlainSerializer(_quorum_json),
]
"""A number of votes (an integer) or a share of those asked (0.5, "2/3", Fraction(2, 3), or 1.0 for all)."""


def _check_weights(weights: dict[str, Fraction] | None) -> dict[str, Fraction] | None:
    """Return the weights that are not 1, which all others are."""
    if not weights:
        return None
    if any(weight < 0 for weight in weights.values()):
        raise ValueError("must be at least 0 each")
    scale = lcm(*(weight.denominator for weight in weights.values()))
    if scale > MAX_WHOLE_WEIGHT or any(weight * scale > MAX_WHOLE_WEIGHT for weight in weights.values()):
        raise ValueError(f"must be at most {MAX_WHOLE_WEIGHT:,} each, in proportion as whole numbers; round them")
    return {name: weights[name] for name in sorted(weights) if weights[name] != 1} or None


def _check_order(order: tuple[str, ...] | None) -> tuple[str, ...] | None:
    if order is not None and (not order or len(set(order)) < len(order)):
        raise ValueError("must name at least one worker, each once; None asks in roster order")
    return order


def _check_workers(workers: tuple[str, ...] | None) -> tuple[str, ...] | None:
    """Return the workers by name: they are asked in roster order."""
    if workers is not None and (not workers or len(set(workers)) < len(workers)):
        raise ValueError("must name at least one worker, each once; None counts all")
    return workers and tuple(sorted(workers))


class VotingRules(RulesValue):
    """The rules of a vote, as one value for live runs, replays and tables of votes; neutral fields are rules B4-B7.

    A share, such as `majority`, is exact: 0.5, "2/3" and Fraction(2, 3) are taken. docs/rules.md says for each field
    where it comes from and what happens at its extremes. Raises SettingsError, listing all that is wrong. Source: rule
    R2.

    >>> rules = VotingRules(mode="adversarial", majority="2/3", refutes="sticky")
    >>> print(VotingRules.preset("adversarial").diff(rules))
    majority: 1/2 -> 2/3
    refutes: round -> sticky
    >>> VotingRules.from_json(rules.to_json()) == rules
    True
    """

    mode: Mode | None = Field(
        default=None,
        description="The rules that judge a round, and in a live run what workers are asked; None: that of the run.",
    )
    max_rounds: Annotated[Count, Field(le=MAX_ROUNDS)] | None = Field(
        default=None, description="Rounds that are allowed; None: those that the run allowed."
    )
    majority: Annotated[Exact, Field(ge=0, lt=1)] = Field(
        default=Fraction(1, 2), description="A side is a majority if it has more than this share of the votes."
    )
    refutes: Refutes = Field(
        default="round",
        description="`round`: each round is judged on its own votes; `sticky`: a counter-evidence counts in later "
        "rounds that have votes until its author votes otherwise, also where the author's vote is lost or missing.",
    )
    lost_votes: LostVotes = Field(
        default="leave-out",
        description="A vote that failed: is left out; takes its worker's last vote of earlier rounds, if there is one; "
        "or is taken as a counter-evidence or as an agree, the two bounds.",
    )
    quorum: Quorum = Field(
        default=0,
        description="Votes (an integer), or a share of those asked (a fraction), below which a round decides nothing.",
    )
    missing_basis: MissingBasis = Field(
        default="infer",
        description="The basis of an adversarial disagree that has none: `infer` (counter-evidence if its explanation "
        "cites a place), one of the two bases, or `raise`.",
    )
    uncited: Uncited = Field(
        default="keep",
        description="A counter-evidence whose explanation cites no place: counts, or counts as burden-not-met.",
    )
    caveats: Caveats = Field(
        default="partial", description="A supplement: survives with a caveat (partial consensus), or counts as agree."
    )
    workers: Annotated[tuple[Name, ...], AfterValidator(_check_workers)] | None = Field(
        default=None, description="The workers that are asked and counted; None: all."
    )
    weights: Annotated[dict[Name, Exact], AfterValidator(_check_weights)] | None = Field(
        default=None, description="What the vote of a worker weighs; 1 for a worker that is not named."
    )
    pruning: Pruning = Field(
        default="queue",
        description="`queue`: a finding leaves in the round that classifies it; `none`: every finding is voted on in "
        "every round, and the last round with a vote decides.",
    )
    aggregate: Aggregate = Field(
        default="rules",
        description="What decides a round: the rules of the mode; a majority of either side; unanimity; a single "
        "disagree; the rules of the mode on the first round with a vote, whatever it gives; or, over all findings of a "
        "run, the Dawid-Skene posterior of the last round.",
    )
    stop: Stop = Field(
        default="round",
        description="`round`: all workers of a round are asked at once; a margin or a sequential test: one after the "
        "other, until it decides.",
    )
    order: Annotated[tuple[Name, ...], AfterValidator(_check_order)] | None = Field(
        default=None,
        description="The workers in the order in which they are asked where a round can stop, those that are not named "
        "after them; None: roster order.",
    )

    @property
    def treatment(self) -> dict[str, Any]:
        """The fields that are not neutral, as JSON holds them, but mode and rounds, which every run has of its own.

        >>> VotingRules(mode="adversarial", max_rounds=2, quorum=2).treatment
        {'quorum': 2}
        """
        return {name: value for name, value in self.changed.items() if name not in ("mode", "max_rounds")}

    @property
    def asks_all(self) -> bool:
        """Whether every finding is voted on in every round, and gets its class in the last one."""
        return self.pruning == "none" or self.aggregate == "dawid-skene"

    def asked_of(self, roster: Sequence[str]) -> tuple[str, ...]:
        """Return the workers of a roster that the rules ask, in its order.

        >>> VotingRules(workers=("cy", "ann")).asked_of(["ann", "bob", "cy"])
        ('ann', 'cy')
        """
        return tuple(worker for worker in roster if self.workers is None or worker in self.workers)

    def asking_order(self, roster: Sequence[str]) -> list[int]:
        """Return the positions of a roster's workers in the order in which a round that can stop asks them.

        >>> VotingRules(order=["cy", "bob"]).asking_order(["ann", "bob", "cy"])
        [2, 1, 0]
        """
        place = {name: number for number, name in enumerate(self.order or ())}
        return sorted(range(len(roster)), key=lambda position: place.get(roster[position], len(place)))

    def not_in(self, roster: Collection[str]) -> dict[str, list[str]]:
        """Return the workers that fields name and a roster lacks, by field; empty where there are none.

        >>> VotingRules(workers=("ann", "bo"), weights={"bob": 2}).not_in(["ann", "bob"])
        {'workers': ['bo']}
        """
        named: dict[str, Collection[str]] = {
            "workers": self.workers or (),
            "weights": self.weights or {},
            "order": self.order or (),
        }
        absent = {name: [worker for worker in workers if worker not in roster] for name, workers in named.items()}
        return {name: workers for name, workers in absent.items() if workers}

    NEUTRAL_WORDS: ClassVar[Mapping[str, str]] = {
        "mode": "as recorded",
        "max_rounds": "as recorded",
        "quorum": "no quorum",
        "workers": "all workers",
        "weights": "equal weights",
        "stop": "no stop",
        "order": "roster order",
    }
    ADDED_FIELDS: ClassVar[frozenset[str]] = frozenset({"order"})
    PRESETS: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "as-recorded": {},
        "adversarial": {"mode": "adversarial"},
        "collaborative": {"mode": "collaborative"},
        "majority": {"aggregate": "majority"},
        "two-thirds": {"aggregate": "majority", "majority": "2/3"},
        "unanimous": {"aggregate": "unanimous"},
        "any-refute": {"aggregate": "any-refute"},
        "sticky-refutes": {"mode": "adversarial", "refutes": "sticky"},
        "cited-refutes": {"mode": "adversarial", "uncited": "as-burden"},
        "first-round": {"aggregate": "first-round"},
        "no-pruning": {"pruning": "none"},
        "margin-2": {"stop": {"margin": 2}},
        "dawid-skene": {"aggregate": "dawid-skene"},
    }
