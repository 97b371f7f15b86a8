"""rule B2: which findings are the same, by the default matcher, by another, or by id alone."""

from __future__ import annotations

import random
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.longer import LONG, examples
from verifyplan.protocol.vote import Finding
from verifyplan.rules.grouping import MATCHERS, group
from verifyplan.rules.likeness import PAIRS

ROSTER = ["ann", "bob", "cy"]


def found(finding_id: str, worker: str, summary: str, evidence: str = "m.py:30", truth: bool | None = None) -> Finding:
    return Finding(finding_id=finding_id, worker=worker, summary=summary, evidence=evidence, truth=truth)


def joined(one: str, two: str, places: tuple[str, str] = ("m.py:30", "m.py:32")) -> bool:
    pair = [found("F-1", "ann", one, places[0]), found("F-2", "bob", two, places[1])]
    return len(group(pair, ROSTER, MATCHERS["likeness"])) == 1


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("`f` lacks a check", "A check `f` lacks"),
        ("f has no check of the length.", "f has no check of its length"),
        ("The parser does not close the file", "the parser doesn't close the file"),
        ("parse_header() never checks the length", "The length parse_header never checks"),
        ("The cache is never cleared (see the docs).", "The cache is never cleared, see the docs"),
        ("dumps retries 3 times on failure", "On failure dumps retries 3 times"),
    ],
)
def test_one_claim_in_other_words_is_one_finding(one, two):
    assert joined(one, two)


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("The call dumps(x) ignores `indent`", "The call dumps(x) ignores `indents`"),
        ("The function parse_header leaks memory", "The function parse_headers leaks memory"),
        ("The class JSONEncoder drops keys", "The class JSONDecoder drops keys"),
        ("In this module Encoder drops keys", "In this module Decoder drops keys"),
        ("The method os.open leaves it open", "The method os.popen leaves it open"),
        ("Returns None where text is due", "Returns True where text is due"),
        ("The loop retries 3 times on failure", "The loop retries 4 times on failure"),
        ("The function returns -1 on failure", "The function returns 1 on failure"),
        ("The loop retries two times on failure", "The loop retries three times on failure"),
        ("The value is checked before its use", "The value is not checked before its use"),
        ("The value is checked before its use", "The value isn't checked before its use"),
        ("The value is checked before its use", "The value isn\u2019t checked before its use"),
        ("The parser is able to read the header", "The parser is unable to read the header"),
        ("`a` overrides the value of `b`", "`b` overrides the value of `a`"),
        ("The file is never closed", "Sorting the list takes far too long"),
    ],
)
def test_claims_that_differ_in_a_name_a_number_or_a_negation_are_two(one, two):
    assert not joined(one, two)


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("The lock is released on error", "The lock is retained on error"),
        ("The value is checked before its use", "The value is checked after its use"),
        ("The input of the parser is not escaped", "The output of the parser is not escaped"),
        ("The file is opened with a timeout set", "The file is opened without a timeout set"),
        ("The retry waits more than its limit", "The retry waits less than its limit"),
        ("Each request is encrypted on the way", "Each request is decrypted on the way"),
        ("The flag is enabled by the caller", "The flag is disabled by the caller"),
        ("The token is valid for a day at most", "The token is invalid for a day at most"),
        ("The copy runs from the cache to the disk", "The copy runs from the disk to the cache"),
        ("It is checked before use, logged after parsing", "It is checked after use, logged before parsing"),
        ("The queue is drained always at shutdown", "The queue is drained sometimes at shutdown"),
        ("The lock is held on error", "The lock is held only on error"),
        ("The pool never closes, never grows", "The pool closes and grows"),
        ("The client closes the idle connection", "The server closes the idle connection"),
        ("The caller must hold the lock here", "The caller may hold the lock here"),
    ],
)
def test_claims_that_differ_in_an_opposite_are_two(one, two):
    assert not joined(one, two)


LINES = [[side.split() for side in line.split("|")] for line in PAIRS.strip().split("\n")]


@given(st.sampled_from(LINES), st.data())
def test_no_pair_of_opposites_is_ever_joined(sides, data):
    one, two = (data.draw(st.sampled_from(side)) for side in sides)
    assert not joined(
        f"the lock of the pool is taken {one} the check", f"the lock of the pool is taken {two} the check"
    )


NOUNS = ["lock", "file", "token", "queue", "cache", "value"]
VERBS = ["released", "retained", "closed", "opened", "stored", "dropped", "copied", "hashed", "signed", "sent"]


@given(st.sampled_from(NOUNS), st.lists(st.sampled_from(VERBS), min_size=2, max_size=2, unique=True))
def test_a_word_that_is_exchanged_for_another_makes_two_claims(noun, verbs):
    assert not joined(*(f"the {noun} of the connection is {verb} whenever a request fails" for verb in verbs))


@pytest.mark.parametrize("matcher", MATCHERS.values(), ids=MATCHERS)
def test_the_same_claim_in_another_case_and_spacing_is_one_for_every_matcher(matcher):
    pair = [found("F-1", "ann", "The lock is held"), found("F-2", "bob", " the  lock is\nheld ")]
    assert [g.discoverers for g in group(pair, ROSTER, matcher)] == [("ann", "bob")]


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (("The lock is held", "m.py:3"), ("The lock is held.", "m.py:3")),
        (("The lock is held", "m.py:3"), ("The lock is held", "m.py:4")),
        (("The lock is held", "m.py:3"), ("The lock is held", "")),
        (("The lock is released on error", "m.py:3"), ("The lock is retained on error", "m.py:3")),
    ],
)
def test_the_default_joins_nothing_but_the_same_place_and_claim(one, two):
    pair = [found("F-1", "ann", *one), found("F-2", "bob", *two)]
    assert len(group(pair, ROSTER, MATCHERS["claim"])) == 2


def test_findings_of_nobody_have_no_discoverer_and_are_joined_like_those_of_several_workers():
    claims = {"F-1": "the lock is held", "F-2": "the lock  is held", "F-3": "the lock is free"}
    three = [Finding(finding_id=name, summary=summary) for name, summary in claims.items()]
    for matcher in MATCHERS.values():
        assert [(len(g.findings), g.discoverers) for g in group(three, ROSTER, matcher)] == [(2, ()), (1, ())]
    assert [len(g.findings) for g in group(three, ROSTER, None)] == [1, 1, 1]


@pytest.mark.parametrize(
    ("one", "two", "same"),
    [
        ("m.py:30", "m.py:35", True),
        ("m.py:30", "m.py:36", False),
        ("m.py:10-40", "m.py:38-90", True),
        ("m.py:30", "n.py:30", False),
        ("m.py:30", "", False),
        ("", "", True),
        ("no place", "another text", True),
    ],
)
def test_only_claims_on_nearby_lines_of_one_file_are_joined(one, two, same):
    assert joined("the check is too late", "the check is too late", (one, two)) is same


def test_two_findings_of_one_worker_are_never_joined():
    same = "the check is too late"
    mine = [found("F-1", "ann", same), found("F-2", "ann", same), found("F-3", "bob", same)]
    assert [g.discoverers for g in group(mine, ROSTER, MATCHERS["likeness"])] == [("ann", "bob"), ("ann",)]


def test_a_shared_id_joins_whatever_the_words_are():
    both = [found("F-1", "bob", "one"), found("F-1", "ann", "quite another", "x.py:1")]
    for matcher in (None, MATCHERS["likeness"]):
        [one] = group(both, ROSTER, matcher)
        assert one.discoverers == ("ann", "bob")
        assert one.origin.summary == "quite another"


def test_without_a_matcher_only_ids_join():
    same = [found("F-1", "ann", "the same"), found("F-2", "bob", "the same")]
    assert len(group(same, ROSTER, None)) == 2


class ByCategory:
    """Joins by the first letter, and asks about no others."""

    def key(self, finding: Finding) -> str:
        return finding.summary[0]

    def same(self, a: Finding, b: Finding) -> bool:
        assert a.summary[0] == b.summary[0]
        return True


class Likely:
    """The matcher `likeness` without its stems, so that each finding is compared with every group of its key."""

    def __init__(self) -> None:
        self.key, self.same = MATCHERS["likeness"].key, MATCHERS["likeness"].same


STEMS = ["lock", "locks", "cache", "closed", "the", "is", "disk", "held", "released", "thread", "file"]
WORDS = st.lists(st.sampled_from(STEMS), max_size=6)


@settings(max_examples=examples(200), deadline=None)
@given(st.lists(st.tuples(WORDS, st.sampled_from([*ROSTER, None])), max_size=14))
def test_groups_that_cannot_match_are_passed_over_without_a_difference(said):
    findings = [
        Finding(finding_id=f"F-{number:02}", summary=" ".join(words) or "-", evidence="", worker=worker)
        for number, (words, worker) in enumerate(said)
    ]
    assert group(findings, ROSTER, MATCHERS["likeness"]) == group(findings, ROSTER, Likely())


def test_a_matcher_of_ones_own():
    rows = [found("F-1", "cy", "apple"), found("F-2", "bob", "axe")]
    rows += [found("F-3", "ann", "bee"), found("F-4", "ann", "ash")]
    groups = group(rows, ROSTER, ByCategory())
    assert [[f.finding_id for f in g.findings] for g in groups] == [["F-4", "F-2", "F-1"], ["F-3"]]
    assert groups[0].origin.summary == "ash"


@pytest.mark.parametrize(("truths", "expected"), [
    ((True, True), True), ((False, False), False), ((True, False), None), ((True, None), None), ((None, None), None)
])  # fmt: skip
def test_truth_is_what_all_members_agree_on(truths, expected):
    pair = [found("F-1", worker, "claim", truth=truth) for worker, truth in zip(("ann", "bob"), truths, strict=True)]
    assert group(pair, ROSTER, None)[0].truth is expected


TEXTS = ["`f` lacks a check", "A check `f` lacks", "the `f` lacks any check", "`g` lacks a check", "`f` has a check"]
FOUND = st.lists(
    st.builds(found, st.sampled_from("ABCDE"), st.sampled_from(ROSTER), st.sampled_from(TEXTS), st.just("m.py:3")),
    unique_by=lambda f: (f.finding_id, f.worker),
)


@settings(deadline=None)
@given(FOUND, st.randoms(use_true_random=False))
def test_what_is_grouped_does_not_depend_on_the_order_of_the_input(findings, order: random.Random):
    groups = group(findings, ROSTER, MATCHERS["likeness"])
    shuffled = order.sample(findings, len(findings))
    again = group(shuffled, ROSTER, MATCHERS["likeness"])
    assert sorted(map(repr, groups)) == sorted(map(repr, again))
    assert sorted((f.finding_id, f.worker) for g in groups for f in g.findings) == sorted(
        (f.finding_id, f.worker) for f in findings
    )
    for g in groups:
        assert list(g.discoverers) == sorted({f.worker for f in g.findings}, key=ROSTER.index)
        assert g.origin.worker == g.discoverers[0]
    first = [min(i for i, f in enumerate(findings) if f in g.findings) for g in groups]
    assert first == sorted(first)


HOSTILE = [
    "a.",
    "a",
    "A",
    " x",
    " ",
    "`",
    "`a",
    "1",
    "-",
    "(",
    "un",
    "unable",
    "a.b:",
    "\u2019t",
    ".\n",
    "_",
    "L1",
    "é.",
    "a .",
]
CHARACTERS, OFTEN, LIMIT_S = (200_000, 20_000, 20) if LONG else (70_000, 7_000, 2.5)
"""Seconds of one core: a fifth of them is needed, and what grows with the square takes more than all."""


@pytest.mark.parametrize("piece", HOSTILE)
def test_long_hostile_texts_take_time_in_proportion(piece):
    """A pattern that goes back over what it read takes longer than the limit."""
    text = "x" + piece * (CHARACTERS // len(piece))
    began = time.process_time()
    assert joined(text, text, (text, text))
    assert time.process_time() - began < LIMIT_S


@pytest.mark.parametrize("matcher", MATCHERS.values(), ids=MATCHERS)
def test_one_claim_said_often_by_one_worker_takes_time_in_proportion(matcher):
    """To compare each finding with all before it takes longer than the limit."""
    often = [found(f"F-{number}", "ann", "the lock is held") for number in range(OFTEN)]
    began = time.process_time()
    groups = group([*often, found("G-1", "bob", "the lock is held")], ROSTER, matcher)
    assert time.process_time() - began < LIMIT_S
    assert [g.discoverers for g in groups[:2]] == [("ann", "bob"), ("ann",)]
