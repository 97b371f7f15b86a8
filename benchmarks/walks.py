"""Count the modules of verifyplan that one call crosses: how many files a reader opens who follows it.

Run it with `python benchmarks/walks.py` (`--list` names the modules). It counts the modules in which some function runs
while `crossverify`, `verify` and `compare` work, offline agents included; imports are made beforehand.
docs/design.md has the figures of earlier versions.
"""

from __future__ import annotations

import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

import verifyplan as vp
from tests.runs.plan.planning import run_of, script

PACKAGE = str(Path(vp.__file__).parent)


def crossed(call: Callable[[], object]) -> list[str]:
    """Return the modules in which some function runs during a call, sorted."""
    files: set[str] = set()

    def profile(frame: FrameType, event: str, _: Any) -> None:
        name = frame.f_code.co_filename
        if event == "call" and name.startswith(PACKAGE) and frame.f_code.co_name != "<module>":
            files.add(name)

    call()  # imports what it needs
    threading.setprofile(profile)
    sys.setprofile(profile)
    try:
        call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return sorted(Path(name).relative_to(PACKAGE).with_suffix("").as_posix() for name in files)


def main() -> None:
    folder = Path(tempfile.mkdtemp())
    repository = vp.datasets.sample_repository(folder / "waybill")
    plan = vp.datasets.plan_path("purge-hour")
    claims = vp.datasets.stdlib_claims(8, seed=7)
    workers = ["syntax-tree", "window", "search", "quotation"]
    root = vp.datasets.stdlib_root()
    modes = [vp.datasets.runs(f"stdlib-claims/{mode}") for mode in ("collaborative", "adversarial")]
    calls: dict[str, Callable[[], object]] = {
        "crossverify": lambda: vp.crossverify(claims, workers, repo=root, log_dir=folder / "cross"),
        "verify, scripted agents": lambda: run_of(script()),
        "verify, static agents": lambda: vp.verify(plan, repository, log_dir=folder / "plans", progress=False),
        "compare": lambda: vp.compare(*modes),
    }
    for name, call in calls.items():
        modules = crossed(call)
        by_folder: dict[str, list[str]] = {}
        for module in modules:
            by_folder.setdefault(module.split("/")[0] if "/" in module else ".", []).append(module)
        print(f"{name}: {len(modules)} modules")
        if "--list" in sys.argv:
            for where, files in sorted(by_folder.items()):
                print(f"  {where} ({len(files)}): {', '.join(files)}")


if __name__ == "__main__":
    main()
