"""Write the logs of this folder anew, offline, where inspect_ai is installed: `python write_logs.py FOLDER`.

Those here were written by inspect_ai 0.3.285 with its mock model on 2026-11-23; nothing was edited after. What its own
dataframes say of them is in `samples.csv`.
"""

import sys
from pathlib import Path

import pandas as pd
from inspect_ai import Epochs, Task, eval
from inspect_ai.analysis import samples_df
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import Score, accuracy, mean, model_graded_qa, scorer
from inspect_ai.solver import generate

QUESTIONS = [("q1", "2 + 2", "4"), ("q2", "3 + 3", "6"), ("q3", "5 + 5", "10"), ("q4", "1 + 7", "8")]
ANSWERS = ["4", "6", "11", "8", "4", "7", "10", "8"]


@scorer(metrics=[accuracy()])
def exact():
    async def score(state, target):
        answer = state.output.completion
        return Score(value="C" if answer == target.text else "I", answer=answer, explanation="compared")

    return score


@scorer(metrics=[mean()])
def closeness():
    async def score(state, target):
        if state.sample_id == "q4":
            return Score.unscored(reason="scoring_failed")
        return Score(
            value=1 / (1 + abs(int(state.output.completion) - int(target.text))), answer=state.output.completion
        )

    return score


@scorer(metrics={"short": [mean()], "polite": [mean()]})
def style():
    async def score(state, _target):
        return Score(value={"short": True, "polite": 0 if state.sample_id == "q2" else 1})

    return score


@scorer(metrics=[accuracy()])
def lenient():
    async def score(state, target):
        near = abs(int(state.output.completion) - int(target.text)) <= 1
        return Score(value="C" if near else "P")

    return score


def sums(scorers, epochs=1):
    samples = [Sample(id=id, input=text, target=target) for id, text, target in QUESTIONS]
    return Task(name="sums", dataset=samples, solver=generate(), scorer=scorers, epochs=Epochs(epochs, "mode"))


def model(name, texts):
    """A model that says these texts in turn; usage is given, as tokens would be counted by a file from the net."""
    outputs = [ModelOutput.from_content(name, text) for text in texts]
    for output in outputs:
        output.usage = ModelUsage(input_tokens=10, output_tokens=1, total_tokens=11)
    return get_model(f"mockllm/{name}", custom_outputs=outputs)


def grader(name, grades):
    return model(name, [f"I looked.\n\nGRADE: {grade}" for grade in grades])


def write(folder, name, task, answers=ANSWERS, **log):
    """Run a task, and name its log."""
    written = eval(task, model=model("model", answers), log_dir=str(folder), display="none", max_samples=1, **log)
    Path(written[0].location.removeprefix("file://")).rename(folder / name)


if __name__ == "__main__":
    folder = Path(sys.argv[1]).absolute()
    write(folder, "scorers.eval", sums([exact(), closeness(), style(), lenient()], epochs=2), log_format="eval")
    write(folder, "scorers.json", sums([exact(), lenient()]), log_format="json")
    write(folder, "other-model.eval", sums([exact()]), ["4", "6", "10", "7"], log_format="eval")
    panel = [grader("anne", "CCIC"), grader("bert", "CIIC"), grader("carl", ["C", "C", "C", "none " * 300])]
    write(folder, "panel.eval", sums([model_graded_qa(model=panel), exact()]), log_format="eval")
    read = {path.name: samples_df(str(path), quiet=True) for path in sorted(folder.glob("*.eval"))}
    scores = [
        frame[["id", "epoch", "target", *(name for name in frame if name.startswith("score_"))]].assign(log=name)
        for name, frame in read.items()
    ]
    pd.concat(scores).to_csv(folder / "samples.csv", index=False)
