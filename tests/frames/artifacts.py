"""Sound artifacts to test with: one written by hand, and a strategy for all of them."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from hypothesis import strategies as st

from verifyplan.protocol.artifact import COUNT_KEY_OF_CLASS, FINAL_STATES, ROUND2_REASONS
from verifyplan.protocol.vote import BASES, CLASSIFICATIONS, VERDICTS

Json = dict[str, Any]


def sound() -> Json:
    """An adversarial run of two findings, one settled at once and one disputed; every field is there."""
    disputed = {
        "findingId": "F-2",
        "summary": "세션이 만료되지 않는다, naïve 🙂",
        "category": "bug",
        "ticketIds": ["T-1", "T-2"],
        "originWorker": "ann",
        "originEvidence": "session.ts:17",
        "classification": "contested",
        "rounds": [
            {
                "round": 1,
                "votes": {
                    "cy": {"verdict": "disagree", "disagreeBasis": "counter-evidence", "explanation": "session.ts:20"},
                    "bob": {"verdict": "agree", "disagreeBasis": None, "explanation": "holds"},
                },
            }
        ],
        "consensusWorkers": ["ann", "bob"],
        "dissentingWorkers": ["cy"],
    }
    settled = {
        **disputed,
        "findingId": "F-1",
        "classification": "full-consensus",
        "rounds": [],
        "consensusWorkers": ["ann", "bob", "cy"],
        "dissentingWorkers": [],
    }
    return {
        "schemaVersion": "1.2",
        "taskKey": "task",
        "config": {
            "enabled": True,
            "adversarial": True,
            "maxRounds": 1,
            "effectiveMaxRounds": 1,
            "verificationMode": "full-reanalysis",
        },
        "findings": [disputed, settled],
        "roundHistory": [
            {
                "round": 1,
                "inputQueueSize": 1,
                "resolvedCount": 0,
                "carriedForwardCount": 1,
                "dispatches": [
                    {"worker": "cy", "status": "completed", "durationMs": 1200},
                    {"worker": "bob", "status": "completed", "durationMs": 800.5},
                ],
                "skippedWorkers": [{"worker": "ann", "reason": "no items to verify"}],
            }
        ],
        "round2SkippedReason": "max-rounds-1",
        "finalState": "max-rounds-reached",
        "totalRounds": 1,
        "finalClassificationCounts": {"fullConsensus": 1, "partialConsensus": 0, "contested": 1, "workerUnique": 0},
    }


def as_bytes(content: Any) -> bytes:
    """JSON as it may stand on disk."""
    return json.dumps(content, ensure_ascii=False, indent=1).encode()


texts = st.text(max_size=12)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)
_names = st.sampled_from(["ann", "bob", "cy d", "a/b~c", "[key]", "int", "ü", "model_config"])
_odd_keys = st.sampled_from(["x", "", "사용자", "model_extra", "to_json", "copy", "__class__", "a/b"])
_counts = st.integers(0, 9)


def _loose(needed: dict[str, st.SearchStrategy[Any]], **optional: st.SearchStrategy[Any]) -> st.SearchStrategy[Json]:
    """Objects with all of `needed`, some of `optional` (null, too), and unknown keys; in any order."""
    nullable = {key: st.none() | values for key, values in optional.items()}
    known = st.fixed_dictionaries(needed, optional=nullable)
    unknown = st.dictionaries(_odd_keys, json_values, max_size=1)
    return st.tuples(unknown, known).map(lambda parts: {**parts[0], **parts[1]})


@st.composite
def _votes(draw: st.DrawFn, adversarial: bool) -> Json:
    vote: Json = draw(_loose({"verdict": st.sampled_from(VERDICTS)}, explanation=texts))
    if adversarial and vote["verdict"] == "disagree":
        return {**vote, "disagreeBasis": draw(st.sampled_from(BASES))}
    return {**vote, "disagreeBasis": None} if draw(st.booleans()) else vote


def _numbered(entries: list[Json]) -> list[Json]:
    return [{**entry, "round": i} for i, entry in enumerate(entries, 1)]


def _findings(adversarial: bool) -> st.SearchStrategy[Json]:
    votes = st.dictionaries(_names, _votes(adversarial), max_size=3)
    rounds = st.lists(_loose({"round": st.just(0), "votes": votes}), max_size=2).map(_numbered)
    workers = st.lists(_names, max_size=3, unique=True)
    return _loose(
        {"findingId": st.text(min_size=1, max_size=6)},
        summary=texts,
        category=texts,
        ticketIds=st.lists(texts, max_size=2),
        originWorker=_names,
        originEvidence=texts,
        classification=st.sampled_from(CLASSIFICATIONS),
        rounds=rounds,
        consensusWorkers=workers,
        dissentingWorkers=workers,
    )


@st.composite
def _round_records(draw: st.DrawFn) -> Json:
    durations = st.integers(0, 10**6) | st.floats(0, 1e6)
    dispatches = _loose(
        {"worker": _names}, status=st.sampled_from(["completed", "timeout", "error"]), durationMs=durations
    )
    skipped = _loose({"worker": _names}, reason=texts)
    entry: Json = draw(
        _loose(
            {"round": st.just(0)},
            inputQueueSize=st.integers(5, 9),
            resolvedCount=st.integers(0, 5),
            dispatches=st.lists(dispatches, max_size=3, unique_by=lambda one: one["worker"]),
            skippedWorkers=st.lists(skipped, max_size=2),
        )
    )
    size, resolved = entry.get("inputQueueSize"), entry.get("resolvedCount")
    known = size is not None and resolved is not None
    return {**entry, "carriedForwardCount": size - resolved if known else draw(_counts)}


@st.composite
def artifacts(draw: st.DrawFn) -> Json:
    """Sound artifacts of every version and final state, as JSON: absent keys, nulls and unknown keys everywhere."""
    version = draw(st.sampled_from(["1.0", "1.1", "1.2"]))
    adversarial = version == "1.2" and draw(st.booleans())
    modes = ["full-reanalysis"] if adversarial else ["full-reanalysis", "lightweight"]
    config: Json = draw(
        _loose(
            {"adversarial": st.just(True)} if adversarial else {},
            enabled=st.booleans(),
            maxRounds=_counts,
            effectiveMaxRounds=st.integers(3, 9),
            verificationMode=st.sampled_from(modes),
            autoDisabled=texts,
        )
    )
    if version == "1.2" and adversarial:
        config["verificationMode"] = "full-reanalysis"
    findings: list[Json] = draw(st.lists(_findings(adversarial), max_size=3, unique_by=lambda one: one["findingId"]))
    found = Counter(finding.get("classification") for finding in findings)
    counts = {key: found[name] for name, key in COUNT_KEY_OF_CLASS.items()}
    content: Json = draw(
        _loose(
            {"findings": st.just(findings), "schemaVersion": st.just(version)},
            taskKey=texts,
            roundHistory=st.lists(_round_records(), max_size=2).map(_numbered),
            round2SkippedReason=st.sampled_from(ROUND2_REASONS),
            finalState=st.sampled_from(FINAL_STATES),
            totalRounds=st.integers(0, 3),
            finalClassificationCounts=st.just(counts),
        )
    )
    _agree(content)
    return {**content, **({"config": config} if adversarial or draw(st.booleans()) else {})}


def _agree(content: Json) -> None:
    """Make the history say what the findings say, and the ending what the history says (rule B9)."""
    findings, history = content["findings"], content.get("roundHistory")
    if findings and all(one.get("classification") and one.get("rounds") is not None for one in findings):
        for entry in history or ():
            if entry.get("resolvedCount") is not None:
                entry["resolvedCount"] = sum(_resolved_in(one, entry["round"]) for one in findings)
                if entry.get("inputQueueSize") is not None:
                    entry["carriedForwardCount"] = entry["inputQueueSize"] - entry["resolvedCount"]
    if history is not None and content.get("totalRounds") is not None:
        content["totalRounds"] = len(history)
    rounds = content.get("totalRounds") if history is None else len(history)
    if content.get("round2SkippedReason") == "not-skipped" and rounds in (0, 1):
        content["round2SkippedReason"] = "queue-empty"
    if content.get("finalState") == "converged" and history and history[-1].get("carriedForwardCount"):
        content["finalState"] = "max-rounds-reached"


def _resolved_in(finding: Json, number: int) -> bool:
    rounds, classification = finding["rounds"], finding["classification"]
    if len(rounds) != number or classification == "contested":
        return False
    others = {w: v for w, v in (rounds[-1].get("votes") or {}).items() if w != finding.get("originWorker")}
    return (
        classification != "worker-unique" or {v["verdict"] for v in others.values()} - {"verification-error"} != set()
    )
