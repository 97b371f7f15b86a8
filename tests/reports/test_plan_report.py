"""The report of a plan run says how it ended and on what that rests, for every way to end."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.reports.plan_events import ENDINGS, PlanEvents, deferred, full, revise
from tests.reports.plan_pages import plan_report, plan_report_html
from verifyplan.errors import InputError
from verifyplan.protocol.call import Usage
from verifyplan.protocol.event_run import CallFailed, CallReplied
from verifyplan.reports.plan import plan_summary
from verifyplan.runlog.plan_state import PlanState, fold_plan

HEADLINES = {
    "proceed": "PROCEED",
    "revise": "REVISE",
    "strong": "REVISE (strong)",
    "rethink": "RETHINK",
    "paused": "Paused in iteration 1: a question waits",
    "aborted": "No verdict: aborted by the user: We checked it.",
    "overridden": "REVISE (overridden: a person left out C3)",
    "acknowledged": "REVISE",
    "failed": "No verdict: synthesizer failed (timeout: no answer)",
    "budget": "No verdict: max_tokens: 16,000 tokens of 15,000 were used before synthesizer was called",
    "trivial": "PROCEED (trivial)",
    "overflow": "REVISE",
    "full": "REVISE (strong)",
    "four deferred": "PROCEED",
    "five deferred": "PROCEED",
}


def report(name: str) -> str:
    return plan_report(ENDINGS[name](str).state)


def section(text: str, title: str) -> str:
    return text.split(f"\n## {title}\n")[1].split("\n## ")[0]


def test_every_ending_has_its_headline():
    assert HEADLINES.keys() == ENDINGS.keys()
    for name, make in ENDINGS.items():
        state = make(str).state
        assert f">{HEADLINES[name]}</p>" in re.sub("</?bdi>", "", plan_report_html(state)), name
        assert plan_report(state).replace("\\", "").split("\n\n")[1] == f"**{HEADLINES[name]}**"
        failed, *lines = (
            plan_summary(state).splitlines() if state.failed_calls else ["", *plan_summary(state).splitlines()]
        )
        assert lines[0].strip() == HEADLINES[name] + (" (synthetic)" if name == "full" else "")
        assert (" failed: " in failed) == (state.failed_calls > 0)
        assert f"{failed}." in plan_report(state).replace("\\", "")


def test_a_summary_has_four_to_thirteen_lines_and_a_way_on():
    for make in ENDINGS.values():
        told = plan_summary(make(str).state).splitlines()
        assert 4 <= len(told) <= 13
        assert re.match(r"  (Next|Answer): \S", told[-1])
    many = PlanEvents(on_blocked="pause").assess().begin()
    for n in range(1, 9):
        many.challenge(f"C{n}", "BLOCKING")
    told = plan_summary(many.judge("BLOCKED").checkpoint("blocked", "How?", "C1", pause_id="i1/pause-1").state)
    assert len(told.splitlines()) == 12
    assert "  ... and 5 more\n" in told


def test_a_summary_names_what_is_open_with_place_and_mitigation():
    told = plan_summary(revise().state)
    assert "C1 SIGNIFICANT, cache.md:12, src/store.py:3-7: The plan assumes C1. Instead: Use a lock." in told
    assert "The plan assumes C2. Instead: no mitigation was given." in told
    assert "quality score 7 of 10, not used for the verdict" in told
    assert "10,000 tokens (9,000 in, 1,000 out) in 1 call" in told


def test_the_head_says_what_the_verdict_rests_on_and_what_comes_next():
    told = report("rethink")
    assert "1 BLOCKING and 1 SIGNIFICANT challenge unsettled after iteration 2 of 2 (policy protocol)" in told
    assert (
        told.index("What blocks the plan")
        < told.index("- C2 (BLOCKING")
        < told.index("Also open")
        < told.index("- C1 (S")
    )
    assert "**Next step:** Resolve what blocks the plan (C2), then verify the new plan." in told


def test_a_plain_revise_has_its_mitigations_inline_and_no_strong_words():
    head = report("revise").split("\n## ")[0]
    assert "**Mitigations:**" in head
    assert "The plan assumes C1. C1 fails when two writers meet. **Instead:** Use a lock." in head
    assert re.search(r"- C1 \(SIGNIFICANT, OPEN.*\*\*Instead:\*\* Use a lock\.", head)
    assert re.search(r"- C2 \(SIGNIFICANT, OPEN.*\*\*No mitigation was given\.\*\*", head)
    assert "Strongly" not in head


def test_a_strong_revise_says_so_with_every_challenge():
    head = report("strong").split("\n## ")[0]
    assert "Strongly recommended: address these before proceeding" in head
    assert [f"Mitigation {n}." in head for n in range(1, 5)] == [True] * 4


def test_a_paused_run_shows_its_question_and_how_to_answer():
    head = report("paused").split("\n## ")[0]
    assert "**The question:** How is C3 to be met?" in head
    for answer in ("context --note TEXT", "acknowledge:C3 --note TEXT", "override:C3", "abort"):
        assert f"`verifyplan resume RUN --script SCRIPT --answer {answer}`" in head
    assert "acknowledge:C1" not in head, "only what blocks can be acknowledged"
    assert "`verifyplan resume" not in report("acknowledged")


def test_what_people_decided_is_told():
    assert "A person accepted the risk of C3." in report("acknowledged")
    assert "acknowledge C3: We checked it." in section(report("acknowledged"), "Checkpoints and answers")
    assert "The verdict is not what the counts alone give: C3 was left out by a person's override." in report(
        "overridden"
    )
    assert "- C3 (" not in report("overridden").split("\n## ")[0], "what was overridden is no mitigation to work in"


def test_failures_say_what_they_cost():
    told = report("failed")
    row = "| 1 | synthesizer | i1/synthesizer | timeout: no answer | the run ends with what there is |"
    assert row in section(told, "Agents that failed")
    assert "Agents that failed: synthesizer." in told
    summary = plan_summary(ENDINGS["failed"](str).state)
    assert "\n  Failed: i1/synthesizer: the run ends with what there is\n" in summary, "a verdict may rest on it"
    assert "line 9 is no text" in section(told, "How the plan was sized")
    assert "No quality score: the run ended without a verdict." in told


def test_a_blocking_challenge_in_overflow_is_named_at_the_head_and_in_its_section():
    told = report("overflow")
    assert "with it a run gets REVISE at best" in told.split("\n## ")[0]
    assert re.search(
        r"\| C2 \| BLOCKING \| DEFERRED\\_PROBED \| 1 \| The plan assumes C2\. \|", section(told, "Overflow")
    )
    assert "### C2: BLOCKING, HIGH confidence, in overflow" in told
    assert "| C2 |" not in section(told, "Challenges"), "it was never admitted"


@pytest.mark.parametrize(("number", "warned"), [(4, False), (5, True), (6, True)])
def test_five_deferred_are_a_debt_and_a_tag_is_none(number, warned):
    told = plan_report(deferred(number).state)
    assert ("Technical Debt Warning" in told) is warned
    if warned:
        assert section(told, "Technical Debt Warning").count("\n- C") == number
    assert "DEFERRED\\_CHALLENGED" in told


def test_disputed_challenges_have_every_vote():
    told = section(report("full"), "Disputed challenges")
    assert "C2 was contested in iteration 1 (rule hard-refute)" in told
    assert "| panel-2 | disagree | counter-evidence | panel-2 opened src/store.py:3. |" in told
    assert "C1 was contested" not in told
    assert "Disputed" not in report("proceed"), "that nothing was disputed is no news"


def test_that_no_panel_voted_is_news():
    off = PlanEvents(panel=None).assess().begin().challenge("C1", "MINOR").state
    assert "No panel voted: it was switched off." in plan_report(off)
    assert "No panel voted: no iteration got that far." in report("failed")
    assert "No panel voted" not in report("trivial")


def test_the_resolution_table_begins_with_the_worst():
    rows = re.findall(r"\| (C\d+) \| (\w+) \| (\w+) \|", section(report("full"), "Challenges"))
    assert [name for name, *_ in rows] == ["C1", "C2", "C4", "C6", "C5", "C3"], (
        "by severity, open first, then by number"
    )
    row = "| C1 | BLOCKING | RESOLVED | challenger | The plan assumes C1. | see src/store.py:9 | - | full-consensus |"
    assert row in section(report("full"), "Challenges")


def test_iterations_and_their_trend():
    told = section(report("full"), "Iterations")
    assert "| 1 | 3 | 1 | 1 | 2 | BLOCKED | no |\n| 2 | 2 | 0 | 1 | 4 | BLOCKED | yes: the next was tightened |" in told
    assert "| 3 | 1 | 2 | 0 | 3 | CONVERGED | no |" in told
    assert "**Trend:** better than at first: BLOCKING open 1 to 1 to 0, SIGNIFICANT open 2 to 4 to 3." in told
    assert "Iteration 1: it said CONVERGED PROCEED; the counts gave BLOCKED." in told
    assert "Iteration 1: FOCUS: Look at locks" in told


def test_scores_have_evidence_weights_and_both_sides_of_a_dispute():
    told = section(report("full"), "Scores")
    assert "No quality score: the score of risk\\_coverage was refused." in report("full").split("\n## ")[0]
    assert "| approach soundness | 0.2 | 7 | 3 | synthesizer looked at approach\\_soundness |" in told
    assert "- **Synthesizer: 7:** synthesizer looked at approach" in told
    assert "- **Challenger: 3:** challenger looked at approach" in told
    assert "is no score" in told
    final = section(report("proceed"), "Scores")
    assert "**Quality score, not used for the verdict: 7 of 10.** The score informs and never decides" in final
    assert "| risk coverage | 0.20 | 7 | - |" in final
    assert "The challenger did not audit the scores." in final


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("aborted", "the run ended without a verdict"),
        ("strong", "the synthesizer gave no scores"),
    ],
)
def test_a_missing_score_has_its_reason(name, why):
    assert f"No quality score: {why}." in report(name).split("\n## ")[0]
    assert "\n## Scores\n" not in report(name)


def test_challenges_in_full_keep_quoted_lines_and_their_history():
    told = section(report("full"), "Challenges in full")
    assert "```text\ncache.md:12\n> the cache is never emptied\nsrc/store.py:3-7\n```" in told
    assert "Evidence, which cites no place that could be opened:\n\n```text\nsomewhere\n```" in told
    assert "- **Resolution:** not now" in told
    assert "- Iteration 1: OPEN to DEFERRED by the synthesizer (cites nothing)\n" in told, "the resolution stands above"
    assert "- Iteration 3: promoted out of overflow" in told
    assert "the panel found contested (rule hard-refute): panel-1 agree, panel-2 disagree (counter-evidence)" in told
    assert "raised by research (surfaced) for S1, by the rules" in told


def test_research_refusals_and_restatements_are_told():
    told = report("full")
    assert "| U1 | FILE\\_MISSING | Is the store locked? | C1 | CONFIRMED |" in section(told, "Unknowns")
    assert "not answered" in section(told, "Unknowns")
    assert "| S1 | git\\_history | 1f2e3d4 |" in section(told, "Surfaced contexts")
    assert "| P1 | SIGNIFICANT | MED | The cache is stale. |" in section(told, "Probed risks")
    refused = section(told, "Refusals")
    for wanted in (
        "a challenge by devils-advocate: Typo.",
        "to make C1 WITHDRAWN: no",
        "RE-SWEEP: C1 S1",
        "to take C4 out",
    ):
        assert wanted in refused
    assert "| 2 | challenge | challenger | C1 again | C1 |" in section(told, "Restated")


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("trivial", "Expected: a trivial plan typically takes 2K tokens, at worst 2K."),
        ("proceed", "Expected: a base team with 1 iteration typically takes 45K tokens, at worst 55K."),
        ("strong", "Expected: a scaled team with 1 iteration typically takes 70K tokens, at worst 85K."),
        ("rethink", "typically lies between 45K and 95K tokens, at worst between 55K and 150K."),
        ("full", "typically takes 150K tokens, at worst 215K. This run used more than the worst case."),
        ("budget", "The limit of the run was 15,000 tokens."),
    ],
)
def test_tokens_stand_beside_what_is_expected(name, told):
    cost = section(report(name), "Tokens and calls")
    assert told in cost
    assert ("more than the worst case" in cost) is (name == "full")
    assert "Used: " in cost


def priced(*costs: str | None, prices: Any = None, **settings: Any) -> PlanEvents:
    """A run of calls that cost so much, None where that is not known; the last of them fails."""
    run = PlanEvents(prices=prices, **settings).assess().begin()
    *replied, failed = [
        Usage(input_tokens=100, cache_read_tokens=800, cache_write_tokens=50, output_tokens=10, cost=cost)
        for cost in costs
    ]
    for number, usage in enumerate(replied):
        run.add(CallReplied(call_id=f"i1/{number}", value={}, usage=usage, duration_ms=1, source="live"))
    return run.add(CallFailed(call_id="i1/probe", status="error", reason="no", duration_ms=1, usage=failed))


def test_dollars_cached_tokens_and_what_failed_calls_used_are_told():
    state = priced("0.5", "0.7512", max_cost="2.5").state
    used = "1,920 tokens (1,900 in, 1,600 of them cached, 20 out) in 1 call and 1 that failed, $1.25"
    assert used in plan_summary(state)
    told = section(plan_report(state).replace("\\", ""), "Tokens and calls")
    assert f"Used: {used}." in told
    assert "Written to a cache: 100 of the tokens in." in told
    assert "The limit of the run was $2.5." in told
    both = priced("0.5", max_cost="2.5", max_tokens=1_000).state
    assert "The limit of the run was 1,000 tokens or $2.5." in plan_report(both).replace("\\", "")


@pytest.mark.parametrize(
    ("prices", "why"),
    [
        ({"a-model": {"input": "5"}, "a-local*model": None, "other": None}, "no price for a-local*model, other"),
        ({"a-model": {"input": "5"}}, "no price is known"),
        (None, "no price is known"),
        ("free", "no price is known"),
    ],
)
def test_a_cost_that_is_not_known_is_said_with_the_models_that_have_no_price(prices, why):
    state = priced("0.5", None, prices=prices).state
    assert f"failed, cost unknown: {why}" in plan_summary(state)
    assert f"failed, cost unknown: {why}." in plan_report(state).replace("\\", "")
    assert "cost" not in plan_summary(PlanEvents().assess().begin().state)


def test_the_endpoint_s_searches_and_the_repetition_are_told():
    run = PlanEvents().assess().begin()
    usage = Usage(output_tokens=1, web_searches=3)
    run.add(CallReplied(call_id="i1/probe", value={}, usage=usage, duration_ms=1, source="live"))
    assert "Searches of the web that the endpoint made: 3." in plan_report(run.state)
    assert "| repetition |" not in plan_report(run.state)
    run.events[0] = run.events[0].model_copy(update={"repetition": 4})
    assert "| repetition | 4 |" in plan_report(run.state)


def test_sections_without_news_are_left_out():
    told = report("proceed")
    for title in ("Overflow", "Unknowns", "Refusals", "Restated", "Agents that failed", "Checkpoints", "Technical"):
        assert f"## {title}" not in told
    assert "No challenge was raised." in plan_report(PlanEvents().assess().begin().state)
    assert "## Challenges" not in plan_report(PlanEvents().assess().begin().state)


def test_circumstances_are_whole():
    told = section(report("full"), "The run")
    for part in (
        "5e" * 32,
        "1f2e3d4",
        "scripted",
        "setting weights",
        "version of the rules | 2",
        "version of verifyplan | 0.1.0",
        "generated",
    ):
        assert part in told
    assert "setting max" not in told, "what is at its default is no news"
    assert "none" not in told.replace("models", "").replace('"none"', ""), "what is not there is no news"
    assert "scaled from 7 on" in report("full")
    assert "Redis 19 (22) and 5 more" in report("full")


def test_what_is_below_the_current_folder_is_named_from_there(monkeypatch):
    monkeypatch.setattr(Path, "cwd", lambda: Path("/repo"))
    told = section(report("full"), "The run")
    assert "| plan | plans/cache.md |" in told
    assert "| repository root | /repo |" in told


def test_every_prefix_of_a_run_has_a_report():
    events = full().events
    for length in range(1, len(events)):
        state = fold_plan(events[:length])
        assert plan_report(state).startswith("# Plan verification: ")
        assert 4 <= len(plan_summary(state).splitlines()) <= 13
    assert "No verdict yet: the run has not ended" in plan_report(fold_plan(events[:9]))


def test_what_is_no_plan_run_is_refused_in_words():
    for write in (plan_report, plan_report_html, plan_summary):
        with pytest.raises(InputError, match=r"state: is of nothing, not of a plan run\. Fix: fold the events"):
            write(PlanState())
