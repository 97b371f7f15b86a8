"""The panel's three workers: each looks by its own means, and the burden is on the challenge."""

import pytest

from verifyplan.rules.citations import cites_location

WORKERS = ("panel-1", "panel-2", "panel-3")
STEPS = (
    "1. Change `shop/stock.py`.\n2. `pytest tests/test_x.py` passes.\n3. `make e2e` passes.\n4. Rename `find_order`."
)


def test_a_challenge_that_holds_survives_all_three(ask, vote, plan):
    text = plan(STEPS)
    challenges = ask("challenger", text).challenges
    assert len(challenges) == 4
    for one in challenges:
        said = [vote(worker, f"{one.claim} {one.concern}", one.evidence, text) for worker in WORKERS]
        nothing = [answer for answer in said if "nothing looked at: " in answer["explanation"]]
        assert all(answer["verdict"] == "agree" for answer in said if answer not in nothing), (one.claim, said)
        assert len(nothing) <= 1


STOCK = "The plan assumes that the file `shop/stock.py` exists."
QUOTED = "plan.md:13\n> 1. Change `shop/stock.py`."
CASES = [  # worker, claim, evidence, what it answers
    ("panel-1", STOCK, "plan.md:13\n> 1. Change something else.", "counter-evidence"),
    ("panel-1", STOCK, "plan.md:900\n> 1. Change", "counter-evidence"),
    ("panel-1", STOCK, QUOTED.replace("13", "12"), "supplement"),
    ("panel-1", STOCK, "", "burden-not-met"),
    ("panel-1", "This will never work.", QUOTED, "supplement"),
    ("panel-2", "The plan assumes that the file `shop/Orders.PY` exists.", "plan.md:13", "counter-evidence"),
    ("panel-2", "The plan assumes that `find_order` is defined in `shop/orders.py`.", QUOTED, "counter-evidence"),
    ("panel-2", "The plan assumes that the package `httpx` is declared.", "plan.md:13", "counter-evidence"),
    ("panel-2", "The plan assumes that the command `make test` exists.", "plan.md:13", "counter-evidence"),
    (
        "panel-2",
        "The plan changes `x9` and does not mention `shop/orders.py`, which uses it.",
        QUOTED,
        "counter-evidence",
    ),
    ("panel-2", "This will never work.", "plan.md:13", "burden-not-met"),
    ("panel-2", "This will never work.", "shop/client.py:3\n> TIMEOUT = 7", "supplement"),
    ("panel-2", "This will never work.", "shop/client.py:3\n> TIMEOUT = 70", "counter-evidence"),
    ("panel-2", "This will never work.", "/etc/passwd:1", "burden-not-met"),
    ("panel-3", "The plan assumes that the file `orders.py` exists.", "plan.md:13", "counter-evidence"),
    ("panel-3", "The plan does `x`, which a rule of the project forbids.", "AGENTS.md:3", "agree"),
    ("panel-3", "This will never work.", "plan.md:13", "burden-not-met"),
    ("panel-3", "This will never work.", "", "burden-not-met"),
]


@pytest.mark.parametrize(("worker", "claim", "evidence", "answer"), CASES)
def test_a_challenge_that_does_not_hold_is_refuted_with_a_place(vote, plan, worker, claim, evidence, answer):
    said = vote(worker, claim, evidence, plan(STEPS))
    assert (said["disagree_basis"] or said["verdict"]) == answer, said
    assert said["explanation"]
    assert answer != "counter-evidence" or cites_location(said["explanation"])


def test_what_the_plan_makes_elsewhere_refutes_what_is_called_missing(vote, plan):
    text = plan("1. Change `shop/stock.py`.\n2. Create `shop/stock.py`.")
    assert vote("panel-1", STOCK, QUOTED, text)["disagree_basis"] == "counter-evidence"


def test_a_worker_that_looked_at_nothing_says_so(vote, plan):
    for worker in WORKERS:
        assert "nothing looked at: " in vote(worker, STOCK, "", plan(STEPS), mode="collaborative")["explanation"]
    assert "nothing looked at: " in vote("panel-1", STOCK, "", plan(STEPS))["explanation"]
    assert "nothing looked at: " in vote("panel-3", "This will never work.", QUOTED, plan(STEPS))["explanation"]


def test_a_collaborative_panel_sees_the_words_alone_and_has_no_basis(vote):
    for worker in WORKERS:
        said = vote(worker, "This will never work.", "plan.md:13", "", mode="collaborative")
        assert (said["verdict"], said["disagree_basis"]) == ("agree", None)


@pytest.mark.parametrize("worker", WORKERS)
@pytest.mark.parametrize(
    "evidence", ["> x", "plan.md:0", "plan.md:99999999999", "\x00:1", "`" * 999, "a" * 200_000, "line 3 of plan.md"]
)
def test_no_evidence_makes_a_worker_fail(vote, plan, worker, evidence):
    assert vote(worker, "The plan assumes that the file `\x00` exists.", evidence, plan(STEPS))["verdict"]


def test_the_backend_plays_the_panel_under_its_own_and_other_names(backend, shop):
    assert backend.check_worker("panel-2") is None
    assert "did you mean 'panel-1'" in backend.check_worker("panel1")
    assert type(backend)(shop, workers={"ann": "panel-3"}).check_worker("ann") is None
