"""A sample of `make bench-faults`: faults of each family, on each kind of run in turn; and that it can fail."""

from __future__ import annotations

import pytest

from benchmarks import faults
from benchmarks.fault_server import CountingServer, misaccounted
from benchmarks.fault_subjects import SUBJECTS
from benchmarks.fault_trials import CHECKS, Outcome, ReplyFault
from tests.live.live_runs import speaking_to
from tests.live.scripted_replies import refuses, says_json

SAMPLE = {
    ("HTTP", "503, once"): "debate",
    ("HTTP", "connection closed in the body, every time"): "plan",
    ("HTTP", "401"): "cross",
    ("messages", "refusal"): "cross",
    ("messages", "prose, twice"): "debate",
    ("messages", "made-up ids"): "cross",
    ("roles", "an outage: 60 % of calls get 503"): "cross",
    ("tools", "a path outside the repository"): "plan",
    ("kills", "SIGKILL twice while a failed call is asked again"): "cross",
    ("signals", "Ctrl-C while a request is answered"): "plan",
    ("disk", "no space for more of the log"): "debate",
    ("clock", "set back by a day, and again with each event"): "cross",
    ("writers", "a second process resumes a run under way"): "plan",
}
"""A fault of each family, and the kind of run that it befalls."""


@pytest.fixture(scope="module")
def listed():
    """The published list; to make it, each kind of run is made once, undisturbed."""
    return list(faults.all_faults())


@pytest.mark.parametrize(
    ("fault", "kind"), SAMPLE.items(), ids=[f"{kind}, {name}" for (_, name), kind in SAMPLE.items()]
)
def test_a_run_holds_what_it_promises(fault, kind, listed):
    outcome = next(one for one in reversed(listed) if (one.family, one.name, one.kind) == (*fault, kind)).tried()
    assert dict(outcome.wrong) == {check: [] for check in outcome.wrong}
    assert {"ends", "resume", "accounts"} <= outcome.wrong.keys() <= CHECKS.keys()


@pytest.mark.parametrize(
    ("then", "reason", "answer"),
    [("same", "", refuses()), ("failed", "answered 500", refuses()), ("failed", "", says_json({"votes": []}))],
    ids=["fails though it should pass", "fails for another reason", "is no failure"],
)
def test_what_does_not_hold_is_seen(then, reason, answer):
    outcome = ReplyFault("messages", "x", "cross", {"r1/bob/t1": answer}, then, reason).tried()
    assert not outcome.held
    assert outcome.wrong["ends"]


def test_a_log_that_accounts_otherwise_is_seen(tmp_path):
    subject = SUBJECTS["cross"]
    with CountingServer(subject.played()) as server:
        run = subject.begin(speaking_to(server), tmp_path / "logs", None)
    assert misaccounted(run.log_path, server.exchanges) == []
    first, *others = server.exchanges
    [turns, tokens] = misaccounted(run.log_path, others)
    assert first.turn in turns
    assert tokens.startswith("booked, and never sent: ")
    assert first.turn in tokens
    more = misaccounted(run.log_path, [*server.exchanges, first])
    assert len(more) == 2  # a request too few, and a reply too few


def test_the_table_counts_fault_by_fault():
    outcomes = [
        Outcome("HTTP", "503", "cross", {"ends": [], "log": []}),
        Outcome("HTTP", "503", "plan", {"ends": ["it did not"]}),
        Outcome("disk", "full", "plan", {"ends": [], "accounts": []}),
    ]
    rows = [line for line in faults.markdown(outcomes).splitlines() if line.startswith("| ")]
    assert rows[1:4] == [
        "| HTTP: 1 | 2 | 1 of 2 | 1 of 1 | - | - | - |",
        "| disk: 1 | 1 | 1 of 1 | - | - | - | 1 of 1 |",
        "| all: 2 | 3 | 2 of 3 | 1 of 1 | - | - | 1 of 1 |",
    ]
    assert rows[5] == "| 503 | 2 | 1 of 2 | 1 of 1 | - | - | - |"


def test_the_page_has_a_place_for_the_tables():
    assert faults.with_tables(faults.PAGE.read_text(), "here") != faults.PAGE.read_text()


def test_the_benchmark_ends_with_1_where_something_does_not_hold(monkeypatch, capsys):
    wrong = ReplyFault("messages", "a refusal", "debate", {"t2/critique/t1": refuses()}, "same")
    monkeypatch.setattr(faults, "all_faults", lambda: iter([wrong]))
    monkeypatch.setattr("sys.argv", ["faults"])
    with pytest.raises(SystemExit) as ended:
        faults.main()
    assert ended.value.code == 1
    assert "0 of 1 runs hold" in capsys.readouterr().out
