"""Debates in words: the log line by line, hostile texts made safe (rules E1, H3)."""

from __future__ import annotations

from tests.runs.debate_scripts import CONVERGES, RUNS_OUT, debate_of, says
from verifyplan.reports.log import log_text


def test_a_log_tells_a_debate_line_by_line():
    run = debate_of(CONVERGES, documents={"PLAN.md": "x"}, synthetic=True)
    lines = [line[19:].strip() for line in log_text(run.records)]
    assert len(lines) == len(run.records)
    assert lines[0] == (
        "Debate of greet begins: 1 document, 0 challenges; at most 3 turns, backend scripted, synthetic"
    )
    assert lines[1] == "t1/propose: architect is asked"
    assert lines[3] == "Turn 1: architect proposes: Write a greeting."
    assert lines[6] == "Turn 1: builder implements (diff of 4 lines): wrote hullo"
    assert lines[9] == "Turn 1: architect verifies: Not verified: the greeting is missing.; 1 risk"
    assert lines[12] == "Turn 2: architect criticizes: Spell it right."
    assert lines[-1] == "Debate ends in turn 2, VERIFIED: CONVERGED"


def test_a_log_tells_why_a_debate_has_no_status():
    lines = list(log_text(debate_of(CONVERGES | {"t1/implement": "timeout"}).records))
    assert lines[-1].endswith("Debate ends in turn 1, AGENT_FAILED: no status: t1/implement: timeout: scripted timeout")


def test_what_agents_say_stays_on_its_line():
    run = debate_of(CONVERGES | {"t1/propose": says("one\ntwo \u202e\x1b[2J" + "x" * 1000)})
    [line] = [line for line in log_text(run.records) if "architect proposes" in line]
    assert r"one two \u202e\x1b[2Jxxx" in line
    assert len(line) < 300


def test_the_text_ends_with_the_risks_of_the_closing_message_alone():
    lines = str(debate_of(RUNS_OUT, max_turns=2)).split("\n")
    assert lines[-1] == "    risk: not there yet"
    assert sum("risk: " in line for line in lines) == 1
    assert "risk: " not in str(debate_of(CONVERGES))
    risk = "one\ntwo \x1b[2J" + "x" * 1000
    said = str(debate_of(CONVERGES | {"t2/verify": says("Verified: so.", risks=[risk])})).split("\n")
    assert said[-1].startswith(r"    risk: one two \x1b[2Jxxx")
    assert len(said[-1]) < 300
