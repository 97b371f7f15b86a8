"""Make the bundled tables of votes again from copies of their originals: `python data/record_votes.py FOLDER`.

What is in FOLDER, and what each table is: data/README.md. Nothing is fetched; the licence of `crowd` is kept.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from verifyplan.columns import fitted
from verifyplan.frames.vote_tables import VOTE_TABLES

VOTES = Path(__file__).resolve().parent / "votes"


def llmbar(folder: Path) -> pd.DataFrame:
    """Verdicts on which of two outputs is better, in both orders."""
    raw = pd.read_csv(folder / "llmbar" / "votes.csv")
    return raw.rename(columns={"label": "truth"}).assign(
        item=raw["set"] + "/" + raw["item"].astype("str"),
        worker=raw["model"] + "/" + raw["strategy"],
        label=raw["vote"],
        swapped=raw["vote_swapped"],
    )


def crowd(folder: Path, name: str) -> pd.DataFrame:
    """People's labels, with the truth of their items."""
    votes, truth = (pd.read_csv(folder / "crowd" / name / f"{part}.csv") for part in ("label", "truth"))
    return votes.merge(truth, on="item", how="left", validate="many_to_one")


def judge_scores(folder: Path, name: str) -> pd.DataFrame:
    """Whether the claimed answer scores strictly highest; costs are those of 4 answers x 8 repetitions together."""
    raw, costs = (pd.read_parquet(folder / "judge-scores" / f"{part}.parquet") for part in (name, "costs"))
    key = ["item", "model", "variant", "temperature"]
    plain = ["item", "subset", "model", "variant", "verdict"]
    raw = raw.assign(**{column: raw[column].astype("str") for column in plain})
    costs = costs.assign(**{column: costs[column].astype("str") for column in ("item", "model", "variant")})
    votes = raw.merge(costs[[*key, "usd"]], on=key, how="left", validate="many_to_one")
    default = votes["temperature"].isna() | votes["temperature"].eq(1.0)
    repetitions = int(votes["repetition"].max()) + 1
    return votes.assign(
        worker=votes["model"] + "#" + votes["repetition"].astype("str"),
        label=votes["verdict"].eq("agree").map({True: "true", False: "false"}).mask(votes["verdict"].eq("error")),
        truth=votes["truth"].map({True: "true", False: "false"}),
        run=votes["variant"].where(default, votes["variant"] + "@" + votes["temperature"].astype("str")),
        cost=votes["usd"] / repetitions,
    )


def beliefs(folder: Path) -> pd.DataFrame:
    """Stated probabilities, with the answer that they are for."""
    raw = pd.read_csv(folder / "debate-judges" / "beliefs.csv")
    sides = np.select([raw["belief_a"] > 0.5, raw["belief_a"] < 0.5], ["A", "B"], "tie")
    names = {"debate": "item", "judge": "worker", "belief_a": "belief", "belief_correct": "belief_right"}
    return raw.rename(columns=names).assign(label=sides, story=raw["story"].astype("str"))


def _deliberations(folder: Path) -> pd.DataFrame:
    """Turns of agents, provers and verifiers, their rounds counted over all attempts."""
    raw = pd.read_parquet(folder / "prover-verifier" / "votes.parquet")
    texts = raw.select_dtypes("category").columns
    raw = raw.assign(**{name: raw[name].astype("str").where(raw[name].notna()) for name in texts})
    before = raw[raw["role"].ne("verifier")].groupby(["run", "item", "agent", "attempt"]).size()
    first = before.groupby(level=["run", "item", "agent"]).cumsum() - before
    first = first.groupby(level=["run", "item", "attempt"]).max().rename("before").reset_index()
    raw = raw.merge(first, on=["run", "item", "attempt"], how="left", validate="many_to_one")
    return raw.assign(attempt_round=raw["round"], round=raw["before"].fillna(0) + raw["round"])


def answers(folder: Path) -> pd.DataFrame:
    """Agents' and provers' answers."""
    raw = _deliberations(folder)
    raw = raw[raw["role"].ne("verifier")]
    named = raw["agent"].where(raw["role"].ne("prover"), raw["agent"] + " (" + raw["model"] + ")")
    return raw.assign(worker=named, label=raw["answer"])


def verdicts(folder: Path) -> pd.DataFrame:
    """Verifiers' verdicts; their truth is whether the checked answer is right."""
    raw = _deliberations(folder)
    raw = raw[raw["role"].eq("verifier")]
    return raw.assign(
        question=raw["item"],
        item=raw["item"] + "/" + raw["answer"].fillna("?"),
        worker=raw["agent"] + " (" + raw["model"] + ")",
        label=raw["verdict"],
        truth=raw["answer"].eq(raw["truth"]).map({True: "accept", False: "reject"}),
    )


def samples(folder: Path) -> pd.DataFrame:
    """Independent answers of a model."""
    raw = pd.read_parquet(folder / "prover-verifier" / "samples.parquet")
    return raw.assign(worker=raw["model"].astype("str") + "#" + raw["sample"].astype("str"), label=raw["answer"])


def outcomes(folder: Path) -> pd.DataFrame:
    """The last answers of whole systems."""
    raw = pd.read_parquet(folder / "prover-verifier" / "outcomes.parquet")
    names = {"run": "worker", "cost_usd": "cost", "wall_seconds": "seconds", "initial_answer": "first_answer"}
    raw = raw[raw["benchmark"].eq("gpqa-diamond")].rename(columns=names)
    return raw.assign(label=raw["final_answer"])


def hle(folder: Path) -> pd.DataFrame:
    """Whether whole systems were right, where the letters are not kept."""
    raw = pd.read_parquet(folder / "prover-verifier" / "outcomes.parquet")
    raw = raw[raw["benchmark"].eq("hle-mc")].rename(
        columns={"run": "worker", "cost_usd": "cost", "wall_seconds": "seconds"}
    )
    return raw.assign(label=raw["correct"].map({True: "right", False: "wrong"}), truth="right")


def debate_rounds(folder: Path) -> pd.DataFrame:
    """Answers in rounds; an answer that is right but for its spelling has the label of the truth."""
    raw = pd.read_parquet(folder / "debate-rounds" / "votes.parquet")
    return raw.assign(
        worker=raw["agent"],
        run=raw["run"].astype("str") + "#" + raw["repetition"].astype("str"),
        label=raw["answer"].astype("str").mask(raw["correct"], raw["truth"].astype("str")),
    )


def judge_panel(folder: Path) -> pd.DataFrame:
    """Last verdicts of judges that discuss."""
    raw = pd.read_csv(folder / "judge-panel" / "votes.csv")
    return raw.rename(columns={"agent": "worker", "answer": "label"})


MAKERS: dict[str, Callable[[Path], pd.DataFrame]] = {
    "llmbar": llmbar,
    "rte": lambda folder: crowd(folder, "rte"),
    "dog": lambda folder: crowd(folder, "dog"),
    "judge-scores": lambda folder: judge_scores(folder, "votes"),
    "judge-scores-balanced": lambda folder: judge_scores(folder, "votes_balanced"),
    "debate-judges": beliefs,
    "debate-rounds": debate_rounds,
    "judge-panel": judge_panel,
    "prover-verifier": answers,
    "prover-verifier-verdicts": verdicts,
    "prover-verifier-samples": samples,
    "prover-verifier-outcomes": outcomes,
    "prover-verifier-hle": hle,
}


def write(name: str, made: pd.DataFrame) -> Path:
    """Write a table with its declared columns and types, and what it is; cells keep their order."""
    table = VOTE_TABLES[name]
    names = [column.name for column in table.columns]
    frame = fitted(table.columns, made[names].reset_index(drop=True), name)
    frame = frame.astype(_small(frame))
    frame.attrs = {"name": name, "source": table.source, "licence": table.licence, "synthetic": False}
    path = VOTES / table.file
    path.parent.mkdir(parents=True, exist_ok=True)
    frame.to_parquet(path, index=False, compression="zstd", compression_level=19)
    return path


def _small(frame: pd.DataFrame) -> dict[str, Any]:
    """Return the smallest whole numbers that hold each column of them; reading makes them Int64 again."""
    whole = frame.select_dtypes("Int64").columns
    return {name: "Int16" if frame[name].abs().max() < 2**15 else "Int32" for name in whole}


def main(folder: Path) -> None:
    """Write every table, and beside it the licence of its source and where that is."""
    for name, make in MAKERS.items():
        path = write(name, make(folder))
        licence = folder / path.parent.name / "LICENSE"
        if licence.exists():
            shutil.copyfile(licence, path.parent / "LICENSE")
            (path.parent / "LICENSE").chmod(0o644)
        table = VOTE_TABLES[name]
        words = "Votes, ids and truth only, no texts; columns renamed and joined by data/record_votes.py."
        (path.parent / "SOURCE").write_text(f"{table.source}\nLicence: {table.licence}\n{words}\n")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python data/record_votes.py FOLDER, the folder with the original tables")
    main(Path(sys.argv[1]))
