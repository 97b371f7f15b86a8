"""How long it takes to start: the import, `verifyplan --help`, and `verifyplan compare` of a small set.

`python -m benchmarks.start`. Each is a Python process of its own, timed from its start to its end, in turns; beside
them stand an empty Python process and the import of pydantic and of pandas, which an analysis needs anyway.
"""

from __future__ import annotations

import subprocess
import sys

from benchmarks.figures import MET, Measurement, least, once, report, within

REPEATS = 9
IMPORT_BEYOND_PYDANTIC = 0.1
"""Seconds at most that `import verifyplan` may take beyond `import pydantic`."""

OURS = {
    "import verifyplan": (["-c", "import verifyplan"], None),
    "verifyplan --help": (["-m", "verifyplan", "--help"], 0.5),
    "verifyplan compare, a bundled set": (["-m", "verifyplan", "compare", "stdlib-claims/adversarial"], 1.5),
}
"""What is started, and the seconds aimed at."""
PEERS = {
    "import pydantic": ["-c", "import pydantic"],
    "import pandas": ["-c", "import pandas"],
    "an empty Python process": ["-c", ""],
}


def started(arguments: list[str]) -> Measurement:
    """Return what a Python process takes from its start to its end."""
    return once(lambda: subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL))[0]


def main() -> None:
    """Start each process in turns, and report."""
    commands = {name: arguments for name, (arguments, _) in OURS.items()} | PEERS
    turns = [{name: started(arguments) for name, arguments in commands.items()} for _ in range(1 + REPEATS)]
    found = {name: least([turn[name] for turn in turns[1:]])._replace(peak_mb=float("nan")) for name in commands}
    peers = {name: found[name] for name in PEERS}
    for name, (_, seconds) in OURS.items():
        aimed = seconds or found["import pydantic"].seconds + IMPORT_BEYOND_PYDANTIC
        report("start", name, 1, "process", found[name], peers | within(aimed), MET)


if __name__ == "__main__":
    main()
