"""The requests of recorded calls, made again from logs: those of every kind of run have the recorded digests."""

from __future__ import annotations

from pathlib import Path

import pytest

import verifyplan as vp
from tests.runs.debate_scripts import CONVERGES, debate_of
from verifyplan.protocol.event_run import CallRequested
from verifyplan.runlog.chain import Record
from verifyplan.runlog.reader import read_log
from verifyplan.runs.requests import request_of

LOGS = sorted(vp.datasets.path("live-example").rglob("*.jsonl"))


def asked(records: list[Record]) -> list[str]:
    return [record.event.call_id for record in records if isinstance(record.event, CallRequested)]


@pytest.mark.parametrize("log", LOGS, ids=lambda log: f"{log.parent.name}/{log.stem}")
def test_the_first_and_the_last_request_of_a_log_are_the_recorded_ones(log: Path):
    records = list(read_log(log).records)
    calls = asked(records)
    for call_id in {calls[0], calls[len(calls) // 2], calls[-1]}:
        found = request_of(records, call_id)
        assert (found.request.call_id, found.is_same) == (call_id, True)
    assert request_of(records, "r9/nobody") is None


def test_a_request_whose_digest_differs_is_marked_so():
    records = list(read_log(LOGS[0]).records)
    place = next(i for i, record in enumerate(records) if isinstance(record.event, CallRequested))
    other = records[place].event.model_copy(update={"request_sha256": "0" * 64})
    records[place] = records[place]._replace(event=other)
    assert not request_of(records, other.call_id).is_same


def test_requests_of_debates_and_of_runs_that_were_broken_off_are_made_again():
    records = list(debate_of(CONVERGES).records)
    calls = asked(records)
    assert all(request_of(records, call_id).is_same for call_id in calls)
    last = max(i for i, record in enumerate(records) if isinstance(record.event, CallRequested))
    assert request_of(records[: last + 1], calls[-1]).is_same
