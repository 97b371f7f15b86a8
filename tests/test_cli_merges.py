"""`crossverify` from a shell: who is joined with whom, the matcher, edited merges, the setting for missing bases."""

from __future__ import annotations

import io

import pandas as pd
import pytest

FINDINGS = """finding_id,summary,evidence,worker
F-1,`f` lacks a check,m.py:1,window
F-2,A check `f` lacks,m.py:1,search
"""


@pytest.fixture
def findings(tmp_path):
    path = tmp_path / "findings.csv"
    path.write_text(FINDINGS)
    return path


def merged(done) -> list[str]:
    return pd.read_csv(io.StringIO(done.out))["merged_into"].tolist()


def test_merges_are_shown_edited_and_followed(cli, findings, tmp_path):
    given = ("crossverify", findings, "--workers", "window,search,quotation", "--log-dir", tmp_path / "out")
    assert merged(cli(*given, "--show-merges")) == ["F-1", "F-2"]
    shown = cli(*given, "--show-merges", "--matcher", "likeness")
    assert merged(shown) == ["F-1", "F-1"]
    assert not (tmp_path / "out").exists()
    edited = tmp_path / "merges.csv"
    edited.write_text(shown.out)
    done = cli(*given, "--merges", edited, "--repo", tmp_path)
    assert done.out.startswith("nothing looked at in 1 of 1 vote: ")
    assert "1 finding, 3 workers" in done.out
    assert "joined, though the words differ (see .merges): 1 finding" in done.out


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--matcher", "likenes", "did you mean 'likeness'"),
        ("--missing-basis", "raise", "'raise' is not one of 'infer', 'counter-evidence', 'burden-not-met'"),
        ("--merges", "nowhere.csv", "cannot be read"),
    ],
)
def test_what_cannot_be_used_exits_with_2(cli, findings, tmp_path, option, value, message):
    done = cli("crossverify", findings, "--workers", "window,search", "--log-dir", tmp_path / "out", option, value)
    assert done.code == 2
    assert message in done.err
