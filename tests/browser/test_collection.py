"""These tests run where they are asked for by name; a missing browser skips them, but never where one is required."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.processes import forked


def run_pytest(*args: str, **environment: str) -> str:
    kept = {name: value for name, value in os.environ.items() if name not in ("CI", "VERIFYPLAN_BROWSER")}
    words = ["-p", "no:cacheprovider", "-p", "no:nbval", "-W", "ignore::pytest.PytestAssertRewriteWarning", *args]
    code = f"import sys, pytest; sys.exit(pytest.main({words!r}))"
    return forked("kernels", "tests.fork_server", "python", code, variables=kept | environment).stdout


@pytest.mark.parametrize(("asked", "found"), [("tests", False), ("tests/browser", True), (__file__, True)])
def test_they_are_collected_only_by_name(asked, found):
    rest = ("tests/[!b]*", "tests/browser/test_[!c]*", "tests/browser/test_com*")  # takes long to collect
    listed = run_pytest("--collect-only", "-q", *(f"--ignore-glob={glob}" for glob in rest), asked)
    assert ("test_they_are_collected_only_by_name" in listed) == found


REQUIRED = [{"CI": "true"}, {"VERIFYPLAN_BROWSER": "required"}]


@pytest.mark.parametrize(("environment", "outcome"), [({}, "1 skipped"), *((one, "1 error") for one in REQUIRED)])
def test_a_missing_browser_skips_unless_one_is_required(environment, outcome, tmp_path):
    driver = str(Path(__file__).with_name("test_driver.py"))
    told = run_pytest("-q", driver, "-k", "marks_of_a_chart", PATH=str(tmp_path), **environment)
    assert outcome in told
    assert "needs Chromium, which is not on this machine" in told
