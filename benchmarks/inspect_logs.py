"""How fast `from_inspect` reads the scores of 1,000 samples, beside Inspect AI's own dataframes, in one run.

`python -m benchmarks.inspect_logs [PYTHON]`. Inspect needs other versions of packages than this project, so it has an
interpreter of its own, which `make bench` installs; PYTHON names another. That one writes the log (four scorers,
messages of some length) and times `samples_df` on it, imports aside; both must find the same scores, or it stops.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile

import verifyplan as vp
from benchmarks.figures import ROOT, Measurement, report, timed

SAMPLES, REPEATS = 1_000, 9
PYTHON = ROOT / ".venv" / "inspect_ai" / "bin" / "python"

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
    """Time both on the same log, and report; stop where the scores differ."""
    with tempfile.TemporaryDirectory() as folder:
        command = [python, "-c", WRITE_AND_TIME, folder, str(SAMPLES), str(REPEATS)]
        written = subprocess.run(command, capture_output=True, text=True, check=True)
        theirs = json.loads(written.stdout.splitlines()[-1])
        ours = timed(lambda: vp.from_inspect(theirs["path"]), REPEATS)
        votes = vp.from_inspect(theirs["path"])
    correct = votes.labels.index("C")
    right = {
        f"score_{name}": int((votes.label[votes.worker == n] == correct).sum()) for n, name in enumerate(votes.workers)
    }
    if _plain(right) != _plain(theirs["right"]):
        sys.exit(f"the scores differ: {right} against {theirs['right']}")
    peers = {"Inspect AI's samples_df": Measurement(*theirs["seconds"])}
    report("inspect_logs", "from_inspect, four scorers", SAMPLES, "samples", ours, peers)


def _plain(right: dict[str, int]) -> dict[str, int]:
    """Return the counts under names as both write them."""
    return {name.replace("-", "_"): count for name, count in right.items()}


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else str(PYTHON))
