"""rule A9: the panel votes on what is unsettled after research; its class goes to the synthesizer and binds it."""

from __future__ import annotations

import pytest

from tests.runs.plan.acting import Acting
from tests.runs.plan.planning import AGREE, BURDEN, CAVEAT, COUNTER, challenge, change, context, run_of, told
from verifyplan.protocol.call import Reply, WorkerRequest
from verifyplan.protocol.settings import PanelSettings

BLOCKING = challenge("locks", "BLOCKING")
PANEL = ("ann", "bob", "cy")


def run(votes, script=None, **settings):
    """A run whose panel votes these on everything; one vote for each worker, in order."""
    given = {"i1/challenger": {"challenges": [BLOCKING, challenge("rows")]}} | (script or {})
    for iteration in (1, 2):
        given |= {
            f"i{iteration}/panel/r1/{worker}": vote if isinstance(vote, str) else {"C1": vote, "C2": vote}
            for worker, vote in zip(PANEL, votes, strict=False)
        }
    return run_of(given, silent=True, **{"panel": PANEL, "team": "base", "max_iterations": 2} | settings)


CLASSES = [
    ((AGREE, AGREE, AGREE), "full-consensus", "survived"),
    ((AGREE, CAVEAT, AGREE), "partial-consensus", "survived-with-caveat"),
    ((AGREE, AGREE, BURDEN), "partial-consensus", "lone-doubt"),
    ((AGREE, AGREE, COUNTER), "contested", "hard-refute"),
    ((AGREE, BURDEN, BURDEN), "contested", "burden-majority"),
    ((BURDEN, COUNTER, BURDEN), "worker-unique", "all-others-disagree"),
    (("timeout", "error", "error"), "worker-unique", "no-votes"),
]


@pytest.mark.parametrize(("votes", "classification", "rule"), CLASSES)
def test_the_class_goes_to_the_synthesizer_with_the_votes(votes, classification, rule):
    seen = {}
    script = {f"i1/panel/r1/{worker}": vote for worker, vote in zip(PANEL, votes, strict=True)}

    def play(request):
        if isinstance(request, WorkerRequest):
            vote = script[request.call_id]
            if isinstance(vote, str):
                raise TimeoutError
            return Reply(value={"votes": {item.finding_id: vote for item in request.items}})
        seen[request.role] = request.panel
        return Reply(value={"challenges": [BLOCKING]} if request.role == "challenger" else {})

    run_of({}, backend=Acting(play), panel=PANEL, team="base", max_iterations=1)
    [result] = seen["synthesizer"]
    assert (result.challenge, result.classification, result.rule) == ("C1", classification, rule)
    assert [vote.worker for vote in result.votes] == list(PANEL)
    assert [vote.explanation for vote in result.votes if vote.verdict != "verification-error"] == [
        vote["explanation"] for vote in votes if not isinstance(vote, str)
    ]
    assert seen["challenger"] == seen["probe"] == ()


@pytest.mark.parametrize(("votes", "classification", "rule"), CLASSES)
@pytest.mark.parametrize("status", ["WITHDRAWN", "RESOLVED"])
def test_what_the_panel_left_at_consensus_cannot_be_withdrawn(votes, classification, rule, status):
    ended = run(votes, {"i1/synthesizer": {"changes": [change("C1", status)]}})
    held = classification in ("full-consensus", "partial-consensus") and status == "WITHDRAWN"
    assert ended.state.classes[1, "C1"].rule == rule
    assert ended.state.challenges["C1"].status == ("OPEN" if held else status)
    refused = told(ended, "status-refused")
    assert [one.reason for one in refused] == (
        [f"the panel left it at {classification}: it cannot be WITHDRAWN in this iteration"] if held else []
    )


def test_consensus_binds_for_its_iteration_alone():
    script = {"i2/synthesizer": {"changes": [change("C1", "WITHDRAWN")]}, "i2/panel/r1/ann": {"C1": COUNTER}}
    script |= {f"i1/panel/r1/{worker}": {"C1": AGREE} for worker in PANEL}
    script |= {f"i2/panel/r1/{worker}": {"C1": COUNTER} for worker in PANEL}
    ended = run((), script)
    assert [ended.state.classes[n, "C1"].classification for n in (1, 2)] == ["full-consensus", "worker-unique"]
    assert ended.state.challenges["C1"].status == "WITHDRAWN"


def test_the_panel_votes_after_research_on_what_is_open_or_unresolved():
    script = {
        "i1/surface": {"contexts": [context("clock", "contradicts_plan")]},
        "i1/synthesizer": {"changes": [change("C1", "UNRESOLVED"), change("C2", "RESOLVED")]},
    }
    ended = run((AGREE,), script)
    asked = {event.call_id: event.items for event in told(ended, "call-requested") if "panel" in event.call_id}
    assert asked["i1/panel/r1/ann"] == ("C1", "C2", "C3")
    assert asked["i2/panel/r1/bob"] == ("C1", "C3")
    order = [event.call_id for event in told(ended, "call-requested") if event.call_id.startswith("i1")]
    assert order[-4:] == [*(f"i1/panel/r1/{worker}" for worker in PANEL), "i1/synthesizer"]


def test_no_panel_and_nothing_to_vote_on_mean_no_votes():
    for settings in ({"panel": None}, {"script": {"i1/challenger": {}}}):
        script = settings.pop("script", None)
        ended = run((AGREE,), script, **settings)
        assert not any("panel" in event.call_id for event in told(ended, "call-requested"))


def test_overflow_is_not_voted_on():
    raised = [challenge(word, "BLOCKING") for word in ("locks", "rows", "order", "retries", "backup", "index")]
    ended = run((), {"i1/challenger": {"challenges": raised}}, max_iterations=1)
    assert [event.finding_id for event in told(ended, "finding-queued")] == ["C1", "C2", "C3", "C4", "C5"]


def test_the_default_panel_is_three_adversarial_workers_in_one_round():
    backend = Acting(lambda r: {"votes": {}} if isinstance(r, WorkerRequest)
                     else {"challenges": [BLOCKING]} if r.role == "challenger" else {})  # fmt: skip
    run_of({}, backend=backend, team="base", max_iterations=1)
    panel = [request for request in backend.requests if isinstance(request, WorkerRequest)]
    assert [(r.worker, r.round, r.mode, r.verification_mode) for r in panel] == [
        (f"panel-{n}", 1, "adversarial", "full-reanalysis") for n in (1, 2, 3)
    ]
    [item] = panel[0].items
    assert (item.finding_id, item.evidence) == ("C1", BLOCKING["evidence"])
    assert item.summary == f"{BLOCKING['claim']} {BLOCKING['concern']}"
    assert list(panel[0].documents) == ["plan.md"]


def test_further_rounds_vote_on_what_was_carried():
    panel = PanelSettings(workers=("ann", "bob"), max_rounds=2)
    script = {f"i1/panel/r1/{worker}": {"C1": COUNTER if worker == "ann" else AGREE, "C2": AGREE} for worker in PANEL}
    script |= {f"i1/panel/r2/{worker}": {"C1": AGREE} for worker in PANEL}
    ended = run((), script, panel=panel, max_iterations=1)
    assert ended.state.classes[1, "C1"].classification == "full-consensus"
    assert [(one.round, one.worker) for one in ended.state.votes[1, "C1"]] == [
        (1, "ann"), (1, "bob"), (2, "ann"), (2, "bob")
    ]  # fmt: skip
    assert len(ended.state.votes[1, "C2"]) == 2


def test_a_panel_that_asks_collaboratively_judges_collaboratively():
    panel = PanelSettings(workers=PANEL, mode="collaborative")
    ended = run((AGREE, AGREE, COUNTER), panel=panel, max_iterations=1)
    assert ended.state.classes[1, "C1"].rule == "majority-agree"
    assert {vote.disagree_basis for vote in ended.state.votes[1, "C1"]} == {None}


def test_votes_on_what_was_not_asked_are_refused():
    ended = run((), {"i1/panel/r1/ann": {"raw": {"votes": {"C1": AGREE, "C77": AGREE}}}}, max_iterations=1)
    assert [(one.finding_id, one.worker) for one in told(ended, "vote-refused")] == [("C77", "ann")]


@pytest.mark.parametrize(
    ("resolution", "votes", "legal"),
    [
        ("trust me", (AGREE, AGREE, AGREE), False),
        ("C1 is no risk", (AGREE, AGREE, CAVEAT), False),
        ("user decision: fine", (AGREE, AGREE, AGREE), False),
        ("U7 settles it", (AGREE, AGREE, AGREE), False),
        ("C2 covers it", (AGREE, AGREE, AGREE), True),
        ("see store.py:3", (AGREE, AGREE, AGREE), True),
        ("[VERIFIED: store.py | it locks | none]", (AGREE, AGREE, AGREE), True),
        ("trust me", (AGREE, AGREE, COUNTER), True),
        ("trust me", ("error", "error", "error"), True),
    ],
)
def test_a_blocking_challenge_that_the_panel_holds_is_resolved_by_a_citation_alone(resolution, votes, legal):
    """rule A2: "trust me" is refused, as WITHDRAWN is."""
    ended = run(votes, {"i1/synthesizer": {"changes": [change("C1", "RESOLVED", resolution)]}}, max_iterations=1)
    assert ended.state.challenges["C1"].status == ("RESOLVED" if legal else "OPEN")
    assert len(told(ended, "status-refused")) == (not legal)


def test_a_significant_challenge_that_the_panel_holds_is_resolved_by_any_words():
    ended = run((AGREE,) * 3, {"i1/synthesizer": {"changes": [change("C2", "RESOLVED", "trust me")]}})
    assert ended.state.challenges["C2"].status == "RESOLVED"


def test_without_a_panel_a_blocking_challenge_is_resolved_by_any_words():
    script = {"i1/synthesizer": {"changes": [change("C1", "RESOLVED", "trust me")]}}
    assert run((), script, panel=None).state.challenges["C1"].status == "RESOLVED"
