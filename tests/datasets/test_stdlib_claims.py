import asyncio
import builtins
import importlib
import inspect
import json
import platform
import re
from functools import cache

import pandas as pd
import pytest

from verifyplan.agents.evidence import read_evidence
from verifyplan.agents.static import CHECKERS, StaticBackend
from verifyplan.agents.static.claims import read_claim
from verifyplan.datasets import path as bundled
from verifyplan.datasets.stdlib import stdlib_claims, stdlib_root
from verifyplan.datasets.stdlib.claims import COLUMNS
from verifyplan.datasets.stdlib.facts import CATEGORIES
from verifyplan.errors import InputError
from verifyplan.protocol.call import Item, WorkerRequest

PLAIN = ["argparse.py", "textwrap.py", "json/decoder.py", "zipfile.py", "configparser.py", "csv.py", "tarfile.py"]
MODULES = [path for path in PLAIN if (stdlib_root() / path).is_file()]


@pytest.fixture(scope="module")
def frame():
    return stdlib_claims(600)


@pytest.fixture(scope="module")
def findings(frame):
    return frame.drop_duplicates("finding_id").set_index("finding_id")


def test_the_table_has_its_columns_and_says_how_it_was_made(frame, findings):
    assert tuple(frame.columns) == COLUMNS
    assert frame.attrs["synthetic"] is True
    assert frame.attrs["seed"] == 0
    assert frame.attrs["false_share"] == 0.5
    assert re.match(r"3\.\d+\.\d+", frame.attrs["python"])
    assert list(findings.index[:2]) == ["F-0001", "F-0002"]
    assert len(findings) == 600
    assert findings["truth"].sum() == 300
    assert findings["category"].value_counts().between(80, 90).all()
    assert set(findings["category"]) == set(CATEGORIES)
    assert not frame.isna().any().any()


def test_most_claims_have_one_discoverer_and_some_have_all(frame):
    found = frame.groupby("finding_id")["worker"].agg(["nunique", "size"])
    assert (found["nunique"] == found["size"]).all()
    share = found["size"].value_counts(normalize=True)
    assert share[1] > 0.6
    assert 0.1 < share[2] < 0.3
    assert 0 < share[4] < 0.06
    assert set(frame["worker"]) == set(CHECKERS)
    assert (frame.groupby("finding_id")[["summary", "evidence", "truth"]].nunique() == 1).all().all()


def test_the_same_seed_gives_the_same_table_and_another_one_another():
    first, again, other = (stdlib_claims(60, seed=seed) for seed in (3, 3, 4))
    assert first.equals(again)
    assert first.attrs == again.attrs
    assert not first.equals(other)


def test_evidence_and_discoverers_do_not_depend_on_truth():
    true, false = (stdlib_claims(140, seed=1, false_share=share) for share in (0, 1))
    assert true["truth"].all()
    assert not false["truth"].any()
    assert (true["summary"] != false["summary"]).all()
    assert true["worker"].equals(false["worker"])
    elsewhere = true["category"] != "location"  # a false location is cited where it is claimed to be
    assert true.loc[elsewhere, "evidence"].equals(false.loc[elsewhere, "evidence"])
    quotes = [[read_evidence(text).quotes for text in table["evidence"]] for table in (true, false)]
    assert quotes[0] == quotes[1]


def test_every_claim_can_be_read_as_the_kind_it_is(findings):
    for summary, category in zip(findings["summary"], findings["category"], strict=True):
        claim = read_claim(summary)
        assert claim is not None, summary
        assert (claim.kind, claim.unread) == (category, ""), summary


def test_evidence_cites_real_files_and_mostly_quotes_real_lines(findings):
    real = 0
    for text in findings["evidence"]:
        evidence = read_evidence(text)
        lines = (stdlib_root() / evidence.places[0].path).read_text("utf-8").split("\n")
        assert 1 <= evidence.places[0].line <= len(lines)
        real += all(quote in lines for quote in evidence.quotes) and bool(evidence.quotes)
    assert 0.8 < real / len(findings) < 0.99


def member(path, name):
    """The real object that a claim speaks of, by import; None where the name is not unique in its module."""
    found = importlib.import_module(path.removesuffix(".py").replace("/", "."))
    for part in name.split("."):
        found = inspect.getattr_static(found, part, None)
    return found if inspect.isfunction(found) and found.__qualname__ == name else None


def test_truth_agrees_with_the_imported_library():
    table = stdlib_claims(500, seed=5, modules=MODULES).drop_duplicates("finding_id")
    checked = []
    for row in table.itertuples():
        claim, path = read_claim(row.summary), read_evidence(row.evidence).places[0].path
        function = member(path, claim.subject) if claim.kind in {"parameter", "default"} else None
        if function is not None:
            parameters = inspect.signature(function).parameters
            holds = claim.detail in parameters
            if claim.kind == "default":
                try:
                    value = eval(claim.value, vars(builtins) | vars(inspect.getmodule(function)))
                except NameError:
                    continue  # a name of the class body
                holds = holds and parameters[claim.detail].default == value
            assert row.truth == (holds != claim.negated), row.summary
            checked.append((claim.kind, row.truth))
    assert len(set(checked)) == 4
    assert len(checked) > 50


def test_truth_agrees_with_the_text_of_the_library():
    table = stdlib_claims(300, seed=6, modules=MODULES).drop_duplicates("finding_id")
    checked = set()
    for row in table.itertuples():
        claim, path = read_claim(row.summary), read_evidence(row.evidence).places[0].path
        lines = (stdlib_root() / path).read_text("utf-8").split("\n")
        if claim.kind == "location":
            name = claim.subject.rpartition(".")[2]
            holds = bool(re.match(rf"\s*(async def|def|class) {name}\b", lines[int(claim.detail) - 1]))
            assert row.truth == (holds != claim.negated), row.summary
        elif claim.kind in {"imports", "raises"} and row.truth != claim.negated:
            wanted = rf"(raise|import|from)\b.*\b{re.escape(claim.detail)}\b"
            assert any(re.search(wanted, line) for line in lines), row.summary
        checked.add((claim.kind, row.truth))
    assert {("location", True), ("location", False), ("raises", True), ("imports", True)} <= checked


@cache
def backend():
    """One for all tests: it reads each file of the library once."""
    return StaticBackend(stdlib_root())


def votes(worker, findings, mode="adversarial", access="full-reanalysis"):
    items = [Item(finding_id=key, summary=row.summary, evidence=row.evidence) for key, row in findings.iterrows()]
    request = WorkerRequest(call_id="r1/w", worker=worker, round=1, mode=mode, verification_mode=access, items=items)
    return asyncio.run(backend().answer(request)).value["votes"]


def test_the_checkers_are_good_but_not_perfect_and_not_alike(findings):
    given = {worker: votes(worker, findings) for worker in CHECKERS}
    holds = {w: [v["verdict"] != "disagree" for v in found.values()] for w, found in given.items()}
    right = {w: [a == b for a, b in zip(says, findings["truth"], strict=True)] for w, says in holds.items()}
    shares = {w: sum(found) / len(found) for w, found in right.items()}
    assert all(0.6 < share < 0.98 for share in shares.values()), shares
    assert len(set(shares.values())) == len(CHECKERS)
    split = sum(1 for says in zip(*holds.values(), strict=True) if len(set(says)) > 1)
    assert 0.1 < split / len(findings) < 0.7
    assert {v["disagree_basis"] or v["verdict"] for found in given.values() for v in found.values()} == {
        "agree", "supplement", "counter-evidence", "burden-not-met",
    }  # fmt: skip
    for truth in (True, False):
        wrong = [
            w for w in CHECKERS for ok, t in zip(right[w], findings["truth"], strict=True) if not ok and t == truth
        ]
        assert set(wrong) == set(CHECKERS)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n": 0}, "n: must be at least 1, got 0"),
        ({"n": 5, "false_share": 1.5}, "false_share: must be a number from 0 to 1, got 1.5"),
        ({"n": 5, "workers": ()}, "workers"),
        ({"n": 5, "workers": ("a", "a")}, "workers"),
        ({"n": 5, "modules": ["nothing.py"]}, "no file 'nothing.py'"),
        ({"n": 5, "modules": []}, "0 exist"),
        ({"n": 50_000, "modules": ["textwrap.py"]}, r"50000 claims are asked for, and \d+ exist"),
    ],
)
def test_what_cannot_be_made_is_refused_in_words(arguments, message):
    with pytest.raises(InputError, match=message):
        stdlib_claims(**arguments)


def test_a_small_set_and_other_workers_are_possible():
    table = stdlib_claims(1, workers=["only"], modules=["textwrap.py"])
    assert list(table["worker"]) == ["only"]
    assert stdlib_claims(3, false_share=0, modules=["textwrap.py"])["truth"].all()


@pytest.mark.parametrize("mode", ["adversarial", "collaborative"])
def test_the_recorded_votes_are_those_that_the_checkers_give(mode):
    artifact = json.loads((bundled(f"stdlib-claims/{mode}") / "part-01.json").read_text("utf-8"))
    version = artifact["taskKey"].split("/")[1].removeprefix("python-")
    if version != platform.python_version():
        pytest.skip(f"recorded with the library of Python {version}")
    compared = 0
    for worker in CHECKERS:
        voted = [f for f in artifact["findings"] if f["rounds"] and worker in f["rounds"][0]["votes"]]
        findings = pd.DataFrame(
            {"summary": [f["summary"] for f in voted], "evidence": [f["originEvidence"] for f in voted]},
            index=[f["findingId"] for f in voted],
        )
        given = votes(worker, findings, mode, artifact["config"]["verificationMode"])
        for finding in voted:
            vote, now = finding["rounds"][0]["votes"][worker], given[finding["findingId"]]
            assert (now["verdict"], now["disagree_basis"]) == (vote["verdict"], vote["disagreeBasis"]), finding
            compared += 1
    assert compared > 100
