"""The events of one scripted run of each kind, and what `check` says of the bundled `.planning`; no sentences.

The answers are in `scripts.json`; those of the debate are bundled. Nothing is called, and no time is kept.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

import verifyplan as vp
from tests.golden.cases import as_text

SCRIPTS = Path(__file__).parent / "scripts.json"
MOMENT = {
    "seq",
    "at",
    "digest",
    "duration_ms",
    "version",
    "rules_version",
    "versions",
    "request_sha256",
    "root",
    "found",
}
"""What is of this machine, this moment or this version of the log, and digests of what is compared already."""
SENTENCES = {"reason", "message", "consequence", "exit_reason", "notes"}
"""Fields that hold sentences of the package's own, beside codes of one word, which are kept."""


def events(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the events of a plan run, a cross run and a debate in an empty folder, each with its `key`."""
    scripts = json.loads(SCRIPTS.read_text(encoding="utf-8"))
    for kind in ("plan", "cross", "debate"):
        _run(kind, folder / kind, scripts.get(kind, {}))
        (log,) = (folder / kind / "logs").rglob("*.jsonl")
        for number, line in enumerate(log.read_text(encoding="utf-8").splitlines(), 1):
            event = json.loads(line.replace(str(folder), ""))
            yield {"key": f"{kind}:{event['type']}:{number:03}"} | _lasting(event)


def _run(kind: str, folder: Path, script: dict[str, Any]) -> None:
    repo = vp.datasets.sample_repository(folder / "waybill")
    more: dict[str, Any] = {"repo": repo, "log_dir": folder / "logs", "progress": False}
    backend = vp.agents.ScriptedBackend(script.get("answers") or vp.datasets.debate_script("readme-section"))
    if kind == "plan":
        (folder / "plan.md").write_text(script["text"], encoding="utf-8")
        vp.verify(folder / "plan.md", backend=backend, team="scaled", **more)
    elif kind == "cross":
        silent = vp.agents.ScriptedBackend(script["answers"], silent=True)
        vp.crossverify(script["findings"], script["workers"], backend=silent, matcher=None, **more)
    else:
        vp.debate("add a README section on local development", backend, **more)


def _lasting(value: Any) -> Any:
    if isinstance(value, list):
        return [_lasting(one) for one in value]
    if not isinstance(value, Mapping):
        return value
    return {
        name: _lasting(one)
        for name, one in value.items()
        if name not in MOMENT and not (name in SENTENCES and (not isinstance(one, str) or " " in one))
    }


def violations(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the violations that `check` finds in the bundled `.planning`: path, line, rule and severity."""
    found = vp.documents.check(vp.datasets.sample_planning(folder / "parcels")).violations
    rows = sorted((Path(one.path).name, one.line, one.rule, str(one.severity)) for one in found)
    for number, (path, line, rule, severity) in enumerate(rows, 1):
        same = sum(row[:3] == (path, line, rule) for row in rows[: number - 1])
        yield {"key": f"{path}:{rule}:line {line}" + f", again {same}" * bool(same), "severity": severity}


def flat(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Return rows of JSON as cells: key, column (a path such as `challenge.id`), value."""
    cells = [(row["key"], path, as_text(value)) for row in rows for path, value in _leaves(row) if path != "key"]
    return pd.DataFrame(cells, columns=["key", "column", "value"])


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict | list) and value:
        inside = value.items() if isinstance(value, dict) else enumerate(value)
        for name, one in inside:
            yield from _leaves(one, f"{path}.{name}" if path else str(name))
    else:
        yield path, str(value) if isinstance(value, dict | list) else value
