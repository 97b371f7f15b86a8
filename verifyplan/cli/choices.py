"""The words that options take, one class a choice, by the names that the library has for them."""

from __future__ import annotations

from enum import StrEnum


class BackendName(StrEnum):
    """The players of the agents."""

    static = "static"
    anthropic = "anthropic"


class EffortName(StrEnum):
    """The effort of a model for an answer."""

    low = "low"
    medium = "medium"
    high = "high"
    xhigh = "xhigh"
    max = "max"


class PolicyName(StrEnum):
    """When to keep looking."""

    protocol = "protocol"
    deliberate = "deliberate"


class TeamName(StrEnum):
    """The teams that challenge a plan."""

    base = "base"
    scaled = "scaled"


class ModeName(StrEnum):
    """The modes of a vote."""

    adversarial = "adversarial"
    collaborative = "collaborative"


class VerificationName(StrEnum):
    """How workers verify a claim."""

    lightweight = "lightweight"
    full_reanalysis = "full-reanalysis"


class ReplayModeName(StrEnum):
    """The modes under which recorded votes are judged."""

    collaborative = "collaborative"
    adversarial = "adversarial"
    recorded = "recorded"


class MissingBasisName(StrEnum):
    """The ways to fill in a missing basis of a disagree."""

    infer = "infer"
    counter_evidence = "counter-evidence"
    burden_not_met = "burden-not-met"
    refuse = "raise"


class FilledBasisName(StrEnum):
    """The bases that a run fills in where an adversarial disagree has none."""

    infer = "infer"
    counter_evidence = "counter-evidence"
    burden_not_met = "burden-not-met"


class MatcherName(StrEnum):
    """The matchers that are chosen by name."""

    claim = "claim"
    likeness = "likeness"


class OnBlockedName(StrEnum):
    """The ways to go on where a challenge blocks a plan run."""

    ask = "ask"
    pause = "pause"
    carry_on = "continue"
