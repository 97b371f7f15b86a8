"""Folders of run files of the real shape, to time reading: seeded, synthetic, sound by rule B9."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

from verifyplan.protocol.artifact import COUNT_KEY_OF_CLASS

WORKERS = ("ann", "bob", "cy", "dee", "eve")
FINDINGS, SECOND_ROUND = 10, 3
"""Of a run's findings so many go into a second round; four workers vote on each: 52 votes a run."""

_TEXT = """handler reads its input before the check runs so that a caller without rights gets an answer and cache keeps
it while test covers another branch than claim says which log of last release shows too"""
_WORDS = _TEXT.split()
_SETTLED = {
    "full-consensus": ("agree", "agree", "agree", "agree"),
    "partial-consensus": ("agree", "supplement", "agree", "agree"),
    "worker-unique": ("disagree", "disagree", "disagree", "disagree"),
}
_OPEN = ("agree", "disagree", "disagree", "agree")


def _text(rng: random.Random, words: int) -> str:
    return f"src/{rng.choice(_WORDS)}.py:{rng.randrange(900)} {' '.join(rng.choices(_WORDS, k=words))}"


def _votes(rng: random.Random, origin: str, verdicts: tuple[str, ...], adversarial: bool) -> dict[str, Any]:
    others = [worker for worker in WORKERS if worker != origin]
    return {
        worker: {
            "verdict": verdict,
            "disagreeBasis": "counter-evidence" if adversarial and verdict == "disagree" else None,
            "explanation": _text(rng, 9),
        }
        for worker, verdict in zip(others, verdicts, strict=True)
    }


def _finding(rng: random.Random, number: int, adversarial: bool) -> dict[str, Any]:
    origin = rng.choice(WORKERS)
    open_in_round_1 = number < SECOND_ROUND
    chosen = "contested" if open_in_round_1 else rng.choice(list(_SETTLED))
    if chosen == "partial-consensus" and not adversarial:
        chosen = "full-consensus"
    verdicts = [_OPEN, _OPEN] if open_in_round_1 else [_SETTLED[chosen]]
    against = [worker for worker in WORKERS if worker != origin][1:3] if open_in_round_1 else []
    if chosen == "worker-unique":
        against = [worker for worker in WORKERS if worker != origin]
    return {
        "findingId": f"F-{number + 1:03d}",
        "summary": _text(rng, 12),
        "category": "bug",
        "ticketIds": ["T-1"],
        "originWorker": origin,
        "originEvidence": _text(rng, 8),
        "classification": chosen,
        "rounds": [{"round": i, "votes": _votes(rng, origin, cast, adversarial)} for i, cast in enumerate(verdicts, 1)],
        "consensusWorkers": [worker for worker in WORKERS if worker not in against],
        "dissentingWorkers": against,
    }


def _round(rng: random.Random, number: int, queue: int, resolved: int) -> dict[str, Any]:
    return {
        "round": number,
        "inputQueueSize": queue,
        "resolvedCount": resolved,
        "carriedForwardCount": queue - resolved,
        "dispatches": [
            {"worker": worker, "status": "completed", "durationMs": rng.randrange(60_000)} for worker in WORKERS
        ],
        "skippedWorkers": [],
    }


def artifact(rng: random.Random, adversarial: bool) -> dict[str, Any]:
    """Return a state artifact of 10 findings and 52 votes, as JSON values."""
    findings = [_finding(rng, number, adversarial) for number in range(FINDINGS)]
    counts = Counter(finding["classification"] for finding in findings)
    resolved = FINDINGS - SECOND_ROUND
    return {
        "schemaVersion": "1.2",
        "taskKey": "loading/made",
        "config": {
            "enabled": True,
            "adversarial": adversarial,
            "maxRounds": 2,
            "effectiveMaxRounds": 2,
            "verificationMode": "full-reanalysis" if adversarial else "lightweight",
            "planBodyVerification": {"enabled": False, "maxRounds": 1, "gating": True},
            "synthetic": True,
        },
        "findings": findings,
        "roundHistory": [_round(rng, 1, FINDINGS, resolved), _round(rng, 2, SECOND_ROUND, 0)],
        "round2SkippedReason": "not-skipped",
        "finalState": "max-rounds-reached",
        "totalRounds": 2,
        "finalClassificationCounts": {key: counts[name] for name, key in COUNT_KEY_OF_CLASS.items()},
    }


def write_artifacts(folder: Path, number: int) -> int:
    """Write so many artifacts, by turns adversarial and collaborative; return their bytes."""
    rng = random.Random(0)
    total = 0
    for index in range(number):
        path = folder / f"{index // 1000:02d}" / f"convergence-made-{index:05d}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        total += path.write_bytes(json.dumps(artifact(rng, index % 2 == 0), indent=2, ensure_ascii=False).encode())
    return total
