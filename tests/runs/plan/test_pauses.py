"""rule A4: what a blocked plan asks, and what each answer does; checkpoints for stalls and contradictions."""

from __future__ import annotations

import pytest

from tests.runs.plan.acting import Acting
from tests.runs.plan.planning import answer, challenge, change, risk, run_of, scores, told, unknown
from verifyplan.errors import InputError
from verifyplan.protocol.call import Reply, WorkerRequest
from verifyplan.runs.plan.pauses import Answer, Pause, answer_event, read_answer

TWO = [challenge("locks", "BLOCKING"), challenge("rows", "BLOCKING")]
BARE = [challenge(word, alternative=" ") for word in ("index", "cache", "quota")]


def asked(*answers, raised=TWO, script=None, **settings):
    """A run whose pauses are answered one after the other, None when there are no more; the run and its pauses."""
    pauses: list[Pause] = []
    given = list(answers)

    def person(pause):
        pauses.append(pause)
        return given.pop(0) if given else None

    told_by = {"i1/challenger": {"challenges": raised}} | (script or {})
    return run_of(told_by, silent=True, on_blocked=person, **{"panel": None} | settings), pauses


def rulings(run):
    return [(one.iteration, one.status) for one in told(run, "convergence-evaluated")]


def test_pause_stops_the_run_with_the_question_it_asks():
    answers = {"i1/challenger": {"challenges": TWO}, "i1/synthesizer": {"question": "May rows be locked?"}}
    run = run_of(answers, silent=True, panel=None, on_blocked="pause")
    assert (run.status, run.verdict, run.outcome) == ("BLOCKED", None, None)
    assert run.waiting.question == (
        "May rows be locked? An override ends the run: of C1 alone with RETHINK, of C2 alone with RETHINK."
    )
    assert (run.waiting.pause_id, run.waiting.iteration) == ("i1/pause-1", 1)
    assert [one.id for one in run.waiting.challenges] == ["C1", "C2"]
    assert run.state.iterations == []
    assert run.events[-1].kind == "blocked"


def test_a_run_that_waits_names_the_command_that_answers_it(tmp_path):
    answers = {"i1/challenger": {"challenges": TWO}}
    run = run_of(answers, silent=True, panel=None, on_blocked="pause", log_dir=tmp_path)
    command = f"verifyplan resume {run.log_path} --script SCRIPT --answer acknowledge:C1 --note TEXT"
    assert command in str(run)
    assert command in run.report()


def test_a_question_is_made_of_the_challenges_where_the_synthesizer_asks_none():
    run, [pause] = asked(raised=TWO[:1])
    assert "C1: `locks` change while the plan is under way." in pause.question
    assert run.waiting == pause


def test_continue_goes_on_without_a_response():
    run = run_of({"i1/challenger": {"challenges": TWO}}, silent=True, panel=None, on_blocked="continue")
    blocks = [event for event in told(run, "checkpoint") if event.kind == "blocked"]
    assert [(block.iteration, block.pause_id) for block in blocks] == [(1, None), (2, None)]
    assert (run.verdict, run.waiting) == ("RETHINK", None)


def test_context_is_fed_to_the_next_iteration():
    heard = {}

    def play(request):
        if isinstance(request, WorkerRequest):
            return Reply(value={"votes": {}})
        heard[request.call_id] = request.user_context
        return Reply(value={"challenges": TWO} if request.call_id == "i1/challenger" else {})

    given = iter(["the old store stays", "and so do its locks"])
    run = run_of({}, backend=Acting(play), on_blocked=lambda _: Answer("context", None, next(given)))
    assert heard["i1/synthesizer"] == ()
    assert heard["i2/challenger"] == heard["i2/synthesizer"] == ("the old store stays",)
    assert heard["i3/challenger"] == ("the old store stays", "and so do its locks")
    assert run.state.iterations[0].user_responses == ("context: the old store stays",)
    assert run.state.iterations[1].user_responses == ("context: and so do its locks",)
    assert (run.verdict, run.outcome.ended_by) == ("RETHINK", "ruling")


def test_acknowledge_resolves_and_judges_again_in_the_same_iteration():
    run, pauses = asked(Answer("acknowledge", "C2", "we accept it"), "acknowledge:C1")
    assert [pause.pause_id for pause in pauses] == ["i1/pause-1", "i1/pause-2"]
    assert [[one.id for one in pause.challenges] for pause in pauses] == [["C1", "C2"], ["C1"]]
    assert rulings(run) == [(1, "BLOCKED"), (1, "BLOCKED"), (1, "CONVERGED")]
    assert [(one.status, one.resolution) for one in run.state.pool] == [
        ("RESOLVED", "user decision: the risk is accepted"), ("RESOLVED", "user decision: we accept it")
    ]  # fmt: skip
    assert {one.by for one in run.state.moves} == {"user"}
    assert (run.verdict, run.outcome.ended_by, run.state.iteration) == ("PROCEED", "ruling", 1)


def test_the_synthesizers_word_is_not_held_against_what_a_person_changed():
    run, _ = asked("acknowledge:C1", raised=TWO[:1], script={"i1/synthesizer": {"status": "BLOCKED"}})
    first, second = told(run, "convergence-evaluated")
    assert (first.stated_status, first.differs) == ("BLOCKED", False)
    assert (second.stated_status, second.differs, second.verdict) == (None, False, "PROCEED")


def test_acknowledge_leaves_the_rest_to_the_table():
    run, _ = asked("acknowledge:C1", raised=[TWO[0], *BARE])
    assert rulings(run)[:2] == [(1, "BLOCKED"), (1, "CONTINUE")]
    assert run.state.iteration == 3


@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        (TWO[:1], ("CONVERGED", "PROCEED", False)),
        (TWO, ("FORCED_EXIT", "RETHINK", False)),
        ([TWO[0], challenge("index")], ("CONVERGED", "REVISE", False)),
        ([TWO[0], *BARE], ("FORCED_EXIT", "REVISE", True)),
    ],
)
def test_override_ends_the_loop_with_what_the_last_iteration_would_give_without_it(raised, expected):
    run, _ = asked(Answer("override", "C1", "we know better"), raised=raised, script={"i1/score": scores(6)})
    assert (run.status, run.verdict, run.outcome.strong) == expected
    assert (run.outcome.overridden, run.outcome.ended_by, run.state.iteration) == ("C1", "user", 1)
    assert run.outcome.exit_reason == "C1 was left out by a person's override"
    assert run.score == 6
    assert run.state.challenges["C1"].status == "OPEN"


def test_an_overridden_challenge_is_still_counted_as_open():
    run, _ = asked("override:C1", raised=[TWO[0], challenge("index")])
    record = run.state.iterations[0].convergence
    assert (record.blocking_open, record.significant_open, record.status) == (1, 1, "CONVERGED")


def test_abort_ends_the_run_without_a_verdict():
    run, _ = asked(Answer("abort", None, "another plan came"))
    assert (run.verdict, run.status, run.score, run.outcome.ended_by) == (None, "FORCED_EXIT", None, "user")
    assert run.outcome.exit_reason == "aborted by the user: another plan came"
    assert [state.iteration for state in run.state.iterations] == [1]
    assert not any(event.call_id.endswith("score") for event in told(run, "call-requested"))


@pytest.mark.parametrize("raised", [TWO, TWO[:1], [TWO[0], *BARE], [TWO[0], BARE[0]], [*TWO, *BARE]])
def test_what_an_override_leads_to_is_said_beforehand_and_true(raised):
    """rule A4: in the question that is asked, and as data."""
    run, [pause] = asked(Answer("override", "C1"), raised=raised)
    given = f"{run.verdict}{' (strong)' if run.outcome.strong else ''}"
    assert pause.if_overridden["C1"] == given
    assert f"of C1{' alone' if len(pause.challenges) > 1 else ''} with {given}" in pause.question
    assert list(pause.if_overridden) == [one.id for one in pause.challenges]


def test_an_override_counts_what_waits_in_overflow_and_whether_anybody_challenged():
    words = ("locks", "rows", "order", "retries", "backup", "index")
    six = [challenge(word, "BLOCKING") for word in words]
    settle = {"i1/synthesizer": {"changes": [change(f"C{n}", "RESOLVED") for n in range(2, 6)]}}
    run, [pause] = asked(Answer("override", "C1"), raised=six, script=settle)
    assert (pause.if_overridden, run.verdict) == ({"C1": "REVISE"}, "REVISE")
    silence = {"i1/challenger": "error", "i1/probe": {"risks": [risk("quota", "BLOCKING")]}}
    run, [pause] = asked(Answer("override", "C1"), script=silence)
    assert (pause.if_overridden, run.verdict, run.outcome.overridden) == ({"C1": "no verdict"}, None, "C1")


def test_a_run_that_asks_nobody_speaks_of_no_override():
    run = run_of({"i1/challenger": {"challenges": TWO}}, silent=True, panel=None)
    assert all("override" not in point.message and not point.if_overridden for point in run.state.checkpoints)


@pytest.mark.parametrize("words", ["user decision: the note names C1", "by user decision, C1 is fine"])
def test_a_persons_context_never_settles_a_challenge(words):
    script = {"i2/synthesizer": {"changes": [change("C1", "RESOLVED", words)]}}
    run, _ = asked(Answer("context", None, "C1 is fine"), raised=TWO[:1], script=script, max_iterations=2)
    [refused] = told(run, "status-refused")
    assert refused.reason == "only a person who acknowledges a challenge decides on it: context settles nothing"
    assert run.verdict == "RETHINK"


def test_context_that_led_to_evidence_may_settle_a_challenge():
    script = {"i2/synthesizer": {"changes": [change("C1", "RESOLVED", "user decision, borne out by store.py:3")]}}
    run, _ = asked(Answer("context", None, "C1 is fine"), raised=TWO[:1], script=script, max_iterations=2)
    assert run.verdict == "PROCEED"


def test_nobody_who_answers_leaves_the_run_waiting():
    run, pauses = asked(None)
    assert len(pauses) == 1
    assert run.waiting == pauses[0]


def test_the_last_iteration_asks_nobody():
    run, pauses = asked(raised=TWO, max_iterations=1)
    assert (pauses, run.verdict) == ([], "RETHINK")


@pytest.mark.parametrize(
    ("text", "expected"),
    [("acknowledge:C3", Answer("acknowledge", "C3")), (" override: C1 ", Answer("override", "C1")),
     ("abort", Answer("abort")), ("context", Answer("context")), ("acknowledge", Answer("acknowledge"))],
)  # fmt: skip
def test_an_answer_is_read_as_it_is_written_in_a_shell(text, expected):
    assert read_answer(text) == expected


@pytest.mark.parametrize("text", ["", "yes", "ACKNOWLEDGE:C1", "acknowledge C1", "forget:C1"])
def test_a_word_that_is_no_answer_is_told_with_those_that_are(text):
    with pytest.raises(InputError, match=r"is not an answer.*'context', 'acknowledge', 'override', 'abort'"):
        read_answer(text)


PAUSE = Pause("i1/pause-1", 1, "How?", ())


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("acknowledge:C3", "'C3' does not block this plan. Fix: name one of 'C1', 'C2', as in acknowledge:C1"),
        ("override", "None does not block this plan"),
        ("abort:C1", "abort takes no challenge. Fix: write 'abort' alone"),
        ("context", "note: is blank"),
        (Answer("context", None, " "), "note: is blank"),
        (Answer("context", None, "\udcff"), "note: '.udcff' cannot be written down"),
        (Answer("abort", None, 3), "note: 3 cannot be written down"),
        (Answer("dance"), "answer: Answer.* is not an answer. Fix: give an Answer, or a text: 'context'"),
        (Answer(["acknowledge"], "C1"), "is not an answer"),
        (("acknowledge", "C1"), "is not an answer"),
        (True, "answer: True is not an answer"),
        (Answer("context", "C1", ""), "(?s)context takes no challenge.*note: is blank"),
    ],
)
def test_an_answer_that_does_not_fit_is_told_in_words(given, message):
    challenges = run_of({"i1/challenger": {"challenges": TWO}}, silent=True, panel=None).state.pool
    with pytest.raises(InputError, match=message):
        answer_event(given, PAUSE._replace(challenges=tuple(challenges)))


# ---- other checkpoints


def checkpoints(run, kind):
    return [(event.iteration, event.items) for event in told(run, "checkpoint") if event.kind == kind]


def test_a_stall_is_two_iterations_with_the_same_statuses():
    run = run_of({"i1/challenger": {"challenges": TWO}}, silent=True, panel=None)
    assert checkpoints(run, "stall") == [(2, ("C1", "C2")), (3, ("C1", "C2"))]


@pytest.mark.parametrize(
    "second",
    [
        {"i2/synthesizer": {"changes": [change("C1", "UNRESOLVED")]}},
        {"i2/challenger": {"challenges": [challenge("index", "MINOR")]}},
    ],
)
def test_what_moves_or_is_new_is_no_stall(second):
    run = run_of({"i1/challenger": {"challenges": TWO}} | second, silent=True, panel=None, max_iterations=2)
    assert checkpoints(run, "stall") == []


def test_contradictory_answers_are_a_checkpoint_and_the_first_stands():
    answers = {
        "i1/challenger": {"challenges": TWO, "unknowns": [unknown("store"), unknown("table")]},
        "i1/resolver": {"answers": [answer("U1", "REFUTED"), answer("U1", "CONFIRMED"), answer("U2", "CONFIRMED"),
                                    answer("U2", "UNRESOLVABLE", None)]},
    }  # fmt: skip
    run = run_of(answers, silent=True, panel=None, max_iterations=1)
    assert checkpoints(run, "contradiction") == [(1, ("U1",))]
    assert [one.resolution for one in run.state.unknowns.values()] == ["REFUTED", "CONFIRMED"]


def test_an_answer_that_contradicts_an_earlier_one_is_a_checkpoint_too():
    answers = {
        "i1/challenger": {"challenges": TWO, "unknowns": [unknown("store"), unknown("table")]},
        "i1/resolver": {"answers": [answer("U1", "CONFIRMED")]},
        "i2/resolver": {"answers": [answer("U1", "REFUTED"), answer("U2", "PARTIALLY_RESOLVED")]},
    }
    run = run_of(answers, silent=True, panel=None, max_iterations=2)
    assert checkpoints(run, "contradiction") == [(2, ("U1",))]
    assert [one.resolution for one in run.state.unknowns.values()] == ["CONFIRMED", "PARTIALLY_RESOLVED"]
