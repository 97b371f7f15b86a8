"""Record the example of live runs: the real backend over real HTTP, asked of a server on this machine (`make data`).

The server answers what the static agents answer to the same calls, in the form in which a model writes it, after
look-ups such as a model makes (`LOOK_UPS`). No model is asked, and what is recorded says nothing about any.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import pandas as pd

import verifyplan as vp
import verifyplan.agents.anthropic.client  # the SDK loads now, not within the first call
from verifyplan.agents.anthropic.backend import Anthropic
from verifyplan.agents.static import CHECKERS
from verifyplan.protocol.event import EVENT
from verifyplan.protocol.event_run import CallReplied
from verifyplan.runlog.writer import LogWriter
from verifyplan.runs.run import Run

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))  # before site-packages, where a library may have a package `tests`, too

from tests.live.live_runs import Played, speaking_to  # noqa: E402  (lies beside the tests, which use it most)
from tests.live.scripted_replies import Answer, calls, says  # noqa: E402
from tests.live.scripted_server import ScriptedServer  # noqa: E402

PLAN = "purge-hour"
FOLDER, ADDRESS = "/example", "http://127.0.0.1:8000"
"""What stands in the logs where the folder and the address of the machine stood that recorded them."""
LARGE, SMALL = "example-large", "example-small"
REPETITIONS = {"collaborative": 1, "adversarial": 3}
WORKERS: dict[str, dict[str, Any]] = {
    "ann": {"model": LARGE},
    "bob": {"model": SMALL},
    "cy": {"model": SMALL, "style": "collaborative"},
    "dee": {"model": SMALL, "style": "adversarial", "max_tokens": 4_000},
}
"""The panel of the cross runs: models, and stances that are not always the run's."""
LINES = 12
"""Lines of a file that are read at once: the logs are to stay small."""
LOOK_UPS: dict[str, tuple[Answer, ...]] = {
    "i1/challenger": (
        calls("Read", path="docs/runbook.md", last=LINES) + calls("Read", path="../.ssh/id_ed25519"),
        calls("Read", path="waybill/jobs/purge.py", last=LINES) + calls("Read", path=".env"),
        calls("Grep", pattern="crontab"),
    ),
    "i1/surface": (calls("git_log", paths=["waybill/jobs/purge.py", "docs/runbook.md"]),),
    "i1/probe": (calls("Grep", pattern="purge"), calls("Read", path="AGENTS.md", last=LINES)),
    "i2/challenger": (calls("Grep", pattern="crontab"),),
    "i3/challenger": (calls("Read", path="docs/runbook.md", last=LINES),),
    "i1/synthesizer": (says("One challenge stands. My answer follows."),),
}
"""What an agent does before it answers, message by message: look-ups, two of them refused, an answer to repair."""

_PRICE = {"web_search": 10, "source": "made up for this example", "date": "2026-11-22"}
PRICES: dict[str, dict[str, Any]] = {
    LARGE: {"input": 4, "output": 20, "cache_write": 5, "cache_read": 0.4, **_PRICE},
    SMALL: {"input": 1, "output": 5, "cache_write": 1.25, "cache_read": 0.1, **_PRICE},
}

_FOUND = (
    ("ann", "parameter", "`decode_token` takes a parameter `key`.", "waybill/auth.py:29", True),
    ("ann", "raises", "`decode_token` raises `PermissionError`.", "waybill/auth.py:29", False),
    ("bob", "calls", "`purge_delivered` calls `transaction`.", "waybill/jobs/purge.py:19", False),
    ("bob", "raises", "`require_role` raises `HTTPException`.", "waybill/auth.py:37", True),
    ("cy", "default", "In `get_json`, `headers` has the default value `None`.", "waybill/http_client.py:25", True),
    ("cy", "calls", "`use_transport` calls `_send`.", "waybill/http_client.py:19", False),
    ("dee", "calls", "`require_role` calls `decode_token`.", "waybill/auth.py:37", True),
)
"""Claims about the sample repository: who raised it, its kind, the claim, the line that it cites, whether it holds."""


def record_live_example(folder: Path) -> None:
    """One plan run and, in each mode, repetitions of a cross run, with their claims; `folder` is new."""
    folder.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as temporary:
        here = Path(temporary).resolve()
        repository = vp.datasets.sample_repository(here / "waybill")
        found = claims(repository)
        found.to_csv(folder / "claims.csv", index=False)
        _keep(plan_run(repository, here), folder / "plan", PLAN, here)
        for mode, repetitions in REPETITIONS.items():
            for repetition in range(1, repetitions + 1):
                run = cross_run(repository, found, mode, repetition, here)
                _keep(run, folder / mode, "panel", here)


def claims(repository: Path) -> pd.DataFrame:
    """The claims with the line that each cites, quoted."""
    rows = []
    for number, (worker, category, summary, place, truth) in enumerate(_FOUND, start=1):
        path, _, line = place.partition(":")
        quoted = (repository / path).read_text("utf-8").splitlines()[int(line) - 1]
        rows.append((f"F-{number:02d}", summary, f"{place}\n> {quoted}", worker, category, truth))
    return pd.DataFrame(rows, columns=["finding_id", "summary", "evidence", "worker", "category", "truth"])


def plan_run(repository: Path, folder: Path) -> Run:
    """A plan run whose roles answer what the static agents do, after the look-ups of `LOOK_UPS`."""
    plan = shutil.copy(vp.datasets.plan_path(PLAN), folder)
    settings: dict[str, Any] = {"synthetic": True, "progress": False}
    static = vp.verify(plan, repository, log_dir=None, **settings)
    replies = [event for event in static.events if isinstance(event, CallReplied)]
    first = {
        f"{call}/t{turn}": said for call, answers in LOOK_UPS.items() for turn, said in enumerate(answers, start=1)
    }
    with ScriptedServer(Played(_script(replies), first), models=()) as server:
        backend = _backend(server, LARGE, models=dict.fromkeys(("surface", "probe", "worker", "score", "audit"), SMALL))
        return vp.verify(plan, repository, backend=backend, max_cost=2, log_dir=folder, **settings)


def cross_run(repository: Path, found: pd.DataFrame, mode: str, repetition: int, folder: Path) -> Run:
    """A cross run whose workers answer what static checkers do; each repetition deals the checkers out anew."""
    dealt = [*CHECKERS[repetition - 1 :], *CHECKERS[: repetition - 1]]
    settings: dict[str, Any] = {
        "task_type": "error-analysis",
        "settings": {"adversarial": mode == "adversarial"},
        "repo": repository,
        "task_key": f"live-example/{mode}",
        "repetition": repetition,
        "synthetic": True,
        "progress": False,
    }
    static = vp.crossverify(found, dict(zip(WORKERS, dealt, strict=True)), log_dir=None, **settings)
    replies = [event for event in static.events if isinstance(event, CallReplied)]
    with ScriptedServer(Played(_script(replies)), models=()) as server:
        backend = _backend(server, None, workers=WORKERS)
        return vp.crossverify(found, list(WORKERS), backend=backend, max_cost=1, log_dir=folder, **settings)


def _backend(server: ScriptedServer, model: str | None, **settings: Any) -> Anthropic:
    """Asks one call after the other, so that the messages have the same ids each time."""
    return speaking_to(server, model, prices=PRICES, max_concurrency=1, **settings)


def _script(replies: list[CallReplied]) -> dict[str, Any]:
    """The replies by call: of roles as they are, of workers their votes."""
    return {reply.call_id: reply.value.get("votes", reply.value) for reply in replies}


def _keep(run: Run, folder: Path, name: str, here: Path) -> None:
    """The log of a run once more, without the folder and the address of this machine; all else as it was."""
    places = {str(here): FOLDER, str(run.started.backend["base_url"]): ADDRESS}
    with LogWriter.create(folder, name) as writer:
        for record in run.records:
            text = record.event.model_dump_json()
            for own, neutral in places.items():
                text = text.replace(own, neutral)
            writer.append(EVENT.validate_json(text), record.at)
