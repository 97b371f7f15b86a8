"""The Python that makes the same tables as the rule studio, to copy into a script (rule R1)."""

from __future__ import annotations

from pathlib import Path

from verifyplan.protocol.voting_rules import VotingRules
from verifyplan.widgets.rule_studio.fields import SIDES
from verifyplan.widgets.rule_studio.form import preset_of
from verifyplan.widgets.rule_studio.model import Rules, setting_names


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

    `source` is what the studio was given: a path or the name of a set is written down, anything else is `runs`.
    """
    runs = repr(str(source)) if isinstance(source, str | Path) else "runs"
    names = setting_names(rules)
    both = ", ".join(f"{names[side]!r}: {side}" for side in SIDES)
    lines = ["import verifyplan as vp", "", *(f"{side} = {rules_call(rules[side])}" for side in SIDES), ""]
    lines += [f"vp.replay({runs}, rules={side})" for side in SIDES]
    return "\n".join([*lines, f"vp.compare({runs}, rules={{{both}}})"])
