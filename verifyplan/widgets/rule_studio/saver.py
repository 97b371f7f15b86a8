"""Save what the rule studio shows: files of rules, findings and charts, and the same in Python (rule R1)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import ipywidgets as ipw

from verifyplan.charts.export import export_set
from verifyplan.errors import InputError, Problem
from verifyplan.frames.csv_tables import write_csv
from verifyplan.protocol.voting_rules import VotingRules
from verifyplan.text import counted
from verifyplan.widgets.html import block, paragraph
from verifyplan.widgets.panel import group
from verifyplan.widgets.rule_studio import view
from verifyplan.widgets.rule_studio.form import SIDES, preset_of
from verifyplan.widgets.rule_studio.model import Rules, StudioResult, setting_names


def save_rules(result: StudioResult, stem: str) -> list[Path]:
    """Write both settings as JSON files, which `--rules` and `rules=` take."""
    return [result.rules[side].save(f"{stem}-{side}.json") for side in SIDES]


def save_findings(result: StudioResult, stem: str) -> list[Path]:
    """Write the table of findings as CSV."""
    return [write_csv(result.findings, f"{stem}-findings.csv")]


def save_charts(result: StudioResult, stem: str) -> list[Path]:
    """Write the charts, each as PNG and SVG with its data and its caption."""
    return [path for name, figure in view.figures(result).items() for path in export_set(figure, f"{stem}-{name}")]


SAVERS: Mapping[str, tuple[str, Callable[[StudioResult, str], list[Path]]]] = {
    "Save rules": ("Both settings as JSON files", save_rules),
    "Save findings": ("The classes of every finding as a CSV file", save_findings),
    "Save charts": ("The charts as PNG and SVG, with data and captions", save_charts),
}
"""The tooltip and the function of each button."""


class Saver(ipw.VBox):
    """A field for the beginning of file names, a button for each kind of file, and a line that names the files written.

    `result` returns what to save. The caller of `save` must show its failure.
    """

    def __init__(self, result: Callable[[], StudioResult]) -> None:
        self._result = result
        self.stem = ipw.Text("out/rules", description="Files begin with")
        self.buttons = {name: ipw.Button(description=name, tooltip=tooltip) for name, (tooltip, _) in SAVERS.items()}
        self.note = ipw.HTML()
        super().__init__([group("vp-row", self.stem, *self.buttons.values()), self.note])

    def save(self, button: Any) -> None:
        """Write the files of a button, and show their names."""
        stem = self.stem.value.strip()
        if not stem or stem.endswith(("/", "\\")):
            fix = "write the beginning of a name, such as out/rules"
            raise InputError(Problem("Files begin with", f"must end in a name, got {self.stem.value!r}", fix))
        paths = SAVERS[button.description][1](self._result(), stem)
        self.note.value = block(paragraph(f"Saved {counted(len(paths), 'file')}: {', '.join(map(str, paths))}."))


def rules_call(rules: VotingRules) -> str:
    """Return the expression that makes these rules.

    >>> rules_call(VotingRules(aggregate="majority")), rules_call(VotingRules(majority="2/3", quorum=2))
    ("vp.VotingRules.preset('majority')", "vp.VotingRules(majority='2/3', quorum=2)")
    """
    preset = preset_of(rules)
    if preset and rules.changed:
        return f"vp.VotingRules.preset({preset!r})"
    return f"vp.VotingRules({', '.join(f'{name}={value!r}' for name, value in rules.changed.items())})"


def calls(rules: Rules, source: object) -> str:
    """Return the calls that replay the votes under each setting, and that compare both.

    `source` is the studio's first argument: a path or the name of a set is written out, anything else becomes `runs`.
    """
    runs = repr(str(source)) if isinstance(source, str | Path) else "runs"
    names = setting_names(rules)
    both = ", ".join(f"{names[side]!r}: {side}" for side in SIDES)
    lines = ["import verifyplan as vp", "", *(f"{side} = {rules_call(rules[side])}" for side in SIDES), ""]
    lines += [f"vp.replay({runs}, rules={side})" for side in SIDES]
    return "\n".join([*lines, f"vp.compare({runs}, rules={{{both}}})"])
