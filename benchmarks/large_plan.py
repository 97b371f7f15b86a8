"""A plan of 2 MB against a repository of 50,000 files: time and memory of one whole `verify`.

Run it by `make bench`; it makes its files in a temporary folder. The peer, in the same run, is `git grep` for one
name over the same repository: what a person would wait for.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.figures import YARDSTICK, Measurement, report, yardstick

FILES, PLAN_BYTES = 50_000, 2_000_000
CODE = {
    "py": "import os\n\n\nclass Part{n}:\n    def run_{n}(self):\n        return os.getpid() + {n}\n",
    "ts": "export function run{n}(a: number) {{\n  return a + {n}\n}}\n",
    "go": "package part\n\nfunc Run{n}(a int) int {{\n\treturn a + {n}\n}}\n",
    "md": "# Part {n}\n\nIt must never call `run_{n}` twice.\n",
}
GIT = ["git", "-c", "user.name=bench", "-c", "user.email=bench@example.org", "-c", "gc.auto=0"]


def make_repository(root: Path) -> None:
    kinds = list(CODE)
    for n in range(FILES):
        kind = kinds[n % len(kinds)]
        path = root / f"part{n // 500:03d}" / f"module_{n}.{kind}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(CODE[kind].format(n=n))
    (root / "part000" / "blob.bin").write_bytes(os.urandom(1000) + b"\0")
    (root / "part000" / "huge.txt").write_bytes(b"x" * 5_000_000)
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "All parts"]):
        subprocess.run([*GIT, *command], cwd=root, check=True)


def make_plan() -> str:
    parts, size, n = ["# Rename everything\n\nGoal: rename every function, since the names are old.\n\n"], 0, 0
    while size < PLAN_BYTES:
        n += 1
        parts.append(
            f"## Step {n}\n\nChange `run_{n * 4}` in `part{n * 4 // 500 % 100:03d}/module_{n * 4 % FILES}.py`, "
            f"create `new/module_{n}.py`, and run `make test`. This must not break `Part{n * 4}`.\n\n"
        )
        size += len(parts[-1])
    return "".join(parts)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        root, plan = Path(folder) / "repository", Path(folder) / "PLAN.md"
        make_repository(root)
        plan.write_text(make_plan())
        began = time.perf_counter()
        subprocess.run(["git", "grep", "-c", "run_48000"], cwd=root, capture_output=True, check=False)
        peer = time.perf_counter() - began
        program = (
            "import sys, time; began = time.perf_counter(); import verifyplan as vp\n"
            "run = vp.verify(sys.argv[1], sys.argv[2], log_dir=sys.argv[3])\n"
            "files = run.started.plan.repository['files']\n"
            "print(run.verdict, len(run.state.challenges), 'challenges', files, 'files')\n"
            "run.report(sys.argv[3] + '/report.html'); print(f'{time.perf_counter() - began:.1f} s')"
        )
        subprocess.run([sys.executable, "-c", program, plan, root, folder], check=True)
        took = time.perf_counter() - began - peer
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e3
        ours, peers = (
            Measurement(took, peak_mb=peak),
            {YARDSTICK: yardstick(), "git grep for one name": Measurement(peer)},
        )
        report("large_plan", "vp.verify of a plan of 2 MB", FILES, "files", ours, peers)


if __name__ == "__main__":
    main()
