"""Every class and figure is as golden tables hold it, or decisions.csv says why not; and this test can fail."""

from __future__ import annotations

import csv
from typing import Any

import pandas as pd
import pytest

from tests.golden import cases, make, tables
from tests.golden.tables import FOLDER, Decision


@pytest.mark.parametrize("table", tables.FILES)
def test_nothing_changed_without_a_decision(table, tmp_path):
    if not (FOLDER / tables.FILES[table]).exists():
        pytest.fail(f"tests/golden/{tables.FILES[table]} is not there: {tables.FIRST}")
    changed = tables.report(table, tables.computed(table, (tmp_path / "new").resolve()), FOLDER)
    if changed:
        advice = "mend it, or say why it is right: python -m tests.golden.make --decide REASON"
        pytest.fail(f"{changed}\n{advice}", pytrace=False)


@pytest.mark.parametrize("table", tables.FILES)
def test_a_golden_cell_is_what_its_last_decision_says(table):
    decisions = tables.read_decisions(FOLDER)
    assert {row.table for row in decisions} <= set(tables.FILES)
    if any(row.table == table for row in decisions):
        assert tables.stale(table, tables.cells(table, tables.read(table, FOLDER)), decisions) == []


def test_golden_files_are_small():
    assert sum(path.stat().st_size for path in FOLDER.iterdir() if path.is_file()) < 2_000_000


def test_rules_touch_every_field():
    values = [rules.changed for rules in cases.rules_of(["ann", "bob", "cy"]).values()]
    assert {name for changed in values for name in changed} == set(cases.vp.VotingRules.model_fields)


JUDGED = pd.DataFrame(
    {
        "set": "contract",
        "rules": ["majority", "majority", "quorum 2"],
        "run_id": "1.0",
        "iteration": 0,
        "finding_id": ["F-1", "F-2", "F-1"],
        "classification": ["full-consensus", "contested", "worker-unique"],
        "rule": ["all-agree", "no-majority", "round-0"],
        "decided_round": [1, 2, 0],
        "censored": [False, True, False],
        "low": ["full-consensus", "contested", "worker-unique"],
        "high": ["full-consensus", "partial-consensus", "worker-unique"],
    }
)
FIGURES = pd.DataFrame(
    [
        ("rte:panel.summary:effective-votes", "value", "1.25"),
        ("rte:panel.summary:effective-votes", "low", "1.125"),
        ("rte:aggregate:one-coin", "value", "0.75"),
        ("contract:compare.bounds:adversarial/held", "difference_low_bound", "0.25"),
        ("contract:compare.bounds:adversarial/held", "high_bound", "0.75"),
    ],
    columns=["key", "column", "value"],
)
CONTENT: dict[str, Any] = {
    "judgements": JUDGED,
    "figures": FIGURES,
    "events": [{"key": "plan:challenge-raised:006", "challenge": {"id": "C1", "status": "OPEN"}, "items": []}],
    "documents": [{"key": "SUMMARY.md:summary/status-above-results:line 3", "severity": "error"}],
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder of small golden tables that the maker wrote."""
    (tmp_path / "decisions.csv").write_text(",".join(tables.HEADER) + "\n")
    monkeypatch.setattr(tables, "computed", lambda table, _: CONTENT[table])
    assert make.main(["--folder", str(tmp_path)]) == 0
    return tmp_path


def judged(row: int, column: str, value: Any) -> pd.DataFrame:
    changed = JUDGED.copy()
    changed.loc[row, column] = value
    return changed


def figured(row: int, value: str) -> pd.DataFrame:
    return FIGURES.assign(value=FIGURES["value"].where(FIGURES.index != row, value))


def decide(folder, *rows: tuple[str, ...]) -> None:
    with (folder / "decisions.csv").open("a", newline="") as file:
        csv.writer(file).writerows(rows)


def test_what_is_as_it_was_is_not_told(folder):
    assert [tables.report(table, CONTENT[table], folder) for table in tables.FILES] == [""] * 4


@pytest.mark.parametrize(
    ("table", "content", "told"),
    [  # the change, and the end of its line
        ("judgements", judged(1, "classification", "worker-unique"), "F-2 classification: contested -> worker-unique"),
        ("judgements", judged(0, "decided_round", 2), "majority:1.0/0/F-1 decided_round: 1 -> 2"),
        ("judgements", judged(0, "rule", "survived"), "majority:1.0/0/F-1 rule: all-agree -> survived"),
        ("judgements", judged(1, "censored", False), "majority:1.0/0/F-2 censored: True -> False"),
        ("judgements", judged(1, "low", "partial-consensus"), "majority:1.0/0/F-2 low: contested -> partial-consensus"),
        ("judgements", judged(1, "high", "contested"), "majority:1.0/0/F-2 high: partial-consensus -> contested"),
        ("figures", figured(1, "1.1250001"), "panel.summary:effective-votes low: 1.125 -> 1.1250001"),
        ("figures", figured(0, ""), "panel.summary:effective-votes value: 1.25 -> "),
        ("figures", figured(2, "0.750002"), "aggregate:one-coin value: 0.75 -> 0.750002"),
        ("figures", figured(3, "0.3"), "compare.bounds:adversarial/held difference_low_bound: 0.25 -> 0.3"),
        ("figures", figured(4, "0.7"), "compare.bounds:adversarial/held high_bound: 0.75 -> 0.7"),
        ("figures", FIGURES[1:], "panel.summary:effective-votes value: 1.25 -> (absent)"),
        ("events", [CONTENT["events"][0] | {"items": ["C1"]}], "challenge-raised:006 items: [] -> (absent)"),
        ("documents", [], "summary/status-above-results:line 3 severity: error -> (absent)"),
    ],
)  # fmt: skip
def test_what_changed_is_told_with_its_place(folder, table, content, told):
    first = tables.report(table, content, folder).splitlines()[0]
    assert first.startswith(f"{table}: ")
    assert first.endswith(told)


@pytest.mark.parametrize(
    ("table", "content"),
    [
        ("judgements", judged(1, "low", "worker-unique")),
        ("judgements", judged(1, "high", "full-consensus")),
        ("figures", figured(3, "0.2")),
        ("figures", figured(4, "0.8")),
        ("figures", figured(0, "1.2500000001")),
        ("figures", figured(2, "0.7500001")),
    ],
)
def test_bounds_may_widen_and_numbers_differ_by_their_tolerance(folder, table, content):
    assert tables.report(table, content, folder) == ""


@pytest.mark.parametrize(
    ("key", "column", "old", "new", "accepted"),
    [
        ("rte:panel.summary:effective-votes", "low", "1.125", "1.2", True),
        ("rte:panel.summary:effective-votes", "low", "1.125", "1.2000000001", True),
        ("rte:panel.summary:*", "low", "1.125", "1.2", True),
        ("*:panel.*", "low", "1.125", "1.2", True),
        ("rte:panel.summary:*", "low", "*", "*", False),
        ("rte:panel.summary:*", "*", "1.125", "1.2", False),
        ("rte:panel.summary:effective.votes", "low", "1.125", "1.2", False),
        ("rte:panel.summary:effective-votes", "low", "1.125", "1.3", False),
        ("rte:panel.summary:effective-votes", "low", "1.1", "1.2", False),
        ("rte:panel.summary:effective-votes", "high", "1.125", "1.2", False),
        ("rte:panel.judges:*", "low", "1.125", "1.2", False),
        ("rte:panel.summary", "low", "1.125", "1.2", False),
    ],
)
def test_a_decision_accepts_what_it_names_and_nothing_else(folder, key, column, old, new, accepted):
    decide(folder, ("figures", key, column, old, new, "an interval was too narrow"))
    assert (tables.report("figures", figured(1, "1.2"), folder) == "") is accepted


def test_a_decision_of_another_table_is_none(folder):
    decide(folder, ("judgements", "*", "low", "1.125", "1.2", "all is well"))
    assert tables.report("figures", figured(1, "1.2"), folder)


def test_files_are_not_overwritten_without_a_reason(folder, monkeypatch, capsys):
    monkeypatch.setattr(tables, "computed", lambda *_: pytest.fail("nothing is computed to be thrown away"))
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert make.main(["--folder", str(folder)]) == 1
    assert "say why: --decide REASON" in capsys.readouterr().err
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_a_reason_writes_what_differs_and_rows_that_say_so(folder, monkeypatch):
    documents = (folder / "documents.jsonl").stat().st_mtime_ns
    new = {**CONTENT, "judgements": judged(1, "classification", "worker-unique"), "figures": figured(3, "0.2")}
    monkeypatch.setattr(tables, "computed", lambda table, _: new[table])
    assert make.main(["--folder", str(folder), "--decide", "a tie is no majority"]) == 0
    expected = Decision(
        *("judgements", "contract:majority:1.0/0/F-2", "classification", "contested", "worker-unique"),
        "a tie is no majority",
    )
    assert tables.read_decisions(folder) == [expected]  # and none of the bound, which only widened
    assert [tables.report(table, new[table], folder) for table in tables.FILES] == [""] * 4
    assert tables.report("figures", FIGURES, folder)  # a bound that widened does not narrow again
    assert (folder / "documents.jsonl").stat().st_mtime_ns == documents


def test_a_golden_cell_that_no_decision_comes_to_is_told():
    row = Decision("figures", *FIGURES.iloc[1, :2], "1.1", "1.2", "measured anew")
    golden = tables.cells("figures", FIGURES)
    (line,) = tables.stale("figures", golden, [row])
    assert line.endswith("low: is 1.125, and the last decision says 1.1 -> 1.2")
    assert tables.stale("figures", golden, [row, row._replace(new="1.125")]) == []


def test_of_many_cells_of_a_figure_one_row_tells():
    cells = [(f"rte:influence:{number}", "n", "1", "2") for number in range(6)]
    found = pd.DataFrame(cells, columns=["key", "column", "old", "new"])
    (row,) = tables.decided("figures", found, "why")
    assert row == Decision("figures", "rte:influence:*", "n", "(6 cells)", "(6 cells)", "why")
    assert len(tables.undecided("figures", found, [row])) == 6  # such a row accepts no change to come
    assert tables.decided("figures", found[:5], "why") == [Decision("figures", *cell, "why") for cell in cells[:5]]
    assert tables.told("figures", found, at_most=5).endswith("\nfigures: 1 more cells in rte:influence")


def test_of_the_fields_of_a_type_of_event_one_row_tells():
    cells = [(f"plan:vote-cast:{number}", column, "1", "2") for number in range(3) for column in ("round", "worker")]
    found = pd.DataFrame(cells, columns=["key", "column", "old", "new"])
    (row,) = tables.decided("events", found, "why")
    assert row == Decision("events", "plan:vote-cast:*", "*", "(6 cells)", "(6 cells)", "why")


@pytest.mark.parametrize("row", ["figures,key,low,1,2,", "figures,key,low,1,2"])
def test_a_decision_needs_a_reason(folder, row):
    with (folder / "decisions.csv").open("a") as file:
        file.write(row + "\n")
    with pytest.raises(ValueError, match="a reason in each row"):
        tables.read_decisions(folder)


def test_a_missing_table_says_which_command_makes_it(folder):
    (folder / "events.jsonl").unlink()
    with pytest.raises(FileNotFoundError, match=r"run python -m tests\.golden\.make"):
        tables.report("events", CONTENT["events"], folder)
