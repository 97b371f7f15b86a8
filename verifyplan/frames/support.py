"""Findings whose class has little behind it: votes that looked at nothing, judges that have no vote (rules B8, G2)."""

from __future__ import annotations

import pandas as pd

from verifyplan.protocol.vote import NOTHING_LOOKED_AT
from verifyplan.text import counted, listed

_KEY = ["run_id", "finding_id"]


def note_blind_classes(votes: pd.DataFrame, where: str = "") -> str | None:
    """Say of how many findings every vote that counts in the last round looked at nothing, and which; None for none.

    Errors and the discoverers' own votes do not count; a finding without a vote that counts is not among them.
    """
    own = votes["is_origin"].fillna(False).astype(bool)
    cast = votes[~own & votes["verdict"].ne("verification-error")]
    at = (
        cast["iteration"].to_numpy() * (int(cast["round"].max() or 0) + 1 if len(cast) else 1)
        + cast["round"].to_numpy()
    )
    cast = cast[_KEY].assign(at=at, blind=cast["explanation"].str.startswith(NOTHING_LOOKED_AT).eq(True))
    last = cast[cast["at"].eq(cast.groupby(_KEY, sort=False)["at"].transform("max"))]
    blind = last.groupby(_KEY, sort=False)["blind"].all()
    ids = blind.index[blind.to_numpy(dtype=bool)].get_level_values("finding_id")
    if not len(ids):
        return None
    those = f"{counted(len(ids), 'finding')}{where} {'rests' if len(ids) == 1 else 'rest'}"
    return f"The class of {those} only on votes that looked at nothing: {listed(ids)}."


def absent_votes(runs: pd.DataFrame, findings: pd.DataFrame, votes: pd.DataFrame) -> pd.DataFrame:
    """Return `run_id, finding_id, round, voters, judges` where a table has fewer votes than its run has judges.

    A judge is whoever votes anywhere in the run; a row that says that the vote was lost is a vote here, and a
    discoverer of the finding is not missed. Rounds that
    nobody voted in, and runs that were no table of votes (whose logs tell who was asked), are not among them.
    """
    imported = votes["run_id"].isin(runs.loc[runs["kind"].eq("votes"), "run_id"]).to_numpy(dtype=bool)
    cast = votes.loc[imported, [*_KEY, "round", "worker"]]
    judges = cast.groupby("run_id", sort=False, observed=True)["worker"].nunique()
    found = findings[[*_KEY, "discoverers"]].explode("discoverers").dropna().rename(columns={"discoverers": "worker"})
    if len(found):
        found = found.merge(cast[["run_id", "worker"]].drop_duplicates())
        excused = found.merge(cast[[*_KEY, "round"]].drop_duplicates(), on=_KEY)
        cast = pd.concat([cast, excused[cast.columns]]).drop_duplicates()
    voters = cast.groupby([*_KEY, "round"], sort=False, observed=True).size().rename("voters").reset_index()
    voters["judges"] = voters["run_id"].map(judges).astype("int64")
    return voters[voters["voters"] < voters["judges"]].reset_index(drop=True)


def note_absent_votes(runs: pd.DataFrame, findings: pd.DataFrame, votes: pd.DataFrame, where: str = "") -> str | None:
    """Say how many findings have fewer votes than their run has judges, and which; None where there is none."""
    ids = absent_votes(runs, findings, votes).drop_duplicates(_KEY)["finding_id"]
    if ids.empty:
        return None
    have, run = ("has", "the run has") if len(ids) == 1 else ("have", "their run has")
    return f"{counted(len(ids), 'finding')}{where} {have} fewer votes than {run} judges: {listed(ids)}."
