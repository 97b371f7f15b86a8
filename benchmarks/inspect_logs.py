"""How fast `from_inspect` reads the scores of 1,000 samples, beside Inspect AI's own dataframes, in one run.

Inspect needs other versions of packages than this project, so it is installed elsewhere, and its interpreter is named:
`python benchmarks/inspect_logs.py PYTHON`. That one writes the log (four scorers, messages of some length) and times
`samples_df` on it, imports aside; both must find the same scores, or it stops. On a busy machine see the time of CPU.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import verifyplan as vp

SAMPLES, REPEATS = 1_000, 9

WRITE_AND_TIME = """
import json, sys, time
from pathlib import Path
from inspect_ai import Task, eval
from inspect_ai.analysis import samples_df
from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessageAssistant
from inspect_ai.scorer import Score, accuracy, scorer
from inspect_ai.solver import solver

def judge(number):
    @scorer(metrics=[accuracy()], name=f"judge-{number}")
    def one():
        async def score(state, target):
            value = "C" if hash((int(state.sample_id), number)) % 3 else "I"
            return Score(value=value, answer="yes", explanation="Because of what was said. " * 8)
        return score
    return one()

@solver
def talk():
    async def solve(state, generate):
        state.messages += [ChatMessageAssistant(content="A thought of some length. " * 40) for _ in range(6)]
        return state
    return solve

folder, samples, repeats = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
dataset = [Sample(id=n + 1, input="Is it so? " * 20, target="yes") for n in range(samples)]
made = Task(name="made", dataset=dataset, solver=talk(), scorer=[judge(n) for n in range(4)])
eval(made, model="mockllm/model", log_dir=str(folder), display="none", log_format="eval")
path = str(next(folder.glob("*.eval")))
seconds = []
for _ in range(repeats + 1):
    start = time.perf_counter(), time.process_time()
    frame = samples_df(path, quiet=True)
    seconds.append((time.perf_counter() - start[0], time.process_time() - start[1]))
right = {name: int(frame[name].eq("C").sum()) for name in frame if name.startswith("score_")}
print(json.dumps({"path": path, "seconds": [min(column) for column in zip(*seconds[1:])], "right": right}))
"""


def main(python: str) -> None:
    """Print the fastest of several times of both, and the ratio."""
    with tempfile.TemporaryDirectory() as folder:
        command = [python, "-c", WRITE_AND_TIME, folder, str(SAMPLES), str(REPEATS)]
        theirs = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[-1])
        seconds = []
        for _ in range(REPEATS + 1):
            start = time.perf_counter(), time.process_time()
            votes = vp.from_inspect(theirs["path"])
            seconds.append((time.perf_counter() - start[0], time.process_time() - start[1]))
        size = Path(theirs["path"]).stat().st_size
    correct = votes.labels.index("C")
    right = {
        f"score_{name}": int((votes.label[votes.worker == n] == correct).sum()) for n, name in enumerate(votes.workers)
    }
    if {name.replace("-", "_") for name in right} != {name.replace("-", "_") for name in theirs["right"]} or sorted(
        right.values()
    ) != sorted(theirs["right"].values()):
        sys.exit(f"the scores differ: {right} against {theirs['right']}")
    print(
        f"{SAMPLES:,} samples x {len(votes.workers)} scorers, {size / 1e6:.1f} MB; milliseconds, the least of {REPEATS}"
    )
    print(f"{'':<10} from_inspect  samples_df  ratio")
    ours = [min(column) for column in zip(*seconds[1:], strict=True)]
    for name, mine, other in zip(("by clock", "of CPU"), ours, theirs["seconds"], strict=True):
        print(f"{name:<10} {mine * 1e3:12.1f} {other * 1e3:11.1f} {other / mine:6.1f}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python benchmarks/inspect_logs.py PYTHON, an interpreter that has inspect_ai")
    main(sys.argv[1])
