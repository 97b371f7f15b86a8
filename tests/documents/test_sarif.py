"""SARIF and JSON of a report: what SARIF 2.1.0 requires, the same text every time, paths that can be opened."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import unquote, urlparse

import pytest

from tests.sample_tree import FILES, PHASE, sample_tree
from verifyplan.documents import check
from verifyplan.documents.checks.catalogue import RULES
from verifyplan.documents.checks.sarif import shown, to_json, to_sarif

PLAN = f"{PHASE}/PLAN-01.md"


@pytest.fixture
def report(tmp_path):
    plan = FILES[PLAN].replace("AUTH-01", "X-1").replace("<done>A request with a wrong token is refused</done>\n", "")
    hostile = FILES["research/auth.md"].replace("S1", "S9", 1)
    return check(sample_tree(tmp_path, {PLAN: plan, "research/a näme & 100%.md": hostile}))


def required(value, *names):
    assert set(names) <= set(value), set(names) - set(value)
    return [value[name] for name in names]


def test_all_that_sarif_requires_is_there(report, tmp_path):
    version, runs = required(json.loads(to_sarif(report, tmp_path)), "version", "runs")
    assert (version, len(runs)) == ("2.1.0", 1)
    tool, results, bases = required(runs[0], "tool", "results", "originalUriBaseIds")
    name, rules = required(tool["driver"], "name", "rules")
    assert name == "verifyplan"
    for rule in rules:
        rule_id, meaning, told = required(rule, "id", "shortDescription", "defaultConfiguration")
        assert (meaning["text"], told["level"] in LEVELS) == (RULES[rule_id].meaning, True)
    assert [rule["id"] for rule in rules] == sorted({one.rule for one in report.violations})
    assert len(results) == len(report.violations) > 3
    for result, violation in zip(results, report.violations, strict=True):
        rule_id, index, level, message, locations = required(
            result, "ruleId", "ruleIndex", "level", "message", "locations"
        )
        assert rules[index]["id"] == rule_id == violation.rule
        assert level == {"error": "error", "warning": "warning", "info": "note"}[violation.severity]
        assert violation.message in message["text"]
        assert violation.fix in message["text"]
        (place,) = locations
        artifact, region = required(place["physicalLocation"], "artifactLocation", "region")
        assert region == {"startLine": violation.line}
        assert artifact["uriBaseId"] in bases
        assert (tmp_path / unquote(artifact["uri"])).is_file()


LEVELS = {"error", "warning", "note", "none"}


def test_the_same_report_gives_the_same_text(report, tmp_path):
    again = check(tmp_path / ".planning")
    assert to_sarif(report, tmp_path) == to_sarif(again, tmp_path)
    assert to_json(report, tmp_path) == to_json(again, tmp_path)
    assert to_sarif(report).endswith("}\n")


def test_what_lies_outside_of_the_root_has_an_address_of_its_own(report, tmp_path):
    told = json.loads(to_sarif(report, tmp_path / "elsewhere"))
    places = [one["locations"][0]["physicalLocation"]["artifactLocation"] for one in told["runs"][0]["results"]]
    assert all("uriBaseId" not in place for place in places)
    assert all(Path(unquote(urlparse(place["uri"]).path)).is_file() for place in places)


def test_nothing_found_is_a_run_without_results(tmp_path):
    run = json.loads(to_sarif(check(sample_tree(tmp_path))))["runs"][0]
    assert (run["results"], run["tool"]["driver"]["rules"]) == ([], [])


def test_json_holds_every_violation_and_the_tally(report, tmp_path):
    told = json.loads(to_json(report, tmp_path))
    assert (told["ok"], told["documents"], told["tally"]) == (False, len(report.documents), report.tally)
    assert [one["line"] for one in told["violations"]] == [one.line for one in report.violations]
    assert told["others"] == [".planning/REQUIREMENTS.md"]
    assert {one["path"] for one in told["violations"]} >= {f".planning/{PLAN}"}


def test_paths_are_shown_from_the_root_without_following_links(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert shown(str(tmp_path / "a" / ".." / "b.md"), tmp_path) == "b.md"
    assert shown("b.md", ".") == "b.md"
    assert shown("/elsewhere/b.md", tmp_path) == "/elsewhere/b.md"


def test_what_steers_a_terminal_is_an_escape_in_json_and_reads_as_it_was(tmp_path):
    sign = "\x9b2J\u202e\x1b[31m"
    path = tmp_path / "PLAN-01.md"
    path.write_text(f"---\nwave: 1\n---\n## Summary\n\n## {sign}\n")
    report = check(path)
    for text in (to_json(report), to_sarif(report)):
        assert all(one.isprintable() or one == "\n" for one in text)
    assert any(sign in one["message"] for one in json.loads(to_json(report))["violations"])
