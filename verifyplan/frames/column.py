"""The columns that several tables of runs share, as data (rule E4)."""

from __future__ import annotations

from verifyplan.columns import Column as Column
from verifyplan.columns import Columns as Columns

RUN = Column("run_id", "text", "the run: its file's path under the loaded folder, without suffix", key=True)
ITERATION = Column("iteration", "whole", "the iteration of a plan run; 0 in cross runs", key=True, default=0)
ROUND = Column("round", "whole", "the round, from 1", key=True)
WORKER = Column("worker", "text", "the worker, as the roster names it", key=True)
FINDING = Column("finding_id", "text", "the finding, unique in its run; of a plan run, the challenge", key=True)
CHALLENGE = Column("challenge_id", "text", "the challenge: C1, C2 ..., counted over all iterations", key=True)
