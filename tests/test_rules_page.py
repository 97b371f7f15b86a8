"""docs/rules.md names every field and preset of the rules, and `verifyplan rules` shows them."""

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

import verifyplan as vp
from verifyplan.cli.rules import KINDS, rules
from verifyplan.errors import SettingsError
from verifyplan.protocol.rules_value import RulesValue
from verifyplan.protocol.voting_rules import VotingRules

PAGE = (Path(__file__).parent.parent / "docs" / "rules.md").read_text(encoding="utf-8")


def section(kind: type[RulesValue]) -> str:
    return PAGE.partition(f"\n## {kind.__name__}\n")[2].partition("\n## ")[0]


def names_in(tables: str) -> list[str]:
    """Return the names in the first column of some tables."""
    cells = re.findall(r"^\| (`.+?`) \|", tables, re.MULTILINE)
    return [name for cell in cells for name in re.findall(r"`([\w-]+)`", cell)]


def run(*arguments: str) -> str:
    result = CliRunner().invoke(rules, list(arguments))
    if isinstance(result.exception, SettingsError):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.output


@pytest.mark.parametrize("kind", KINDS.values())
def test_the_page_has_every_field_once_and_no_other(kind: type[RulesValue]):
    fields = section(kind).partition("\n### Presets\n")[0]
    rows = names_in(fields)
    assert sorted(rows) == sorted(kind.model_fields)


@pytest.mark.parametrize("kind", KINDS.values())
def test_the_page_has_every_preset(kind: type[RulesValue]):
    presets = section(kind).partition("\n### Presets\n")[2]
    rows = names_in(presets)
    assert sorted(rows) == sorted(kind.presets())


def test_the_figures_that_speak_for_a_rule_are_those_of_the_bundled_votes():
    advice = PAGE.partition("\n## Which rule should I use?\n")[2].partition("\n## ")[0]
    quorums = {"none": {"mode": "adversarial"}, "three": {"mode": "adversarial", "quorum": 3}}
    compared = vp.compare("stdlib-claims/adversarial", rules=quorums, resamples=10).summary.set_index("metric")
    columns = ["difference", "difference_low", "difference_high"]
    recall, consensus = (-100 * compared.loc[metric, columns] for metric in ("recall", "false-consensus-rate"))
    cost = "3 votes cost {0:.1f} points of recall [{2:.1f}, {1:.1f}]".format(*recall)
    assert f"{cost} and avoid {{0:.1f}} points of false consensus [{{2:.1f}}, {{1:.1f}}]".format(*consensus) in advice


def test_the_shell_lists_presets_and_shows_fields():
    assert "sticky-refutes       mode=adversarial, refutes=sticky" in run("show")
    shown = run("show", "sticky-refutes")
    assert VotingRules.preset("sticky-refutes").digest in shown
    assert all(f" {field} = " in shown for field in VotingRules.model_fields)
    assert "* refutes = sticky" in shown


def test_the_shell_says_how_two_rules_differ(tmp_path: Path):
    mine = VotingRules(mode="adversarial", quorum="2/3").save(tmp_path / "mine.json")
    assert run("diff", "adversarial", str(mine)) == "quorum: no quorum -> 2/3\n"
    assert run("diff", str(mine), str(mine)) == "the same rules\n"
    assert run("diff", "protocol", "no-panel-power") == "consensus_forbids: withdrawal, uncited-blocking -> nothing\n"


def test_a_neutral_value_has_plain_words_and_another_mode_a_note():
    lines = run("diff", "adversarial", "margin-2").splitlines()
    assert lines[:2] == ["mode: adversarial -> as recorded", "stop: no stop -> margin 2"]
    assert lines[2].startswith("note: in a replay the mode changes only how votes count; a live run")
    assert run("diff", "unanimous", "majority") == "aggregate: unanimous -> majority\n"
    shown = run("show", "as-recorded")
    assert "  mode = as recorded\n" in shown
    assert "  workers = all workers\n" in shown
    assert "null" not in shown


def test_what_is_wrong_with_rules_is_said_at_once(tmp_path: Path):
    with pytest.raises(SettingsError, match="did you mean 'sticky-refutes'"):
        run("show", "stiky-refutes")
    bad = tmp_path / "bad.json"
    bad.write_text(json.dumps({"mode": "advers", "quorm": 1}))
    with pytest.raises(SettingsError) as error:
        run("show", str(bad))
    assert len(error.value.problems) == 2
