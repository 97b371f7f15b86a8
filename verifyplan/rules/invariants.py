"""Check what must hold inside a state artifact beyond its shape (rules B7, B9)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from verifyplan.errors import Problem, SettingsError
from verifyplan.protocol.artifact import (
    COUNT_KEY_OF_CLASS,
    Artifact,
    ArtifactConfig,
    ArtifactFinding,
    ArtifactVote,
    RoundRecord,
)
from verifyplan.protocol.voting_rules import VotingRules
from verifyplan.strict_json import pointer_token
from verifyplan.text import counted


def violations(artifact: Artifact) -> list[Problem]:
    """Return all breaches of rule B9 in an artifact, each with its place (a JSON pointer) and its fix.

    A field that is None breaks nothing: older versions lack fields. An empty list means a sound artifact.

    >>> bad = Artifact.model_validate({"schemaVersion": "1.2", "findings": [], "totalRounds": 2,
    ...     "config": {"effectiveMaxRounds": 1}})
    >>> [problem.place for problem in violations(bad)]
    ['/totalRounds']
    """
    return [
        *_config(artifact),
        *_voting_rules(artifact),
        *_total(artifact),
        *_unique_ids(artifact),
        *(problem for i, finding in enumerate(artifact.findings) for problem in _finding(artifact, i, finding)),
        *_history(artifact),
        *_resolved(artifact),
        *_ending(artifact),
        *_counts(artifact),
    ]


def _config(artifact: Artifact) -> Iterator[Problem]:
    config = artifact.config
    if config.adversarial and config.verificationMode == "lightweight":
        message = "'lightweight' in an adversarial run, whose workers must open the evidence"
        yield Problem("/config/verificationMode", message, "write 'full-reanalysis', or adversarial false")
    if artifact.adversarial and config.verificationMode is None and artifact.schemaVersion == "1.2":
        message = "is missing in an adversarial run of schema 1.2"
        yield Problem("/config/verificationMode", message, "write 'full-reanalysis'")


def rules_of(config: ArtifactConfig) -> VotingRules | None:
    """Return the rules that decided an artifact's run, with its mode and rounds; None where they cannot be read.

    >>> from verifyplan.protocol.artifact import ArtifactConfig
    >>> rules_of(ArtifactConfig(adversarial=True, maxRounds=2, votingRules={"quorum": 2})).changed
    {'mode': 'adversarial', 'max_rounds': 2, 'quorum': 2}
    """
    mode = "adversarial" if config.adversarial else "collaborative"
    rounds = config.effectiveMaxRounds or config.maxRounds
    try:
        return VotingRules(**(config.votingRules or {}) | {"mode": mode, "max_rounds": rounds})
    except SettingsError:
        return None


def _voting_rules(artifact: Artifact) -> Iterator[Problem]:
    try:
        VotingRules(**(artifact.config.votingRules or {}))
    except SettingsError as error:
        for problem in error.problems:
            yield Problem(f"/config/votingRules/{problem.place}", problem.message, problem.fix)


def _total(artifact: Artifact) -> Iterator[Problem]:
    total, limit, history = artifact.totalRounds, artifact.config.effectiveMaxRounds, artifact.roundHistory
    if total is not None and limit is not None and total > limit:
        message = f"{counted(total, 'round')} ran where effectiveMaxRounds allows {limit}"
        yield Problem("/totalRounds", message, "correct whichever of the two is wrong")
    elif total is not None and history is not None and total != len(history):
        message = f"{total}, but roundHistory has {counted(len(history), 'round')}"
        yield Problem("/totalRounds", message, f"write {len(history)}, or complete roundHistory")


def _unique_ids(artifact: Artifact) -> Iterator[Problem]:
    seen: dict[str, int] = {}
    for i, finding in enumerate(artifact.findings):
        first = seen.setdefault(finding.findingId, i)
        if first != i:
            message = f"{finding.findingId!r} is the id of /findings/{first} already"
            yield Problem(f"/findings/{i}/findingId", message, "give each finding an id of its own")


def _finding(artifact: Artifact, index: int, finding: ArtifactFinding) -> Iterator[Problem]:
    place = f"/findings/{index}/rounds"
    for i, entry in enumerate(finding.rounds or ()):
        if entry.round != i + 1:
            message = f"round {entry.round} is recorded in the place of round {i + 1}"
            yield Problem(f"{place}/{i}/round", message, "number the rounds 1, 2, 3 without gaps")
        for worker, vote in entry.votes.items():
            yield from _vote(artifact.adversarial, f"{place}/{i}/votes/{pointer_token(worker)}/disagreeBasis", vote)


def _vote(adversarial: bool, place: str, vote: ArtifactVote) -> Iterator[Problem]:
    basis = vote.disagreeBasis
    if vote.verdict == "disagree" and adversarial and basis is None:
        message = "null on a disagree of an adversarial run"
        yield Problem(place, message, "write 'counter-evidence' or 'burden-not-met'")
    if basis is not None and vote.verdict != "disagree":
        yield Problem(place, f"{basis!r} on a vote that is {vote.verdict!r}", "write null")
    elif basis is not None and not adversarial:
        yield Problem(place, f"{basis!r} in a collaborative run", "write null, or config.adversarial true")


def _history(artifact: Artifact) -> Iterator[Problem]:
    for i, entry in enumerate(artifact.roundHistory or ()):
        if entry.round != i + 1:
            message = f"round {entry.round} is recorded in the place of round {i + 1}"
            yield Problem(f"/roundHistory/{i}/round", message, "number the rounds 1, 2, 3 without gaps")
        yield from _queue(f"/roundHistory/{i}/carriedForwardCount", entry)
        yield from _dispatched_once(f"/roundHistory/{i}/dispatches", entry)


def _queue(place: str, entry: RoundRecord) -> Iterator[Problem]:
    size, resolved, carried = entry.inputQueueSize, entry.resolvedCount, entry.carriedForwardCount
    if size is not None and resolved is not None and carried is not None and carried != size - resolved:
        message = f"{carried} is not inputQueueSize {size} minus resolvedCount {resolved}"
        yield Problem(place, message, f"write {size - resolved}, or correct the other two")


def _resolved(artifact: Artifact) -> Iterator[Problem]:
    """`resolvedCount` counts the classes that a round gave; `contested` is given once no round is left (rule B9).

    Under other rules than these a finding may get its class later than its votes say, as in supplementary runs. A run
    that was aborted did not judge its last round, which may have votes: a limit may have cut it off.
    """
    findings = artifact.findings
    if artifact.config.votingRules or artifact.config.supplementary:
        return
    if not findings or any(finding.rounds is None or finding.classification is None for finding in findings):
        return
    settled = Counter(len(finding.rounds or ()) for finding in findings if _given_by_votes(finding))
    history = artifact.roundHistory or ()
    for i, entry in enumerate(history[:-1] if artifact.finalState == "aborted-non-result" else history):
        if entry.resolvedCount is not None and entry.resolvedCount != settled[i + 1]:
            message = f"{entry.resolvedCount}, but {counted(settled[i + 1], 'finding')} got a class in round {i + 1}"
            yield Problem(
                f"/roundHistory/{i}/resolvedCount", message, f"write {settled[i + 1]}, or correct the findings"
            )


def _given_by_votes(finding: ArtifactFinding) -> bool:
    """Return whether the votes of the last round gave the class; `worker-unique` is also what is left without any."""
    if finding.classification != "worker-unique" or not finding.rounds:
        return finding.classification != "contested"
    votes = finding.rounds[-1].votes.items()
    return any(vote.verdict != "verification-error" for worker, vote in votes if worker != finding.originWorker)


def _ending(artifact: Artifact) -> Iterator[Problem]:
    """Yield a problem where the loop did not end as its history says (rule B9)."""
    history = artifact.roundHistory
    rounds = artifact.totalRounds if history is None else len(history)
    left = history[-1].carriedForwardCount if history else None
    if artifact.finalState == "converged" and left:
        message = f"'converged', but {counted(left, 'finding')} stayed in the queue after the last round"
        yield Problem("/finalState", message, "write 'max-rounds-reached' or 'aborted-non-result'")
    if artifact.round2SkippedReason == "not-skipped" and rounds is not None and rounds < 2:
        message = f"'not-skipped', but {counted(rounds, 'round')} ran"
        yield Problem(
            "/round2SkippedReason", message, "write 'queue-empty', 'max-rounds-1' or 'all-reverify-non-result'"
        )


def _dispatched_once(place: str, entry: RoundRecord) -> Iterator[Problem]:
    """Yield a second dispatch of a worker in a round (rule B3), which would hide how the first ended."""
    workers = [dispatch.worker for dispatch in entry.dispatches or ()]
    for i, worker in enumerate(workers):
        if worker in workers[:i]:
            yield Problem(f"{place}/{i}/worker", f"{worker!r} was dispatched already", "keep one dispatch a worker")


def _counts(artifact: Artifact) -> Iterator[Problem]:
    counts = artifact.finalClassificationCounts
    if counts is None or any(finding.classification is None for finding in artifact.findings):
        return
    counted_classes = Counter(finding.classification for finding in artifact.findings)
    for classification, key in COUNT_KEY_OF_CLASS.items():
        recorded = getattr(counts, key)
        if recorded is not None and recorded != counted_classes[classification]:
            message = f"{recorded}, but {counted_classes[classification]} findings are {classification}"
            yield Problem(f"/finalClassificationCounts/{key}", message, f"write {counted_classes[classification]}")
