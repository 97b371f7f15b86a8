"""Whole runs with arbitrary rosters, findings, scripts and settings keep every rule of part B at once."""

from __future__ import annotations

import json
from collections import Counter
from itertools import pairwise
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.longer import examples
from verifyplan.agents.scripted import ScriptedBackend
from verifyplan.analysis.replay import replay
from verifyplan.frames.artifact import artifact_text, parse_artifact
from verifyplan.protocol.artifact import COUNT_KEY_OF_CLASS
from verifyplan.protocol.event_cross import FindingClassified
from verifyplan.rules.invariants import violations
from verifyplan.runlog.cross_state import artifact_of, fold_cross
from verifyplan.runs.cross.crossverify import crossverify
from verifyplan.runs.cross.run import CrossRun as Run

NAMES = ["ann", "bob", "cy", "di", "é/ \u2028", "Ann"]
IDS = ["F-1", "F-2", "F-3", "raw ~/", "<b>"]
WORDS = ["agree", "supplement", "disagree", "REFUTED", "Survives", "SURVIVES-WITH-CAVEAT"]

good_votes = st.fixed_dictionaries(
    {"verdict": st.sampled_from(WORDS)},
    optional={
        "disagree_basis": st.sampled_from(["counter-evidence", "burden-not-met", None]),
        "explanation": st.sampled_from(["", "m.py:3 says so", "line 4", "no"]),
    },
)
answers = st.one_of(
    st.dictionaries(st.sampled_from(IDS), good_votes),  # of these, only what was asked is answered
    st.dictionaries(st.sampled_from(IDS), good_votes, min_size=3),
    st.dictionaries(st.sampled_from([*IDS, "stray"]), good_votes).map(lambda votes: {"raw": {"votes": votes}}),
    st.sampled_from(["timeout", "error"]),
    st.sampled_from([None, [], float("nan"), {"votes": {"F-1": {"verdict": "maybe"}}}]).map(
        lambda value: {"raw": value}
    ),
)


@st.composite
def runs(draw: st.DrawFn) -> Run:
    roster = draw(st.lists(st.sampled_from(NAMES), unique=True, max_size=5))
    bringers = st.lists(st.sampled_from(roster or ["-"]), unique=True, min_size=1)
    found = draw(st.dictionaries(st.sampled_from(IDS), bringers)) if roster else {}
    rows = [{"finding_id": f, "summary": f"claim {f}", "worker": w, "truth": True} for f in found for w in found[f]]
    script = {number: {worker: draw(answers) for worker in roster} for number in (1, 2, 3)}
    block: dict[str, Any] = {"adversarial": draw(st.booleans()), "maxRounds": draw(st.integers(1, 3))}
    block["enabled"] = draw(st.integers(0, 9)) > 0
    return crossverify(
        draw(st.permutations(rows)),
        roster,
        settings=block,
        backend=ScriptedBackend(script),
        matcher=None,
        log_dir=None,
        progress=False,
    )


@settings(
    deadline=None, max_examples=examples(150), suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
@given(runs())
def test_every_promise_of_a_run_holds(run: Run):
    record = run.artifact
    assert not violations(record)
    assert artifact_of(fold_cross(run.events)) == record == parse_artifact(artifact_text(record).encode(), "again")
    assert all(finding.classification is not None for finding in record.findings)
    counted = Counter(COUNT_KEY_OF_CLASS[f.classification] for f in record.findings if f.classification)
    assert record.finalClassificationCounts is not None
    assert {k: v for k, v in record.finalClassificationCounts.model_dump().items() if v} == dict(counted)
    nothing_enters_the_queue(run)
    discoverers_are_never_asked(run)
    fold_takes_any_prefix(run)


@settings(
    deadline=None, max_examples=examples(100), suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
@given(runs())
def test_the_replay_of_the_recorded_votes_gives_what_the_loop_gave(run: Run):
    """Class, rule and round: the loop and the analysis share one rule."""
    told = {e.finding_id: e for e in run.events if isinstance(e, FindingClassified)}
    table = replay(run.frames, "recorded").set_index("finding_id")
    assert set(table.index) == set(told)
    for finding_id, event in told.items():
        row = table.loc[finding_id]
        got = (row["classification"], row["rule"], row["decided_round"])
        assert got == (event.classification, event.rule, event.round), finding_id
        assert row["censored"] == (event.final and run.status == "aborted-non-result" and censored(run))


def censored(run: Run) -> bool:
    """Whether fewer rounds ran than the settings allow."""
    limit = run.artifact.config.effectiveMaxRounds
    assert limit is not None
    return (run.artifact.totalRounds or 0) < limit


def nothing_enters_the_queue(run: Run) -> None:
    waiting: set[str] = set()
    known = {e.finding_id for e in run.events if e.type == "finding-grouped"}
    classified: set[str] = set()
    for event in run.events:
        if event.type == "finding-queued":
            assert not any(e.type == "call-requested" for e in run.events[: run.events.index(event)])
            waiting.add(event.finding_id)
        elif event.type == "call-requested":
            assert set(event.items) <= waiting
        elif event.type == "finding-classified":
            assert event.finding_id not in classified
            classified.add(event.finding_id)
            waiting.discard(event.finding_id)
    assert (waiting, classified) == (set(), known)
    sizes = [(e.input_queue_size, e.carried_forward_count) for e in run.events if e.type == "round-closed"]
    assert all(left == size for (_, left), (size, _) in pairwise(sizes))


def discoverers_are_never_asked(run: Run) -> None:
    groups = {e.finding_id: e for e in run.events if e.type == "finding-grouped"}
    voters: dict[tuple[str, int], list[str]] = {}
    for event in run.events:
        if event.type == "call-requested":
            assert event.items
            assert all(event.worker not in groups[item].discoverers for item in event.items)
        if event.type == "vote-cast":
            voters.setdefault((event.finding_id, event.round), []).append(event.worker)
    roster = run.started.cross.analysers
    for (finding_id, _), workers in voters.items():
        assert workers == [worker for worker in roster if worker not in groups[finding_id].discoverers]


def fold_takes_any_prefix(run: Run) -> None:
    for length in range(0, len(run.events), 7):
        assert len(fold_cross(run.events[:length]).classes) <= len(run.artifact.findings)


def test_the_artifact_reads_as_json_with_the_keys_of_schema_1_2():
    run = crossverify(
        [{"finding_id": "F-1", "summary": "s", "worker": "ann"}],
        ["ann", "bob"],
        backend=ScriptedBackend({1: {"bob": {"F-1": {"verdict": "agree"}}}}),
        log_dir=None,
    )
    content = json.loads(artifact_text(run.artifact))
    assert content["schemaVersion"] == "1.2"
    assert content["taskKey"] == "ad-hoc"
    assert list(content["findings"][0]) == [
        "findingId", "summary", "category", "ticketIds", "originWorker", "originEvidence", "classification",
        "rounds", "consensusWorkers", "dissentingWorkers",
    ]  # fmt: skip
    assert content["findings"][0]["rounds"] == [
        {"round": 1, "votes": {"bob": {"verdict": "agree", "disagreeBasis": None, "explanation": ""}}}
    ]
    (dispatch,) = content["roundHistory"][0]["dispatches"]
    assert 0 <= dispatch.pop("durationMs") < 60_000
    assert dispatch == {"worker": "bob", "status": "completed"}
