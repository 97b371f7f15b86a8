"""Real `.planning` trees by others: every document loads, is checked, and is written back unchanged."""

from __future__ import annotations

from pathlib import Path

import pytest

from verifyplan.documents.checks.check import check_document
from verifyplan.documents.loading import load_text, read_text

DATA = Path(__file__).resolve().parents[4] / "shared" / "data" / "planning"
FILES = sorted(DATA.rglob("*.md"))

pytestmark = pytest.mark.skipif(not FILES, reason="the folder ../shared with real planning trees is not here")


@pytest.mark.parametrize("tree", ["ferry", "fake-project"])
def test_every_document_is_written_back_byte_for_byte_and_none_raises(real_tree, tree):
    loaded = real_tree(tree)
    assert loaded.unread == ()
    assert len(loaded.documents) + len(loaded.others) == len([f for f in FILES if f.is_relative_to(DATA / tree)])
    for document in loaded:
        assert document.write().encode() == Path(document.path).read_bytes()
        for held in (document, document.as_contract()):
            lines = len(document.source.lines)
            assert all(1 <= violation.line <= lines for violation in check_document(held))


def test_every_key_can_be_rewritten_and_reads_as_before(real_tree):
    for document in real_tree("ferry").documents[::10]:  # YAML is read slowly
        front = document.source.front
        if front.values and not front.problems:
            values = {name: value for name, value in front.values.items() if isinstance(value, list | dict | str | int)}
            after = document.with_front(**values)
            assert after.source.front.values == front.values
            assert after.source.lines[after.source.front.last :] == document.source.lines[front.last :]


def test_any_real_file_can_be_read_as_a_plan():
    for place in FILES:
        document = load_text(read_text(place), str(place), "plan")
        assert document.write().encode() == place.read_bytes()
        list(check_document(document))


def test_no_rule_of_a_known_form_fires_on_most_real_plans_or_notes(real_tree):
    documents = [
        d for tree in ("ferry", "fake-project") for d in real_tree(tree) if d.kind in ("plan", "research-note")
    ]
    fired = [
        {v.rule for v in check_document(document) if v.severity != "info" and not v.rule.startswith("document/")}
        for document in documents
    ]
    assert sum(1 for rules in fired if not rules) > 0.85 * len(documents)
