"""Real trees under ../shared: what the check finds in them, rule by rule; nobody tuned them for it."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.sample_tree import sample_tree
from verifyplan.documents import check
from verifyplan.documents.checks.catalogue import RULES
from verifyplan.documents.checks.check import check_tree
from verifyplan.documents.document_tables import tables_of


@pytest.fixture(scope="module", params=["ferry", "fake-project"])
def tree(request, real_tree):
    return real_tree(request.param)


@pytest.fixture(scope="module")
def report(tree):
    return check_tree(tree)


def test_no_rule_but_the_naming_of_forms_fires_on_most_documents_of_its_kind(report, capsys):
    kinds = Counter(document.kind for document in report.documents)
    hit = Counter(rule for rule, _ in {(one.rule, one.path) for one in report.violations})
    with capsys.disabled():
        print(f"\n{report.path.rpartition('/')[2]}: {len(report.documents)} documents")
        for rule, times in report.tally.items():
            print(f"{times:5}  {RULES[rule].severity:<7}  {rule}")
    for rule, times in hit.items():
        kind = {"tree": "plan"}.get(rule.partition("/")[0], rule.partition("/")[0])
        strict = "on purpose" in RULES[rule].meaning
        assert RULES[rule].severity == "info" or strict or times <= max(1, kinds[kind] // 2), rule


def test_a_known_form_is_named_once_a_document(report):
    named = [one.path for one in report.violations if one.rule.endswith("/form")]
    assert sorted(named) == sorted(document.path for document in report.documents if document.form != "contract")


def test_held_to_the_contract_every_document_of_another_form_breaks_rules(report):
    strict = check(report.path, strict=True)
    assert not [one for one in strict.violations if one.rule.endswith("/form")]
    broken = {one.path for one in strict.violations}
    assert {document.path for document in report.documents if document.form != "contract"} <= broken


def test_checking_twice_gives_the_same(tree, report):
    assert check_tree(tree).violations == report.violations


def test_a_real_tree_becomes_tables(report):
    tables = tables_of(report)
    assert len(tables.documents) == len(report.documents)
    assert len(tables.violations) == len(report.violations)
    assert tables.documents["n_errors"].sum() == (tables.violations["severity"] == "error").sum()
    plans = tables.documents.query("kind == 'plan'")
    assert plans["n_must_haves"].sum() == len(tables.must_haves) > 0
    assert plans["n_tasks"].sum() == len(tables.tasks) > 0


def test_a_tree_of_the_contract_breaks_nothing_when_held_to_it(tmp_path):
    assert check(sample_tree(tmp_path), strict=True).violations == ()
