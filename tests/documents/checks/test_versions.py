"""Two versions of a file or a folder: what must not have changed is told, from Python and from the command line."""

from __future__ import annotations

import pytest

from tests.sample_tree import FILES, PHASE, line_of, sample_tree
from verifyplan.documents import check
from verifyplan.errors import InputError

PLACE = f"{PHASE}/VERIFICATION.md"
AGAIN = FILES[PLACE].replace("attempt: 1", "attempt: 2")
SAME = AGAIN.replace("attempt: 2", "attempt: 1 # again")


@pytest.fixture
def earlier(tmp_path):
    return sample_tree(tmp_path / "earlier")


def test_a_later_version_that_keeps_to_the_rules_breaks_none(tmp_path, earlier):
    later = sample_tree(tmp_path / "later", {PLACE: AGAIN})
    assert check(later, against=earlier).violations == ()
    assert check(later, against=later).violations == ()


def test_documents_are_compared_by_their_paths_whatever_the_folders_are(tmp_path, earlier):
    later = sample_tree(tmp_path / "later", {PLACE: SAME})
    for new, old in ((later, earlier), (tmp_path / "later", earlier), (later / PHASE, earlier / PHASE)):
        (found,) = check(new, against=old).violations
        assert (found.rule, found.line) == ("verification/attempt-not-grown", line_of(SAME, "attempt"))
        assert found.path == str(later / PLACE)


def test_two_files_are_two_versions_of_one_document(tmp_path, earlier):
    later = tmp_path / "new-VERIFICATION.md"
    later.write_text(SAME)
    assert [found.rule for found in check(later, against=earlier / PLACE).violations] == [
        "verification/attempt-not-grown"
    ]
    with pytest.raises(InputError, match="give two versions of one document"):
        check(later, against=earlier / PHASE / "PLAN-01.md")


def test_a_document_that_is_new_gone_or_of_another_kind_is_not_compared(tmp_path, earlier):
    later = sample_tree(tmp_path / "later", {PLACE: None})
    assert check(later, against=earlier).ok
    assert check(earlier, against=later).ok


def test_what_has_nothing_in_common_is_refused(tmp_path, earlier):
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "PLAN-09.md").write_text(FILES[f"{PHASE}/PLAN-01.md"])
    with pytest.raises(InputError, match="has no document of the same path"):
        check(tmp_path / "other", against=earlier)
    with pytest.raises(InputError, match="give two files, or two folders"):
        check(earlier, against=earlier / PLACE)
    with pytest.raises(InputError, match="cannot be read"):
        check(earlier, against=tmp_path / "nowhere")


def test_the_command_line_takes_an_earlier_version(cli, tmp_path, earlier):
    later = sample_tree(tmp_path / "later", {PLACE: SAME})
    done = cli("check", later, "--against", earlier)
    assert done.code == 1
    assert "[verification/attempt-not-grown]" in done.out
    assert cli("check", later).code == 0
    wrong = cli("check", later, earlier, "--against", earlier)
    assert wrong.code == 2
    assert "name one path" in wrong.err
