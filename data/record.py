"""Record the bundled fixture sets again: `make data`, or one by its name: `python data/record.py live-example`.

What each is, and what is synthetic: data/README.md.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from record_live import record_live_example

import verifyplan as vp
from verifyplan.agents.static import CHECKERS
from verifyplan.protocol.artifact import Artifact
from verifyplan.protocol.vote import MODES, Mode

HERE = Path(__file__).resolve().parent
SEED, CLAIMS, RUNS = 20261121, 720, 12


def record_stdlib_claims(folder: Path) -> None:
    """Labelled claims about this Python's library, verified in both modes, in runs of equal size."""
    claims = vp.datasets.stdlib_claims(CLAIMS, seed=SEED)
    ids = claims["finding_id"].unique()
    folder.mkdir(parents=True)
    claims.to_csv(folder / "claims.csv", index=False)
    python = claims.attrs["python"]
    for mode in MODES:
        for number in range(RUNS):
            part = claims[claims["finding_id"].isin(ids[number::RUNS])]
            key = f"stdlib-claims/python-{python}/seed-{SEED}/part-{number + 1:02d}"
            run = _verify(part, key, mode)
            vp.write_artifact(run.artifact, folder / mode / f"part-{number + 1:02d}.json")


def _verify(part: pd.DataFrame, key: str, mode: Mode) -> vp.results.Run:
    return vp.crossverify(
        part,
        CHECKERS,
        mode=mode,
        task_type="error-analysis",
        repo=vp.datasets.stdlib_root(),
        task_key=key,
        synthetic=True,
        log_dir=None,
    )


AGREE: dict[str, Any] = {"verdict": "agree", "explanation": "Re-read it; could not break the claim."}
CAVEAT: dict[str, Any] = {"verdict": "supplement", "explanation": "Holds, but only for requests without a body."}
DOUBT: dict[str, Any] = {
    "verdict": "disagree",
    "disagree_basis": "burden-not-met",
    "explanation": "The cited lines neither show nor exclude it.",
}
REFUTE: dict[str, Any] = {
    "verdict": "disagree",
    "disagree_basis": "counter-evidence",
    "explanation": "src/auth/login.ts:48 already runs validateBody(); the gap does not exist.",
}
FINDINGS = [
    {
        "finding_id": "F-001",
        "summary": "The login handler skips input validation",
        "evidence": "src/auth/login.ts:42",
        "worker": "ann",
        "category": "bug",
        "ticket_ids": ("AD-100",),
    },
    {
        "finding_id": "F-002",
        "summary": "Sessions never expire",
        "evidence": "src/auth/session.ts:17",
        "worker": "bob",
        "category": "bug",
    },
]


def _votes(ann: dict[str, Any] | str, bob: dict[str, Any] | str, cy: dict[str, Any] | str) -> dict[str, Any]:
    """One round in which each worker says the same of every finding it is asked about, or fails."""
    said = {"ann": ann, "bob": bob, "cy": cy}
    return {w: s if isinstance(s, str) else {"F-001": s, "F-002": s} for w, s in said.items()}


SCRIPTS: dict[str, tuple[bool, list[str], dict[int, dict[str, Any]]]] = {
    "converged": (True, ["ann", "bob", "cy"], {1: _votes(AGREE, AGREE, CAVEAT)}),
    "converged-in-round-2": (False, ["ann", "bob", "cy"], {1: _votes(AGREE, AGREE, DOUBT), 2: _votes(*[AGREE] * 3)}),
    "max-rounds-reached": (True, ["ann", "bob", "cy"], {n: _votes(AGREE, AGREE, REFUTE) for n in (1, 2)}),
    "max-rounds-reached-collaborative": (
        False,
        ["ann", "bob", "cy"],
        {1: _votes(AGREE, AGREE, DOUBT), 2: _votes(AGREE, "timeout", DOUBT)},
    ),
    "aborted-non-result": (True, ["ann", "bob", "cy"], {1: _votes("timeout", "error", "error")}),
    "aborted-in-round-2": (
        True,
        ["ann", "bob", "cy"],
        {1: _votes(AGREE, AGREE, REFUTE), 2: _votes(*["timeout"] * 3)},
    ),
    "fewer-than-two-analysers": (False, ["ann"], {}),
}
"""Mode, roster and votes of each contract fixture of schema 1.2."""


def record_contract(folder: Path) -> None:
    """One small scripted run of each final state in schema 1.2, and what 1.1 and 1.0 kept of them."""
    for name, (adversarial, roster, script) in SCRIPTS.items():
        run = vp.crossverify(
            [finding for finding in FINDINGS if finding["worker"] in roster],
            roster,
            mode=MODES[adversarial],
            backend=vp.agents.ScriptedBackend(script),
            task_key=f"contract/{name}",
            synthetic=True,
            log_dir=None,
        )
        vp.write_artifact(run.artifact, folder / f"1.2-{name}.json")
        if not adversarial or name.startswith("aborted"):
            vp.write_artifact(_older(run.artifact, "1.1"), folder / f"1.1-{name}.json")
        if not adversarial:
            vp.write_artifact(_older(run.artifact, "1.0"), folder / f"1.0-{name}.json")


def _older(artifact: Artifact, version: str) -> Artifact:
    """The same run without the keys that the older schema did not have."""
    content = artifact.to_json() | {"schemaVersion": version}
    content["config"].pop("adversarial")
    content["config"]["verificationMode"] = "lightweight"
    for finding in content["findings"]:
        for entry in finding["rounds"]:
            for vote in entry["votes"].values():
                vote.pop("disagreeBasis")
    if version == "1.0":
        content["config"].pop("effectiveMaxRounds")
        content.pop("round2SkippedReason")
        content.pop("finalClassificationCounts")
        for entry in content["roundHistory"]:
            entry.pop("dispatches")
            entry.pop("skippedWorkers")
    return Artifact.model_validate(content)


RECORDERS: dict[str, Callable[[Path], None]] = {
    "stdlib-claims": record_stdlib_claims,
    "contract": record_contract,
    "live-example": record_live_example,
}


def main(chosen: Sequence[str] = ()) -> None:
    """Replace the sets, or those that are named, only once all have been recorded whole."""
    names = [name for name in RECORDERS if name in chosen or not chosen]
    with tempfile.TemporaryDirectory(dir=HERE) as temporary:
        new = Path(temporary)
        for name in names:
            RECORDERS[name](new / name)
        for name in names:
            shutil.rmtree(HERE / name, ignore_errors=True)
            (new / name).rename(HERE / name)


if __name__ == "__main__":
    main(sys.argv[1:])
