import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.longer import examples
from verifyplan.agents.base import Backend
from verifyplan.agents.static import CHECKERS, StaticBackend
from verifyplan.errors import AgentError, SettingsError
from verifyplan.protocol.call import Item, WorkerRequest, WorkerVote
from verifyplan.rules.citations import cites_location

CODE = '''\
import os.path


class Base:
    def read(self, size=-1, *, strict=False):
        """Read."""
        if size < 0:
            raise ValueError(size)
        return self.fetch(size)

    def other(self):
        raise KeyError("other")


class Child(Base):
    def outer(self):
        def inner():
            raise LookupError
        return inner


def long(first,
         second=2):
    import json
    a = 1
    b = 2
    c = 3
    d = 4
    e = 5
    f = 6
    g = 7
    h = 8
    i = 9
    j = 10
    k = 11
    l = 12
    m = 13
    n = 14
    o = 15
    p = 16
    raise TypeError


class Grandchild(Child):
    def read(self, encoding):
        return encoding
'''


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    folder = tmp_path_factory.mktemp("code")
    (folder / "m.py").write_text(CODE)
    (folder / "notes.txt").write_text("def f(x):\n    raise ValueError\n")
    (folder / "broken.py").write_text("def f(:\n")
    (folder / "deep.py").write_text("def f(x=" + "1+" * 900 + "1): pass\n")
    (folder / "empty.py").write_text("")
    return folder


def ask(root, worker, items, mode="adversarial", verification="full-reanalysis", **mapped):
    request = WorkerRequest(
        call_id="r1/w",
        worker=worker,
        round=1,
        mode=mode,
        verification_mode=verification,
        items=[Item(finding_id=str(at), summary=s, evidence=e) for at, (s, e) in enumerate(items)],
    )
    reply = asyncio.run(StaticBackend(root, **mapped).answer(request))
    return [reply.value["votes"][str(at)] for at in range(len(items))]


def one(root, worker, summary, evidence, **how):
    vote = ask(root, worker, [(summary, evidence)], **how)[0]
    return vote["disagree_basis"] or vote["verdict"], vote["explanation"]


READ = "m.py:5\n>     def read(self, size=-1, *, strict=False):"
LONG = "m.py:22\n> def long(first,"
YES, NO, DOUBT, CAVEAT = "agree", "counter-evidence", "burden-not-met", "supplement"

DECISIONS = [  # claim, evidence, what each checker answers, in the order of CHECKERS
    ("`Base.read` takes a parameter `size`.", READ, (YES, YES, YES, YES)),
    ("`Base.read` takes a parameter `depth`.", READ, (NO, NO, NO, NO)),
    ("`Base.read` takes no parameter `depth`.", READ, (YES, YES, YES, YES)),
    ("`Base.read` takes a parameter `strict`.", READ, (CAVEAT, CAVEAT, YES, CAVEAT)),  # keyword-only
    ("The parameter `size` of `Base.read` defaults to `-1`.", READ, (YES, YES, YES, YES)),
    ("The parameter `size` of `Base.read` defaults to `1`.", READ, (NO, NO, NO, NO)),
    ("`Base.read` raises `ValueError`.", READ, (YES, YES, YES, DOUBT)),  # the quotation does not decide
    ("`Base.read` raises `ValueError`.", "m.py:8\n> raise ValueError(size)", (YES, YES, YES, YES)),
    ("`Base.read` raises `ValueError`.", "m.py:6\n> raise ValueError(size)", (YES, YES, YES, CAVEAT)),
    ("`Base.read` raises `ValueError`.", "m.py:8\n> raise ValueError( size )", (YES, YES, YES, NO)),  # miscopied
    ("`Base.read` raises `ValueError`.", "m.py:5\n>     def read(self, size ...", (YES, YES, YES, DOUBT)),
    ("`Base.read` raises `KeyError`.", READ, (NO, YES, YES, DOUBT)),  # the neighbour raises it
    ("`Base.read` raises `OSError`.", "m.py:8\n> raise ValueError(size)", (NO, NO, NO, NO)),
    ("`Child.outer` raises `LookupError`.", "m.py:16\n>     def outer(self):", (NO, YES, YES, DOUBT)),  # nested
    ("`long` raises `TypeError`.", LONG, (YES, DOUBT, YES, DOUBT)),  # beyond the window
    ("`long` takes a parameter `second`.", LONG, (YES, YES, YES, DOUBT)),
    ("`long` takes a parameter `size`.", LONG, (NO, NO, YES, DOUBT)),  # another function's line
    ("`Base.read` calls `self.fetch`.", READ, (YES, YES, YES, DOUBT)),
    ("`Base.read` does not call `fetch`.", READ, (NO, NO, NO, DOUBT)),
    ("`Child` is a subclass of `Base`.", "m.py:15\n> class Child(Base):", (YES, YES, YES, YES)),
    ("`Grandchild` is a subclass of `Base`.", "m.py:44\n> class Grandchild(Child):", (NO, NO, NO, NO)),
    ("`read` takes a parameter `encoding`.", "m.py:45\n> def read(self, encoding):", (NO, YES, YES, YES)),  # the first
    ("`Child.read` takes a parameter `size`.", READ, (DOUBT, YES, YES, YES)),  # inherited
    ("`long` is defined at line 22.", LONG, (YES, YES, YES, YES)),
    ("`long` is defined at line 23.", "m.py:23\n> def long(first,", (NO, NO, NO, NO)),
    ("`m.py` imports `os`.", "m.py:1\n> import os.path", (YES, YES, YES, YES)),
    ("`m.py` imports `json`.", "m.py:1\n> import os.path", (CAVEAT, DOUBT, YES, DOUBT)),
    ("`m.py` imports `re`.", "m.py:1\n> import os.path", (NO, DOUBT, NO, DOUBT)),
    ("`f` raises `ValueError`.", "notes.txt:2\n> raise ValueError", (DOUBT, YES, YES, YES)),  # not Python
    ("`Base.read` raises `ValueError`.", "m.py:40", (CAVEAT, DOUBT, YES, DOUBT)),  # the cited line is off
    ("`Base.read` raises `ValueError` when it is late.", READ, (CAVEAT, CAVEAT, CAVEAT, DOUBT)),
]


@pytest.mark.parametrize(("claim", "evidence", "answers"), DECISIONS)
def test_each_checker_decides_and_errs_in_its_own_way(root, claim, evidence, answers):
    given = {worker: one(root, worker, claim, evidence) for worker in CHECKERS}
    assert tuple(answer for answer, _ in given.values()) == answers
    for answer, explanation in given.values():
        assert explanation
        assert answer != NO or cites_location(explanation)


@pytest.mark.parametrize("worker", CHECKERS)
@pytest.mark.parametrize(
    "evidence",
    ["", "no place", "../m.py:1", "/etc/passwd:1", "gone.py:1\n> x", "m.py:9999", "broken.py:1", "empty.py:1",
     "m.py:99999999-99999999"],
)  # fmt: skip
def test_what_cannot_be_found_or_opened_is_a_doubt(root, worker, evidence):
    answer, explanation = one(root, worker, "`nothing` raises `OSError`.", evidence)
    assert answer == DOUBT
    assert explanation
    assert "root:" not in explanation
    assert one(root, worker, "`nothing` takes a parameter `x`.", evidence, mode="collaborative")[0] == "agree"


@pytest.mark.parametrize("worker", CHECKERS)
def test_an_unreadable_claim_is_a_doubt_in_one_mode_and_consent_in_the_other(root, worker):
    assert one(root, worker, "This is slow.", READ)[0] == DOUBT
    assert one(root, worker, "This is slow.", READ, mode="collaborative")[0] == YES


@pytest.mark.parametrize("worker", CHECKERS)
def test_a_collaborative_disagreement_has_no_basis(root, worker):
    vote = ask(root, worker, [("`Base.read` takes a parameter `depth`.", READ)], mode="collaborative")[0]
    assert (vote["verdict"], vote["disagree_basis"]) == ("disagree", None)


@pytest.mark.parametrize("worker", CHECKERS)
def test_lightweight_opens_nothing_and_still_judges_the_quotation(root, worker, monkeypatch):
    items = [(claim, evidence) for claim, evidence, _ in DECISIONS]
    how = {"mode": "collaborative", "verification": "lightweight"}
    with_files = ask(root, worker, items, **how)
    monkeypatch.setattr("pathlib.Path.open", None)
    assert ask(root / "nowhere", worker, items, **how) == with_files
    assert {vote["verdict"] for vote in with_files} >= {"agree", "disagree"}
    read = "m.py:5\n> def read(self, size=-1):"
    assert one("nowhere", worker, "`Base.read` takes a parameter `depth`.", read, **how)[0] == "disagree"
    assert one("nowhere", worker, "`Base.read` takes a parameter `size`.", "quoted: `def read(self, size):`", **how)


def test_a_second_place_decides_where_the_first_does_not(root):
    answer, _ = one(root, "syntax-tree", "`long` raises `TypeError`.", "gone.py:1 and m.py:22")
    assert answer == YES


@pytest.mark.parametrize("worker", CHECKERS)
def test_deeply_nested_code_is_no_error(root, worker):
    assert one(root, worker, "The parameter `x` of `f` defaults to `2`.", "deep.py:1\n> def f(x=1+1+ ...")[1]


CLAIMS = st.sampled_from([claim for claim, _, _ in DECISIONS])
EVIDENCE = st.sampled_from([evidence for _, evidence, _ in DECISIONS])
PLACES = st.builds(
    "{}:{}\n> {}".format, st.sampled_from(["m.py", "broken.py", "..", "deep.py"]), st.integers(), st.text()
)


@settings(deadline=None, max_examples=examples(60))
@given(st.sampled_from(CHECKERS), CLAIMS | st.text(), EVIDENCE | PLACES | st.text(), st.booleans())
def test_any_claim_and_any_evidence_get_a_valid_vote(root, worker, claim, evidence, adversarial):
    mode = "adversarial" if adversarial else "collaborative"
    for verification in ("lightweight", "full-reanalysis"):
        vote = ask(root, worker, [(claim, evidence)], mode=mode, verification=verification)[0]
        checked = WorkerVote.model_validate(vote)
        assert (checked.disagree_basis is not None) == (adversarial and checked.verdict == "disagree")
        assert checked.disagree_basis != "counter-evidence" or cites_location(checked.explanation)


def test_votes_keep_the_order_of_the_items_and_repeat(root):
    items = [(claim, evidence) for claim, evidence, _ in DECISIONS]
    for worker in CHECKERS:
        assert ask(root, worker, items) == ask(root, worker, items)
        backwards = ask(root, worker, items[::-1])
        assert backwards[::-1] == ask(root, worker, items)


def test_workers_play_the_checker_they_are_mapped_to(root):
    backend = StaticBackend(root, workers={"alice": "search"})
    assert isinstance(backend, Backend)
    assert backend.check_worker("alice") is backend.check_worker("window") is None
    assert backend.describe() == {"name": "static", "root": root.name, "workers": {"alice": "search"}}
    claim = ("`Base.read` raises `KeyError`.", READ)
    assert ask(root, "alice", [claim], workers={"alice": "search"}) == ask(root, "search", [claim])


def test_workers_without_a_checker_are_told_what_to_do(root):
    message = StaticBackend(root).check_worker("bob")
    assert all(word in message for word in ("bob", *CHECKERS))
    assert "(did you mean 'search'?)" in StaticBackend(root).check_worker("serch")
    with pytest.raises(AgentError, match="bob"):
        ask(root, "bob", [])
    with pytest.raises(SettingsError, match="must be a static checker, got 'grep'"):
        StaticBackend(root, workers={"alice": "grep"})
    with pytest.raises(SettingsError, match=r"got <built-in function len>\. Fix: give functions as backend=agents\."):
        StaticBackend(root, workers={"alice": len})


def test_a_reply_tells_its_time_and_costs_nothing(root):
    request = WorkerRequest(
        call_id="c", worker="search", round=1, mode="adversarial", verification_mode="full-reanalysis", items=()
    )
    reply = asyncio.run(StaticBackend(root).answer(request))
    assert reply.value == {"votes": {}}
    assert reply.duration_ms >= 0
    assert reply.usage.input_tokens == reply.usage.output_tokens == 0
