"""Every independent case of the rules that are here, read from ../shared; skipped, with its reason, without it."""

from __future__ import annotations

from types import SimpleNamespace

import pandas as pd
import pytest

import verifyplan as vp
from verifyplan.errors import SettingsError
from verifyplan.protocol.vote import MODES
from verifyplan.rules.classification import decide, tally
from verifyplan.rules.convergence import evaluate
from verifyplan.rules.guards import Arrival, admit, cap
from verifyplan.rules.invariants import violations
from verifyplan.rules.lifecycle import transition_refusal
from verifyplan.rules.scoring import audit, final_score
from verifyplan.rules.sizing import Signs, complexity, team


def test_classification(cases):
    for case in cases("classification"):
        counted = tally([(vote["verdict"], vote["disagree_basis"]) for vote in case["votes"]])
        for mode in MODES:
            assert decide(counted, mode) == (case[mode]["classification"], case[mode]["rule"]), (case["votes"], mode)


def test_settings(cases):
    for case in cases("settings"):
        asked = (case["task_type"], case["plan_verification"], case["overrides"])
        if case["block"] is None:
            with pytest.raises(SettingsError, match="Fix: "):
                vp.rules.convergence_block(*asked)
        else:
            assert vp.rules.convergence_block(*asked) == case["block"], asked


def test_replays(cases):
    """All cases at once, in one table of votes, under every setting that a case names."""
    every = {f"F-{i}": case for i, case in enumerate(cases("replays"))}
    votes = pd.DataFrame(
        {"run_id": "r", "finding_id": finding, "round": number, **vote}
        for finding, case in every.items()
        for number, cast in enumerate(case["rounds"], start=1)
        for vote in cast
    )
    told = ["classification", "decided_round", "rule", "censored"]
    settings = {(e["mode"], e["max_rounds"], e["missing_basis"]) for case in every.values() for e in case["expected"]}
    for mode, max_rounds, missing_basis in settings:
        got = vp.classify(votes, mode=mode, max_rounds=max_rounds, missing_basis=missing_basis).set_index("finding_id")
        for finding, case in every.items():
            for expected in case["expected"]:
                if (expected["mode"], expected["max_rounds"], expected["missing_basis"]) == (
                    mode,
                    max_rounds,
                    missing_basis,
                ):
                    assert {name: got.loc[finding, name] for name in told} == {n: expected[n] for n in told}, finding


def test_cross_runs(cases):
    for number, case in enumerate(cases("cross_runs")):
        findings = [
            {"finding_id": finding["id"], "summary": f"claim {finding['id']}", "evidence": "", "worker": worker}
            for finding in case["findings"]
            for worker in finding["discoverers"]
        ]
        run = vp.crossverify(
            findings,
            case["analysers"],
            settings=case["settings"],
            backend=vp.agents.ScriptedBackend(case["script"]),
            matcher=None,
            log_dir=None,
        )
        assert violations(run.artifact) == []
        got, expected = run.artifact.to_json(), case["expected"]
        assert {key: _comparable(got[key]) for key in expected} == {
            key: _comparable(expected[key]) for key in expected
        }, f"case {number}"


LEFT_OUT = {"summary", "category", "ticketIds", "originWorker", "originEvidence", "explanation", "durationMs"}


def _comparable(value):
    """The value without durations and texts, which the cases leave out, and with one name for the basis."""
    if isinstance(value, dict):
        kept = {key: _comparable(part) for key, part in value.items() if key not in LEFT_OUT}
        if "disagreeBasis" in kept:
            kept["disagree_basis"] = kept.pop("disagreeBasis")
        return kept
    return [_comparable(part) for part in value] if isinstance(value, list) else value


def test_convergence(cases):
    for case in cases("convergence"):
        challenges = [SimpleNamespace(**challenge) for challenge in case["challenges"]]
        ruling = evaluate(challenges, case["iteration"], policy=case["policy"])
        assert ruling._asdict() == {name: case[name] for name in ruling._fields}, case


def test_transitions(cases):
    for case in cases("transitions"):
        refusal = transition_refusal(case["severity"], case["old"], case["new"], case["resolution"])
        assert (not refusal) == case["legal"], case


def test_admission(cases):
    for case in cases("admission"):
        arrivals = [Arrival(new["severity"], new["probability"]) for new in case["new"]]
        assert admit(arrivals, case["active"], cap("surfaced", 1)) == (case["kept"], case["overflow"]), case


def test_scores(cases):
    for case in cases("scores"):
        assert final_score(case["scores"]) == case["final"], case
        assert audit(case["scores"], case["challenger"]) == case["disputed"], case


def test_sizing(cases):
    for case in cases("sizing"):
        signs = Signs(**{name: case[name] for name in Signs._fields})
        trivial = case["quality"] == "TRIVIAL"
        assert complexity(signs) == case["score"], case
        assert team(signs, "THIN" if trivial else case["quality"], trivial=trivial) == case["team"], case
